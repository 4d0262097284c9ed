// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "controller/ftl/allocation/plane_order.h"

namespace ssdtlm {
namespace {

NandGeometry geometry() {
    NandGeometry g;
    g.channels = 3;
    g.ways = 2;
    g.dies_per_chip = 4;
    g.planes_per_die = 5;
    g.blocks_per_plane = 8;
    g.pages_per_block = 4;
    return g;
}

/// Coordinate of a plane that a letter stands for.
std::uint32_t coordinate(char letter, PlaneId p, const NandGeometry& g) {
    const DieId die = g.die_of(p);
    switch (letter) {
        case 'C':
            return g.channel_of(die);
        case 'W':
            return g.die_in_channel(die) / g.dies_per_chip;
        case 'D':
            return g.die_in_channel(die) % g.dies_per_chip;
        default:
            return g.plane_in_die(p);
    }
}
std::uint32_t extent(char letter, const NandGeometry& g) {
    return letter == 'C' ? g.channels : letter == 'W' ? g.ways : letter == 'D' ? g.dies_per_chip : g.planes_per_die;
}

TEST(PlaneSequence, AllOrdersVaryTheirLettersFromFastToSlow) {
    const NandGeometry g = geometry();
    const auto orders = allocation_orders();
    ASSERT_EQ(std::set<std::string>(orders.begin(), orders.end()).size(), 24u);
    for (const auto& order : orders) {
        const auto sequence = plane_sequence(order, g);
        ASSERT_EQ(sequence.size(), g.planes());
        for (std::uint32_t i = 0; i < sequence.size(); ++i) {
            std::uint32_t rest = i;
            for (const char letter : order) {
                ASSERT_EQ(coordinate(letter, sequence[i], g), rest % extent(letter, g)) << order << " at " << i;
                rest /= extent(letter, g);
            }
        }
    }
}

TEST(PlaneSequence, UnknownOrderNamesTheNearest) {
    try {
        plane_sequence("CWDD", geometry());
        FAIL() << "accepted";
    } catch (const UserError& e) {
        EXPECT_NE(std::string(e.what()).find("'CWDD'"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("did you mean"), std::string::npos) << e.what();
    }
    EXPECT_THROW(plane_sequence("cwdp", geometry()), UserError);
}

TEST(RowSequence, PutsThePlanesOfADieBesideEachOther) {
    const NandGeometry g = geometry();
    EXPECT_EQ(row_sequence("CWDP", g, SuperblockSpan::plane), plane_sequence("CWDP", g));
    EXPECT_EQ(row_sequence("CWDP", g, SuperblockSpan::die), plane_sequence("PCWD", g));
    EXPECT_EQ(row_sequence("DPWC", g, SuperblockSpan::die), plane_sequence("PDWC", g));
    EXPECT_THROW(row_sequence("CWDD", g, SuperblockSpan::die), UserError);
}

TEST(GroupCursor, SkipsGroupsThatAreOffAndComesRound) {
    const NandGeometry g = geometry();  // 120 planes: two words of the bitmap
    GroupCursor cursor(plane_sequence("PDWC", g), SuperblockShape(g));
    GroupId p{};
    for (std::uint32_t i = 0; i < 2 * g.planes(); ++i) {
        ASSERT_TRUE(cursor.next(p));
        ASSERT_EQ(idx(p), i % g.planes());  // PDWC is the linear numbering
    }
    for (std::uint32_t i = 0; i < g.planes(); ++i) cursor.set_able(GroupId{i}, i == 3 || i == 100);
    const std::uint32_t expected[] = {3, 100, 3, 100};
    for (const std::uint32_t e : expected) {
        ASSERT_TRUE(cursor.next(p));
        EXPECT_EQ(idx(p), e);
    }
    cursor.set_able(GroupId{100}, false);
    ASSERT_TRUE(cursor.next(p));
    EXPECT_EQ(idx(p), 3u);
    ASSERT_TRUE(cursor.next(p));  // the only one, right behind itself
    EXPECT_EQ(idx(p), 3u);
    cursor.set_able(GroupId{3}, false);
    EXPECT_FALSE(cursor.next(p));
}

TEST(GroupCursor, WalksRoundTheDiesWhenTheirPlanesAreOneGroup) {
    const NandGeometry g = geometry();
    GroupCursor cursor(row_sequence("CWDP", g, SuperblockSpan::die), SuperblockShape(g, SuperblockSpan::die));
    ASSERT_EQ(cursor.sequence().size(), g.dies());
    GroupId p{};
    for (std::uint32_t i = 0; i < g.dies(); ++i) {
        ASSERT_TRUE(cursor.next(p));
        EXPECT_EQ(g.channel_of(DieId{idx(p)}), i % g.channels);
    }
    EXPECT_FALSE(cursor.next_ragged(p));
    cursor.set_ragged(GroupId{7}, true);
    cursor.set_ragged(GroupId{7}, true);
    EXPECT_EQ(cursor.ragged_count(), 1u);
    ASSERT_TRUE(cursor.next_ragged(p));
    EXPECT_EQ(p, GroupId{7});
    EXPECT_EQ(cursor.position(), 0u);  // came round, and did not move
    cursor.set_ragged(GroupId{7}, false);
    EXPECT_FALSE(cursor.next_ragged(p));
}

// Against the rule, said as plainly as can be: of those that are on, in the order of the walk, the first with the least
// load.
TEST(GroupCursor, TheLeastLoadedOneInTheOrderOfTheWalk) {
    NandGeometry g = geometry();
    for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die}) {
        const SuperblockShape shape(g, span);
        GroupCursor cursor(row_sequence("CWDP", g, span), shape);
        const auto sequence = cursor.sequence();
        std::vector<bool> on(shape.groups(), true), held(shape.groups());
        std::vector<std::uint32_t> load(shape.groups());
        std::size_t position = 0;
        Random random(5);
        int none = 0;
        for (int i = 0; i < 20000; ++i) {
            const GroupId any{static_cast<std::uint32_t>(random.below(shape.groups()))};
            load[idx(any)] = static_cast<std::uint32_t>(random.below(i % 1000 < 500 ? 3 : 50));
            if (random.percent(30)) cursor.set_able(any, on[idx(any)] = random.percent(i % 2000 < 100 ? 2 : 60));
            if (random.percent(10)) cursor.set_held(any, held[idx(any)] = random.percent(30));
            std::size_t best = sequence.size();
            for (std::size_t n = 0; n < sequence.size(); ++n) {
                const std::size_t at = (position + n) % sequence.size();
                const GroupId group = sequence[at];
                if (!on[idx(group)] || held[idx(group)]) continue;
                if (best == sequence.size() || load[idx(group)] < load[idx(sequence[best])]) best = at;
            }
            GroupId found{};
            ASSERT_EQ(cursor.next_least(load, found), best != sequence.size());
            if (best == sequence.size()) {
                ++none;
                continue;
            }
            ASSERT_EQ(found, sequence[best]) << "step " << i;
            position = (best + 1) % sequence.size();
            ASSERT_EQ(cursor.position(), position);
        }
        EXPECT_LT(none, 19000);
    }
}

}  // namespace
}  // namespace ssdtlm
