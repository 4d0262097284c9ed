// SPDX-License-Identifier: Apache-2.0
// The dynamic part of the SLC cache: as large as what is free beyond a reserve, at most as large as it is told, and
// given back by folding.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "common/random/random.h"
#include "controller/ftl/ftl_check.h"
#include "controller/precondition/precondition.h"
#include "controller/slc/slc_feature.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;

constexpr std::uint32_t kSoft = 3, kReserve = kSoft + 1;

std::vector<Lpa> row(const Device& d, std::uint32_t& next) {
    std::vector<Lpa> units(d.ftl.shape().planes() * d.geometry.units_per_page());
    for (Lpa& u : units) u = Lpa{static_cast<std::uint32_t>(next++ % d.ftl.logical_units())};
    return units;
}

class SlcDynamic : public testing::TestWithParam<std::tuple<std::uint32_t, SuperblockSpan>> {
protected:
    const std::uint32_t bits = std::get<0>(GetParam());
    const SuperblockSpan span = std::get<1>(GetParam());
    NandGeometry g = [this] {
        NandGeometry s = test::small_geometry();
        s.bits_per_cell = bits;
        return s;
    }();
    FtlConfig config(std::uint32_t fixed, std::uint32_t dynamic, std::uint32_t fold_free_blocks = 0) const {
        FtlConfig c = test::small_config(g, 0.6, span);
        c.slc = {fixed, fold_free_blocks, dynamic};
        return c;
    }
    /// In SLC mode, of a block.
    std::uint32_t pages() const { return g.pages_per_block / bits; }
    /// An idle drive: until nothing is to be folded any more.
    static void fold_all(Device& d) {
        for (std::uint32_t i = 0; i < d.ftl.shape().groups(); ++i)
            while (d.ftl.feature<SlcFeature>()->wants(GroupId{i}, true) && d.collect(GroupId{i}, true)) {
            }
    }
};
INSTANTIATE_TEST_SUITE_P(All, SlcDynamic,
                         testing::Combine(testing::Values(2u, 3u, 4u),
                                          testing::Values(SuperblockSpan::plane, SuperblockSpan::die)));

// What a drive takes in SLC mode when it has been filled so far, to the page; all behind is written past the cache.
TEST_P(SlcDynamic, IsAsLargeAsWhatIsFree) {
    for (const std::uint32_t rows : {0u, 1u, 40u, 112u, 113u, 200u, 230u})
        for (const std::uint32_t fixed : {0u, 1u})
            for (const std::uint32_t most : {1u, 5u, 1000u}) {
                FtlConfig c = config(fixed, most);
                c.initial_state = rows == 0 ? InitialState::fresh : InitialState::sequential;
                c.fill = (rows * g.planes() * g.units_per_page() + 0.5) /
                         static_cast<double>(c.user_capacity_bytes / g.unit_bytes);
                Device d(c, g);
                Preconditioner(d.ftl).run();
                ASSERT_EQ(d.ftl.mapped_units(), rows * g.planes() * g.units_per_page());
                // A page of each plane in a row.
                const std::uint32_t in_use = (rows + g.pages_per_block - 1) / g.pages_per_block,
                                    free = g.blocks_per_plane - fixed - in_use;
                const std::uint32_t dynamic = free <= kReserve ? 0 : std::min(most, free - kReserve);
                const std::uint64_t expected = std::uint64_t{g.planes()} * (fixed + dynamic) * pages();
                std::uint64_t blocks = 0;
                for (std::uint32_t i = 0; i < d.ftl.shape().groups(); ++i)
                    blocks += d.ftl.feature<SlcFeature>()->cache().free_blocks(GroupId{i}) * d.ftl.shape().planes();
                EXPECT_EQ(blocks, std::uint64_t{g.planes()} * (fixed + dynamic))
                    << "rows " << rows << " fixed " << fixed << " most " << most;
                std::uint32_t next = 0;
                for (std::uint64_t p = 0; p < expected + 4 * g.planes(); p += d.ftl.shape().planes())
                    ASSERT_TRUE(d.write(row(d, next)));
                EXPECT_EQ(d.ftl.counters().slc_pages, expected)
                    << "rows " << rows << " fixed " << fixed << " most " << most;
                EXPECT_FALSE(d.ftl.is_slc(d.last));
                for (std::uint32_t i = 0; i < d.ftl.shape().groups(); ++i)
                    ASSERT_EQ(d.ftl.feature<SlcFeature>()->cache().dynamic_blocks(GroupId{i}), dynamic);
                d.ftl.verify_books();
                ASSERT_EQ(d.ftl.counters().gc_pages, 0u);
            }
}

