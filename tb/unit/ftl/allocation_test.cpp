// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

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

}  // namespace
}  // namespace ssdtlm
