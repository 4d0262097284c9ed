// SPDX-License-Identifier: Apache-2.0
#include "controller/write_buffer/write_buffer.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "controller/ftl/allocation/write_partitions.h"

namespace ssdtlm {
namespace {

using Index = WriteBuffer::Index;
constexpr auto kNone = WriteBuffer::kNone;
constexpr auto kNoWaiter = WriteBuffer::kNoWaiter;

Index put(WriteBuffer& b, std::uint32_t lpa, std::uint32_t version, std::uint32_t waiter = kNoWaiter,
          bool merging = false) {
    EXPECT_TRUE(b.reserve(1));
    return b.insert(Lpa{lpa}, version, waiter, merging ? WriteBuffer::Bytes::merging : WriteBuffer::Bytes::whole);
}

TEST(WriteBuffer, ReservesUpToItsCapacity) {
    WriteBuffer b(4);
    EXPECT_TRUE(b.reserve(3));
    EXPECT_FALSE(b.reserve(2));
    EXPECT_TRUE(b.reserve(1));
    b.cancel(4);
    EXPECT_EQ(b.used(), 0u);
}

TEST(WriteBuffer, DirtyUnitsLeaveInArrivalOrder) {
    WriteBuffer b(8);
    put(b, 5, 1);
    put(b, 3, 1);
    put(b, 9, 1);
    EXPECT_EQ(b.entry(b.pop_dirty()).lpa, Lpa{5});
    EXPECT_EQ(b.entry(b.pop_dirty()).lpa, Lpa{3});
    EXPECT_EQ(b.entry(b.pop_dirty()).lpa, Lpa{9});
    EXPECT_EQ(b.pop_dirty(), kNone);
    EXPECT_EQ(b.used(), 3u);  // until programmed
}

// What leans on the merge goes with it; a write of the whole unit does not.
TEST(WriteBuffer, AFailedMergeTakesAlongWhatLeansOnIt) {
    using Bytes = WriteBuffer::Bytes;
    const auto add = [](WriteBuffer& b, std::uint32_t waiter, Bytes bytes) {
        EXPECT_TRUE(b.reserve(1));
        return b.insert(Lpa{5}, waiter, waiter, bytes);
    };
    std::vector<std::uint32_t> waiters;
    {
        WriteBuffer b(8);
        const Index first = add(b, 1, Bytes::merging);
        add(b, 2, Bytes::part);
        add(b, 3, Bytes::part);
        EXPECT_TRUE(b.merge_failed(first, waiters));
        EXPECT_EQ(waiters, (std::vector<std::uint32_t>{1, 2, 3}));
        EXPECT_EQ(b.find(Lpa{5}), kNone);
        EXPECT_EQ(b.used() + b.dirty() + b.queued() + b.merging(), 0u);
        EXPECT_FALSE(b.demanded());
        EXPECT_EQ(b.merges_failed(), 3u);
        b.check_waiters();
    }
    waiters.clear();
    WriteBuffer b(8);
    const Index first = add(b, 1, Bytes::merging);
    add(b, 2, Bytes::part);
    const Index whole = add(b, 3, Bytes::whole);
    const Index last = add(b, 4, Bytes::part);
    EXPECT_FALSE(b.merge_failed(first, waiters));
    EXPECT_EQ(waiters, (std::vector<std::uint32_t>{1, 2}));
    EXPECT_EQ(b.find(Lpa{5}), last);
    EXPECT_EQ(b.dirty(), 2u);
    b.check_waiters();
    EXPECT_EQ(b.pop_dirty(), whole);
    EXPECT_EQ(b.programmed(whole), 3u);
    EXPECT_EQ(b.pop_dirty(), last);
    // A whole write in place of one that leans makes it whole.
    WriteBuffer c(8);
    EXPECT_TRUE(c.reserve(3));
    const Index merging = c.insert(Lpa{5}, 1, kNoWaiter, Bytes::merging);
    const Index leans = c.insert(Lpa{5}, 2, kNoWaiter, Bytes::part);
    EXPECT_EQ(c.insert(Lpa{5}, 3, kNoWaiter, Bytes::whole), leans);
    EXPECT_FALSE(c.merge_failed(merging, waiters));
    EXPECT_EQ(c.pop_dirty(), leans);
}

TEST(WriteBuffer, ANewerWriteReplacesADirtyUnitInPlace) {
    WriteBuffer b(8);
    const Index i = put(b, 5, 1);
    put(b, 6, 1);
    EXPECT_EQ(put(b, 5, 2), i);
    EXPECT_EQ(b.coalesced(), 1u);
    EXPECT_EQ(b.used(), 2u);
    EXPECT_EQ(b.entry(b.find(Lpa{5})).version, 2u);
    EXPECT_EQ(b.pop_dirty(), i);  // its place in the queue is the older one
}

TEST(WriteBuffer, AWriteOfAUnitInFlightWaitsForIt) {
    WriteBuffer b(8);
    const Index first = put(b, 5, 1);
    EXPECT_EQ(b.pop_dirty(), first);
    const Index second = put(b, 5, 2);
    EXPECT_NE(second, first);
    EXPECT_EQ(b.entry(b.find(Lpa{5})).version, 2u);
    EXPECT_EQ(b.pop_dirty(), kNone) << "two copies of one unit must never be programmed at once";
    b.programmed(first);
    EXPECT_EQ(b.pop_dirty(), second);
    b.programmed(second);
    EXPECT_TRUE(b.empty());
    EXPECT_EQ(b.used(), 0u);
}

TEST(WriteBuffer, WaitersAreReturnedAndDoNotCoalesceAway) {
    WriteBuffer b(8);
    const Index i = put(b, 5, 1, 77);
    EXPECT_TRUE(b.demanded());
    put(b, 5, 2);
    EXPECT_EQ(b.used(), 2u);
    EXPECT_EQ(b.pop_dirty(), i);
    EXPECT_FALSE(b.demanded());
    EXPECT_EQ(b.programmed(i), 77u);
}

TEST(WriteBuffer, FlushCoversWhatCameBeforeItOnly) {
    WriteBuffer b(8);
    put(b, 1, 1);
    put(b, 2, 1);
    const auto g = b.begin_flush();
    put(b, 3, 1);
    EXPECT_TRUE(b.demanded());
    EXPECT_FALSE(b.flush_done(g));
    const Index one = b.pop_dirty();
    const Index two = b.pop_dirty();
    EXPECT_FALSE(b.demanded());
    b.programmed(two);
    EXPECT_FALSE(b.flush_done(g));
    b.programmed(one);
    EXPECT_TRUE(b.flush_done(g));
    EXPECT_EQ(b.used(), 1u);
}

TEST(WriteBuffer, FlushOfACleanBufferIsDoneAtOnce) {
    WriteBuffer b(8);
    EXPECT_TRUE(b.flush_done(b.begin_flush()));
}

TEST(WriteBuffer, AWriteBehindAFlushDoesNotReplaceWhatTheFlushCovers) {
    WriteBuffer b(8);
    put(b, 1, 1);
    const auto g = b.begin_flush();
    put(b, 1, 2);
    EXPECT_EQ(b.used(), 2u);
    b.programmed(b.pop_dirty());
    EXPECT_TRUE(b.flush_done(g));
    EXPECT_EQ(b.entry(b.find(Lpa{1})).version, 2u);
}

TEST(WriteBuffer, PartialWriteIsNotProgrammedBeforeItIsMerged) {
    WriteBuffer b(8);
    const Index i = put(b, 4, 1, kNoWaiter, true);
    EXPECT_EQ(b.pop_dirty(), kNone);
    b.merged(i);
    EXPECT_EQ(b.pop_dirty(), i);
}

// A read of it must look into flash too: the rest of the unit is not in the buffer yet.
TEST(WriteBuffer, WhatLeansOnAMergeIsMergingToo) {
    using Bytes = WriteBuffer::Bytes;
    WriteBuffer b(8);
    EXPECT_TRUE(b.reserve(5));
    const Index merging = b.insert(Lpa{5}, 1, kNoWaiter, Bytes::merging);
    const Index leans = b.insert(Lpa{5}, 2, 1, Bytes::part);
    const Index on_that = b.insert(Lpa{5}, 3, 2, Bytes::part);
    const Index whole = b.insert(Lpa{5}, 4, 3, Bytes::whole);
    const Index part_of_whole = b.insert(Lpa{5}, 5, kNoWaiter, Bytes::part);
    for (const Index i : {merging, leans, on_that}) EXPECT_TRUE(b.unit(i).merging);
    for (const Index i : {whole, part_of_whole}) EXPECT_FALSE(b.unit(i).merging);
    b.merged(merging);
    for (const Index i : {merging, leans, on_that, whole, part_of_whole}) EXPECT_FALSE(b.unit(i).merging);
    EXPECT_EQ(b.pop_dirty(), merging);
    b.programmed(merging);
    EXPECT_FALSE(b.unit(leans).merging);
}

TEST(WriteBuffer, DropForgetsDirtyUnitsAndMarksTheOthers) {
    WriteBuffer b(8);
    std::vector<std::uint32_t> released;
    put(b, 1, 1, 5);
    b.drop(Lpa{1}, released);
    EXPECT_EQ(released, (std::vector<std::uint32_t>{5}));
    EXPECT_TRUE(b.empty());
    EXPECT_FALSE(b.demanded());
    EXPECT_EQ(b.used(), 0u);
    const Index i = put(b, 2, 1);
    EXPECT_EQ(b.pop_dirty(), i);
    put(b, 2, 2);
    b.drop(Lpa{2}, released);
    EXPECT_TRUE(b.entry(i).dropped());
    EXPECT_EQ(b.used(), 1u);
    b.programmed(i);
    EXPECT_TRUE(b.empty());
}

TEST(WriteBuffer, AUnitDeallocatedWhileItMergesReturnsItsWaiter) {
    WriteBuffer b(8);
    std::vector<std::uint32_t> released;
    const Index i = put(b, 2, 1, 7, true);
    b.drop(Lpa{2}, released);
    EXPECT_TRUE(released.empty());
    put(b, 2, 2);
    EXPECT_EQ(b.queued(), 0u);  // behind the first
    EXPECT_EQ(b.merged(i), 7u);
    EXPECT_EQ(b.dropped_dirty(), 1u);
    EXPECT_EQ(b.queued(), 1u);
    EXPECT_EQ(b.used(), 1u);
}

TEST(WriteBuffer, DemandedUnitsCountOnceTheyMayBeProgrammed) {
    WriteBuffer b(8);
    const Index first = put(b, 1, 1);
    EXPECT_EQ(b.pop_dirty(), first);
    put(b, 1, 2, 9);
    EXPECT_EQ(b.dirty(), 1u);
    EXPECT_FALSE(b.demanded());
    b.begin_flush();
    EXPECT_FALSE(b.demanded());
    b.programmed(first);
    EXPECT_TRUE(b.demanded());
    b.pop_dirty();
    EXPECT_FALSE(b.demanded());
}

TEST(WriteBuffer, AMergedUnitIsDemandedWhenANewerWriteOfItIs) {
    for (const bool replaced : {false, true}) {
        WriteBuffer b(8);
        const Index i = put(b, 1, 1, kNoWaiter, true);
        if (replaced) put(b, 1, 2);
        if (replaced) b.merged(i);
        EXPECT_FALSE(b.demanded());
        put(b, 1, 3, 9);
        if (!replaced) b.merged(i);
        EXPECT_TRUE(b.demanded());
        EXPECT_EQ(b.programmed(b.pop_dirty()), kNoWaiter);
        EXPECT_TRUE(b.demanded());
        EXPECT_EQ(b.programmed(b.pop_dirty()), 9u);
        EXPECT_FALSE(b.demanded());
        EXPECT_EQ(b.used(), 0u);
    }
}

TEST(WriteBuffer, RefusesToProgramWhatIsNotInFlight) {
    WriteBuffer b(8);
    const Index i = put(b, 1, 1);
    EXPECT_THROW(b.programmed(i), Panic);
}

// Random traffic against a model that only knows: the newest version of each unit is what find() says, every unit
// that was inserted is programmed, coalesced or dropped, and versions reach flash in order.
void compare_with_a_naive_model(const WritePartitions* partitions, const WriteOrder& order = {}) {
    const std::uint32_t of = partitions != nullptr ? partitions->count() : 1;
    WriteBuffer b(32, partitions, order);
    Random r(11);
    std::map<std::uint32_t, std::uint32_t> newest;  // buffered
    std::map<std::uint32_t, std::uint32_t> in_flash;
    std::vector<Index> flushing;
    std::uint32_t version = 0;
    std::uint64_t programmed = 0, dropped_inflight = 0;
    const auto stream_of = [](std::uint32_t v) { return static_cast<std::uint8_t>(v % 5); };
    const auto place_of = [](std::uint32_t v) { return 7 * v; };
    for (int step = 0; step < 200000; ++step) {
        const std::uint64_t what = r.below(100);
        const auto lpa = static_cast<std::uint32_t>(r.below(12));
        if (what < 45) {
            if (b.used() == b.capacity()) continue;
            ++version;
            EXPECT_TRUE(b.reserve(1));
            b.insert(Lpa{lpa}, version, r.percent(20) ? 1000 + lpa : kNoWaiter, WriteBuffer::Bytes::whole,
                     stream_of(version), place_of(version));
            newest[lpa] = version;
        } else if (what < 70) {
            const auto partition = static_cast<std::uint32_t>(of == 1 ? 0 : r.below(of));
            const bool any = b.queued(partition) != 0;
            const Index i = b.pop_dirty(partition);
            ASSERT_EQ(i != kNone, any);
            if (i == kNone) continue;
            ASSERT_EQ(of == 1 ? 0 : partitions->of(b.entry(i).lpa, b.entry(i).stream), partition);
            flushing.push_back(i);
        } else if (what < 95) {
            if (flushing.empty()) continue;
            const std::size_t k = r.below(flushing.size());
            const auto e = b.entry(flushing[k]);
            if (!e.dropped()) {
                ASSERT_GT(e.version, in_flash[idx(e.lpa)]);
                in_flash[idx(e.lpa)] = e.version;
            } else {
                ++dropped_inflight;
            }
            b.programmed(flushing[k]);
            ++programmed;
            if (newest.count(idx(e.lpa)) != 0 && newest[idx(e.lpa)] == e.version) newest.erase(idx(e.lpa));
            flushing.erase(flushing.begin() + static_cast<std::ptrdiff_t>(k));
        } else if (what < 97) {
            std::vector<std::uint32_t> released;
            b.drop(Lpa{lpa}, released);
            newest.erase(lpa);
        } else {
            b.begin_flush();
        }
        ASSERT_NO_THROW(b.check_waiters());
        const Index i = b.find(Lpa{lpa});
        if (newest.count(lpa) != 0) {
            ASSERT_NE(i, kNone);
            ASSERT_EQ(b.entry(i).version, newest[lpa]);
            ASSERT_EQ(b.unit(i).stream, stream_of(newest[lpa]));
            ASSERT_EQ(b.unit(i).dram_unit, place_of(newest[lpa]));
        } else {
            ASSERT_TRUE(i == kNone || b.entry(i).dropped());
        }
    }
    EXPECT_GT(programmed, 1000u);
    EXPECT_GT(dropped_inflight, 10u);
    EXPECT_EQ(b.coalesced() == 0, !order.merges);
    EXPECT_EQ(b.inserted(), programmed + b.coalesced() + b.dropped_dirty() + b.used());
}
TEST(WriteBuffer, AgreesWithANaiveModel) {
    compare_with_a_naive_model(nullptr);
}
TEST(WriteBuffer, AgreesWithANaiveModelInPartitions) {
    NandGeometry g;
    g.channels = 3;
    g.planes_per_die = 2;
    const SuperblockShape shape(g);
    for (const std::uint32_t streams : {0u, 2u}) {
        const WritePartitions partitions("CP", row_sequence("CWDP", g, SuperblockSpan::plane), g, shape, streams);
        ASSERT_EQ(partitions.count(), 6 * (streams + 1));
        compare_with_a_naive_model(&partitions);
        for (const bool merges : {false, true}) compare_with_a_naive_model(&partitions, {merges, 5, 3, 40});
        WriteOrder coldest;
        coldest.coldest_first = true;
        compare_with_a_naive_model(&partitions, coldest);
    }
}
TEST(WriteBuffer, AgreesWithANaiveModelInOtherOrders) {
    for (const bool merges : {false, true})
        for (const std::uint32_t bucket : {0u, 1u, 5u, 12u})
            for (const std::uint64_t patience : {1ull, 64ull})
                compare_with_a_naive_model(nullptr, {merges, bucket, bucket == 0 ? 0 : (11 / bucket) + 1, patience});
}

}  // namespace
}  // namespace ssdtlm
