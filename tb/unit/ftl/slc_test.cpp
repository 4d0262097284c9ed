// SPDX-License-Identifier: Apache-2.0
// The SLC cache of the FTL: what goes into it and past it, and what is folded when.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "common/random/random.h"
#include "controller/slc/slc_feature.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;

constexpr std::uint32_t kSlcBlocks = 3;

NandGeometry geometry(std::uint32_t bits) {
    NandGeometry g = test::small_geometry();
    g.blocks_per_plane += kSlcBlocks;
    g.bits_per_cell = bits;
    return g;
}

FtlConfig config(const NandGeometry& g, SuperblockSpan span, std::uint32_t fold_free_blocks) {
    FtlConfig c = test::small_config(g, 0.5, span);
    c.slc = {kSlcBlocks, fold_free_blocks};
    return c;
}

/// A row of pages of fresh units, as many as a group has planes.
std::vector<Lpa> row(const Device& d, std::uint32_t& next) {
    std::vector<Lpa> units(d.ftl.shape().planes() * d.geometry.units_per_page());
    for (Lpa& u : units) u = Lpa{static_cast<std::uint32_t>(next++ % d.ftl.logical_units())};
    return units;
}

/// The first logical unit in the group's cache; ~0: it is empty.
std::uint32_t lowest_in_cache(const Device& d, GroupId group) {
    for (std::uint32_t l = 0; l < d.ftl.logical_units(); ++l) {
        const Ppa p = d.ftl.lookup(Lpa{l});
        if (p == kUnmapped) continue;
        const PageAddress a = d.geometry.page_of(p);
        if (d.ftl.is_slc(a) && d.ftl.shape().group_of(a.plane) == group) return l;
    }
    return ~0u;
}

class SlcCacheTest : public testing::TestWithParam<std::tuple<std::uint32_t, SuperblockSpan>> {
protected:
    const std::uint32_t bits = std::get<0>(GetParam());
    const SuperblockSpan span = std::get<1>(GetParam());
    const NandGeometry g = geometry(bits);
    /// Pages of the device's cache: of each block in SLC mode 1 of `bits`.
    const std::uint64_t cache_pages = std::uint64_t{g.planes()} * kSlcBlocks * (g.pages_per_block / bits);
};
INSTANTIATE_TEST_SUITE_P(All, SlcCacheTest,
                         testing::Combine(testing::Values(2u, 3u, 4u),
                                          testing::Values(SuperblockSpan::plane, SuperblockSpan::die)));

TEST_P(SlcCacheTest, TakesAllUntilItIsFull) {
    Device d(config(g, span, 0), g);
    std::uint32_t next = 0;
    for (std::uint64_t pages = 0; pages < 2 * cache_pages;) {
        auto units = row(d, next);
        ASSERT_TRUE(d.write(units));
        pages += d.ftl.shape().planes();
        ASSERT_EQ(d.ftl.is_slc(d.last), pages <= cache_pages) << "page " << pages;
        ASSERT_EQ(d.ftl.counters().slc_pages, std::min(pages, cache_pages));
    }
    d.ftl.verify_books();
    for (std::uint32_t i = 0; i < d.ftl.shape().groups(); ++i) {
        EXPECT_FALSE(d.ftl.wants_collection(GroupId{i}));  // of a drive that is at work
        EXPECT_TRUE(d.ftl.feature<SlcFeature>()->wants(GroupId{i}, true));
        EXPECT_EQ(d.ftl.feature<SlcFeature>()->cache().sealed_blocks(GroupId{i}), kSlcBlocks);
    }
}

