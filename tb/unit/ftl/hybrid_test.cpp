// SPDX-License-Identifier: Apache-2.0
// Merges of each kind, counted against sequences worked out by hand. A logical block is 8 pages of 2 units.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "controller/mount/recovery.h"
#include "hybrid_fixture.h"

namespace ssdtlm {
namespace {

using test::hybrid_of;
using test::HybridDevice;

/// Merges, and the traffic that they make.
struct Merges {
    std::uint64_t direct = 0, switches = 0, partial = 0, full = 0, blocks = 0, empty = 0, pages = 0, units = 0,
                  erases = 0;
    friend bool operator==(const Merges& a, const Merges& b) {
        return a.direct == b.direct && a.switches == b.switches && a.partial == b.partial && a.full == b.full &&
               a.blocks == b.blocks && a.empty == b.empty && a.pages == b.pages && a.units == b.units &&
               a.erases == b.erases;
    }
    friend std::ostream& operator<<(std::ostream& o, const Merges& m) {
        return o << "direct " << m.direct << ", switch " << m.switches << ", partial " << m.partial << ", full "
                 << m.full << " (" << m.blocks << " logical blocks), empty " << m.empty << ", pages " << m.pages
                 << ", units " << m.units << ", erases " << m.erases;
    }
};
Merges merges_of(const FtlCounters& c) {
    return {c.direct_blocks, c.switch_merges, c.partial_merges, c.full_merges,  c.full_merge_blocks,
            c.empty_logs,    c.gc_pages,      c.gc_units_moved, c.blocks_erased};
}

struct Hybrid : ::testing::Test {
    NandGeometry g = test::hybrid_geometry();
    HybridDevice d{test::hybrid_config(g, 2), g};
    FtlCounters before = d.ftl.counters();

