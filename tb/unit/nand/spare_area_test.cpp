// SPDX-License-Identifier: Apache-2.0
#include "nand/array/spare_area.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace ssdtlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

NandGeometry geometry() {
    NandGeometry g;
    g.channels = 2;
    g.ways = 2;
    g.planes_per_die = 2;
    g.blocks_per_plane = 8;
    g.pages_per_block = 4;
    g.page_bytes = 16384;
    g.unit_bytes = 4096;
    return g;
}

std::array<Spare, 4> units(std::uint32_t base) { return {Spare{base}, Spare{base + 1}, Spare{base + 2}, kPadding}; }

std::string refusal(SpareArea& area, const PageAddress& a) {
    try {
        area.program_page(a, units(0).data());
    } catch (const Panic& p) {
        return p.what();
    }
    return "accepted";
}

TEST(SpareArea, FreshFlashIsErased) {
    const NandGeometry g = geometry();
    SpareArea area(g);
    for (std::uint32_t p = 0; p < g.units(); ++p) ASSERT_EQ(area.at(Ppa{p}), kErased);
    EXPECT_EQ(area.next_page(BlockId{5}), 0u);
    EXPECT_EQ(area.erase_count(BlockId{5}), 0u);
}

TEST(SpareArea, ProgramThenEraseTouchesOnlyThatBlock) {
    const NandGeometry g = geometry();
    SpareArea area(g);
    const PageAddress a{PlaneId{3}, 6, 0};
    const PageAddress neighbour{PlaneId{3}, 7, 0};
    area.program_page(a, units(100).data());
    area.program(g.ppa_of(PageAddress{PlaneId{3}, 6, 1}, 0), units(200).data());
    area.program_page(neighbour, units(300).data());
    EXPECT_EQ(area.at(g.ppa_of(a, 2)), Spare{102});
    EXPECT_EQ(area.at(g.ppa_of(a, 3)), kPadding);
    EXPECT_EQ(area.at(g.ppa_of(PageAddress{PlaneId{3}, 6, 1}, 0)), Spare{200});
    std::array<Spare, 4> out{};
    area.read_page(neighbour, out.data());
    EXPECT_EQ(out, units(300));
    EXPECT_EQ(area.next_page(g.block_of(a)), 2u);

    area.erase(g.block_of(a));
    EXPECT_EQ(area.next_page(g.block_of(a)), 0u);
    EXPECT_EQ(area.erase_count(g.block_of(a)), 1u);
    EXPECT_EQ(area.at(g.ppa_of(a, 0)), kErased);
    EXPECT_EQ(area.at(g.ppa_of(PageAddress{PlaneId{3}, 6, 1}, 0)), kErased);
    EXPECT_EQ(area.at(g.ppa_of(neighbour, 0)), Spare{300});
    area.program_page(a, units(400).data());
    EXPECT_EQ(area.at(g.ppa_of(a, 0)), Spare{400});
}

TEST(SpareArea, RefusesSecondProgramOfAPage) {
    SpareArea area(geometry());
    const PageAddress a{PlaneId{1}, 2, 0};
    area.program_page(a, units(1).data());
    EXPECT_THAT(refusal(area, a), AllOf(HasSubstr("die 0 plane 1 block 2"), HasSubstr("page 0"), HasSubstr("not erased"),
                                        HasSubstr("next is page 1")));
}

TEST(SpareArea, RefusesProgramOutOfOrder) {
    SpareArea area(geometry());
    EXPECT_THAT(refusal(area, PageAddress{PlaneId{6}, 1, 2}),
                AllOf(HasSubstr("die 3 plane 0 block 1"), HasSubstr("page 2 out of order"), HasSubstr("next is page 0")));
}

TEST(SpareArea, RefusesPageThatDoesNotExist) {
    SpareArea area(geometry());
    for (std::uint32_t page = 0; page < 4; ++page) area.program_page(PageAddress{PlaneId{0}, 0, page}, units(page).data());
    EXPECT_THAT(refusal(area, PageAddress{PlaneId{0}, 0, 4}), AllOf(HasSubstr("page 4"), HasSubstr("pages 0 to 3")));
}

}  // namespace
}  // namespace ssdtlm