TEST_P(SlcCacheTest, IsFoldedInTheOrderInWhichItWasFilledAndUsedAgain) {
    Device d(config(g, span, kSlcBlocks), g);
    const std::uint32_t planes = d.ftl.shape().planes();
    std::uint32_t next = 0;
    while (d.ftl.counters().slc_pages < cache_pages) ASSERT_TRUE(d.write(row(d, next)));
    const std::uint64_t host_pages = d.ftl.counters().host_pages;
    ASSERT_EQ(host_pages, cache_pages);
    std::uint64_t folded = 0;
    std::vector<std::uint32_t> before;
    for (std::uint32_t i = 0; i < d.ftl.shape().groups(); ++i) before.push_back(lowest_in_cache(d, GroupId{i}));
    for (std::uint32_t n = 0; n < kSlcBlocks; ++n)
        for (std::uint32_t i = 0; i < d.ftl.shape().groups(); ++i) {
            const GroupId group{i};
            ASSERT_TRUE(d.ftl.wants_collection(group));
            ASSERT_TRUE(d.collect(group));
            ASSERT_EQ(d.ftl.feature<SlcFeature>()->cache().free_blocks(group), n + 1);
            ASSERT_EQ(d.ftl.feature<SlcFeature>()->cache().sealed_blocks(group), kSlcBlocks - n - 1);
            // Written in ascending order: what is left is behind what was folded.
            const std::uint32_t lowest = lowest_in_cache(d, group);
            ASSERT_GT(lowest, before[i]);
            before[i] = lowest;
            folded += d.from.size();
            ASSERT_EQ(d.ftl.counters().slc_units_folded, folded);
        }
    EXPECT_EQ(folded, cache_pages * g.units_per_page());
    EXPECT_EQ(d.ftl.counters().slc_victims, std::uint64_t{g.planes()} * kSlcBlocks);
    // All that went through the cache was written twice, and nothing else happened.
    EXPECT_EQ(d.ftl.counters().gc_pages, cache_pages);
    EXPECT_DOUBLE_EQ(d.ftl.counters().unit_write_amplification(g.units_per_page()), 2.0);
    d.ftl.verify_books();
    for (std::uint32_t i = 0; i < d.ftl.shape().groups(); ++i) ASSERT_TRUE(d.write(row(d, next)));
    EXPECT_TRUE(d.ftl.is_slc(d.last));
    EXPECT_EQ(d.ftl.counters().slc_pages, cache_pages + std::uint64_t{d.ftl.shape().groups()} * planes);
}

TEST_P(SlcCacheTest, WhatWasWrittenAgainIsErasedWithoutFolding) {
    Device d(config(g, span, 0), g);
    const auto units = static_cast<std::uint32_t>(cache_pages * g.units_per_page());
    std::uint32_t next = 0;
    while (d.ftl.counters().slc_pages < cache_pages) ASSERT_TRUE(d.write(row(d, next)));
    for (next = 0; next < units;) ASSERT_TRUE(d.write(row(d, next)));  // past the cache
    for (std::uint32_t i = 0; i < d.ftl.shape().groups(); ++i) {
        ASSERT_TRUE(d.ftl.wants_collection(GroupId{i})) << "though it is not idle";
        ASSERT_TRUE(d.collect(GroupId{i}));
        ASSERT_TRUE(d.from.empty());
        ASSERT_EQ(d.ftl.feature<SlcFeature>()->cache().free_blocks(GroupId{i}), 1u);
        ASSERT_FALSE(d.ftl.wants_collection(GroupId{i})) << "there is room in the cache";
    }
    EXPECT_EQ(d.ftl.counters().slc_units_folded, 0u);
    EXPECT_EQ(d.ftl.counters().gc_pages, 0u);
    d.ftl.verify_books();
}

// Folding takes free superblocks; it must neither use up the last ones nor keep collection from winning others.
TEST_P(SlcCacheTest, FoldingTakesTurnsWithCollection) {
    FtlConfig c = config(g, span, kSlcBlocks);
    c.user_capacity_bytes = std::uint64_t{g.units()} * 6 / 10 * g.unit_bytes;
    Device d(c, g);
    Random random(bits);
    std::vector<VictimReason> last(d.ftl.shape().groups(), VictimReason::wear);
    std::uint64_t folds = 0, spaces = 0, at_the_threshold = 0;
    const auto collect = [&](GroupId group) {
        const bool hard = d.ftl.gc_hard(group), soft = d.ftl.gc_soft(group),
                   full = d.ftl.feature<SlcFeature>()->cache().sealed_blocks(group) != 0;
        const std::uint64_t before = d.ftl.counters().slc_victims;
        if (!d.collect(group)) return;
        const bool folds_now = d.ftl.counters().slc_victims != before;
        at_the_threshold += hard && full && last[idx(group)] != VictimReason::fold;
        ASSERT_FALSE(folds_now && hard) << "takes the last free ones";
        ASSERT_FALSE(folds_now && soft && last[idx(group)] == VictimReason::fold)
            << "twice in turn while others are wanted";
        last[idx(group)] = folds_now ? VictimReason::fold : VictimReason::space;
        ++(folds_now ? folds : spaces);
    };
    for (int i = 0; i < 60000 && !testing::Test::HasFatalFailure(); ++i) {
        std::vector<Lpa> units(g.units_per_page());
        for (Lpa& u : units) u = Lpa{static_cast<std::uint32_t>(random.below(d.ftl.logical_units()))};
        while (!d.write(units))
            for (std::uint32_t n = 0; n < d.ftl.shape().groups(); ++n) collect(GroupId{n});
        const GroupId group{static_cast<std::uint32_t>(random.below(d.ftl.shape().groups()))};
        if (random.percent(20) && d.ftl.wants_collection(group)) collect(group);
        if (i % 4000 == 0) d.ftl.verify_books();
    }
    d.ftl.verify_books();
    EXPECT_GT(folds, 100u);
    EXPECT_GT(spaces, 100u);
    EXPECT_GT(at_the_threshold, 10u);
}

