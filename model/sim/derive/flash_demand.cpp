// SPDX-License-Identifier: Apache-2.0
// The demands on channel buses and dies. If planes read independently, they are on planes instead of dies. Sequences
// and times come from nand/onfi/onfi_timing.h.
#include <algorithm>

#include "controller/ftl/mapping/mapping.h"
#include "nand/onfi/onfi_timing.h"
#include "sim/derive/demand.h"
#include "sim/derive/page_times.h"
#include "sim/derive/words.h"

namespace ssdtlm {

namespace {

/// Returns true if a bus or a die has other work that the formulas do not include.
bool has_other_work(const SsdConfig& c) {
    return c.scheduler.implementation != "tlm" || !c.channel.rtl_sequencer.empty() || c.faults.by_chance() ||
           c.faults.model != FaultConfig{}.model || c.ftl.has_checkpoints() || c.ftl.parity != Parity::none;
}

class Flash {
public:
    Flash(const SsdConfig& c, const Work& w, Demands& all)
        : c_(c),
          w_(w),
          all_(all),
          g_(c.nand.geometry),
          bus_(c.nand),
          others_(c.ftl.slc.any() || g_.two_step || has_other_work(c) || placed_in_blocks() || on_flash()) {}

    void run() {
        if (w_.reads())
            reads();
        else
            writes();
    }

private:
    bool placed_in_blocks() const { return mapping_of(c_.ftl, g_)->places_by_blocks(); }
    bool on_flash() const { return mapping_of(c_.ftl, g_)->is_on_flash(); }
    double op(FlashOp o, std::uint32_t planes) const { return to_seconds(bus_.issue(o, planes)); }

    void add_bus(double least, double most, const std::string& formula) {
        if (least <= 0) return;  // nand.onfi.interface = "ideal"
        add("channel bus", g_.channels, least, most,
            fmt::format("{} channels / {} for {} B: {}", g_.channels, time_words(least), w_.bytes, formula));
    }
    /// Adds the time for which an operation occupies a die, or each of its planes that take part.
    void add_array(double planes, double least, double most, const std::string& formula) {
        if (c_.nand.independent_plane_read) {
            add("plane", g_.planes(), planes * least, planes * most,
                fmt::format("{} planes / {} for {} B: {}", g_.planes(), time_words(planes * least), w_.bytes, formula));
            return;
        }
        add("die", g_.dies(), least, most,
            fmt::format("{} dies / {} for {} B: {}", g_.dies(), time_words(least), w_.bytes, formula));
    }
    void add(const char* name, double members, double least, double most, std::string formula) {
        if (least > 0) all_.of.push_back({name, members, least, others_ ? 0 : most, std::move(formula)});
    }

    void reads() {
        // Ascending commands of whole pages share no reads.
        if (c_.scheduler.merge_reads && (w_.random || w_.bytes % g_.page_bytes != 0)) {
            all_.left_out.push_back("channel bus, die: with scheduler.merge_reads commands share reads of a page.");
            return;
        }
        if (c_.ftl.read_cache.bytes != 0 || c_.ftl.read_cache.shares_room() || c_.ftl.read_ahead.bytes != 0) {
            all_.left_out.push_back("channel bus, die: what the read cache holds is read from no flash.");
            return;
        }
        const auto parts = static_cast<std::uint32_t>(div_ceil(w_.bytes, g_.page_bytes));
        const auto most_parts = static_cast<std::uint32_t>(w_.random ? units_of_command(c_, w_) : parts + 1);
        const std::uint32_t bytes = w_.bytes / parts;
        const double select = to_seconds(bus_.select()), back = to_seconds(bus_.turnaround());
        const double issue = op(FlashOp::read, 1), out = to_seconds(bus_.data_out(bytes));
        const double begins = to_seconds(bus_.busy_delay()), array = mean_read(c_);
        const double alone = issue + out + back;
        const std::uint32_t joined = c_.scheduler.multi_plane ? g_.planes_per_die : 1;
        const double together = op(FlashOp::read, joined) + joined * (select + out + back);
        const double per_page = joined == 1 ? alone : std::min(alone, together / joined);
        add_bus(parts * per_page, std::max(most_parts * (alone + select), parts * together / joined),
                fmt::format("{} x (command {} + data of {} B {} + tRHW {})", parts, time_words(issue), bytes,
                            time_words(out), time_words(back)));
        // A die keeps a page that it has read until the bus has transferred it.
        const double one = issue + begins + array + out;
        if (c_.nand.independent_plane_read) {
            add_array(1, parts * one, most_parts * one, cycle_words(parts, issue, begins, array, out, 1));
            return;
        }
        const double outs = joined == 1 ? out : joined * (select + out) + (joined - 1) * back;
        const double row = op(FlashOp::read, joined) + begins + array + outs;
        const double least = std::min(one, row / joined);
        // Random reads of several planes are joined only if their pages have the same number. Ascending reads are
        // always joined.
        add_array(1, parts * least, w_.random ? most_parts * (one + back + select) : parts * least,
                  least == one ? cycle_words(parts, issue, begins, array, out, 1)
                               : cycle_words(parts, op(FlashOp::read, joined), begins, array, outs, joined));
    }
    std::string cycle_words(std::uint32_t parts, double issue, double begins, double array, double out,
                            std::uint32_t joined) const {
        return fmt::format("{} pages x (command {} + tWB {} + tR {} + data out {}) / {} planes at a time", parts,
                           time_words(issue), time_words(begins), time_words(array), time_words(out), joined);
    }