// Static ones are used first, and folded in the order in which they were filled. What is folded goes to the free ones
// of all.
TEST_P(SlcDynamic, APauseBringsBackWhatIsFreeThen) {
    Device d(config(1, 6), g);
    const std::uint64_t cache = std::uint64_t{g.planes()} * 7 * pages();
    std::uint32_t next = 0;
    while (d.ftl.counters().slc_pages < cache) {
        ASSERT_TRUE(d.write(row(d, next)));
        const bool fixed = d.ftl.counters().slc_pages <= std::uint64_t{g.planes()} * pages();
        ASSERT_EQ(d.ftl.feature<SlcFeature>()->cache().is_static(d.ftl.shape().superblock_of(g.block_of(d.last))),
                  fixed);
    }
    fold_all(d);
    EXPECT_EQ(d.ftl.counters().slc_units_folded, cache * g.units_per_page());
    EXPECT_EQ(d.ftl.counters().slc_victims, std::uint64_t{g.planes()} * 7);
    const std::uint32_t holds =
        (7 * pages() + g.pages_per_block - 1) / g.pages_per_block;  // blocks that it was folded to
    for (std::uint32_t i = 0; i < d.ftl.shape().groups(); ++i) {
        EXPECT_EQ(d.ftl.feature<SlcFeature>()->cache().dynamic_blocks(GroupId{i}), 0u);
        EXPECT_EQ(d.ftl.free_blocks(GroupId{i}), g.blocks_per_plane - 1 - holds);
        EXPECT_EQ(d.ftl.feature<SlcFeature>()->cache().free_blocks(GroupId{i}),
                  1 + std::min(6u, g.blocks_per_plane - 1 - holds - kReserve));
    }
    d.ftl.verify_books();
    const std::uint64_t before = d.ftl.counters().slc_pages;
    while (d.ftl.counters().slc_pages < before + cache) {
        ASSERT_TRUE(d.write(row(d, next)));
        ASSERT_TRUE(d.ftl.is_slc(d.last));
    }
    ASSERT_TRUE(d.write(row(d, next)));
    EXPECT_FALSE(d.ftl.is_slc(d.last));
    d.ftl.verify_books();
}

// The whole capacity is written at random, again and again, with blocks in both modes: there is always something to
// collect when no page is left, and all that was written is where the map says.
TEST_P(SlcDynamic, NeverRunsOutOfBlocks) {
    for (const auto& [fixed, most, fold_free] :
         {std::tuple{0u, 1000u, 0u}, std::tuple{0u, 1000u, 1000u}, std::tuple{2u, 3u, 1u}, std::tuple{0u, 2u, 0u}}) {
        FtlConfig c = config(fixed, most, fold_free);
        // The most that fits: of the units that the reserve leaves, GC needs a page's worth less one invalid in each
        // block.
        const std::uint64_t blocks = g.blocks_per_plane - fixed - (kSoft + 3) - 1;
        c.user_capacity_bytes = g.planes() * blocks * (g.units_per_block() - (g.units_per_page() - 1)) * g.unit_bytes;
        Device d(c, g);
        Random random(bits + most);
        std::uint64_t folds_at_hard = 0;
        std::vector<std::uint8_t> written(d.ftl.logical_units());
        for (int i = 0; i < 30000; ++i) {
            std::vector<Lpa> units(g.units_per_page());
            // A row of the drive after the other at first, so that it is full.
            for (std::uint32_t u = 0; u < units.size(); ++u)
                units[u] = Lpa{static_cast<std::uint32_t>(i < 4000 ? (i * units.size() + u) % d.ftl.logical_units()
                                                                   : random.below(d.ftl.logical_units()))};
            for (const Lpa u : units) written[idx(u)] = 1;
            if (random.percent(2)) {
                const Lpa gone{static_cast<std::uint32_t>(random.below(d.ftl.logical_units()))};
                if (std::find(units.begin(), units.end(), gone) == units.end()) {
                    ASSERT_EQ(d.ftl.trim(gone), written[idx(gone)]);
                    written[idx(gone)] = 0;
                }
            }
            while (!d.write(units)) {
                bool any = false;
                for (std::uint32_t n = 0; n < d.ftl.shape().groups(); ++n) {
                    const std::uint64_t before = d.ftl.counters().slc_victims;
                    const bool hard = d.ftl.gc_hard(GroupId{n});
                    any |= d.collect(GroupId{n});
                    folds_at_hard += hard && d.ftl.counters().slc_victims != before;
                }
                ASSERT_TRUE(any) << "no page for the host and nothing to collect, after " << i;
            }
            const GroupId group{static_cast<std::uint32_t>(random.below(d.ftl.shape().groups()))};
            // Without a collection in between until no page is left.
            if (fold_free != 0 && random.percent(10) && d.ftl.wants_collection(group)) d.collect(group);
            if (random.below(5000) == 0) fold_all(d);
            if (i % 3000 == 0) d.ftl.verify_books();
        }
        d.ftl.verify_books();  // among others: the flash has each unit where the map says
        EXPECT_EQ(d.ftl.mapped_units(), static_cast<std::uint64_t>(std::count(written.begin(), written.end(), 1)));
        EXPECT_GE(d.ftl.counters().slc_pages, g.planes() * pages());
        EXPECT_GT(d.ftl.counters().slc_victims, 10u);
        if (most > 100 && fold_free == 0) {
            EXPECT_GT(folds_at_hard, 0u);
        }
    }
}

