// SPDX-License-Identifier: Apache-2.0
// Life cycles of units, pages and blocks, step by step.
#include <gtest/gtest.h>

#include "controller/journal/notes.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;
using test::small_config;
using test::small_geometry;

NandGeometry one_plane() {
    NandGeometry g;
    g.blocks_per_plane = 10;
    g.pages_per_block = 4;
    g.page_bytes = 8192;  // 2 units
    return g;
}

std::vector<Lpa> pair(std::uint32_t first) {
    return {Lpa{first}, Lpa{first + 1}};
}

TEST(FtlLife, MapOverwriteAndTrimKeepTheValidCounts) {
    Device d(small_config(one_plane(), 0.35), one_plane());
    EXPECT_EQ(d.ftl.lookup(Lpa{3}), kUnmapped);
    ASSERT_TRUE(d.write(pair(2)));
    EXPECT_EQ(d.ftl.lookup(Lpa{3}), Ppa{1});
    EXPECT_EQ(d.ftl.superblock(SuperblockId{0}).valid, 2u);
    ASSERT_TRUE(d.write(pair(3)));
    EXPECT_EQ(d.ftl.lookup(Lpa{3}), Ppa{2});
    EXPECT_EQ(d.ftl.superblock(SuperblockId{0}).valid, 3u);
    EXPECT_EQ(d.ftl.mapped_units(), 3u);
    EXPECT_TRUE(d.ftl.trim(Lpa{3}));
    EXPECT_FALSE(d.ftl.trim(Lpa{3}));
    EXPECT_FALSE(d.ftl.trim(Lpa{9}));
    EXPECT_EQ(d.ftl.lookup(Lpa{3}), kUnmapped);
    EXPECT_EQ(d.ftl.superblock(SuperblockId{0}).valid, 2u);
    EXPECT_EQ(d.ftl.mapped_units(), 2u);
    EXPECT_EQ(d.ftl.counters().trims, 1u);
    ASSERT_TRUE(d.write({Lpa{7}}));  // half a page
    EXPECT_EQ(d.ftl.counters().pad_units(2), 1u);
    EXPECT_EQ(d.ftl.counters().host_units, 5u);
    EXPECT_EQ(d.ftl.counters().host_pages, 3u);
    d.ftl.verify_books();
}

TEST(FtlLife, ABlockIsACandidateOnlyWhenItsLastProgramIsDone) {
    Device d(small_config(one_plane(), 0.35), one_plane());
    std::vector<PageAddress> pages(4);
    for (auto& a : pages) {
        ASSERT_TRUE(d.ftl.allocate_host_page(a));
        d.ftl.map_unit(Lpa{0}, d.geometry.ppa_of(a, 0));  // all but the last invalid
    }
    EXPECT_EQ(d.ftl.superblock(SuperblockId{0}).state, BlockState::full);
    const Spare data[] = {d.ftl.codec().make(Lpa{0}, 1), kPadding};
    for (const auto& a : pages) {
        EXPECT_EQ(d.ftl.select_victim(GroupId{0}), kNoSuperblock);
        d.ftl.verify_books();  // also with programs under way
        d.flash.program_page(a, data);
        d.ftl.host_page_programmed(a);
    }
    EXPECT_EQ(d.ftl.superblock(SuperblockId{0}).state, BlockState::sealed);
    d.ftl.verify_books();
    EXPECT_EQ(d.ftl.select_victim(GroupId{0}), SuperblockId{0});
    std::uint32_t page = 0, slots = 0;
    ASSERT_TRUE(d.ftl.next_valid_page(SuperblockId{0}, page, slots));
    EXPECT_EQ(page, 3u);
    EXPECT_EQ(slots, 1u);
    EXPECT_FALSE(d.ftl.next_valid_page(SuperblockId{0}, ++page, slots));
}

