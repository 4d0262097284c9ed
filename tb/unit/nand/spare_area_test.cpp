// SPDX-License-Identifier: Apache-2.0
#include "nand/array/spare_area.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "common/random/random.h"

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

std::array<Spare, 4> units_at(std::uint32_t base) {
    return {Spare{base}, Spare{base + 1}, Spare{base + 2}, kPadding};
}

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
            area->program_page(PageAddress{g.plane_of(BlockId{b}), g.block_in_plane(BlockId{b}), 0},
                               units_at(500 + b).data());
        }
        expect_same();
    }
    EXPECT_THROW(laid_out.lay_out(layout, codec), Panic);
    SpareArea written(g), erased(g);  // one or the other is enough
    written.program_page(PageAddress{PlaneId{1}, 2, 0}, units_at(0).data());
    EXPECT_THROW(written.lay_out(layout, codec), Panic);
    erased.erase(BlockId{5});
    EXPECT_THROW(erased.lay_out(layout, codec), Panic);
}

// Blocks written in turn, erased and written again, with steps between numbers from 0 to far beyond what two bytes
// hold.
TEST(SpareArea, KeepsTheRecordOfEachPage) {
    NandGeometry g = geometry();
    g.pages_per_block = 40;
    SpareArea area(g);
    Random random(4, 1);
    std::vector<std::vector<PageRecord>> written(g.blocks());
    std::uint64_t number = 0, far = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto b = static_cast<std::uint32_t>(random.below(g.blocks()));
        std::vector<PageRecord>& pages = written[b];
        if (pages.size() == g.pages_per_block || random.below(200) == 0) {
            area.erase(BlockId{b});
            pages.clear();
        }
        const std::uint64_t step = random.percent(3) ? random.below(1ull << 40) : random.below(400);
        far += step > 8191;
        number += step;
        const auto stream = static_cast<std::uint8_t>(pages.empty() ? random.below(256) : pages.front().stream);
        pages.push_back(
            {number, static_cast<PageKind>(random.below(static_cast<std::uint64_t>(PageKind::count))), stream});
        const PageAddress a{g.plane_of(BlockId{b}), g.block_in_plane(BlockId{b}),
                            static_cast<std::uint32_t>(pages.size() - 1)};
        area.program_page(a, units_at(0).data(), pages.back());
        const auto same = [](const PageRecord& x, const PageRecord& y) {
            return x.number == y.number && x.kind == y.kind && x.stream == y.stream;
        };
        ASSERT_TRUE(same(area.record(a), pages.back())) << i;
        if (i % 50 != 0) continue;
        std::uint32_t n = 0;
        for (auto at = area.records(BlockId{b}); !at.at_end(); at.next(), ++n) {
            ASSERT_EQ(at.page(), n);
            ASSERT_TRUE(same(at.record(), pages[n])) << "block " << b << " page " << n;
        }
        ASSERT_EQ(n, pages.size());
    }
    EXPECT_GT(far, 500u);
    std::uint32_t b = 0;
    while (written[b].empty() || written[b].size() == g.pages_per_block) ++b;
    const PageAddress next{g.plane_of(BlockId{b}), g.block_in_plane(BlockId{b}),
                           static_cast<std::uint32_t>(written[b].size())};
    PageRecord r = written[b].back();
    ++r.stream;
    EXPECT_THROW(area.program_page(next, units_at(0).data(), r), Panic);
}

TEST(SpareArea, ATornPageIsNobodysAndTheBlockGoesOnBehindIt) {
    const NandGeometry g = geometry();
    SpareArea area(g);
    const PageAddress a{PlaneId{2}, 3, 0};
    area.program_page(a, units_at(7).data(), {5, PageKind::user, 1});
    area.tear({a.plane, a.block, 1});
    for (std::uint32_t s = 0; s < 4; ++s) EXPECT_EQ(area.at(g.ppa_of({a.plane, a.block, 1}, s)), kTorn);
    EXPECT_EQ(area.next_page(g.block_of(a)), 2u);
    area.program_page({a.plane, a.block, 2}, units_at(9).data(), {6, PageKind::user, 1});
    EXPECT_EQ(area.record({a.plane, a.block, 2}).number, 6u);
    area.erase(g.block_of(a));
    area.tear(a);  // the first of its block
    EXPECT_EQ(area.at(g.ppa_of(a, 0)), kTorn);
    // Nobody's unit looks like it.
    for (const std::uint64_t units :
         {1ull, 2ull, 3ull, 5ull, 6ull, 13ull, 253ull, 254ull, 255ull, 1000ull, (1ull << 24) - 3, (1ull << 24) - 2}) {
        const SpareCodec codec(units);
        for (const Spare s : {kErased, kPadding, kTorn}) EXPECT_GE(idx(codec.lpa(s)), units) << units;
    }
}

// Where nobody will search for the map, as the power does not go, a program may still fail.
TEST(SpareArea, WithoutRecordsAllButTheseIsKept) {
    const NandGeometry g = geometry();
    SpareArea area(g);
    area.drop_records();
    const PageAddress a{PlaneId{0}, 2, 0}, b{PlaneId{0}, 2, 1}, c{PlaneId{0}, 2, 2};
    area.program_page(a, units_at(7).data(), PageRecord{5});
    area.tear(b);
    area.program_page(c, units_at(7).data(), PageRecord{6});
    for (const PageAddress& page : {a, c}) EXPECT_EQ(area.at(g.ppa_of(page, 0)), units_at(7)[0]);
    EXPECT_EQ(area.at(g.ppa_of(b, 0)), kTorn);
    EXPECT_EQ(area.next_page(g.block_of(a)), 3u);
    EXPECT_THROW(area.record(a), Panic);
}

