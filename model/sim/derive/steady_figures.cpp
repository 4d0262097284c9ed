// SPDX-License-Identifier: Apache-2.0
// Endless uniform random writes: the write amplification, and the rate that is left.
// controller/precondition/steady_state.h has the formulas.
#include "sim/derive/steady_figures.h"

#include <algorithm>
#include <cmath>

#include "controller/ftl/ftl_check.h"
#include "controller/ftl/mapping/mapping.h"
#include "controller/ftl/victims/victim_policy.h"
#include "nand/onfi/onfi_timing.h"
#include "sim/derive/derive.h"
#include "sim/derive/page_times.h"
#include "sim/derive/words.h"

namespace ssdtlm {

double write_amplification(const ChoiceLaw& law, std::uint32_t n, double density) {
    if (law.kind == ChoiceLaw::Kind::oldest) return 1 / (1 - oldest_share(density));
    const std::vector<double> shares = valid_shares(law, n, density);
    // In the steady state, blocks enter the state of i valid units as often as they leave it, to state i - 1 or as
    // victims. So blocks leave state n at the rate at which blocks are filled. The rate from i to i - 1 is proportional
    // to i times the number of blocks in state i. Blocks with n valid units are rarely victims.
    const double drawn = law.drawn == ChoiceLaw::kAll || law.most_valid < n ? 0 : std::pow(shares[n], law.drawn);
    const double filled = n * shares[n] / (1 - drawn);
    double valid = 0;
    for (std::uint32_t i = 1; i <= n; ++i) valid += std::max(0.0, 1 - i * shares[i] / filled);
    return n / (n - valid);
}

namespace {

const char* const kWa = "write_amplification";
const char* const kIops = "steady_random_write_iops";

std::string why_no_steady_state(const SsdConfig& c) {
    const NandGeometry& g = c.nand.geometry;
    if (mapping_of(c.ftl, g)->places_by_blocks()) return "ftl.mapping = \"" + c.ftl.mapping + "\" merges log blocks";
    if (mapping_of(c.ftl, g)->is_on_flash())
        return "translation pages are written too (ftl.mapping = \"" + c.ftl.mapping + "\")";
    if (c.ftl.slc.any()) return "an SLC cache takes the writes first";
    if (!c.ftl.nvm_sets.empty() || c.ftl.static_dimensions != "none")
        return "parts of the drive are collected by themselves";
    if (c.ftl.most_spread != 0 || c.ftl.refresh_reads != 0 || c.ftl.refresh_age != Age{})
        return "wear levelling and refresh move data too";
    return "";
}

ChoiceLaw victim_law(const SsdConfig& c) {
    const NandGeometry& g = c.nand.geometry;
    return VictimPolicies::instance()
        .make("gc.policy", c.ftl.gc_policy, {SuperblockShape(g, c.ftl.superblock), g.units_per_page(), 0},
              c.ftl.gc_policies)
        ->law();
}

/// The die time in seconds for one unit of the host, with its share of garbage collection.
double die_time(const SsdConfig& c, double wa) {
    const NandGeometry& g = c.nand.geometry;
    const OnfiBusTiming bus(c.nand);
    const std::uint32_t joined =
        c.scheduler.multi_plane && c.ftl.superblock != SuperblockSpan::plane ? g.planes_per_die : 1;
    const double units = g.units_per_page(), valid = 1 - 1 / wa;
    const double program = to_seconds(bus.issue(FlashOp::program, joined)) +
                           joined * to_seconds(bus.data_in(g.page_bytes)) + to_seconds(bus.busy_delay()) +
                           mean_of_pages(g, c.nand.t_program);
    // Pages of a victim are read if they hold a valid unit.
    const double page_read = 1 - std::pow(1 - valid, units), per_page = units * valid;
    const double read =
        to_seconds(bus.issue(FlashOp::read, 1)) + to_seconds(bus.busy_delay()) + mean_of_pages(g, c.nand.t_read) +
        to_seconds(bus.data_out(static_cast<std::uint32_t>(std::lround(per_page / page_read)) * g.unit_bytes));
    const double erase = to_seconds(c.nand.t_erase) / joined / g.units_per_block();
    return wa * program / (joined * units) + (wa - 1) * read * (valid > 0 ? page_read / per_page : 0) + wa * erase;
}

}  // namespace

double steady_density(const SsdConfig& c) {
    const NandGeometry& g = c.nand.geometry;
    // Each plane keeps the blocks of the hard threshold free. It has two open blocks, for the host and for collection,
    // or one that both share.
    const double open = c.ftl.gc_frontier == GcFrontier::shared ? 1 : 2;
    const double full = g.blocks_per_plane - static_cast<double>(c.ftl.gc_hard_free_blocks) - open - c.ftl.spare_blocks;
    return static_cast<double>(logical_units_of(c.ftl, g)) * pages_with_parity(c) /
           (full * g.planes() * g.units_per_block());
}

Figures steady_state_figures(const SsdConfig& c) {
    const NandGeometry& g = c.nand.geometry;
    Figures all{"steady state of random writes", {}, {}};
    const ChoiceLaw law = victim_law(c);
    std::string why = why_no_steady_state(c);
    if (why.empty() && law.kind == ChoiceLaw::Kind::other)
        why = "no formula is known for gc.policy = \"" + c.ftl.gc_policy + "\"";
    const double density = steady_density(c);
    if (why.empty() && (density <= 0 || density >= 1)) why = "full blocks would have no invalid unit";
    if (!why.empty()) {
        all.left_out.push_back(fmt::format("{} and {}: {}.", kWa, kIops, why));
        return all;
    }
    const std::uint32_t n = SuperblockShape(g, c.ftl.superblock, {}, c.ftl.parity != Parity::none).data_units();
    const double wa = write_amplification(law, n, density);
    const bool oldest = law.kind == ChoiceLaw::Kind::oldest;
    all.of.push_back(
        {kWa, wa, "",
         fmt::format("uniform random writes of units of {}, gc.policy = \"{}\": {}, {} units in a superblock of which "
                     "{:.2f} % are valid on average",
                     size_words(g.unit_bytes), c.ftl.gc_policy,
                     oldest ? "the oldest block (Desnoyers 2012)" : "mean field of victims (Van Houdt 2013)", n,
                     100 * density)});
    const double time = die_time(c, wa) * pages_with_parity(c);
    double iops = g.dies() / time;
    std::string formula =
        fmt::format("{} dies / {} for a unit of {}: {:.3f} programs, {:.3f} moves with their reads, and erases",
                    g.dies(), time_words(time), size_words(g.unit_bytes), wa, wa - 1);
    Work unit = derived_works()[3];
    unit.bytes = g.unit_bytes;
    const Ceilings fresh = ceilings_of(c, unit);
    for (const Ceiling& ceiling : fresh.of)
        if (ceiling.least && ceiling.iops < iops) {
            iops = ceiling.iops;
            formula = fmt::format("the ceiling of random writes of {} by the {} is lower than what the dies do",
                                  size_words(g.unit_bytes), ceiling.resource);
        }
    all.of.push_back({kIops, iops, "1/s", formula});
    return all;
}

}  // namespace ssdtlm
