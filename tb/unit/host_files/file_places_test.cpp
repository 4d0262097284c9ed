// SPDX-License-Identifier: Apache-2.0
// Where files and the file system's own blocks lie.
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "host_files/ext4/block_allocator.h"
#include "host_files/ext4/ext4_file.h"
#include "host_files/ext4/ext4_layout.h"

namespace ssdtlm {
namespace {

TEST(BlockAllocator, GivesEachBlockOnceAndTakesItBack) {
    std::mt19937 random(1);
    constexpr std::uint64_t kBlocks = 500;
    BlockAllocator space(kBlocks);
    std::vector<bool> used(kBlocks);
    std::vector<BlockRun> held;
    for (int i = 0; i < 20'000; ++i) {
        const auto free = static_cast<std::uint64_t>(std::count(used.begin(), used.end(), false));
        ASSERT_EQ(space.free_blocks(), free);
        if (random() % 2 == 0 && !held.empty()) {
            const std::size_t at = random() % held.size();
            space.release(held[at]);
            for (std::uint64_t b = held[at].first; b < held[at].end(); ++b) used[b] = false;
            held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
            continue;
        }
        const std::uint64_t goal = random() % kBlocks, wanted = 1 + random() % 40;
        const BlockRun run = space.allocate(goal, wanted);
        ASSERT_EQ(run.count == 0, free == 0);
        if (run.count == 0) continue;
        ASSERT_LE(run.count, wanted);
        ASSERT_LE(run.end(), kBlocks);
        // The goal where it is free; all of it where any gap has room for all, unless the goal cuts it short.
        if (!used[goal]) {
            ASSERT_EQ(run.first, goal);
        }
        std::uint64_t longest = 0, length = 0;
        for (std::uint64_t b = 0; b < kBlocks; ++b) longest = std::max(longest, length = used[b] ? 0 : length + 1);
        if (used[goal]) {
            ASSERT_EQ(run.count, std::min(wanted, longest));
        }
        for (std::uint64_t b = run.first; b < run.end(); ++b) {
            ASSERT_FALSE(used[b]);
            used[b] = true;
        }
        held.push_back(run);
    }
    for (const BlockRun& run : held) space.release(run);
    EXPECT_EQ(space.gaps(), 1u);
}

// mke2fs on 3 GiB: 24 groups of 128 MiB, a journal of 64 MiB in the middle, an inode for 16 KiB: 48 MiB of tables.
TEST(Ext4Layout, OfThreeGiBIsThatOfMke2fs) {
    Ext4LayoutConfig c;
    c.bytes = std::uint64_t{3} << 30;
    const Ext4Layout l(c);
    EXPECT_STREQ(l.problem(), "");
    EXPECT_EQ(l.blocks(), 786432u);
    EXPECT_EQ(l.groups(), 24u);
    EXPECT_EQ(l.journal().count * 4096, std::uint64_t{64} << 20);
    EXPECT_EQ(l.group_of(l.journal().first), 12u);
    EXPECT_EQ(l.inodes(), 196608u);
    std::uint64_t tables = 0;
    for (const BlockRun& run : l.inode_tables()) tables += run.count;
    EXPECT_EQ(tables * 4096, std::uint64_t{48} << 20);
    // The first files' inodes: sixteen a block.
    EXPECT_EQ(l.inode_block(16), l.inode_block(1));
    EXPECT_EQ(l.inode_block(17), l.inode_block(1) + 1);
}

TEST(Ext4Layout, OfAnySizeHasNoTwoThingsInOnePlace) {
    std::mt19937_64 random(2);
    std::uint32_t fit = 0;
    for (int i = 0; i < 500; ++i) {
        Ext4LayoutConfig c;
        c.block_bytes = 1024u << random() % 3;
        c.bytes = (std::uint64_t{8} << 20) + random() % (std::uint64_t{1} << (24 + random() % 16));
        c.inode_ratio = 4096u << random() % 8;
        c.inode_bytes = 128u << random() % 3;
        if (random() % 2 == 0) c.journal_bytes = (1 + random() % 256) << 20;
        const Ext4Layout l(c);
        if (*l.problem() != '\0') continue;
        ++fit;
        std::uint64_t end = 0;
        for (const BlockRun& run : l.taken()) {
            ASSERT_GE(run.first, end) << c.bytes << " bytes in blocks of " << c.block_bytes;
            end = run.end();
        }
        ASSERT_LE(end, l.blocks());
        const auto taken = l.taken();
        const auto within = [&](std::uint64_t block) {
            return std::any_of(taken.begin(), taken.end(),
                               [&](const BlockRun& r) { return block >= r.first && block < r.end(); });
        };
        for (const std::uint64_t inode : {std::uint64_t{1}, l.inodes() / 2, l.inodes()}) {
            EXPECT_TRUE(within(l.inode_block(inode)));
            EXPECT_TRUE(within(l.inode_bitmap(inode)));
        }
        EXPECT_TRUE(within(l.block_bitmap(l.groups() - 1)));
        EXPECT_TRUE(within(l.descriptor_block(l.groups() - 1)));
    }
    EXPECT_GT(fit, 300u);
}

// Against one entry for each block.
TEST(ExtentMap, IsWhatAListOfBlocksIs) {
    std::mt19937 random(3);
    constexpr std::uint64_t kBlocks = 200;
    struct Block {
        std::uint64_t place = 0;
        bool has = false, written = false;
    };
    for (int round = 0; round < 50; ++round) {
        ExtentMap map;
        std::vector<Block> list(kBlocks);
        std::uint64_t next_place = 1000;
        for (int i = 0; i < 200; ++i) {
            const std::uint64_t block = random() % kBlocks,
                                most = 1 + random() % std::min<std::uint64_t>(20, kBlocks - block);
            const ExtentMap::Piece piece = map.at(block, most);
            ASSERT_GE(piece.count, 1u);
            for (std::uint64_t b = 0; b < piece.count; ++b) {
                const Block& expected = list[block + b];
                ASSERT_EQ(piece.kind == ExtentMap::Piece::Kind::hole, !expected.has);
                if (!expected.has) continue;
                ASSERT_EQ(piece.first + b, expected.place);
                ASSERT_EQ(piece.kind == ExtentMap::Piece::Kind::written, expected.written);
            }
            if (piece.kind == ExtentMap::Piece::Kind::hole) {
                if (random() % 3 == 0) next_place += 7;  // else it goes on where the last one ended
                map.add(block, {next_place, piece.count}, false);
                for (std::uint64_t b = 0; b < piece.count; ++b) list[block + b] = {next_place + b, true, false};
                next_place += piece.count;
            } else {
                bool fresh = false;
                for (std::uint64_t b = 0; b < piece.count; ++b) {
                    fresh = fresh || !list[block + b].written;
                    list[block + b].written = true;
                }
                ASSERT_EQ(map.mark_written(block, piece.count), fresh);
            }
        }
        // Neighbours that go on as one are one.
        std::size_t runs = 0;
        for (std::uint64_t b = 0; b < kBlocks; ++b) {
            const bool joins = b != 0 && list[b].has && list[b - 1].has && list[b].place == list[b - 1].place + 1 &&
                               list[b].written == list[b - 1].written;
            runs += list[b].has && !joins;
        }
        ASSERT_EQ(map.size(), runs);
    }
}

}  // namespace
}  // namespace ssdtlm
