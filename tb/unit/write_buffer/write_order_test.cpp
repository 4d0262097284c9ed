// SPDX-License-Identifier: Apache-2.0
// In what order units leave the write buffer that are grouped, or that do not merge.
#include <gtest/gtest.h>

#include <utility>

#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {
namespace {

using Index = WriteBuffer::Index;
constexpr auto kNone = WriteBuffer::kNone;
constexpr auto kNoWaiter = WriteBuffer::kNoWaiter;

void put(WriteBuffer& b, std::uint32_t lpa, std::uint32_t version, std::uint32_t waiter = kNoWaiter) {
    EXPECT_TRUE(b.reserve(1));
    b.insert(Lpa{lpa}, version, waiter, WriteBuffer::Bytes::whole);
}

// Without merging, arrivals leave as they came, but for one that waits for an older write of its unit on its way to
// flash: it is the next when that is there.
TEST(WriteBuffer, WritesThatDoNotMergeKeepTheirPlaces) {
    WriteBuffer b(8, nullptr, {false, 0, 0, 0});
    for (const std::uint32_t lpa : {1u, 2u, 1u, 3u, 1u}) put(b, lpa, 0);
    EXPECT_EQ(b.coalesced(), 0u);
    EXPECT_EQ(b.queued(), 3u);
    const auto next = [&b] {
        const Index i = b.pop_dirty();
        const std::uint32_t lpa = i == kNone ? 0 : idx(b.entry(i).lpa);
        return std::pair(i, lpa);
    };
    const auto [first, one] = next();
    EXPECT_EQ(one, 1u);
    EXPECT_EQ(next().second, 2u);
    EXPECT_EQ(next().second, 3u);  // passes the second write of 1
    EXPECT_EQ(next().first, kNone);
    put(b, 4, 0);
    b.programmed(first);
    const auto [second, two] = next();
    EXPECT_EQ(two, 1u);
    EXPECT_EQ(next().second, 4u);
    EXPECT_EQ(next().first, kNone);
    b.programmed(second);
    EXPECT_EQ(next().second, 1u);
}

// All that stands before a write that must become durable is in a hurry with it.
TEST(WriteBuffer, WritesBeforeOneThatMustBeDurableAreDemandedInTurn) {
    WriteBuffer b(8, nullptr, {false, 0, 0, 0});
    for (const std::uint32_t version : {1u, 2u, 3u}) put(b, 1, version);
    EXPECT_FALSE(b.demanded());
    put(b, 1, 4, 9);
    for (const std::uint32_t waiter : {kNoWaiter, kNoWaiter, kNoWaiter, 9u}) {
        EXPECT_TRUE(b.demanded());
        EXPECT_EQ(b.programmed(b.pop_dirty()), waiter);
    }
    EXPECT_FALSE(b.demanded());
}

// The largest bucket goes whole, what comes into it meanwhile stays; then the oldest one that has waited too long.
TEST(WriteBuffer, TheLargestBucketGoesWhole) {
    WriteBuffer b(64, nullptr, {true, 10, 4, 12});
    for (const std::uint32_t lpa : {31u, 10u, 1u, 11u, 12u, 2u}) put(b, lpa, 0);
    const auto next = [&b] { return idx(b.entry(b.pop_dirty()).lpa); };
    EXPECT_EQ(next(), 10u);
    for (const std::uint32_t lpa : {13u, 14u, 15u}) put(b, lpa, 0);
    EXPECT_EQ(next(), 11u);
    EXPECT_EQ(next(), 12u);
    EXPECT_EQ(next(), 13u);
    for (const std::uint32_t lpa : {3u, 16u, 17u, 18u}) put(b, lpa, 0);
    for (const std::uint32_t lpa : {14u, 15u}) EXPECT_EQ(next(), lpa);
    // 31 has seen 12 others come; more, and it goes first.
    EXPECT_EQ(next(), 1u);
    put(b, 4, 0);
    for (const std::uint32_t lpa : {2u, 3u}) EXPECT_EQ(next(), lpa);
    EXPECT_EQ(next(), 31u);
    EXPECT_EQ(next(), 16u);
}

TEST(WriteBuffer, ABucketWithAUnitThatMustBeDurableGoesFirst) {
    WriteBuffer b(64, nullptr, {true, 10, 4, 1000});
    for (const std::uint32_t lpa : {10u, 11u, 12u, 1u}) put(b, lpa, 0);
    put(b, 2, 0, 7);
    put(b, 31, 0, 8);
    const auto next = [&b] { return idx(b.entry(b.pop_dirty()).lpa); };
    for (const std::uint32_t lpa : {1u, 2u, 31u, 10u}) EXPECT_EQ(next(), lpa);
    b.begin_flush();
    for (const std::uint32_t lpa : {11u, 12u}) EXPECT_EQ(next(), lpa);
}

struct Dirty final : DirtyPages {
    std::uint32_t newest() const override { return 2; }
    std::uint32_t before(std::uint32_t page) const override { return page == 2 ? 0 : kNoPage; }
};
// A quarter of the largest is enough, less is not.
TEST(WriteBuffer, ADirtyPageIsPreferred) {
    for (const std::uint32_t more : {0u, 1u}) {
        const Dirty dirty;
        WriteBuffer b(64, nullptr, {true, 10, 4, 1000});
        b.prefer(dirty);
        for (std::uint32_t lpa = 10; lpa < 18 + more; ++lpa) put(b, lpa, 0);
        for (const std::uint32_t lpa : {21u, 1u, 2u}) put(b, lpa, 0);
        EXPECT_EQ(idx(b.entry(b.pop_dirty()).lpa), more == 0 ? 1u : 10u);
    }
}

}  // namespace
}  // namespace ssdtlm