TEST(FtlLife, AMoveLosesAgainstAnOverwriteOrATrim) {
    Device d(small_config(one_plane(), 0.35), one_plane());
    for (std::uint32_t i = 0; i < 4; ++i) ASSERT_TRUE(d.write(pair(2 * i)));
    ASSERT_TRUE(d.write(pair(0)));  // victim: units 2..7 of block 0
    const SuperblockId victim = d.ftl.select_victim(GroupId{0});
    ASSERT_EQ(victim, SuperblockId{0});
    const PageAddress a = d.ftl.allocate_gc_page(GroupId{0}), b = d.ftl.allocate_gc_page(GroupId{0}),
                      c = d.ftl.allocate_gc_page(GroupId{0});
    ASSERT_TRUE(d.write(pair(2)));  // while unit 2 and 3 are being moved
    ASSERT_TRUE(d.ftl.trim(Lpa{4}));
    EXPECT_EQ(d.ftl.superblock(victim).valid, 3u);
    const PageAddress to[] = {a, b, c};
    for (std::uint32_t i = 0; i < 3; ++i) {
        const Spare data[] = {d.flash.at(Ppa{2 + 2 * i}), d.flash.at(Ppa{3 + 2 * i})};
        d.flash.program_page(to[i], data, d.ftl.draw_record(to[i]));
        for (std::uint32_t s = 0; s < 2; ++s) {
            const std::uint32_t unit = 2 + 2 * i + s;
            EXPECT_EQ(d.ftl.commit_move(Lpa{unit}, Ppa{unit}, d.geometry.ppa_of(to[i], s)), unit >= 5) << unit;
        }
        d.ftl.gc_page_programmed(to[i]);
    }
    EXPECT_EQ(d.ftl.counters().gc_units_moved, 3u);
    EXPECT_EQ(d.ftl.counters().gc_units_stale, 3u);
    EXPECT_EQ(d.ftl.counters().pad_units(2), 0u);
    EXPECT_EQ(d.ftl.lookup(Lpa{2}), d.geometry.ppa_of(d.last, 0));
    EXPECT_EQ(d.ftl.lookup(Lpa{4}), kUnmapped);
    EXPECT_EQ(d.ftl.superblock(victim).valid, 0u);
    EXPECT_FALSE(d.ftl.erase_allowed(victim));  // the older copies of unit 4 would come back after a power cut
    EXPECT_TRUE(notes_of(d.ftl).must_be_written_for(victim));
    d.write_journal(GroupId{0});
    EXPECT_TRUE(d.ftl.erase_allowed(victim));
    const std::uint32_t free_before = d.ftl.free_blocks(GroupId{0});
    d.flash.erase(d.ftl.shape().block(victim, 0));
    d.ftl.superblock_erased(victim);
    EXPECT_EQ(d.ftl.free_blocks(GroupId{0}), free_before + 1);
    d.ftl.verify_books();
}

TEST(FtlLife, ReadsHoldOffTheErase) {
    Device d(small_config(one_plane(), 0.35), one_plane());
    for (std::uint32_t i = 0; i < 8; ++i) ASSERT_TRUE(d.write(pair(2 * (i % 4))));  // block 0 all invalid
    d.ftl.read_started(BlockId{0});
    d.ftl.read_started(BlockId{0});
    const SuperblockId victim = d.ftl.select_victim(GroupId{0});
    ASSERT_EQ(victim, SuperblockId{0});
    EXPECT_FALSE(d.ftl.erase_allowed(victim));
    EXPECT_THROW(d.ftl.superblock_erased(victim), Panic);
    d.ftl.read_finished(BlockId{0});
    EXPECT_FALSE(d.ftl.erase_allowed(victim));
    d.ftl.read_finished(BlockId{0});
    EXPECT_TRUE(d.ftl.erase_allowed(victim));
    EXPECT_THROW(d.ftl.read_finished(BlockId{0}), Panic);
    d.flash.erase(d.ftl.shape().block(victim, 0));
    d.ftl.superblock_erased(victim);
    d.ftl.verify_books();
}