    /// Since the last time.
    Merges merges() {
        d.merge(GroupId{0});
        d.ftl.verify_books();
        const Merges m = merges_of(d.since(before));
        before = d.ftl.counters();
        return m;
    }
    void write_pages(std::uint32_t block, std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t p = from; p < to; ++p) d.write(block, p);
    }
    void write_units(std::uint32_t block, std::uint32_t a, std::uint32_t b) {
        d.write({d.unit(block, a), d.unit(block, b)});
    }
};

TEST_F(Hybrid, AnAscendingWriteOfNewDataMakesDataBlocksDirectly) {
    write_pages(0, 0, 8);
    write_pages(1, 0, 8);
    EXPECT_EQ(merges(), (Merges{2, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_NE(hybrid_of(d.ftl).data_block(GroupId{0}, 1), kNoSuperblock);
}

TEST_F(Hybrid, AWholeLogicalBlockWrittenAgainIsSwitched) {
    write_pages(0, 0, 8);
    merges();
    const SuperblockId old = hybrid_of(d.ftl).data_block(GroupId{0}, 0);
    write_pages(0, 0, 7);
    EXPECT_EQ(merges(), Merges{});
    d.write(0, 7);
    EXPECT_EQ(merges(), (Merges{0, 1, 0, 0, 0, 0, 0, 0, 2}));  // the old block of both planes
    EXPECT_NE(hybrid_of(d.ftl).data_block(GroupId{0}, 0), old);
    EXPECT_EQ(d.ftl.superblock(old).state, BlockState::free);
}

TEST_F(Hybrid, AnotherLogicalBlockTakesTheSequentialLogAfterAPartialMerge) {
    write_pages(0, 0, 8);
    merges();
    write_pages(0, 0, 3);
    d.write(1, 0);
    EXPECT_EQ(merges(), (Merges{0, 0, 1, 0, 0, 0, 5, 10, 2}));  // pages 3 to 7
    d.write(1, 0);  // the same logical block from its start again: nothing behind its page 0
    EXPECT_EQ(merges(), (Merges{1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(Hybrid, APartialMergeTakesTheNewestOfTheRestFromRandomLogs) {
    write_pages(0, 0, 8);
    merges();
    write_units(0, 15, 2);  // to a random log; the unit 2 is in front of where the sequential log will end, but newer
                            // only until it is written
    write_pages(0, 0, 2);   // units 0 to 3
    write_units(0, 1, 9);   // newer than the sequential log
    d.write(1, 0);
    EXPECT_EQ(merges(), (Merges{0, 0, 1, 0, 0, 0, 6, 12, 2}));
    const auto at = [this](std::uint32_t n) { return d.ftl.shape().superblock_of(d.ftl.lookup(d.unit(0, n))); };
    const SuperblockId data = hybrid_of(d.ftl).data_block(GroupId{0}, 0),
                       log = hybrid_of(d.ftl).random_logs(GroupId{0}).front();
    EXPECT_EQ(at(1), log);
    for (const std::uint32_t n : {0u, 2u, 3u, 4u, 9u, 15u}) EXPECT_EQ(at(n), data) << n;
    EXPECT_EQ(d.ftl.superblock(log).valid, 1u);
}

TEST_F(Hybrid, WhatDoesNotGoOnGoesToRandomLogsAndIsMergedInFull) {
    for (std::uint32_t block = 0; block < 3; ++block) write_pages(block, 0, 8);
    merges();
    // The first log: 6 pages with units of logical blocks 2 and 0, then two of block 1; the second one: units of block
    // 0 only.
    write_units(2, 3, 5);
    write_units(0, 4, 8);
    for (std::uint32_t i = 0; i < 4; ++i) write_units(0, 4, 8);
    write_units(1, 15, 14);
    write_units(1, 0, 2);
    for (std::uint32_t i = 0; i < 8; ++i) write_units(0, 6, 9);
    EXPECT_EQ(merges(), Merges{});
    // The next page finds both full. In the oldest one logical blocks 2, 0 and 1 have units: 8 pages of 2 units each.
    write_units(0, 7, 9);
    EXPECT_EQ(merges(), (Merges{0, 0, 0, 1, 3, 0, 24, 48, 8}));  // 3 data blocks and the log
    // Block 0 was gathered with what the second log had of it: but for the unit 9, which is newer, all of it is in the
    // data block.
    const SuperblockId second = hybrid_of(d.ftl).random_logs(GroupId{0}).front();
    EXPECT_EQ(d.ftl.superblock(second).valid, 0u);
    for (std::uint32_t i = 0; i < 7; ++i) write_units(0, 7, 9);
    write_units(0, 7, 9);  // the second one is empty: nothing to gather
    EXPECT_EQ(merges(), (Merges{0, 0, 0, 0, 0, 1, 0, 0, 2}));
}

TEST_F(Hybrid, AFullMergeTakesTheSequentialLogOfItsLogicalBlockAlong) {
    write_pages(0, 0, 8);
    write_pages(1, 0, 8);
    merges();
    write_pages(0, 0, 3);
    for (std::uint32_t i = 0; i < 16; ++i) write_units(0, 12, 14);
    write_units(1, 0, 5);
    // Both logs hold block 0 only, the newest copies in the second; the first is empty.
    EXPECT_EQ(merges(), (Merges{0, 0, 0, 0, 0, 1, 0, 0, 2}));
    for (std::uint32_t i = 0; i < 7; ++i) write_units(1, 0, 5);
    EXPECT_EQ(merges(), Merges{});
    write_units(1, 0, 5);
    // Of the second: block 0, with the sequential log, the old data block and the log itself erased.
    EXPECT_EQ(merges(), (Merges{0, 0, 0, 1, 1, 0, 8, 16, 6}));
    EXPECT_EQ(hybrid_of(d.ftl).sequential_log(GroupId{0}), kNoSuperblock);
    // What would have gone on there is random now.
    d.write(0, 3);
    EXPECT_EQ(d.ftl.shape().superblock_of(d.ftl.lookup(d.unit(0, 6))), hybrid_of(d.ftl).random_logs(GroupId{0}).back());
}

TEST_F(Hybrid, WhatWasNeverWrittenIsPadding) {
    write_units(0, 3, 6);  // a logical block without a data block
    for (std::uint32_t i = 0; i < 15; ++i) write_units(1, 0, 5);
    write_units(1, 0, 5);
    // Of block 0 the pages 0 to 3 (unit 6 is in page 3), with 2 units; of block 1 nothing is in the first log any more.
    EXPECT_EQ(merges(), (Merges{0, 0, 0, 1, 1, 0, 4, 2, 2}));
    EXPECT_EQ(d.ftl.lookup(d.unit(0, 0)), kUnmapped);
    EXPECT_NE(d.ftl.lookup(d.unit(0, 6)), kUnmapped);
    EXPECT_EQ(d.ftl.counters().pad_units(2), 6u);
}

TEST_F(Hybrid, WhatWasDeallocatedIsPaddingToo) {
    write_pages(0, 0, 8);
    merges();
    write_pages(0, 0, 2);
    d.ftl.trim(d.unit(0, 5), 2);   // in pages 2 and 3
    d.ftl.trim(d.unit(0, 14), 2);  // the last page
    d.write(1, 0);
    // Pages 2 to 6, with units 4, 7, 8 to 13. The old data block waits for the journal.
    EXPECT_EQ(merges(), (Merges{0, 0, 1, 0, 0, 0, 5, 8, 2}));
    EXPECT_EQ(d.ftl.counters().journal_pages, 1u);
    EXPECT_EQ(d.ftl.lookup(d.unit(0, 5)), kUnmapped);
}

TEST_F(Hybrid, SequentialStateIsDataBlocksAndAnOpenSequentialLog) {
    FtlConfig c = test::hybrid_config(g, 2);
    c.initial_state = InitialState::sequential;
    c.fill = 2.375 * 16 * 4096 / static_cast<double>(c.user_capacity_bytes);  // 2 logical blocks and 3 pages
    HybridDevice laid(c, g);
    laid.ftl.verify_books();
    EXPECT_NE(hybrid_of(laid.ftl).data_block(GroupId{0}, 1), kNoSuperblock);
    EXPECT_EQ(hybrid_of(laid.ftl).data_block(GroupId{0}, 2), kNoSuperblock);
    EXPECT_EQ(laid.ftl.placement()->next_sequential(GroupId{0}), (LogicalPage{GroupId{0}, 2, 3}));
    for (std::uint32_t p = 3; p < 8; ++p) laid.write(2, p);
    laid.ftl.verify_books();
    EXPECT_EQ(laid.ftl.counters().direct_blocks, 1u);
}

TEST_F(Hybrid, TheOldestRandomLogGoesAndTheHostMayUseTheRest) {
    for (std::uint32_t i = 0; i < 16; ++i) write_units(i % 4, 2 * (i % 7), 2 * (i % 7) + 3);
    const SuperblockId oldest = hybrid_of(d.ftl).random_logs(GroupId{0})[0],
                       next = hybrid_of(d.ftl).random_logs(GroupId{0})[1];
    write_units(0, 1, 2);
    EXPECT_EQ(d.ftl.superblock(oldest).write_pointer, 0u);
    EXPECT_EQ(hybrid_of(d.ftl).random_logs(GroupId{0})[0], next);
    d.ftl.verify_books();
}

// One group to each partition: where a logical block is, and that the formula of the capacity leaves all of it room.
TEST(HybridShape, LogicalBlocksOfManyGroups) {
    for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die}) {
        NandGeometry g = test::hybrid_geometry();
        g.channels = 3;
        g.ways = 2;
        const FtlConfig c = test::hybrid_config(g, 3, span);
        HybridDevice d(c, g);
        const LogicalBlocks& logical = d.logical();
        std::vector<std::uint32_t> units(d.ftl.shape().groups());
        for (std::uint32_t l = 0; l < d.ftl.logical_units(); ++l) {
            const LogicalPage p = logical.page_of(Lpa{l});
            ASSERT_EQ(idx(logical.first_unit(p)) + logical.slot_of(Lpa{l}), l);
            ASSERT_LT(logical.slot_of(Lpa{l}), logical.units(p));
            ASSERT_LT(p.block, logical.count(p.group));
            ASSERT_LT(p.page, logical.pages(p.group, p.block));
            ASSERT_EQ(d.ftl.partitions().groups(d.ftl.partitions().of(Lpa{l}))[0], p.group);
            // The n-th of its group is at unit n of its logical blocks.
            ASSERT_EQ((p.block * d.ftl.shape().pages() + p.page) * g.units_per_page() + logical.slot_of(Lpa{l}),
                      units[idx(p.group)]++);
        }
        for (std::uint32_t i = 0; i < units.size(); ++i) {
            EXPECT_LE(logical.count(GroupId{i}), g.blocks_per_plane - reserved_blocks(c, g));
            EXPECT_EQ(d.ftl.partitions().groups(i).size(), 1u);
        }
    }
}

}  // namespace
}  // namespace ssdtlm
