// SPDX-License-Identifier: Apache-2.0
// Reads of one page share an array read: how often the array reads, by count, and what a read costs that finds its page
// in the register, by formula. Sums of stages to the picosecond (run_closed_loop() checks them).
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "formula/reference.h"
#include "sim/config/config_loader.h"
#include "support/devices.h"
#include "support/read_units.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kUnits = 4;  // of a page

/// One die, and nothing that keeps the host from its depth. A unit's page is its number divided by four.
SsdConfig one_die(bool merge) {
    SsdConfig c = grid(1, 1);
    c.nand.geometry.page_bytes = kUnits * 4096;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 100 * 80 / 4096 * 4096;
    c.scheduler.merge_reads = merge;
    return c;
}

std::vector<std::uint32_t> sequence(std::uint32_t count) {
    std::vector<std::uint32_t> units;
    for (std::uint32_t i = 0; i < count; ++i) units.push_back(i);
    return units;
}

void expect_counts(const nlohmann::json& result, std::uint64_t array_reads, std::uint64_t all) {
    EXPECT_EQ(result["counters"]["flash_host_page_reads"].get<std::uint64_t>(), array_reads);
    EXPECT_EQ(result["counters"]["flash_merged_page_reads"].get<std::uint64_t>(), all - array_reads);
}

// Whether they wait for the die, for the array or come when it has ended: each page is read once.
TEST(MergedReads, ASequentialStreamReadsEachPageOnce) {
    for (const std::uint32_t depth : {1u, 2u, 3u, 4u, 5u, 8u, 16u, 64u}) {
        SCOPED_TRACE("depth " + std::to_string(depth));
        expect_counts(read_units(one_die(true), sequence(256), depth), 256 / kUnits, 256);
        const nlohmann::json each = read_units(one_die(false), sequence(256), depth);
        EXPECT_EQ(each["counters"]["flash_host_page_reads"], 256);
        EXPECT_FALSE(each["counters"].contains("flash_merged_page_reads"));
    }
}

// One at a time: the register holds the page that was read last, and no other.
TEST(MergedReads, TheRegisterHoldsOnePage) {
    Random random(7);
    std::vector<std::uint32_t> units;
    for (int i = 0; i < 2000; ++i) units.push_back(static_cast<std::uint32_t>(random.below(3 * kUnits)));
    std::uint64_t array_reads = 1;
    for (std::size_t i = 1; i < units.size(); ++i) array_reads += units[i] / kUnits != units[i - 1] / kUnits;
    expect_counts(read_units(one_die(true), units, 1), array_reads, units.size());
}

// Planes that read on their own keep their pages each. Where a die reads as one, a read of one plane is taken to cost
// the other's register.
TEST(MergedReads, ARegisterForEachPlane) {
    for (const bool planes_apart : {false, true}) {
        SsdConfig c = grid(1, 1, 2);
        c.nand.geometry.page_bytes = kUnits * 4096;
        c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 100 * 80 / 4096 * 4096;
        c.ftl.allocation = "PDWC";  // neighbouring pages on the two planes
        c.nand.independent_plane_read = planes_apart;
        c.scheduler.merge_reads = true;
        std::vector<std::uint32_t> units;
        for (std::uint32_t i = 0; i < 100; ++i) units.push_back((i & 1u) * kUnits + (i >> 1u) % kUnits);
        expect_counts(read_units(c, units, 1), planes_apart ? 2 : 100, 100);
    }
}

// A read that finds its page there saves command, address, tWB and the array, and pays the select of its column: 06h-
// 5A-E0h, then tCCS.
TEST(MergedReads, FromTheRegisterWithoutTheArray) {
    const SsdConfig c = one_die(true);
    const nlohmann::json r = read_units(c, std::vector<std::uint32_t>(100, 5), 1);
    const OnfiTiming& o = c.nand.onfi;
    const std::int64_t full = reference::unloaded_read(c, 4096),
                       saved = reference::read_issue(c.nand) + o.t_wb.count() + c.nand.t_read[0].count(),
                       select = (o.t_cs + 7 * o.t_wc + o.t_ccs).count();
    std::printf("[   FIGURE ] one read: %ld ps, from the register %ld ps\n", full, full - saved + select);
    EXPECT_EQ(r["exact_max_ps"].get<std::int64_t>(), full);
    EXPECT_EQ(r["exact_min_ps"].get<std::int64_t>(), full - saved + select);
}

// Whatever waits, each read is one of the array or shares one.
TEST(MergedReads, EachReadIsCountedOnce) {
    for (const bool planes_apart : {false, true})
        for (const std::uint32_t depth : {1u, 16u, 64u}) {
            SsdConfig c = table3_small();
            c.scheduler.merge_reads = true;
            c.nand.independent_plane_read = planes_apart;
            ClosedLoop::Spec s;
            s.depth = depth;
            s.requests = 5000;
            s.span = 1 << 20;
            const nlohmann::json n = run_closed_loop(c, s)["counters"];
            const std::uint64_t merged = n["flash_merged_page_reads"], read = n["flash_host_page_reads"];
            EXPECT_EQ(read + merged, s.requests);
            EXPECT_GT(merged, 0u);
        }
}

// A page is disturbed by what the array reads. Sixteen passes over a block are 4,096 reads of its 256 pages.
TEST(MergedReads, AreOneReadForTheDisturb) {
    for (const bool merge : {false, true}) {
        SsdConfig c = one_die(merge);
        c.ftl.refresh_reads = 5000;
        std::vector<std::uint32_t> units;
        for (int pass = 0; pass < 16; ++pass)
            for (std::uint32_t i = 0; i < 256 * kUnits; ++i) units.push_back(i);
        const nlohmann::json r = read_units(c, units, 16);
        if (merge) expect_counts(r, 16 * 256, units.size());
        EXPECT_EQ(r["ftl"]["refresh_blocks_collected"].get<int>() != 0, !merge);
    }
}

double iops(const SsdConfig& c, ClosedLoop::Pattern pattern, std::uint32_t depth) {
    ClosedLoop::Spec s;
    s.pattern = pattern;
    s.depth = depth;
    s.requests = 5'000;
    s.skip = 500;
    s.span = 64 << 20;
    return run_closed_loop(c, s)["read"]["iops"];
}

TEST(MergedReads, SequentialReadsAreNotSlowerThanRandomOnes) {
    for (const char* preset : {"mqsim-table3", "hexa-16g"})
        for (const std::uint32_t depth : {1u, 8u, 32u}) {
            // Few blocks: reads do not care, and the drive is built at once.
            SsdConfig c = load_config({preset}, {"nand.geometry.blocks_per_plane=64", "ftl.user_capacity=6GB"}).config;
            c.scheduler.merge_reads = false;
            const double each = iops(c, ClosedLoop::Pattern::sequential, depth);
            c.scheduler.merge_reads = true;
            const double random = iops(c, ClosedLoop::Pattern::random, depth),
                         merged = iops(c, ClosedLoop::Pattern::sequential, depth);
            std::printf("[   FIGURE ] %s, depth %u: random %.0f IOPS, sequential %.0f, with merged reads %.0f\n",
                        preset, depth, random, each, merged);
            EXPECT_GT(merged, random * 0.995);
        }
}

}  // namespace
}  // namespace ssdtlm
