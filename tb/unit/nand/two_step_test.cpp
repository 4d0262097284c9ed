// SPDX-License-Identifier: Apache-2.0
// MLC that is programmed in two steps: where the pages of a word line are, how long they take, and what the power takes
// with an upper page.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "common/address/word_lines.h"
#include "nand/die/die.h"

namespace ssdtlm {
namespace {

static_assert(WordLines{8}.is_upper(2) && !WordLines{8}.is_upper(1) && WordLines{8}.below(2) == 0 &&
              WordLines{8}.above(5) == 7);

// Between a lower page and its upper one lies the lower page of the next word line, and nothing else but the upper page
// of the one before.
TEST(WordLines, EachHasALowerPageAndLaterAnUpperOne) {
    for (std::uint32_t pages : {2u, 4u, 6u, 16u, 256u}) {
        const WordLines lines{pages};
        std::set<std::uint32_t> seen;
        for (std::uint32_t line = 0; line < lines.count(); ++line) {
            const std::uint32_t lower = lines.lower_page(line), upper = lines.upper_page(line);
            ASSERT_LT(lower, upper);
            EXPECT_FALSE(lines.is_upper(lower));
            EXPECT_TRUE(lines.is_upper(upper));
            EXPECT_EQ(lines.below(upper), lower);
            EXPECT_EQ(lines.above(lower), upper);
            EXPECT_EQ(lines.word_line_of(lower), line);
            EXPECT_EQ(lines.word_line_of(upper), line);
            if (line + 1 < lines.count()) {
                EXPECT_LT(lines.lower_page(line + 1), upper) << "the neighbour's lower page comes first";
            }
            EXPECT_LE(upper - lower, 3u);
            seen.insert({lower, upper});
        }
        EXPECT_EQ(seen.size(), pages);
        EXPECT_EQ(*seen.rbegin(), pages - 1);
    }
}

constexpr SimTime kStart{Ps{1'000}};

class TwoStepTest : public ::testing::Test {
protected:
    static NandConfig config() {
        NandConfig c;
        c.geometry.planes_per_die = 2;
        c.geometry.blocks_per_plane = 4;
        c.geometry.pages_per_block = 8;
        c.geometry.page_bytes = 8192;
        c.geometry.unit_bytes = 4096;
        c.geometry.bits_per_cell = 2;
        c.geometry.two_step = true;
        c.t_read = {45us, 60us};
        c.t_program = {400us, 1500us};
        return c;
    }
    TwoStepTest() : area(config().geometry), die(config(), DieId{0}, area) {}
    OnfiTarget at(std::uint8_t plane, std::uint32_t page) {
        OnfiTarget t{plane, 1, page, 8192, data.data()};
        t.record = &record;
        return t;
    }
    Ps program(const std::vector<OnfiTarget>& t, bool ends = true) {
        record.number = ++number;
        const SimTime ready = die.issue(FlashOp::program, t.data(), static_cast<std::uint32_t>(t.size()), kStart);
        if (ends) die.finish(t.data(), static_cast<std::uint32_t>(t.size()));
        return ready - kStart;
    }
    Spare first_of(std::uint32_t plane, std::uint32_t page) const {
        return area.at(config().geometry.ppa_of({PlaneId{plane}, 1, page}, 0));
    }

    std::array<Spare, 2> data{Spare{1}, Spare{2}};
    PageRecord record;
    std::uint64_t number = 0;
    SpareArea area;
    Die die;
};

TEST_F(TwoStepTest, UpperPagesTakeTheirTime) {
    const std::vector<bool> upper{false, false, true, false, true, false, true, true};
    for (std::uint32_t page = 0; page < 8; ++page)
        EXPECT_EQ(program({at(0, page)}), upper[page] ? 1500us : 400us) << "page " << page;
    for (std::uint32_t page = 0; page < 8; ++page) {
        const OnfiTarget t = at(0, page);
        EXPECT_EQ(die.issue(FlashOp::read, &t, 1, kStart) - kStart, upper[page] ? 60us : 45us) << "page " << page;
        die.finish(&t, 1);
    }
}

TEST_F(TwoStepTest, WithAnUpperPageThePowerTakesTheLowerOneOfEachPlane) {
    for (std::uint32_t page = 0; page < 4; ++page) program({at(0, page), at(1, page)});
    program({at(0, 4), at(1, 4)}, false);  // U1, above L1, which is page 1
    const PowerLoss loss = die.power_lost(kStart + 200us);
    EXPECT_EQ(loss.pages_torn, 2u);
    EXPECT_EQ(loss.lower_pages_lost, 2u);
    for (std::uint32_t plane = 0; plane < 2; ++plane)
        for (std::uint32_t page = 0; page < 5; ++page)
            EXPECT_EQ(first_of(plane, page) == kTorn, page == 1 || page == 4) << "plane " << plane << " page " << page;
}

TEST_F(TwoStepTest, WithALowerPageNothingElseIsLost) {
    for (std::uint32_t page = 0; page < 3; ++page) program({at(0, page)});
    program({at(0, 3)}, false);
    const PowerLoss loss = die.power_lost(kStart + 200us);
    EXPECT_EQ(loss.pages_torn, 1u);
    EXPECT_EQ(loss.lower_pages_lost, 0u);
    for (std::uint32_t page = 0; page < 3; ++page) EXPECT_EQ(first_of(0, page), Spare{1}) << page;
}

TEST_F(TwoStepTest, ASuspendedUpperPageTakesItsLowerOneToo) {
    for (std::uint32_t page = 0; page < 2; ++page) program({at(0, page)});
    program({at(0, 2)}, false);
    die.suspend(FlashOp::program_suspend, kStart + 100us);
    EXPECT_EQ(die.power_lost(kStart + 500us).lower_pages_lost, 1u);
    EXPECT_EQ(first_of(0, 0), kTorn);
    EXPECT_EQ(first_of(0, 1), Spare{1});
}

}  // namespace
}  // namespace ssdtlm