    void writes() {
        if (placed_in_blocks() && w_.random)
            all_.left_out.push_back("die: what merges of log blocks (ftl.mapping = \"" + c_.ftl.mapping +
                                    "\") cost is not in these ceilings.");
        if (c_.ftl.slc.any())
            all_.left_out.push_back("die: writes go to the SLC cache first; folding is not in these ceilings.");
        const double programmed = 1 - most_coalesced(c_, w_);
        if (programmed <= 0) {
            all_.left_out.push_back("channel bus, die: the write buffer holds the whole drive.");
            return;
        }
        const double pages =
            static_cast<double>(units_of_command(c_, w_)) * g_.unit_bytes / g_.page_bytes * pages_with_parity(c_);
        const std::uint32_t joined = c_.scheduler.multi_plane ? g_.planes_per_die : 1;
        // There may be too few programs in flight for a row of all planes. Independent planes drift apart, and pages
        // with different numbers are not programmed together. In the worst case each page is programmed by itself.
        const bool apart = c_.ftl.superblock == SuperblockSpan::plane;
        const auto row_pages = apart ? 1u
                                     : static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                           joined, std::uint64_t{g_.dies()} * c_.ftl.flush_depth(g_)));
        const auto transfer = [&](std::uint32_t planes) {
            return op(FlashOp::program, planes) + planes * to_seconds(bus_.data_in(g_.page_bytes));
        };
        const double rows = pages * programmed / joined;
        add_bus(std::min(rows * transfer(joined), pages * programmed * transfer(1)),
                std::max(pages / row_pages * transfer(row_pages), pages / joined * transfer(joined)),
                fmt::format("{:.4g} pages x command and data of {} B {}", pages * programmed, g_.page_bytes,
                            time_words(transfer(joined) / joined)));
        const double program = least_program(c_), begins = to_seconds(bus_.busy_delay());
        const auto cycle = [&](std::uint32_t planes) {
            return c_.nand.cache_program ? std::max(program, transfer(planes)) : transfer(planes) + begins + program;
        };
        const double behind = row_pages == joined ? cycle(joined) : transfer(row_pages) + begins + program;
        add_array(joined, rows * cycle(joined), pages / row_pages * behind,
                  fmt::format("{:.4g} rows x ({} pages on the bus {}, {} tPROG {})", rows, joined,
                              time_words(transfer(joined)),
                              c_.nand.cache_program ? "while the array programs others:" : "then tWB and",
                              time_words(program)));
    }

    const SsdConfig& c_;
    const Work& w_;
    Demands& all_;
    const NandGeometry& g_;
    const OnfiBusTiming bus_;
    const bool others_;
};

}  // namespace

double mean_of_pages(const NandGeometry& g, const std::vector<Ps>& by_type) {
    if (by_type.size() == 1) return to_seconds(by_type.front());
    double sum = 0;
    for (std::uint32_t page = 0; page < g.pages_per_block; ++page)
        sum += to_seconds(by_type[std::min<std::size_t>(g.page_type(page), by_type.size() - 1)]);
    return sum / g.pages_per_block;
}

double mean_read(const SsdConfig& c) {
    const double read = mean_of_pages(c.nand.geometry, c.nand.t_read);
    return c.ftl.slc.any() ? std::min(read, to_seconds(c.nand.slc.t_read)) : read;
}

double least_program(const SsdConfig& c) {
    const double program = mean_of_pages(c.nand.geometry, c.nand.t_program);
    return c.ftl.slc.any() ? std::min(program, to_seconds(c.nand.slc.t_program)) : program;
}

void add_flash_demands(const SsdConfig& c, const Work& w, Demands& all) {
    Flash(c, w, all).run();
}

}  // namespace ssdtlm