// A row that was begun past the cache is completed there, though the cache has room again.
TEST(SlcCache, RowsAreCompletedWhereTheyWereBegun) {
    const NandGeometry g = geometry(3);
    Device d(config(g, SuperblockSpan::die, kSlcBlocks), g);
    std::uint32_t next = 0;
    const std::uint64_t cache_pages = std::uint64_t{g.planes()} * kSlcBlocks * (g.pages_per_block / 3);
    while (d.ftl.counters().slc_pages < cache_pages) ASSERT_TRUE(d.write(row(d, next)));
    PageAddress page, other;
    ASSERT_EQ(d.ftl.allocate_host_pages(1, &page), 1u);
    ASSERT_FALSE(d.ftl.is_slc(page));
    const GroupId group = d.ftl.shape().group_of(page.plane);
    ASSERT_TRUE(d.collect(group));
    ASSERT_EQ(d.ftl.feature<SlcFeature>()->cache().free_blocks(group), 1u);
    ASSERT_EQ(d.ftl.allocate_host_pages(1, &other, true), 1u);
    EXPECT_EQ(d.ftl.shape().group_of(other.plane), group);
    EXPECT_EQ(other.page, page.page);
    EXPECT_EQ(other.block, page.block);
}

// One that fails is lost to the cache: no spare one takes its place, and without one the drive can still be written.
TEST(SlcCache, IsSmallerWhenASuperblockFails) {
    const NandGeometry g = geometry(3);
    for (const std::uint32_t spare : {0u, 2u}) {
        FtlConfig c = config(g, SuperblockSpan::die, kSlcBlocks);
        c.spare_blocks = spare;
        Device d(c, g);
        PageAddress a;
        ASSERT_TRUE(d.ftl.allocate_host_page(a));
        ASSERT_TRUE(d.ftl.is_slc(a));
        const GroupId group = d.ftl.shape().group_of(a.plane);
        const SuperblockId failed = d.ftl.shape().superblock_of(g.block_of(a));
        const std::vector<Spare> nothing(g.units_per_page(), kPadding);
        d.flash.program_page(a, nothing.data(), d.ftl.draw_record(a));
        d.ftl.host_page_failed(a);
        const MediaHealth& media = d.ftl.media();
        EXPECT_FALSE(media.read_only);
        EXPECT_EQ(media.available_spare, 100u);
        EXPECT_EQ(media.blocks_retired, d.ftl.shape().planes());
        EXPECT_EQ(d.ftl.feature<SlcFeature>()->cache().open_block(group), kNoSuperblock);
        ASSERT_TRUE(d.ftl.wants_collection(group));
        ASSERT_TRUE(d.collect(group));
        EXPECT_EQ(d.ftl.superblock(failed).state, BlockState::retired);
        EXPECT_EQ(d.ftl.feature<SlcFeature>()->cache().free_blocks(group), kSlcBlocks - 1);
        std::uint32_t next = 0;
        for (int i = 0; i < 200; ++i) ASSERT_TRUE(d.write(row(d, next)));
        d.ftl.verify_books();
    }
}

}  // namespace
}  // namespace ssdtlm
