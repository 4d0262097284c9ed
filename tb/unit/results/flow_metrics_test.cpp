// SPDX-License-Identifier: Apache-2.0
#include "sim/results/flow_metrics.h"

#include <gtest/gtest.h>

namespace ssdtlm {
namespace {

FlowFigures figures(std::uint64_t commands, std::int64_t mean_us, double active_s, double queue = 0) {
    FlowFigures f;
    f.commands = commands;
    f.response_ps = static_cast<std::int64_t>(commands) * mean_us * 1'000'000;
    f.active_s = active_s;
    f.chip_queue = queue;
    return f;
}

TEST(FlowMetrics, OfTwoFlows) {
    // 100 us alone, 400 us beside the other; half of the commands in the same time. The other: 50 us and 100 us.
    const FlowChange a = change_of(figures(500, 400, 2, 6), figures(1000, 100, 2, 1.5));
    const FlowChange b = change_of(figures(3000, 100, 1), figures(4000, 50, 1));
    EXPECT_DOUBLE_EQ(*a.slowdown, 4);
    EXPECT_DOUBLE_EQ(*a.throughput, 0.5);
    EXPECT_DOUBLE_EQ(*a.chip_queue, 4);
    EXPECT_DOUBLE_EQ(*b.slowdown, 2);
    EXPECT_DOUBLE_EQ(*b.throughput, 0.75);
    EXPECT_FALSE(b.chip_queue);  // alone it never waits
    const Interference all = *interference_of({a, b});
    EXPECT_DOUBLE_EQ(all.fairness, 0.5);
    EXPECT_DOUBLE_EQ(all.weighted_speedup, 0.25 + 0.5);
}

TEST(FlowMetrics, WithoutInterference) {
    const FlowChange same = change_of(figures(10, 90, 1), figures(10, 90, 1));
    const Interference all = *interference_of({same, same, same});
    EXPECT_DOUBLE_EQ(all.fairness, 1);
    EXPECT_DOUBLE_EQ(all.weighted_speedup, 3);
}

TEST(FlowMetrics, BandwidthThatFlowsKeep) {
    const auto by_bytes = [](std::uint64_t bytes, double active_s) {
        FlowFigures f = figures(1, 1, active_s);
        f.bytes = bytes;
        return f;
    };
    // 100 of 400 bytes a second, and 300 of 500.
    const FlowChange a = change_of(by_bytes(200, 2), by_bytes(400, 1)),
                     b = change_of(by_bytes(300, 1), by_bytes(1000, 2));
    EXPECT_DOUBLE_EQ(*a.bandwidth, 0.25);
    EXPECT_DOUBLE_EQ(*b.bandwidth, 0.6);
    const BandwidthShares all = *bandwidth_shares_of({a, b});
    EXPECT_DOUBLE_EQ(all.utilisation, 0.85);
    EXPECT_DOUBLE_EQ(all.fairness(), 1 - (0.6 - 0.25));
    EXPECT_DOUBLE_EQ(all.ratio(), 0.25 / 0.6);
    EXPECT_FALSE(bandwidth_shares_of({}));
    EXPECT_FALSE(bandwidth_shares_of({a, change_of(by_bytes(1, 1), by_bytes(0, 1))}));
    // One that gets nothing at all.
    EXPECT_DOUBLE_EQ(bandwidth_shares_of({change_of(by_bytes(0, 1), by_bytes(1, 1)), a})->ratio(), 0);
}

TEST(FlowMetrics, HitRatios) {
    FlowFigures shared = figures(10, 90, 1), alone = shared;
    shared.map_hits = 30;
    shared.map_misses = 70;
    alone.map_hits = 60;
    alone.map_misses = 40;
    shared.reads = alone.reads = 8;
    shared.reads_without_flash = 1;
    alone.reads_without_flash = 4;
    const FlowChange c = change_of(shared, alone);
    EXPECT_DOUBLE_EQ(*c.map_hit_ratio, 0.5);
    EXPECT_DOUBLE_EQ(*c.read_hit_ratio, 0.25);
    EXPECT_FALSE(change_of(figures(1, 1, 1), alone).map_hit_ratio);
}

TEST(FlowMetrics, NothingToCompareWith) {
    EXPECT_FALSE(change_of(figures(0, 0, 1), figures(10, 90, 1)).slowdown);
    EXPECT_FALSE(change_of(figures(10, 90, 1), figures(0, 0, 0)).slowdown);
    EXPECT_FALSE(interference_of({change_of(figures(10, 90, 1), figures(0, 0, 0))}));
    EXPECT_FALSE(interference_of({}));
}

}  // namespace
}  // namespace ssdtlm
