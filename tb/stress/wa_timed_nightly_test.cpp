// SPDX-License-Identifier: Apache-2.0
// Write amplification in time and without it, from the same state of the same drive: what a host that writes while its
// blocks are collected sees is what the untimed tables of victim policies say. One plane of 4,096 blocks of 256 pages,
// as there.
#include <cstdio>
#include <string>

#include "controller/precondition/precondition.h"
#include "equilibrium.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

struct Row {
    const char* policy;
    double over_provisioning;
};

SsdConfig drive_of(const Row& row) {
    SsdConfig c = grid(1, 1);
    NandGeometry& g = c.nand.geometry;
    g.planes_per_die = 1;
    g.blocks_per_plane = 4096;
    g.pages_per_block = 256;
    g.page_bytes = g.unit_bytes = 4096;
    const auto logical = static_cast<std::uint64_t>(static_cast<double>(g.units()) / (1 + row.over_provisioning));
    c.ftl.user_capacity_bytes = logical * g.unit_bytes;
    c.ftl.gc_policy = row.policy;
    c.ftl.gc_hard_free_blocks = 2;
    c.ftl.gc_soft_free_blocks = 3;
    c.ftl.initial_state = InitialState::random;
    c.ftl.overwrite = 4.0;
    c.ftl.buffer_bytes = 64ull * g.unit_bytes;
    c.ftl.buffer_merges = false;
    return c;
}

/// Of twice the logical size in random overwrites behind the state that the drive starts in.
double untimed(const SsdConfig& c) {
    test::Device d(c.ftl, c.nand.geometry, c.run.seed);
    Preconditioner(d.ftl).run();
    const std::uint64_t logical = d.ftl.logical_units();
    Random random(77);
    std::vector<Lpa> unit;
    const FtlCounters before = d.ftl.counters();
    for (std::uint64_t i = 0; i < 2 * logical; ++i) {
        unit.assign(1, Lpa{static_cast<std::uint32_t>(random.below(logical))});
        while (!d.write(unit))
            if (!d.collect(GroupId{0})) throw CheckFailed("nothing to collect");
    }
    return (d.ftl.counters() - before).unit_write_amplification(1);
}

class TimedAndFunctional : public testing::TestWithParam<Row> {};

TEST_P(TimedAndFunctional, TheSameWriteAmplification) {
    const SsdConfig c = drive_of(GetParam());
    const std::uint64_t logical = c.ftl.user_capacity_bytes / c.nand.geometry.unit_bytes;
    const double without_time = untimed(c), timed = equilibrium(c, 2 * logical / 10 * 10, 32).rest(0).waf;
    std::printf("[   FIGURE ] %s, %.1f %%: WA untimed %.4f, timed %.4f (%+.2f %%)\n", GetParam().policy,
                100 * GetParam().over_provisioning, without_time, timed, 100 * (timed / without_time - 1));
    EXPECT_NEAR(timed / without_time, 1.0, 0.01);
}
INSTANTIATE_TEST_SUITE_P(, TimedAndFunctional,
                         testing::Values(Row{"greedy", 0.07}, Row{"greedy", 0.28}, Row{"cost_benefit", 0.125},
                                         Row{"d_choices", 0.125}, Row{"fifo", 0.125}, Row{"random", 0.125}),
                         [](const auto& p) {
                             return std::string(p.param.policy) +
                                    std::to_string(static_cast<int>(1000 * p.param.over_provisioning));
                         });

}  // namespace
}  // namespace ssdtlm