TEST(SpareArea, RefusesSecondProgramOfAPage) {
    SpareArea area(geometry());
    const PageAddress a{PlaneId{1}, 2, 0};
    area.program_page(a, units_at(1).data());
    EXPECT_THAT(refusal(area, a), AllOf(HasSubstr("die 0 plane 1 block 2"), HasSubstr("page 0"),
                                        HasSubstr("not erased"), HasSubstr("next is page 1")));
}

TEST(SpareArea, RefusesProgramOutOfOrder) {
    SpareArea area(geometry());
    EXPECT_THAT(
        refusal(area, PageAddress{PlaneId{6}, 1, 2}),
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
    for (std::uint32_t page = 0; page < 4; ++page)
        area.program_page(PageAddress{PlaneId{0}, 0, page}, units_at(page).data());
    EXPECT_THAT(refusal(area, PageAddress{PlaneId{0}, 0, 4}), AllOf(HasSubstr("page 4"), HasSubstr("pages 0 to 3")));
}

TEST(SpareArea, ABlockWhoseEraseWasCutMustBeErasedAgain) {
    const NandGeometry g = geometry();
    SpareArea area(g);
    const PageContent words{7, 8, 9};
    PageRecord journal{1, PageKind::journal, 0, 0, &words};
    const PageAddress first{PlaneId{1}, 4, 0}, second{PlaneId{1}, 4, 1}, other{PlaneId{1}, 5, 0};
    area.program_page(first, units_at(100).data(), journal);
    area.program_page(second, units_at(200).data(), {2, PageKind::user, 0});
    area.program_page(other, units_at(300).data(), {3, PageKind::user, 0});
    ASSERT_NE(area.content(first), nullptr);
    EXPECT_EQ(*area.content(first), words);
    EXPECT_EQ(area.content(second), nullptr);
    const BlockId block = g.block_of(first);
    area.tear_block(block);
    for (const PageAddress& a : {first, second})
        for (std::uint32_t s = 0; s < g.units_per_page(); ++s) EXPECT_EQ(area.at(g.ppa_of(a, s)), kTorn);
    EXPECT_EQ(area.content(first), nullptr);
    EXPECT_EQ(area.at(g.ppa_of(other, 0)), Spare{300});
    EXPECT_EQ(area.next_page(block), 2u);
    EXPECT_NE(refusal(area, first), "accepted");
    const PageAddress third{PlaneId{1}, 4, 2};
    EXPECT_TRUE(area.is_half_erased(block));
    EXPECT_EQ(refusal(area, third), "SpareArea: block " + std::to_string(idx(block)) +
                                        " is programmed, whose erase the power cut off; erase it again");
    area.erase(block);
    EXPECT_FALSE(area.is_half_erased(block));
    area.tear_block(block);
    EXPECT_FALSE(area.is_half_erased(block)) << "it was erased already";
    EXPECT_EQ(area.at(g.ppa_of(first, 0)), kErased);
    EXPECT_EQ(refusal(area, first), "accepted");
}

// In no time, while those in front of them are still being programmed.
TEST(SpareArea, PagesAheadCountWhenThoseInFrontOfThemDo) {
    NandGeometry g;
    g.blocks_per_plane = 4;
    g.pages_per_block = 8;
    SpareArea area(g);
    const auto page = [](std::uint32_t n) { return PageAddress{PlaneId{0}, 1, n}; };
    const auto units = [&g](std::uint32_t n) { return std::vector<Spare>(g.units_per_page(), Spare{100 + n}); };
    const auto program = [&](std::uint32_t n, bool ahead) {
        const PageRecord record{10 + n, PageKind::user, 0};
        ahead ? area.program_ahead(page(n), units(n).data(), record, nullptr)
              : area.program_page(page(n), units(n).data(), record);
    };
    const BlockId block = g.block_of(page(0));
    program(2, true);
    program(1, true);
    program(4, true);
    EXPECT_EQ(area.next_page(block), 0u);
    for (const std::uint32_t n : {1u, 2u, 4u}) EXPECT_EQ(area.at(g.ppa_of(page(n), 0)), Spare{100 + n});
    EXPECT_EQ(area.at(g.ppa_of(page(3), 0)), kErased);
    program(0, false);
    EXPECT_EQ(area.next_page(block), 3u);
    program(3, false);
    EXPECT_EQ(area.next_page(block), 5u);
    program(5, true);  // nothing is in front of it
    EXPECT_EQ(area.next_page(block), 6u);
    for (std::uint32_t n = 0; n < 6; ++n) {
        EXPECT_EQ(area.record(page(n)).number, 10 + n);
        EXPECT_EQ(area.at(g.ppa_of(page(n), 0)), Spare{100 + n});
    }
    EXPECT_THROW(program(5, true), Panic);
    EXPECT_THROW(program(8, true), Panic);
    area.erase(block);
    for (std::uint32_t n = 0; n < 6; ++n) EXPECT_EQ(area.at(g.ppa_of(page(n), 0)), kErased);
}

}  // namespace
}  // namespace ssdtlm
