// SPDX-License-Identifier: Apache-2.0
// A write buffer of which tenants have parts: who finds room, and whose units are programmed first.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {
namespace {

using Index = WriteBuffer::Index;
constexpr auto kNone = WriteBuffer::kNone;
constexpr auto kNoWaiter = WriteBuffer::kNoWaiter;

WriteOrder with(std::vector<std::uint32_t> quotas, bool coldest_first = false) {
    WriteOrder order;
    order.quotas = std::move(quotas);
    order.coldest_first = coldest_first;
    return order;
}

void put(WriteBuffer& b, std::uint32_t lpa, std::uint16_t tenant, std::uint32_t waiter = kNoWaiter) {
    ASSERT_TRUE(b.reserve(1, tenant));
    b.insert(Lpa{lpa}, 1, waiter, WriteBuffer::Bytes::whole, 0, 0, WorkTag{tenant});
    b.check_waiters();
}

std::vector<std::uint32_t> next(WriteBuffer& b, int n) {
    std::vector<std::uint32_t> order;
    for (; n != 0; --n) {
        const Index i = b.pop_dirty();
        order.push_back(i == kNone ? 0xDEAD : idx(b.entry(i).lpa));
    }
    b.check_waiters();
    return order;
}

using Order = std::vector<std::uint32_t>;

TEST(Quotas, ShareTheRoomAndTheRest) {
    const Quotas q(16, {50, 30});
    EXPECT_EQ(q.parts(), 3u);
    for (const auto& [tenant, part] :
         std::map<std::uint16_t, std::uint32_t>{{0, 2}, {1, 0}, {2, 1}, {3, 2}, {65535, 2}})
        EXPECT_EQ(q.part_of(tenant), part) << tenant;
    EXPECT_EQ(q.units(0), 8u);
    EXPECT_EQ(q.units(1), 4u);
    EXPECT_EQ(q.units(2), 4u);
    EXPECT_EQ(Quotas().part_of(7), 0u);
    EXPECT_TRUE(Quotas(16, {}).shared());
}

TEST(Quotas, EachFindsRoomInItsPartOnly) {
    WriteBuffer b(16, nullptr, with({50, 25}));
    EXPECT_EQ(b.capacity_of(1), 8u);
    EXPECT_EQ(b.capacity_of(2), 4u);
    EXPECT_EQ(b.capacity_of(9), 4u);
    EXPECT_TRUE(b.reserve(8, 1));
    EXPECT_FALSE(b.reserve(1, 1));
    EXPECT_TRUE(b.reserve(4, 2));
    EXPECT_FALSE(b.reserve(1, 2));
    EXPECT_FALSE(b.reserve(5, 3));
    EXPECT_TRUE(b.reserve(3, 3));
    EXPECT_TRUE(b.reserve(1, 0));
    EXPECT_FALSE(b.reserve(1, 4));
    b.cancel(8, 1);
    EXPECT_FALSE(b.reserve(1, 2));
    EXPECT_TRUE(b.reserve(8, 1));
    b.cancel(8, 1);
    b.cancel(4, 2);
    b.cancel(4, 0);
    b.check_waiters();
}

// Who waits for room first, then the fuller part; before them, what must become durable.
TEST(Quotas, WhosePartIsFullestIsProgrammedFirst) {
    for (const bool coldest : {false, true}) {
        WriteBuffer b(16, nullptr, with({50, 25}, coldest));
        for (const std::uint32_t lpa : {10u, 11u, 12u}) put(b, lpa, 1);  // of 8
        for (const std::uint32_t lpa : {20u, 21u}) put(b, lpa, 2);       // of 4
        put(b, 30, 0);                                                   // of 4
        EXPECT_EQ(next(b, 1), (Order{20}));
        EXPECT_FALSE(b.reserve(6, 1));
        EXPECT_EQ(next(b, 1), (Order{10}));
        EXPECT_TRUE(b.programs_give_room());
        put(b, 31, 0, 5);
        put(b, 30, 0);  // stays, or is the last of its part
        EXPECT_EQ(next(b, 5), (Order{31, 11, 12, 21, 30}));
        EXPECT_FALSE(b.programs_give_room());  // the others are on their way
        EXPECT_EQ(next(b, 1), (Order{0xDEAD}));
    }
}

// Though all parts are full, which leaves no room for anybody.
TEST(Quotas, AFullPartIsWantedWhoeverElseIsFull) {
    WriteBuffer b(4, nullptr, with({50}));
    for (const std::uint32_t lpa : {1u, 2u}) put(b, lpa, 1);
    for (const std::uint32_t lpa : {3u, 4u}) put(b, lpa, 2);
    EXPECT_FALSE(b.programs_give_room());
    EXPECT_FALSE(b.reserve(1, 2));
    EXPECT_TRUE(b.programs_give_room());
    EXPECT_EQ(next(b, 1), (Order{3}));
}

TEST(Quotas, AUnitThatAnotherTenantWritesAgainTakesRoomOfItsPart) {
    WriteBuffer b(8, nullptr, with({50}));
    for (const std::uint32_t lpa : {1u, 2u, 3u, 4u}) put(b, lpa, 1);
    EXPECT_FALSE(b.reserve(1, 1));
    put(b, 3, 2);
    EXPECT_EQ(b.coalesced(), 1u);
    EXPECT_TRUE(b.reserve(1, 1));
    EXPECT_TRUE(b.reserve(3, 2));
    EXPECT_FALSE(b.reserve(1, 2));
}

// Against counts of what each tenant has in the buffer.
TEST(Quotas, NobodyTakesMoreThanItsPart) {
    for (const bool coldest : {false, true}) {
        const std::vector<std::uint32_t> most{15, 20, 5};  // others, 1, 2
        WriteBuffer b(40, nullptr, with({50, 13}, coldest));
        Random r(7, coldest);
        std::map<std::uint32_t, std::uint32_t> room{{0, 0}, {1, 0}, {2, 0}};
        const auto part = [](std::uint32_t tenant) { return tenant > 2 ? 0 : tenant; };
        std::vector<std::pair<Index, std::uint32_t>> flying;
        std::uint32_t version = 0;
        std::uint64_t refused = 0, programmed = 0, moved = 0;
        for (int step = 0; step < 60'000; ++step) {
            const std::uint64_t what = r.below(100);
            const auto lpa = static_cast<std::uint32_t>(r.below(60));
            const auto tenant = static_cast<std::uint16_t>(r.below(5));
            if (what < 60) {
                std::uint32_t& used = room[part(tenant)];
                const bool ok = b.reserve(1, tenant);
                ASSERT_EQ(ok, used < most[part(tenant)]) << "step " << step;
                refused += !ok;
                if (!ok) continue;
                ++used;
                const std::uint64_t before = b.coalesced();
                const Index old = b.find(Lpa{lpa});
                const std::uint32_t whose = old == kNone ? 0 : b.entry(old).tenant;
                b.insert(Lpa{lpa}, ++version, r.percent(5) ? 3 : kNoWaiter, WriteBuffer::Bytes::whole, 0, 0,
                         WorkTag{tenant});
                if (b.coalesced() != before) {
                    --room[part(whose)];
                    moved += part(whose) != part(tenant);
                }
            } else if (what < 78) {
                const bool demanded = b.demanded(), any = b.queued() != 0;
                const Index i = b.pop_dirty();
                ASSERT_EQ(i != kNone, any);
                if (i == kNone) continue;
                ASSERT_EQ(demanded, b.entry(i).waiter != kNoWaiter);  // no flush, and no write that merges
                flying.emplace_back(i, part(b.entry(i).tenant));
            } else if (what < 96) {
                if (flying.empty()) continue;
                const std::size_t k = r.below(flying.size());
                b.programmed(flying[k].first);
                --room[flying[k].second];
                flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(k));
                ++programmed;
            } else if (what < 99) {
                std::vector<std::uint32_t> released;
                for (Index i = b.oldest(Lpa{lpa}); i != kNone; i = b.entry(i).newer)
                    if (b.entry(i).state == WriteBuffer::State::dirty) --room[part(b.entry(i).tenant)];
                b.drop(Lpa{lpa}, released);
            }
            ASSERT_NO_THROW(b.check_waiters()) << "step " << step;
            ASSERT_EQ(b.used(), room[0] + room[1] + room[2]) << "step " << step;
        }
        EXPECT_GT(refused, 1000u);
        EXPECT_GT(programmed, 3000u);
        EXPECT_GT(moved, 300u);
    }
}

}  // namespace
}  // namespace ssdtlm
