// SPDX-License-Identifier: Apache-2.0
// Of which partition the next row of pages is formed.
#include "controller/destage/row_choice.h"

#include <gtest/gtest.h>

#include "controller/write_buffer/write_buffer.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kNone = RowChoice::kNoPartition;

struct NoMap final : MapPort {
    bool translate(const MapExtent&, MapUse, Ppa*, const MapThen&) override { return false; }
    void let_go(PlaneId, BlockId, std::uint32_t) override {}
    void unmap(const MapExtent&) override {}
    void lose(Lpa) override {}
};

/// Three channels of one die and one plane, pages of two units; the address decides the channel: pages of units go 0,
/// 1, 2, 0, ...
struct Bench {
    explicit Bench(std::uint32_t depth_per_die = 2, std::uint32_t start_percent = 0, std::uint32_t stop_percent = 100,
                   const char* dimensions = "C", std::vector<std::uint32_t> quotas = {})
        : config(config_of(depth_per_die, start_percent, stop_percent, dimensions)),
          spare(geometry()),
          ftl(config, geometry(), spare, 1),
          buffer(24, &ftl.partitions(), order_of(std::move(quotas))),
          wait_queues(agenda, map, ftl.partitions().count(), buffer.quotas().parts()),
          choice(config, ftl, buffer, wait_queues) {}

    static NandGeometry geometry() {
        NandGeometry g;
        g.channels = 3;
        g.blocks_per_plane = 24;
        g.pages_per_block = 16;
        g.page_bytes = 8192;
        return g;
    }
    static FtlConfig config_of(std::uint32_t depth_per_die, std::uint32_t start_percent, std::uint32_t stop_percent,
                               const char* dimensions) {
        FtlConfig c;
        c.user_capacity_bytes = 600 * 4096;
        c.gc_soft_free_blocks = 3;
        c.gc_hard_free_blocks = 2;
        c.initial_state = InitialState::fresh;
        c.static_dimensions = dimensions;
        c.flush_depth_per_die = depth_per_die;
        c.flush_start_percent = start_percent;
        c.flush_stop_percent = stop_percent;
        return c;
    }
    static WriteOrder order_of(std::vector<std::uint32_t> quotas) {
        WriteOrder order;
        order.quotas = std::move(quotas);
        return order;
    }
    /// The n-th unit of a partition becomes dirty.
    void insert(std::uint32_t partition, std::uint32_t n, std::uint32_t waiter = WriteBuffer::kNoWaiter) {
        ASSERT_TRUE(buffer.reserve(1));
        buffer.insert(Lpa{static_cast<std::uint32_t>(ftl.partitions().nth(partition, n))}, 1, waiter,
                      WriteBuffer::Bytes::whole);
    }
    void fill(std::uint32_t partition, std::uint32_t units) {
        for (std::uint32_t i = 0; i < units; ++i) insert(partition, i);
    }
    /// What destaging does with the answer: its partition.
    std::uint32_t form() {
        const std::uint32_t partition = choice.next();
        if (partition == kNone) return kNone;
        const std::uint32_t units = std::min(buffer.queued(partition), choice.row_units());
        for (std::uint32_t i = 0; i < units; ++i) EXPECT_NE(buffer.pop_dirty(partition), WriteBuffer::kNone);
        choice.begun(partition, 1);
        return partition;
    }
    bool resume() { return true; }
    void wait_for_room() { wait_queues.wait(WaitQueues::For::room, Attempt::to<&Bench::resume>(this)); }

    Agenda agenda;
    NoMap map;
    const FtlConfig config;
    SpareArea spare;
    Ftl ftl;
    WriteBuffer buffer;
    WaitQueues wait_queues;
    RowChoice choice;
};

TEST(RowChoice, PartitionsTakeTurnsAndEachHasItsShareOfThePrograms) {
    Bench b;
    ASSERT_EQ(b.choice.row_units(), 2u);
    b.fill(0, 9);
    b.fill(1, 3);
    b.fill(2, 5);
    EXPECT_THROW(b.choice.check(), CheckFailed);
    std::vector<std::uint32_t> order;
    for (std::uint32_t partition; (partition = b.form()) != kNone;) order.push_back(partition);
    EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 2, 0,
                                                 2}));  // two programs of a partition at a time, and only full rows
    EXPECT_NO_THROW(b.choice.check());
    b.choice.ended(2);
    EXPECT_EQ(b.form(), kNone);  // what it has left is no row
    b.choice.ended(0);
    EXPECT_EQ(b.form(), 0u);
}

TEST(RowChoice, PartOfARowOnlyForWhoMustNotWait) {
    Bench b;
    b.fill(0, 1);
    EXPECT_EQ(b.form(), kNone);
    b.insert(1, 0, 7);  // a command waits for it
    EXPECT_EQ(b.form(), 1u);
    EXPECT_EQ(b.form(), kNone);
}

TEST(RowChoice, AsManyPartsOfRowsAsCommandsWaitForRoom) {
    Bench b(4, 99);
    b.fill(0, 1);
    b.fill(1, 2);
    b.fill(2, 1);
    b.wait_for_room();
    EXPECT_EQ(b.form(), 1u);     // full
    EXPECT_EQ(b.form(), kNone);  // it will give room
    b.choice.ended(1);
    ASSERT_TRUE(b.buffer.reserve(1));
    EXPECT_EQ(b.form(), kNone);  // data on its way may make a row full
    b.buffer.cancel(1);
    EXPECT_EQ(b.form(), 2u);  // in turn
    EXPECT_EQ(b.form(), kNone);
    b.wait_for_room();
    EXPECT_EQ(b.form(), 0u);
    EXPECT_EQ(b.form(), kNone);
}

