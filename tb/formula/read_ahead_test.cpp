// SPDX-License-Identifier: Apache-2.0
// Reading ahead of sequential streams and of runs with gaps: units read ahead, wanted then, and wasted, against a count
// in the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "support/devices.h"
#include "support/read_units.h"

namespace ssdtlm {
namespace {

SsdConfig device(std::uint32_t depth, std::uint32_t trigger, std::uint32_t cache) {
    SsdConfig c = table3_small();
    c.ftl.read_cache.bytes = std::uint64_t{cache} * 4096;
    c.ftl.read_ahead.bytes = std::uint64_t{depth} * 4096;
    c.ftl.read_ahead.trigger = trigger;
    return c;
}

/// Runs of so many neighbouring units, so many of them, each `stride` behind the one before.
std::vector<std::uint32_t> runs(std::uint32_t length, std::uint32_t count, std::uint32_t stride) {
    std::vector<std::uint32_t> units;
    for (std::uint32_t r = 0; r < count; ++r)
        for (std::uint32_t i = 0; i < length; ++i) units.push_back(r * stride + i);
    return units;
}

struct Counted {
    std::uint64_t ahead = 0, hits = 0;
};

/// Of one run: from the trigger on, whenever less than half of the depth is left, up to the whole of it.
Counted of_a_run(std::uint32_t length, std::uint32_t depth, std::uint32_t trigger) {
    Counted n;
    std::uint32_t end = 0;  // behind what was read ahead
    for (std::uint32_t i = 0; i < length; ++i) {
        n.hits += i < end;
        const std::uint32_t left = end > i + 1 ? end - (i + 1) : 0;
        if (i + 1 < trigger || (left != 0 && 2 * left >= depth)) continue;
        n.ahead += i + 1 + depth - std::max(end, i + 1);
        end = i + 1 + depth;
    }
    return n;
}

TEST(ReadAhead, ASequentialStream) {
    const std::vector<std::uint32_t> units = runs(4000, 1, 0);
    for (const std::uint32_t trigger : {1u, 2u, 5u})
        for (const std::uint32_t depth : {1u, 8u, 33u, 128u}) {
            SCOPED_TRACE("depth " + std::to_string(depth) + ", trigger " + std::to_string(trigger));
            const nlohmann::json n = read_units(device(depth, trigger, 512), units)["counters"];
            const Counted formula = of_a_run(4000, depth, trigger);
            EXPECT_EQ(formula.hits, 4000 - trigger);
            EXPECT_EQ(n["read_ahead_units_hit"], formula.hits);
            EXPECT_EQ(n["read_ahead_units"], formula.ahead);
            EXPECT_EQ(n["read_ahead_units_wasted"], 0);
        }
}

// What was read ahead of the end of a run is wasted when it leaves the cache.
TEST(ReadAhead, RunsWithGaps) {
    constexpr std::uint32_t kRuns = 200, kStride = 400;
    for (const std::uint32_t length : {1u, 2u, 3u, 10u, 40u})
        for (const std::uint32_t depth : {4u, 16u}) {
            const std::vector<std::uint32_t> units = runs(length, kRuns, kStride);
            const Counted run = of_a_run(length, depth, 2);
            for (const std::uint32_t cache : {64u, 20'000u}) {
                SCOPED_TRACE("runs of " + std::to_string(length) + ", depth " + std::to_string(depth) + ", cache of " +
                             std::to_string(cache));
                const nlohmann::json n = read_units(device(depth, 2, cache), units)["counters"];
                const std::uint64_t wasted = n["read_ahead_units_wasted"], unused = kRuns * (run.ahead - run.hits);
                EXPECT_EQ(n["read_ahead_units_hit"], kRuns * run.hits);
                EXPECT_EQ(n["read_ahead_units"], kRuns * run.ahead);
                EXPECT_LE(wasted, unused);
                EXPECT_GE(wasted + cache, unused);
                if (cache > units.size() + unused) {
                    EXPECT_EQ(wasted, 0u);
                }
                if (cache == 64)
                    std::printf("[   FIGURE ] runs of %u units, depth %u: %lu read ahead, %lu wanted, %lu wasted\n",
                                length, depth, kRuns * run.ahead, kRuns * run.hits, wasted);
            }
        }
}

TEST(ReadAhead, ReadsOneAtATimeNeedNotWaitForTheFlash) {
    const std::vector<std::uint32_t> units = runs(4000, 1, 0);
    for (const std::uint32_t depth : {1u, 8u, 32u}) {
        const nlohmann::json with = read_units(device(128, 2, 1024), units, depth),
                             without = read_units(device(0, 2, 1024), units, depth);
        const double faster = with["read"]["iops"].get<double>() / without["read"]["iops"].get<double>();
        std::printf("[   FIGURE ] sequential reads, depth %u: %.0f IOPS, with reading ahead %.0f\n", depth,
                    without["read"]["iops"].get<double>(), with["read"]["iops"].get<double>());
        EXPECT_GT(faster, depth == 1 ? 4 : 1);
        EXPECT_FALSE(without["counters"].contains("read_ahead_units"));
    }
}

}  // namespace
}  // namespace ssdtlm
