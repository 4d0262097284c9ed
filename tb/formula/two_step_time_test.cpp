// SPDX-License-Identifier: Apache-2.0
// Writes with FUA one at a time on MLC that is programmed in two steps, to the picosecond: each waits until padding has
// closed its word line.
#include <gtest/gtest.h>

#include "formula/one_by_one.h"
#include "formula/reference.h"
#include "support/devices.h"

namespace ssdtlm {
namespace {

constexpr Ps kLower{400'000'000}, kUpper{1'300'000'000};

SsdConfig one_plane(bool two_step) {
    SsdConfig c = table3_small();
    NandGeometry& g = c.nand.geometry;
    g.channels = g.ways = g.dies_per_chip = g.planes_per_die = 1;
    g.blocks_per_plane = 64;
    g.pages_per_block = 16;
    g.bits_per_cell = 2;
    g.two_step = two_step;
    if (two_step)
        c.nand.t_program = {kLower, kUpper};
    else
        c.nand.t_program = {kLower};
    c.ftl.user_capacity_bytes = std::uint64_t{g.units()} / 4 * g.unit_bytes;
    c.ftl.initial_state = InitialState::fresh;
    return c;
}

/// A page of padding that an idle die takes, its data at hand.
std::int64_t program(const SsdConfig& c, Ps array) {
    return reference::program_cycle(c.nand, 1) - c.nand.t_program[0].count() + array.count();
}

TEST(TwoStepTime, AWriteWithFuaWaitsForItsWordLine) {
    const SsdConfig one = one_plane(false), two = one_plane(true);
    std::vector<OneByOne::Step> steps;
    for (std::uint64_t unit = 0; unit < 11; ++unit) steps.push_back({HostOp::write, unit * 4096, 4096, true});
    const auto of_one = latencies_one_by_one(one, steps), of_two = latencies_one_by_one(two, steps);
    // The pages of a block: L0 L1 U0 L2 U1 L3 U2 L4 U3 L5 U4 L6 U5 L7 U6 U7. Data go to L0, L2, L4, L6, the padding of
    // each as far as its upper page; what is left is U7, behind which nothing is open.
    const std::int64_t lower = program(two, kLower), upper = program(two, kUpper);
    const std::int64_t begins = reference::cycles(two.firmware, two.firmware.flash_issue) +
                                reference::dram(two.dram, two.nand.geometry.page_bytes);
    const std::vector<std::int64_t> more = {begins + lower + upper, begins + upper + lower + upper,
                                            begins + upper + lower + upper, begins + upper + lower + upper,
                                            (kUpper - kLower).count()};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const std::int64_t formula = of_one[i] + more[i % more.size()];
        if (i < more.size())
            std::printf("[   FIGURE ] write %zu with FUA: formula %ld ps, model %ld ps; in one step %ld ps\n", i,
                        formula, of_two[i], of_one[i]);
        EXPECT_EQ(of_two[i], formula) << "write " << i;
    }
}

}  // namespace
}  // namespace ssdtlm