TEST(RowChoice, AFullRowOfABusyPartitionKeepsOthersFromBeingCut) {
    Bench b(1);
    b.fill(0, 6);
    b.fill(1, 1);
    b.wait_for_room();
    b.wait_for_room();
    EXPECT_EQ(b.form(), 0u);
    EXPECT_EQ(b.form(), kNone);
}

TEST(RowChoice, BelowTheThresholdNothingIsFormed) {
    Bench b(2, 50);
    b.fill(0, 12);  // of 24
    EXPECT_EQ(b.form(), kNone);
    EXPECT_NO_THROW(b.choice.check());
    b.insert(2, 0);
    EXPECT_EQ(b.form(), 0u);
    EXPECT_EQ(b.form(), kNone);
}

// Of 24 units more than 12 may be dirty: from then on full rows of 2 leave until no more than 6 are left, and no others
// until 12 are passed again.
TEST(RowChoice, FromTheHighWatermarkDownToTheLowOne) {
    for (const char* dimensions : {"C", "none"}) {
        Bench b(100, 50, 25, dimensions);
        const auto rows = [&b] {
            int n = 0;
            while (b.form() != kNone) ++n;
            EXPECT_NO_THROW(b.choice.check());
            return n;
        };
        std::uint32_t next = 0;
        const auto write = [&](std::uint32_t units) {
            while (units-- != 0) {
                ASSERT_TRUE(b.buffer.reserve(1));
                b.buffer.insert(Lpa{next++}, 1, WriteBuffer::kNoWaiter, WriteBuffer::Bytes::whole);
            }
        };
        write(12);
        EXPECT_EQ(rows(), 0);
        write(1);
        EXPECT_THROW(b.choice.check(), CheckFailed);
        EXPECT_EQ(rows(), 4);  // 13 - 8 are no more than 6, 13 - 6 are
        EXPECT_EQ(b.buffer.dirty(), 5u);
        write(3);  // some are on their way still
        EXPECT_EQ(b.buffer.dirty(), 8u);
        EXPECT_EQ(rows(), 0);
        write(5);
        EXPECT_EQ(rows(), 4);
        // What is deallocated counts as gone, and a part of a row between the two goes on when there is a row again.
        Bench c(100, 50, 25, dimensions);
        for (std::uint32_t lpa = 0; lpa < 13; ++lpa) ASSERT_TRUE(c.buffer.reserve(1));
        for (std::uint32_t lpa = 0; lpa < 13; ++lpa)
            c.buffer.insert(Lpa{lpa}, 1, WriteBuffer::kNoWaiter, WriteBuffer::Bytes::whole);
        EXPECT_NE(c.form(), kNone);
        std::vector<std::uint32_t> released;
        for (std::uint32_t lpa = 6; lpa < 12; ++lpa) c.buffer.drop(Lpa{lpa}, released);
        EXPECT_LE(c.buffer.dirty(), 6u);
        EXPECT_EQ(c.form(), kNone);
        for (std::uint32_t lpa = 13; lpa < 16; ++lpa) {
            ASSERT_TRUE(c.buffer.reserve(1));
            c.buffer.insert(Lpa{lpa}, 1, WriteBuffer::kNoWaiter, WriteBuffer::Bytes::whole);
        }
        EXPECT_EQ(c.form(), kNone);
    }
}

// A tenant whose part of the buffer is full waits for room: rows of its units leave below the watermark. Units of
// others would give it none.
TEST(RowChoice, ATenantThatWaitsForRoomIsGivenItByItsOwnUnits) {
    for (const std::uint16_t writer : {1, 2}) {
        Bench b(100, 99, 100, "none", {25});
        ASSERT_EQ(b.buffer.capacity_of(1), 6u);
        for (std::uint32_t lpa = 0; lpa < 6; ++lpa) {
            ASSERT_TRUE(b.buffer.reserve(1, writer));
            b.buffer.insert(Lpa{lpa}, 1, WriteBuffer::kNoWaiter, WriteBuffer::Bytes::whole, 0, 0, WorkTag{writer});
        }
        if (writer == 2) {
            ASSERT_TRUE(b.buffer.reserve(6, 1));  // on their way
        }
        EXPECT_EQ(b.form(), kNone);
        ASSERT_FALSE(b.buffer.reserve(1, 1));
        b.wait_queues.wait_for_room(b.buffer.quotas().part_of(1), Attempt::to<&Bench::resume>(&b));
        EXPECT_EQ(b.form(), writer == 1 ? 0u : kNone) << "written by tenant " << writer;
    }
}

// Whoever waits for room, or for his unit, does so whatever the watermarks say.
TEST(RowChoice, WatermarksHoldNobodyUp) {
    Bench b(100, 50, 0, "none");
    b.insert(0, 0);
    b.insert(0, 1);
    EXPECT_EQ(b.form(), kNone);
    b.wait_for_room();
    EXPECT_EQ(b.form(), 0u);
    b.insert(0, 2, 7);
    EXPECT_EQ(b.form(), 0u);
    EXPECT_EQ(b.buffer.dirty(), 0u);
}

}  // namespace
}  // namespace ssdtlm
