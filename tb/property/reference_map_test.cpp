// SPDX-License-Identifier: Apache-2.0
// What the reference map takes for right, and what it does not.
#include "property/reference_map.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ssdtlm {
namespace {

struct Bench : testing::Test {
    ReferenceMap map{4, 4, 0, 1};
    void write(std::uint32_t first, std::uint32_t atoms, ReferenceMap::Value v, bool durable = false) {
        map.end(0, map.begin(0, first, atoms, v), durable);
    }
    bool reads(const ReferenceMap::Image& found, std::uint32_t first = 0) {
        const auto begun = map.begin_read();
        const bool ok = map.read(0, first, found, begun).empty();
        map.end_read(begun);
        return ok;
    }
    void flush() { map.end_flush(map.begin_flush()); }
};
using Reference = Bench;

TEST_F(Reference, ReadsTheNewestOfEachAtom) {
    EXPECT_TRUE(reads({0, 0, 0, 0}));
    write(0, 4, 5);
    write(1, 2, 6);
    EXPECT_TRUE(reads({5, 6, 6, 5}));
    EXPECT_FALSE(reads({5, 6, 5, 5}));
    EXPECT_FALSE(reads({5}, 1));
    write(0, 4, 0);
    EXPECT_FALSE(reads({5, 6, 6, 5}));
    EXPECT_TRUE(reads({0, 0}, 2));
}

TEST_F(Reference, WhatOverlapsIsDoneInOneOrderForAllAtoms) {
    const auto a = map.begin(0, 0, 3, 5), b = map.begin(0, 1, 3, 6);
    map.end(0, a, false);
    map.end(0, b, false);
    EXPECT_FALSE(reads({5, 6, 5, 6}));
    EXPECT_TRUE(reads({5, 5, 5, 6}));
    EXPECT_FALSE(reads({5, 6, 6, 6})) << "it was found to be the other way";
}

TEST_F(Reference, AReadFindsWhatWasThereBetweenItsBeginAndItsEnd) {
    write(0, 4, 5, true);
    const auto read = map.begin_read();
    write(0, 4, 6, true);
    const auto after = map.begin_read();
    EXPECT_EQ(map.read(0, 0, {5, 6, 5, 6}, read), "") << "each atom at a moment of its own";
    EXPECT_NE(map.read(0, 0, {5, 5, 5, 5}, after), "");
    map.end_read(read);
    map.end_read(after);
    EXPECT_FALSE(reads({5}, 2));
}

TEST_F(Reference, ALossOfPowerLeavesWhatIsDurableOrSomethingLater) {
    write(0, 4, 5, true);
    write(0, 4, 6);
    write(0, 2, 7);
    map.power_lost();
    EXPECT_FALSE(reads({0, 0, 0, 0})) << "forced";
    EXPECT_FALSE(reads({7, 7, 5, 5})) << "mixed: without what came before it";
    EXPECT_TRUE(reads({6, 6, 6, 6}));
    EXPECT_FALSE(reads({7, 7, 6, 6})) << "it has been read";
    EXPECT_FALSE(reads({5, 5, 5, 5}));
}

TEST_F(Reference, WhatWasReadAfterALossIsThereAfterTheNext) {
    write(0, 4, 5);
    map.power_lost();
    EXPECT_TRUE(reads({0, 0}, 2));
    map.power_lost();
    EXPECT_FALSE(reads({5, 5, 5, 5}));
    EXPECT_TRUE(reads({0, 0, 0, 0}));
}

constexpr ReferenceMap::Value kBad = ReferenceMap::kUnreadable;

TEST_F(Reference, WhatIsUnreadableStaysSoUnderADeallocation) {
    write(0, 4, 5, true);
    write(1, 2, kBad);
    EXPECT_FALSE(reads({5, 5, 5, 5}));
    map.end(0, map.begin(0, 0, 4, 0, true), false);
    flush();
    EXPECT_TRUE(map.may_be_unreadable(0, 1));
    EXPECT_TRUE(map.must_be_unreadable(0, 1));
    EXPECT_FALSE(map.must_be_unreadable(0, 0));
    EXPECT_FALSE(reads({0, 0, 0, 0}));
    EXPECT_FALSE(reads({kBad}, 3));
    EXPECT_TRUE(reads({0, kBad, kBad, 0}));
    write(2, 1, 7);
    EXPECT_FALSE(map.must_be_unreadable(0, 2));
    EXPECT_FALSE(reads({0}, 1));
    EXPECT_TRUE(reads({0, kBad, 7, 0}));
}

TEST_F(Reference, WhatIsUnreadableStaysSoOverALossThatTakesAwayWhatCameBefore) {
    write(0, 4, 5, true);
    write(0, 4, 6);
    write(0, 2, kBad);
    map.power_lost();
    EXPECT_FALSE(reads({5, 5, 5, 5}));
    EXPECT_FALSE(reads({kBad, kBad, 6, 5})) << "of two moments";
    EXPECT_TRUE(reads({kBad, kBad, 5, 5}));
    EXPECT_FALSE(reads({6, 6}, 2)) << "it has been read";
    write(0, 4, 8);
    map.power_lost();
    EXPECT_TRUE(reads({kBad, kBad, 5, 5})) << "the write was not durable";
}

TEST_F(Reference, WhatCoversAUnitMakesAllTheSameThatWasBefore) {
    write(0, 2, 5);
    write(0, 4, 6);
    map.power_lost();
    write(0, 4, 0, true);
    EXPECT_TRUE(map.is_durable(0));
    EXPECT_TRUE(reads({0, 0, 0, 0}));
}

TEST_F(Reference, AFlushCoversWhatHadEndedBefore) {
    write(0, 4, 5);
    const auto late = map.begin(0, 3, 1, 6);
    const auto flush = map.begin_flush();
    write(0, 1, 7);
    map.end(0, late, false);
    map.end_flush(flush);
    map.power_lost();
    EXPECT_FALSE(reads({0, 0, 0, 0}));
    EXPECT_FALSE(reads({0, 5, 5, 6}));
    EXPECT_TRUE(reads({5, 5, 5, 6}));
}

TEST_F(Reference, WhatIsDurableHasWhatCameBeforeItWithIt) {
    write(0, 4, 5);
    write(1, 1, 6, true);
    map.power_lost();
    EXPECT_FALSE(reads({0, 6, 0, 0}));
    EXPECT_TRUE(reads({5, 6, 5, 5}));
}

TEST_F(Reference, WhatWasUnderWayMayHaveBeenDone) {
    write(0, 4, 5, true);
    map.begin(0, 0, 4, 6);
    map.begin(0, 1, 1, 0);
    map.power_lost();
    write(3, 1, 7, true);
    EXPECT_FALSE(reads({5, 6, 5, 7}));
    EXPECT_TRUE(reads({6, 0, 6, 7}));
    flush();
    EXPECT_FALSE(reads({5, 5, 5, 7}));
}

TEST_F(Reference, WhatWasGivenUpMayHaveBeenDone) {
    write(0, 4, 5, true);
    const auto a = map.begin(0, 0, 4, 6), b = map.begin(0, 0, 4, 7);
    map.give_up(0, a, true);
    map.give_up(0, b, false);
    EXPECT_FALSE(map.is_durable(0));
    EXPECT_FALSE(reads({7, 7, 7, 7}));
    EXPECT_TRUE(reads({5, 5, 5, 5}));
    EXPECT_TRUE(reads({6, 6, 6, 6}));
    flush();
    map.power_lost();
    EXPECT_FALSE(reads({0, 0, 0, 0}));
    EXPECT_TRUE(reads({5, 5, 5, 5}));
    EXPECT_TRUE(map.is_durable(0));
}

TEST_F(Reference, WhatTheFirstOfTwoLossesTookIsGone) {
    write(0, 4, 5, true);
    write(0, 4, 6);
    map.power_lost();
    write(2, 1, 7);
    EXPECT_TRUE(reads({5, 5, 7, 5}));
    map.power_lost();
    EXPECT_FALSE(reads({6, 6, 6, 6})) << "it was seen that it was not there";
    EXPECT_TRUE(reads({5, 5, 5, 5}));
}

TEST(ReferenceMap, ManyThatWereGivenUpHaveAnAnswerSoon) {
    // Tried in all their orders, thirty that may or may not have been done would never come to an end.
    ReferenceMap map(1, 32, 0, 0);
    const auto reads = [&map](std::uint32_t first, const ReferenceMap::Image& found) {
        const auto begun = map.begin_read();
        const bool ok = map.read(0, first, found, begun).empty();
        map.end_read(begun);
        return ok;
    };
    map.end(0, map.begin(0, 0, 32, 100), true);
    for (std::uint32_t life = 0; life < 3; ++life) {
        for (std::uint32_t a = 0; a < 10; ++a)
            map.give_up(0, map.begin(0, 10 * life + a, 2, 101 + 10 * life + a), true);
        EXPECT_TRUE(reads(31, {100}));
        EXPECT_FALSE(reads(31, {7}));
        map.power_lost();
    }
    EXPECT_TRUE(reads(5, {106, 106}));
    EXPECT_FALSE(reads(5, {107, 107})) << "its second atom only";
    EXPECT_TRUE(reads(25, {100}));
}

TEST(ReferenceMap, ManyThatOverlapHaveAnAnswerSoonBehindALossOfPower) {
    // A queue of 32 commands for one unit, of which a read has found the first to be the last: nearly all their orders
    // are wrong.
    ReferenceMap map(1, 2, 0, 0);
    std::vector<ReferenceMap::Moment> begun;
    for (std::uint32_t i = 0; i < 32; ++i) begun.push_back(map.begin(0, 0, 1, 101 + i));
    for (const ReferenceMap::Moment m : begun) map.end(0, m, false);
    const auto reads = [&map](const ReferenceMap::Image& found) {
        const auto at = map.begin_read();
        const bool ok = map.read(0, 0, found, at).empty();
        map.end_read(at);
        return ok;
    };
    EXPECT_TRUE(reads({101, 0}));
    map.power_lost();
    EXPECT_TRUE(reads({0, 0}));
    EXPECT_FALSE(reads({7, 0})) << "nobody has written it";
}

TEST(ReferenceMap, AFlushThatFailedHasSaidWhatLaterOnesLeaveOut) {
    ReferenceMap map(2, 1, 0, 0);
    map.end(0, map.begin(0, 0, 1, 5), false);
    map.begin_flush();
    map.fail_flush();
    map.end(1, map.begin(1, 0, 1, 6), false);
    map.end_flush(map.begin_flush());
    EXPECT_FALSE(map.is_durable(0)) << "it may have been given up";
    EXPECT_TRUE(map.is_durable(1)) << "it began later";
    EXPECT_FALSE(map.is_initial(1));
}

TEST_F(Reference, WhatWasGivenUpAndIsOverWasDoneBeforeWhatFollows) {
    write(0, 4, 5);
    map.give_up(0, map.begin(0, 0, 4, 6), true, true);
    write(0, 2, 7);
    EXPECT_FALSE(reads({6, 6, 6, 6})) << "it came back";
    EXPECT_TRUE(reads({7, 7, 6, 6}));
    EXPECT_FALSE(reads({7, 7, 5, 5})) << "a read has found that it was done";
}

TEST_F(Reference, WhatAReadHasFoundNotDoneStaysSo) {
    write(0, 4, 5);
    map.give_up(0, map.begin(0, 0, 4, 6), true, true);
    EXPECT_TRUE(reads({5, 5}, 2));
    EXPECT_FALSE(reads({6, 6, 6, 6}));
    EXPECT_TRUE(reads({5, 5, 5, 5}));
    map.power_lost();
    EXPECT_FALSE(reads({6, 6, 6, 6}));
}

TEST_F(Reference, WhatAReadHasFoundDoneMayBeLostWithThePower) {
    write(0, 4, 5, true);
    map.give_up(0, map.begin(0, 0, 4, 6), true, true);
    EXPECT_TRUE(reads({6, 6, 6, 6}));
    EXPECT_FALSE(reads({5, 5, 5, 5}));
    map.power_lost();
    EXPECT_TRUE(reads({5, 5, 5, 5}));
}

TEST_F(Reference, AnErasureThatHasFailedLeavesEachAtomErasedOrNot) {
    write(0, 4, 5, true);
    write(1, 2, 6);
    map.give_up(0, map.begin_erasure(0), true, true);
    EXPECT_FALSE(reads({5, 5, 0, 0})) << "the write had ended before";
    EXPECT_FALSE(reads({0, 0, 0, 7})) << "nobody has written it";
    EXPECT_TRUE(reads({5, 0, 6, 5}));
    EXPECT_FALSE(reads({0, 0, 0, 0})) << "it is over";
    EXPECT_FALSE(reads({5, 6, 6, 5})) << "it was erased";
    write(0, 2, 7);
    EXPECT_TRUE(reads({7, 7, 6, 5}));
}

TEST_F(Reference, WhatAFailedErasureHasErasedMayComeBackWithThePower) {
    write(0, 4, 5, true);
    map.give_up(0, map.begin_erasure(0), true, true);
    EXPECT_TRUE(reads({0, 0, 5, 0}));
    map.power_lost();
    EXPECT_FALSE(reads({0, 0, 0, 0})) << "the third one was not erased";
    EXPECT_TRUE(reads({5, 0, 5, 0}));
    EXPECT_FALSE(reads({0, 0, 5, 0})) << "it has been read";
}

TEST_F(Reference, AnErasureThatALossOfPowerHasCutLeavesEachAtomErasedOrNot) {
    write(0, 4, 5, true);
    map.begin_erasure(0);
    map.power_lost();
    EXPECT_FALSE(reads({0, 5, 0, 6}));
    EXPECT_TRUE(reads({0, 5, 0, 5}));
    EXPECT_FALSE(reads({0, 0, 0, 0})) << "it has been read";
}

TEST_F(Reference, AnErasureThatEndsWellIsDurable) {
    write(0, 4, 5, true);
    map.begin_erasure(0);
    map.power_lost();
    map.end(0, map.begin_erasure(0), true);
    EXPECT_TRUE(map.is_durable(0));
    EXPECT_FALSE(reads({0, 5, 0, 0}));
    map.power_lost();
    EXPECT_FALSE(reads({5, 5, 5, 5}));
    EXPECT_TRUE(reads({0, 0, 0, 0}));
}

// Each state of so many atoms is one of the orders in which they can be erased.
TEST(ReferenceMap, FindsOutWhatOfManyAtomsAFailedErasureHasErased) {
    constexpr std::uint32_t kAtoms = 128;
    ReferenceMap map(1, kAtoms, 1, 1);
    map.end(0, map.begin(0, 0, kAtoms, 5), true);
    map.give_up(0, map.begin_erasure(0), true, true);
    const auto reads = [&map](const ReferenceMap::Image& found) {
        const auto at = map.begin_read();
        const bool ok = map.read(0, 0, found, at).empty();
        map.end_read(at);
        return ok;
    };
    ReferenceMap::Image half(kAtoms, 5);
    std::fill(half.begin() + kAtoms / 2, half.end(), 0);
    ReferenceMap::Image wrong = half;
    wrong[3] = 1;
    EXPECT_FALSE(reads(wrong));
    EXPECT_TRUE(reads(half));
    EXPECT_FALSE(reads(ReferenceMap::Image(kAtoms, 0)));
    map.power_lost();
    EXPECT_FALSE(reads(wrong));
    EXPECT_TRUE(reads(ReferenceMap::Image(kAtoms, 5)));
}

TEST_F(Reference, WhatWasGivenUpAndIsNotOverMayComeLater) {
    write(0, 4, 5);
    map.give_up(0, map.begin(0, 0, 4, 6), true);
    write(0, 4, 7);
    EXPECT_TRUE(reads({6, 6, 6, 6}));
}

}  // namespace
}  // namespace ssdtlm
