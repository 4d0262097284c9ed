// SPDX-License-Identifier: Apache-2.0
// The state `random` is where a loaded run stays: the first tenth of a run is like the rest. And in that state the
// planes of a die work together, if superblocks span them.
#include "equilibrium.h"

#include <cstdio>
#include <string>

namespace ssdtlm {
namespace {

SsdConfig full_of_random_writes(SsdConfig c, double over_provisioning) {
    const NandGeometry& g = c.nand.geometry;
    c.ftl.user_capacity_bytes =
        static_cast<std::uint64_t>(static_cast<double>(g.units()) / (1 + over_provisioning)) * g.unit_bytes;
    c.ftl.initial_state = InitialState::random;
    c.ftl.overwrite = 3.0;
    c.ftl.buffer_bytes = 512ull * g.unit_bytes;  // small: what replaces a buffered unit is no overwrite of flash
    return c;
}

/// Two channels of mqsim-table3 with fewer blocks.
SsdConfig two_channels(std::uint32_t planes, SuperblockSpan span) {
    SsdConfig c = table3_small();
    c.nand.geometry.channels = 2;
    c.nand.geometry.ways = 2;
    c.nand.geometry.planes_per_die = planes;
    c.nand.geometry.blocks_per_plane = 96;
    c.nand.geometry.pages_per_block = 128;
    c.ftl.superblock = span;
    return c;
}

SsdConfig large_pages() {
    SsdConfig c = two_channels(2, SuperblockSpan::die);
    c.nand.geometry.page_bytes = 16384;
    c.nand.geometry.spare_bytes = 2048;
    c.nand.geometry.pages_per_block = 64;
    c.nand.onfi.megatransfers = 533;
    c.nand.t_program = {Ps{123'000'000}};
    c.nand.t_read = {Ps{58'000'000}};
    c.nand.t_erase = Ps{5'000'000'000};
    return c;
}

struct Case {
    const char* name;
    SsdConfig config;
    std::uint32_t depth;
};

class FirstTenth : public testing::TestWithParam<int> {
public:
    static const std::vector<Case>& cases() {
        static const std::vector<Case> all = [] {
            std::vector<Case> c;
            SsdConfig grid_device = grid(2, 4);
            grid_device.nand.geometry.blocks_per_plane = 256;
            grid_device.nand.geometry.pages_per_block = 64;
            c.push_back({"8 dies, unit = page, 28 %", full_of_random_writes(grid_device, 0.28), 32});
            c.push_back(
                {"8 dies, 1 plane, 20 %", full_of_random_writes(two_channels(1, SuperblockSpan::die), 0.2), 64});
            c.push_back({"8 dies, 2 planes, by die, 20 %",
                         full_of_random_writes(two_channels(2, SuperblockSpan::die), 0.2), 64});
            c.push_back({"8 dies, 2 planes, by plane, 20 %",
                         full_of_random_writes(two_channels(2, SuperblockSpan::plane), 0.2), 64});
            c.push_back({"8 dies, 4 planes, by die, 16 %",
                         full_of_random_writes(two_channels(4, SuperblockSpan::die), 0.16), 256});
            c.push_back({"8 dies, 16 KiB pages, fast programs, 25 %", full_of_random_writes(large_pages(), 0.25), 128});
            SsdConfig lazy = full_of_random_writes(grid_device, 0.28);
            lazy.ftl.gc_soft_free_blocks = 20;
            lazy.ftl.gc_hard_free_blocks = 5;
            lazy.ftl.gc_policy = "fifo";
            c.push_back({"8 dies, FIFO victims, thresholds 20 and 5", lazy, 32});
            SsdConfig by_formula = full_of_random_writes(grid_device, 0.28);
            by_formula.ftl.initial_state = InitialState::analytic;
            c.push_back({"8 dies, by formula, 28 %", by_formula, 32});
            by_formula = full_of_random_writes(two_channels(2, SuperblockSpan::die), 0.2);
            by_formula.ftl.initial_state = InitialState::analytic;
            c.push_back({"8 dies, 2 planes, by formula, 20 %", by_formula, 64});
            // Empty, it would take the first tenth at the speed of the link.
            by_formula.ftl.buffer_bytes *= 16;
            by_formula.ftl.caches_filled = true;
            c.push_back({"8 dies, 2 planes, by formula, full buffer, 20 %", by_formula, 64});
            SsdConfig simulated = by_formula;
            simulated.ftl.initial_state = InitialState::random;
            c.push_back({"8 dies, 2 planes, full buffer, 20 %", simulated, 64});
            return c;
        }();
        return all;
    }
};

TEST_P(FirstTenth, IsLikeTheRest) {
    const Case& c = cases()[static_cast<std::size_t>(GetParam())];
    const std::uint64_t logical = c.config.ftl.user_capacity_bytes / c.config.nand.geometry.unit_bytes;
    const Equilibrium e = equilibrium(c.config, logical / 10 * 10, c.depth);
    const Tenth first = e.tenth[0], rest = e.rest(1);
    std::printf(
        "  %-42s WAF %.3f, then %.3f (%+.1f %%); IOPS %.0f, then %.0f (%+.1f %%); free blocks of a plane %.2f, then "
        "%.2f\n",
        c.name, first.waf, rest.waf, 100 * (first.waf / rest.waf - 1), first.iops, rest.iops,
        100 * (first.iops / rest.iops - 1), first.free_blocks, rest.free_blocks);
    EXPECT_NEAR(first.waf / rest.waf, 1.0, 0.05);
    EXPECT_NEAR(first.iops / rest.iops, 1.0, 0.05);
    EXPECT_NEAR(first.free_blocks, rest.free_blocks, 0.3);
}
INSTANTIATE_TEST_SUITE_P(Devices, FirstTenth, testing::Range(0, static_cast<int>(FirstTenth::cases().size())));

/// docs/validation.md shows this table.
TEST(PlanesInStep, MultiPlaneProgramsStayInSteadyState) {
    double one = 0, drifting = 0, in_step = 0, joined = 0;
    std::printf(
        "| planes | superblock | programs joined | WAF | IOPS | longest time without a completion | worst write |\n"
        "|---|---|---|---|---|---|---|\n");
    for (const auto& [planes, span] : {std::pair{1u, SuperblockSpan::die}, std::pair{2u, SuperblockSpan::plane},
                                       std::pair{2u, SuperblockSpan::die}, std::pair{4u, SuperblockSpan::die}}) {
        const SsdConfig c = full_of_random_writes(two_channels(planes, span), 0.15);
        const Equilibrium e = equilibrium(c, 200'000, 64);
        std::printf("| %u | %s | %.1f %% | %.2f | %.0f | %.1f ms | %.1f ms |\n", planes,
                    planes == 1                   ? "-"
                    : span == SuperblockSpan::die ? "die"
                                                  : "plane",
                    100 * e.joined, e.waf, e.iops, 1e3 * e.gap, 1e3 * e.worst);
        if (planes == 1) one = e.iops;
        if (planes == 2 && span == SuperblockSpan::plane) drifting = e.iops;
        if (planes == 2 && span == SuperblockSpan::die) {
            in_step = e.iops;
            joined = e.joined;
        }
    }
    EXPECT_GT(joined, 0.95);
    EXPECT_GT(in_step, 1.6 * one);  // two pages a program, less their second transfer
    EXPECT_LT(drifting, 1.2 * one);
}

}  // namespace
}  // namespace ssdtlm
