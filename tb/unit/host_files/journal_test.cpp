// SPDX-License-Identifier: Apache-2.0
// The journal by itself: what a commit writes, who shares one, and how the log gets room again.
#include "host_files/ext4/journal.h"

#include <gmock/gmock.h>

#include <random>

namespace ssdtlm {
namespace {

using namespace std::chrono_literals;

Jbd2Journal::Config config(std::uint64_t blocks = 1024) {
    Jbd2Journal::Config c;
    c.first_block = 1000;
    c.blocks = blocks;
    c.commit_interval = 5s;
    c.write_back_age = 30s;
    return c;
}

/// All that comes until nothing does, one at a time.
std::vector<FileIo> drain(Jbd2Journal& journal, SimTime now) {
    std::vector<FileIo> all;
    for (FileIo io; journal.next(now, io);) {
        all.push_back(io);
        journal.completed(now);
    }
    return all;
}

// One descriptor, the blocks, a flush, the commit record: (2 + m) blocks in two writes.
TEST(Jbd2Journal, WritesDescriptorBlocksAndRecord) {
    for (const std::uint64_t m : {1u, 3u, 254u, 255u, 600u}) {
        Jbd2Journal journal(config());
        std::uint64_t transaction = 0;
        for (std::uint64_t b = 0; b < m; ++b) transaction = journal.change(5000 + 2 * b, SimTime{});
        EXPECT_EQ(journal.change(5000, SimTime{}), transaction) << "a block is in a transaction once";
        EXPECT_TRUE(drain(journal, SimTime{}).empty()) << "nobody asks";
        journal.want(transaction);
        EXPECT_FALSE(journal.durable(transaction));
        const std::vector<FileIo> io = drain(journal, SimTime{});
        EXPECT_TRUE(journal.durable(transaction));
        const std::uint64_t descriptors = (m + 253) / 254;  // tags of 16 bytes in 4,096 less 32
        ASSERT_EQ(io.size(), 3u);
        EXPECT_EQ(io[0].offset, 1001u * 4096);
        EXPECT_EQ(io[0].bytes, (descriptors + m) * 4096);
        EXPECT_EQ(io[1].op, HostOp::flush);
        EXPECT_EQ(io[2].offset, io[0].offset + io[0].bytes);
        EXPECT_EQ(io[2].bytes, 4096u);
        EXPECT_TRUE(io[2].fua);
        EXPECT_EQ(journal.log_used(), descriptors + m + 1);
    }
}

TEST(Jbd2Journal, WithoutBarrierHasNoFlush) {
    Jbd2Journal::Config c = config();
    c.barrier = false;
    Jbd2Journal journal(c);
    journal.want(journal.change(1, SimTime{}));
    const std::vector<FileIo> io = drain(journal, SimTime{});
    ASSERT_EQ(io.size(), 2u);
    EXPECT_FALSE(io[1].fua);
}

// Who comes while a commit is under way is in the next one, and all of them are in that one.
TEST(Jbd2Journal, CommitsOfManyAreOne) {
    Jbd2Journal journal(config());
    const std::uint64_t first = journal.change(1, SimTime{});
    journal.want(first);
    FileIo io;
    ASSERT_TRUE(journal.next(SimTime{}, io));
    ASSERT_FALSE(journal.next(SimTime{}, io)) << "the record waits for the blocks";
    for (std::uint64_t b = 2; b < 9; ++b) {
        const std::uint64_t second = journal.change(b, SimTime{});
        EXPECT_EQ(second, first + 1);
        journal.want(second);
    }
    journal.completed(SimTime{});
    drain(journal, SimTime{});
    EXPECT_TRUE(journal.durable(first + 1));
    EXPECT_EQ(journal.counters().commits, 2u);
    EXPECT_EQ(journal.counters().logged_blocks, 8u);
}

TEST(Jbd2Journal, CommitsByItselfAfterTheInterval) {
    Jbd2Journal journal(config());
    const std::uint64_t t = journal.change(1, SimTime{3s});
    EXPECT_EQ(journal.wakes(), SimTime{8s});
    EXPECT_TRUE(drain(journal, SimTime{7s}).empty());
    drain(journal, SimTime{8s});
    EXPECT_TRUE(journal.durable(t));
    // Thirty seconds later, at the next look of the kernel, the block goes to its place; neighbours in one write.
    Jbd2Journal old(config());
    old.change(70, SimTime{});
    old.change(71, SimTime{});
    old.change(90, SimTime{});
    drain(old, SimTime{5s});
    std::vector<FileIo> io;
    SimTime at{};
    while (io.empty() && (at = old.wakes()) != kNever) io = drain(old, at);
    EXPECT_EQ(at, SimTime{35s});
    ASSERT_EQ(io.size(), 2u);
    EXPECT_EQ(io[0].offset, 70u * 4096);
    EXPECT_EQ(io[0].bytes, 2u * 4096);
    EXPECT_EQ(old.log_used(), 0u);
    EXPECT_EQ(old.wakes(), kNever);
}

// The log is a ring: no commit may overwrite one whose blocks are not all in place. Checked block by block.
TEST(Jbd2Journal, NeverOverwritesWhatIsNotInPlace) {
    std::mt19937 random(7);
    std::uint64_t checkpoints = 0;
    for (int round = 0; round < 20; ++round) {
        Jbd2Journal::Config c = config(32 + random() % 200);
        Jbd2Journal journal(c);
        std::vector<std::uint64_t> newest(400);  // transaction whose copy of the block is the last
        std::vector<bool> in_place(400, true);
        std::vector<std::vector<std::uint64_t>> log(c.blocks);  // blocks of metadata of the commit that owns the block
        std::vector<std::uint64_t> owner(c.blocks);
        SimTime now{};
        for (int i = 0; i < 300; ++i) {
            std::vector<std::uint64_t> changed;
            std::uint64_t t = 0;
            for (std::uint64_t n = 1 + random() % 12; n != 0; --n) {
                changed.push_back(random() % 400);
                t = journal.change(changed.back(), now);
            }
            journal.want(t);
            for (const FileIo& io : drain(journal, now)) {
                if (io.op == HostOp::flush) continue;
                if (io.fua && io.offset != c.first_block * 4096)  // its commit record
                    for (const std::uint64_t b : changed) {
                        newest[b] = t;
                        in_place[b] = false;
                    }
                for (std::uint64_t at = io.offset / 4096; at < (io.offset + io.bytes) / 4096; ++at) {
                    if (at < 400) {
                        in_place[at] = true;
                        continue;
                    }
                    if (at == c.first_block) continue;  // its superblock
                    const std::uint64_t place = at - c.first_block;
                    ASSERT_LT(place, c.blocks);
                    for (const std::uint64_t b : log[place])
                        ASSERT_TRUE(in_place[b] || newest[b] != owner[place]) << "block " << b << " is lost";
                    log[place] = changed;
                    owner[place] = t;
                }
            }
            now += 1s * (random() % 20);
        }
        checkpoints += journal.counters().checkpoints;
        EXPECT_GT(journal.counters().in_place_blocks, 0u);
    }
    EXPECT_GT(checkpoints, 10u) << "logs that were full";
}

}  // namespace
}  // namespace ssdtlm