// A spare one takes the place of a dynamic one that fails, as of any other that is free for all.
TEST_P(SlcDynamic, ASpareTakesThePlaceOfOneThatFails) {
    for (const bool erase : {false, true}) {
        FtlConfig c = config(0, 4);
        c.spare_blocks = 1;
        Device d(c, g);
        std::uint32_t next = 0;
        while (erase && d.ftl.feature<SlcFeature>()->cache().sealed_blocks(GroupId{0}) == 0)
            ASSERT_TRUE(d.write(row(d, next)));
        GroupId group{0};
        const std::uint32_t free = d.ftl.free_blocks(group);
        SuperblockId failed{};
        if (erase) {
            for (std::uint32_t l = 0; l < d.ftl.logical_units(); ++l) d.ftl.trim(Lpa{l});
            d.write_journal(d.ftl.shape().group_of(PlaneId{g.planes() - 1}));
            failed = d.ftl.select_victim(group, true);
            ASSERT_EQ(d.ftl.victim_reason(failed), VictimReason::fold);
            d.ftl.superblock_not_erased(failed);
        } else {
            PageAddress a;
            ASSERT_TRUE(d.ftl.allocate_host_page(a));
            ASSERT_TRUE(d.ftl.is_slc(a));
            group = d.ftl.shape().group_of(a.plane);
            failed = d.ftl.shape().superblock_of(g.block_of(a));
            const std::vector<Spare> nothing(g.units_per_page(), kPadding);
            d.flash.program_page(a, nothing.data(), d.ftl.draw_record(a));
            d.ftl.host_page_failed(a);
            EXPECT_EQ(d.ftl.feature<SlcFeature>()->cache().open_block(group), kNoSuperblock);
            ASSERT_TRUE(d.collect(group));
        }
        EXPECT_EQ(d.ftl.superblock(failed).state, BlockState::retired);
        EXPECT_FALSE(d.ftl.media().read_only);
        EXPECT_EQ(d.ftl.media().available_spare, 0);
        EXPECT_EQ(d.ftl.free_blocks(group), erase ? free + 1 : free);
        EXPECT_EQ(d.ftl.feature<SlcFeature>()->cache().free_blocks(group) +
                      d.ftl.feature<SlcFeature>()->cache().dynamic_blocks(group),
                  4u);
        d.ftl.verify_books();
    }
}

TEST(SlcDynamicConfig, WhatItIsNotMadeToWorkWith) {
    NandGeometry g = test::small_geometry();
    g.bits_per_cell = 3;
    FtlConfig c = test::small_config(g, 0.3);
    c.slc.dynamic_blocks = 2;
    EXPECT_TRUE(check_ftl(c, g).empty());
    c.stream_frontiers = 1;
    ASSERT_EQ(check_ftl(c, g).size(), 1u);
    EXPECT_EQ(check_ftl(c, g)[0].where, "ftl.stream_frontiers");
    c.stream_frontiers = 0;
    g.bits_per_cell = 1;
    ASSERT_EQ(check_ftl(c, g).size(), 1u);
    EXPECT_EQ(check_ftl(c, g)[0].where, "slc.dynamic_blocks");
    g.bits_per_cell = 3;
    c.mapping = "fast";
    c.user_capacity_bytes = 1 << 20;
    ASSERT_TRUE((c.slc.dynamic_blocks = 0, check_ftl(c, g).empty()));
    c.slc.dynamic_blocks = 2;
    ASSERT_EQ(check_ftl(c, g).size(), 1u);
    EXPECT_EQ(check_ftl(c, g)[0].where, "slc.dynamic_blocks");
}

}  // namespace
}  // namespace ssdtlm
