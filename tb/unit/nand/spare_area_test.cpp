// SPDX-License-Identifier: Apache-2.0
#include "nand/array/spare_area.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

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

std::array<Spare, 4> units_at(std::uint32_t base) { return {Spare{base}, Spare{base + 1}, Spare{base + 2}, kPadding}; }

std::string refusal(SpareArea& area, const PageAddress& a) {
    try {
        area.program_page(a, units_at(0).data());
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
    area.program_page(a, units_at(100).data());
    area.program(g.ppa_of(PageAddress{PlaneId{3}, 6, 1}, 0), units_at(200).data());
    area.program_page(neighbour, units_at(300).data());
    EXPECT_EQ(area.at(g.ppa_of(a, 2)), Spare{102});
    EXPECT_EQ(area.at(g.ppa_of(a, 3)), kPadding);
    EXPECT_EQ(area.at(g.ppa_of(PageAddress{PlaneId{3}, 6, 1}, 0)), Spare{200});
    std::array<Spare, 4> out{};
    area.read_page(neighbour, out.data());
    EXPECT_EQ(out, units_at(300));
    EXPECT_EQ(area.next_page(g.block_of(a)), 2u);

    area.erase(g.block_of(a));
    EXPECT_EQ(area.next_page(g.block_of(a)), 0u);
    EXPECT_EQ(area.erase_count(g.block_of(a)), 1u);
    EXPECT_EQ(area.at(g.ppa_of(a, 0)), kErased);
    EXPECT_EQ(area.at(g.ppa_of(PageAddress{PlaneId{3}, 6, 1}, 0)), kErased);
    EXPECT_EQ(area.at(g.ppa_of(neighbour, 0)), Spare{300});
    area.program_page(a, units_at(400).data());
    EXPECT_EQ(area.at(g.ppa_of(a, 0)), Spare{400});
}

TEST(SpareArea, LaidOutEqualsProgrammedAlsoAfterErase) {
    const NandGeometry g = geometry();
    const SpareCodec codec(g.units());
    std::vector<PlaneId> order;
    for (const std::uint32_t p : {3u, 0u, 2u, 7u, 5u, 1u, 6u, 4u}) order.push_back(PlaneId{p});
    const std::uint32_t units = 8 * 4 * 4 * 2 + 8 * 4 + 4 * 3 + 2;  // two rows of blocks, a row of pages, and a part
    const SequentialLayout layout(g, order, units);
    SpareArea laid_out(g), programmed(g);
    laid_out.lay_out(layout, codec);
    for (std::uint32_t u = 0; u < units; u += 4) {
        std::array<Spare, 4> page{};
        for (std::uint32_t s = 0; s < 4; ++s) page[s] = u + s < units ? codec.make(Lpa{u + s}, 1) : kPadding;
        programmed.program(layout.place_of(Lpa{u}), page.data());
    }
    const auto expect_same = [&] {
        for (std::uint32_t p = 0; p < g.units(); ++p) ASSERT_EQ(laid_out.at(Ppa{p}), programmed.at(Ppa{p})) << p;
        for (std::uint32_t b = 0; b < g.blocks(); ++b) {
            ASSERT_EQ(laid_out.next_page(BlockId{b}), programmed.next_page(BlockId{b})) << b;
            std::array<Spare, 4> x{}, y{};
            laid_out.read_page(PageAddress{g.plane_of(BlockId{b}), g.block_in_plane(BlockId{b}), 1}, x.data());
            programmed.read_page(PageAddress{g.plane_of(BlockId{b}), g.block_in_plane(BlockId{b}), 1}, y.data());
            ASSERT_EQ(x, y) << b;
        }
    };
    expect_same();
    for (const std::uint32_t b : {0u, 2u, 9u, 30u}) {  // full, partly programmed, and never programmed
        for (SpareArea* area : {&laid_out, &programmed}) {
            area->erase(BlockId{b});
            area->program_page(PageAddress{g.plane_of(BlockId{b}), g.block_in_plane(BlockId{b}), 0}, units_at(500 + b).data());
        }
        expect_same();
    }
    EXPECT_THROW(laid_out.lay_out(layout, codec), Panic);
}

TEST(SpareArea, RefusesSecondProgramOfAPage) {
    SpareArea area(geometry());
    const PageAddress a{PlaneId{1}, 2, 0};
    area.program_page(a, units_at(1).data());
    EXPECT_THAT(refusal(area, a), AllOf(HasSubstr("die 0 plane 1 block 2"), HasSubstr("page 0"), HasSubstr("not erased"),
                                        HasSubstr("next is page 1")));
}

TEST(SpareArea, RefusesProgramOutOfOrder) {
    SpareArea area(geometry());
    EXPECT_THAT(refusal(area, PageAddress{PlaneId{6}, 1, 2}),
                AllOf(HasSubstr("die 3 plane 0 block 1"), HasSubstr("page 2 out of order"), HasSubstr("next is page 0")));
}

TEST(SpareArea, RefusesEraseOfABlockThatDoesNotExist) {
    const NandGeometry g = geometry();
    SpareArea area(g);
    const BlockId last{g.blocks() - 1};
    area.erase(last);
    EXPECT_EQ(area.erase_count(last), 1u);
    EXPECT_THROW(area.erase(BlockId{g.blocks()}), Panic);
    EXPECT_THROW(area.erase(BlockId{g.blocks() + 1}), Panic);
}

TEST(SpareArea, RefusesPageThatDoesNotExist) {
    SpareArea area(geometry());
    for (std::uint32_t page = 0; page < 4; ++page) area.program_page(PageAddress{PlaneId{0}, 0, page}, units_at(page).data());
    EXPECT_THAT(refusal(area, PageAddress{PlaneId{0}, 0, 4}), AllOf(HasSubstr("page 4"), HasSubstr("pages 0 to 3")));
}

}  // namespace
}  // namespace ssdtlm
