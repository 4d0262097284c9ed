// SPDX-License-Identifier: Apache-2.0
// Superblocks of which one die takes the parity of the others: which pages that are, what is left for data, and when
// they are due.
#include "controller/parity/row_parity.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "controller/ftl/ftl_check.h"
#include "ftl_fixture.h"

namespace ssdtlm {
namespace {

NandGeometry four_dies() {
    NandGeometry g;
    g.channels = 2;
    g.ways = 2;
    g.planes_per_die = 2;
    g.blocks_per_plane = 16;
    g.pages_per_block = 8;
    g.page_bytes = 8192;
    g.unit_bytes = 4096;
    return g;
}

FtlConfig with_parity(const NandGeometry& g) {
    FtlConfig c;
    c.superblock = SuperblockSpan::drive;
    c.parity = Parity::die;
    c.initial_state = InitialState::fresh;
    c.gc_soft_free_blocks = 4;
    c.gc_hard_free_blocks = 2;
    c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
    return c;
}

TEST(RowParity, EachPageOfASuperblockHasOnePlaceAndEachDieItsTurn) {
    const NandGeometry g = four_dies();
    const SuperblockShape shape(g, SuperblockSpan::drive, row_sequence("CWDP", g, SuperblockSpan::drive), true);
    EXPECT_EQ(shape.planes(), 8u);
    EXPECT_EQ(shape.parity_planes(), 2u);
    EXPECT_EQ(shape.data_units(), 6u * 8 * 2);
    std::map<std::uint32_t, std::uint32_t> takes_parity;  // by die: superblocks
    for (std::uint32_t n = 0; n < shape.superblocks(); ++n) {
        const SuperblockId b{n};
        std::set<std::pair<std::uint32_t, std::uint32_t>> places;
        std::set<std::uint32_t> dies;
        std::uint32_t data = 0;
        for (std::uint32_t page = 0; page < shape.pages(); ++page) {
            const PageAddress a = shape.page(b, page);
            EXPECT_EQ(shape.superblock_of(g.block_of(a)), b);
            EXPECT_EQ(shape.block(b, shape.plane_in_group(page)), g.block_of(a));
            places.emplace(idx(a.plane), a.page);
            if (shape.plane_in_group(page) >= shape.data_planes()) dies.insert(idx(g.die_of(a.plane)));
            EXPECT_EQ(shape.data_pages(page), data);
            data += shape.plane_in_group(page) < shape.data_planes();
        }
        EXPECT_EQ(places.size(), shape.pages());
        ASSERT_EQ(dies.size(), 1u) << "parity of a superblock in several dies";
        ++takes_parity[*dies.begin()];
    }
    EXPECT_EQ(takes_parity.size(), 4u);
    for (const auto& [die, superblocks] : takes_parity) EXPECT_EQ(superblocks, 4u) << "die " << die;
}

TEST(RowParity, ADieLessForData) {
    const NandGeometry g = four_dies();
    FtlConfig c = with_parity(g);
    const std::uint64_t with = most_logical_units(c, g);
    c.parity = Parity::none;
    EXPECT_EQ(with * 4, most_logical_units(c, g) * 3);
}

TEST(RowParity, DueWithTheLastPageOfARow) {
    const NandGeometry g = four_dies();
    SpareArea flash(g);
    Ftl ftl(with_parity(g), g, flash, 1);
    RowParity& parity = *ftl.feature<RowParity>();
    unsigned told = 0;
    parity.on_due([&] { ++told; });
    PageAddress pages[8];
    std::vector<RowParity::Page> due;
    for (std::uint32_t row = 0; row < 2 * g.pages_per_block; ++row) {
        ASSERT_EQ(ftl.allocate_host_pages(5, pages), 5u);
        EXPECT_FALSE(parity.any_due());
        std::vector<PageAddress> taken(pages, pages + 5);
        ASSERT_EQ(ftl.allocate_host_pages(8, pages), 1u) << "what is left of the row";
        taken.push_back(pages[0]);
        std::uint64_t last = 0;
        const Spare data[] = {kPadding, kPadding};
        for (const PageAddress& a : taken) {
            const PageRecord record = ftl.draw_record(a);
            last = std::max(last, record.number);
            flash.program_page(a, data, record);
            ftl.host_page_programmed(a);
        }
        EXPECT_EQ(told, row + 1);
        const SuperblockId b = ftl.shape().superblock_of(g.block_of(pages[0]));
        EXPECT_NE(ftl.superblock(b).state, BlockState::sealed) << "without its parity";
        EXPECT_EQ(parity.take_due(due), 0u);
        ASSERT_EQ(due.size(), 2u);
        for (const RowParity::Page& page : due) {
            EXPECT_EQ(page.at.page, row % g.pages_per_block);
            EXPECT_EQ(page.record.kind, PageKind::parity);
            EXPECT_GT(page.record.number, last) << "younger than what it is the sum of";
            flash.program_page(page.at, data, page.record);
            parity.programmed(page.at);
        }
        EXPECT_EQ(ftl.superblock(b).state == BlockState::sealed, (row + 1) % g.pages_per_block == 0);
        EXPECT_NO_THROW(ftl.verify_books());
    }
    EXPECT_EQ(ftl.counters().parity_pages, 4u * g.pages_per_block);
}

TEST(RowParity, NotOfASuperblockThatHasFailed) {
    const NandGeometry g = four_dies();
    SpareArea flash(g);
    FtlConfig c = with_parity(g);
    c.spare_blocks = 2;
    c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
    Ftl ftl(c, g, flash, 1);
    PageAddress pages[8];
    ASSERT_EQ(ftl.allocate_host_pages(8, pages), 6u);
    PageRecord records[6];
    for (std::uint32_t i = 0; i < 6; ++i) records[i] = ftl.draw_record(pages[i]);
    for (std::uint32_t i = 0; i < 6; ++i) {
        const Spare data[] = {kPadding, kPadding};
        flash.program_page(pages[i], data, records[i]);
        i == 3 ? ftl.host_page_failed(pages[i]) : ftl.host_page_programmed(pages[i]);
    }
    std::vector<RowParity::Page> due;
    EXPECT_EQ(ftl.feature<RowParity>()->take_due(due), 2u);
    EXPECT_TRUE(due.empty());
    EXPECT_EQ(ftl.superblock(ftl.shape().superblock_of(g.block_of(pages[0]))).programs, 0u) << "it can be emptied";
    EXPECT_NO_THROW(ftl.verify_books());
}

TEST(RowParity, RefusesWhatItIsNotMadeFor) {
    NandGeometry g = four_dies();
    FtlConfig c = with_parity(g);
    EXPECT_TRUE(check_ftl(c, g).empty());
    c.superblock = SuperblockSpan::die;
    c.initial_state = InitialState::analytic;
    c.gc_charge_time = false;
    std::vector<std::string> keys;
    for (const Problem& p : check_ftl(c, g))
        if (p.found.find("ftl.parity") != std::string::npos) keys.push_back(p.where);
    EXPECT_EQ(keys, (std::vector<std::string>{"ftl.superblock", "precondition.state", "gc.charge_time"}));
    g.channels = g.ways = 1;
    const auto problems = check_ftl(with_parity(four_dies()), g);
    ASSERT_FALSE(problems.empty());
    EXPECT_EQ(problems.front().where, "ftl.parity");
}

}  // namespace
}  // namespace ssdtlm