TEST(FtlLife, CountsAnyNumberOfReads) {
    Device d(small_config(one_plane(), 0.35), one_plane());
    constexpr int kReads = 1000;
    for (int i = 0; i < kReads; ++i) d.ftl.read_started(BlockId{3});
    for (int i = 0; i < kReads; ++i) {
        EXPECT_FALSE(d.ftl.erase_allowed(SuperblockId{3})) << i;
        EXPECT_TRUE(d.ftl.erase_allowed(SuperblockId{2}));
        d.ftl.read_finished(BlockId{3});
    }
    EXPECT_TRUE(d.ftl.erase_allowed(SuperblockId{3}));
    EXPECT_THROW(d.ftl.read_finished(BlockId{3}), Panic);
}

TEST(FtlLife, HostStopsAtTheHardThresholdAndGcMayUseTheRest) {
    Device d(small_config(one_plane(), 0.35), one_plane());  // 10 blocks, hard 2
    std::uint32_t pages = 0;
    while (d.write({Lpa{0}})) ++pages;
    EXPECT_EQ(pages, 8u * 4u);  // all blocks but two, to the last page
    EXPECT_TRUE(d.ftl.gc_soft(GroupId{0}));
    EXPECT_TRUE(d.ftl.gc_hard(GroupId{0}));
    EXPECT_EQ(d.ftl.free_blocks(GroupId{0}), 2u);
    PageAddress a;
    EXPECT_FALSE(d.ftl.allocate_host_page(a));
    EXPECT_FALSE(d.ftl.takes_host_pages(GroupId{0}));
    for (int i = 0; i < 8; ++i) a = d.ftl.allocate_gc_page(GroupId{0});
    EXPECT_EQ(d.ftl.free_blocks(GroupId{0}), 0u);
    EXPECT_THROW(d.ftl.allocate_gc_page(GroupId{0}), Panic);
}

TEST(FtlLife, OrderGoesOnAndBlockedPlanesAreSkipped) {
    const NandGeometry g = small_geometry();
    FtlConfig c = small_config(g, 0.6);
    c.allocation = "PWCD";
    Device d(c, g);
    const auto sequence = plane_sequence("PWCD", g);
    PageAddress a;
    for (std::uint32_t i = 0; i < 20; ++i) {
        ASSERT_TRUE(d.ftl.allocate_host_page(a));
        EXPECT_EQ(a.plane, sequence[i % sequence.size()]);
        EXPECT_EQ(a.page, i / sequence.size());
    }
    // A group that GC has taken to its hard threshold, and whose open superblock is full, is passed over.
    const GroupId blocked = d.ftl.shape().group_of(sequence[5]);
    while (!d.ftl.gc_hard(blocked)) d.ftl.allocate_gc_page(blocked);
    const std::uint32_t planes = g.planes(), pages = planes * g.pages_per_block;
    for (std::uint32_t i = 20; i < pages; ++i) ASSERT_TRUE(d.ftl.allocate_host_page(a));  // a block of each
    for (std::uint32_t i = 0; i < 3 * planes; ++i) {
        if (i % planes == 5) continue;
        ASSERT_TRUE(d.ftl.allocate_host_page(a));
        EXPECT_EQ(a.plane, sequence[i % planes]) << i;
        EXPECT_EQ(a.page, i / planes);
    }
}

TEST(FtlLife, BrokenBooksAreFound) {
    Device d(small_config(one_plane(), 0.35), one_plane());
    ASSERT_TRUE(d.write(pair(0)));
    PageAddress a;
    ASSERT_TRUE(d.ftl.allocate_host_page(a));
    d.ftl.map_unit(Lpa{5}, d.geometry.ppa_of(a, 0));
    const Spare wrong[] = {d.ftl.codec().make(Lpa{6}, 1), kPadding};
    d.flash.program_page(a, wrong, d.ftl.draw_record(a));
    d.ftl.host_page_programmed(a);
    EXPECT_THROW(d.ftl.verify_books(), CheckFailed);
    EXPECT_THROW(d.ftl.map_unit(Lpa{7}, Ppa{0}), Panic);   // still valid there
    EXPECT_THROW(d.ftl.map_unit(Lpa{7}, Ppa{40}), Panic);  // a free block
}

}  // namespace
}  // namespace ssdtlm
