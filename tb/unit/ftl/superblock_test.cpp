// SPDX-License-Identifier: Apache-2.0
// Superblocks: their numbering, and that the planes of a die stay in step whatever is written.
#include "controller/ftl/superblock.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "common/random/random.h"
#include "controller/ftl/ftl_check.h"
#include "controller/precondition/precondition.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;
using test::small_config;
using test::small_geometry;

NandGeometry with_planes(std::uint32_t planes) {
    NandGeometry g = small_geometry();
    g.planes_per_die = planes;
    return g;
}

TEST(Superblock, NumbersEveryPageOnceRowByRow) {
    for (const std::uint32_t planes : {1u, 2u, 3u, 4u}) {
        const NandGeometry g = with_planes(planes);
        for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die, SuperblockSpan::drive}) {
            SCOPED_TRACE(std::to_string(planes) + (span == SuperblockSpan::drive ? " drive"
                                                   : span == SuperblockSpan::die ? " die"
                                                                                 : " plane"));
            const SuperblockShape s(g, span, row_sequence("DWCP", g, span));
            EXPECT_EQ(s.joined(), span == SuperblockSpan::plane ? 1u : planes);
            ASSERT_EQ(s.groups() * s.planes(), g.planes());
            ASSERT_EQ(s.superblocks() * s.planes(), g.blocks());
            std::set<std::uint32_t> seen;
            for (std::uint32_t b = 0; b < s.superblocks(); ++b) {
                const SuperblockId sb{b};
                std::uint32_t number = 0;
                for (std::uint32_t n = 0; n < s.pages(); ++n) {
                    const PageAddress a = s.page(sb, n);
                    const Ppa unit = g.ppa_of(a, g.units_per_page() - 1);
                    ASSERT_EQ(s.superblock_of(unit), sb);
                    ASSERT_EQ(s.superblock_of(g.block_of(a)), sb);
                    ASSERT_EQ(s.group_of(a.plane), s.group_of(sb));
                    ASSERT_EQ(g.block_of(a), s.block(sb, n % s.planes()));
                    ASSERT_EQ(a.page, n / s.planes());
                    if (n == 0) number = a.block;
                    ASSERT_EQ(a.block, number);  // what a multi-plane operation needs
                    ASSERT_EQ(idx(g.die_of(a.plane)), idx(g.die_of(s.page(sb, n / s.joined() * s.joined()).plane)));
                    ASSERT_TRUE(seen.insert(idx(unit)).second);
                }
            }
            EXPECT_EQ(seen.size(), g.pages());
        }
    }
}

/// Programs of random length, as flushes cut them, on a device without GC.
TEST(Superblock, RowsThatWereCutAreCompletedByWhatFollows) {
    for (const std::uint32_t planes : {2u, 3u, 4u}) {
        NandGeometry g = with_planes(planes);
        g.channels = 16;
        Device d(small_config(g, 0.4, SuperblockSpan::die), g);
        std::map<std::uint32_t, std::uint32_t> next;  // superblock -> page expected
        Random random(planes);
        std::uint64_t whole = 0, full = 0;
        const auto take = [&](std::uint32_t most) {
            bool left_over = false;
            std::uint32_t most_left = most;
            while (most_left != 0) {
                PageAddress row[8];
                const std::uint32_t n = d.ftl.allocate_host_pages(most_left, row, left_over);
                ASSERT_GT(n, 0u);
                const std::uint32_t sb = idx(d.ftl.shape().superblock_of(g.block_of(row[0])));
                for (std::uint32_t i = 0; i < n; ++i) {
                    const std::uint32_t page = next[sb]++;
                    ASSERT_EQ(row[i].page, page / planes);
                    ASSERT_EQ(g.plane_in_die(row[i].plane), page % planes);
                    ASSERT_EQ(row[i].page, row[0].page) << "one program crosses two rows";
                }
                most_left -= n;
                left_over = true;
                whole += n == planes;
            }
            full += most == planes;
        };
        for (int i = 0; i < 400; ++i) {
            if (::testing::Test::HasFatalFailure()) return;
            take(random.percent(60) ? 1 + static_cast<std::uint32_t>(random.below(planes)) : planes);
        }
        const std::uint32_t cut = d.ftl.ragged_groups();
        EXPECT_GT(cut, 1u);
        const std::uint64_t before_whole = whole, before_full = full;
        for (int i = 0; i < 200; ++i) {
            if (::testing::Test::HasFatalFailure()) return;
            take(planes);
        }
        std::printf(
            "  %u planes: %u of %u dies with a row begun, %u after 200 whole rows, %llu of which went in one piece\n",
            planes, cut, g.dies(), d.ftl.ragged_groups(), static_cast<unsigned long long>(whole - before_whole));
        EXPECT_LE(d.ftl.ragged_groups(), planes - 1);
        EXPECT_EQ(full - before_full, 200u);
    }
}

TEST(Superblock, ValidPagesAreFoundInTheOrderInWhichTheyWereWritten) {
    const NandGeometry g = with_planes(3);
    Device d(small_config(g, 0.4, SuperblockSpan::die), g);
    std::vector<PageAddress> pages;
    const SuperblockShape& shape = d.ftl.shape();
    std::uint32_t lpa = 0;
    std::vector<Lpa> row;
    for (std::uint32_t n = 0; n < shape.pages() * shape.groups(); n += 3) {  // a superblock of each group
        for (std::uint32_t i = 0; i < 3 * g.units_per_page(); ++i) row.push_back(Lpa{lpa++});
        ASSERT_TRUE(d.write(row));
    }
    Random random(3);
    for (std::uint32_t l = 0; l < lpa; ++l)
        if (random.percent(75)) d.ftl.trim(Lpa{l});
    std::map<std::uint32_t, std::uint32_t> expected;  // page -> slots, of superblock 0
    for (std::uint32_t n = 0; n < shape.pages(); ++n)
        for (std::uint32_t s = 0; s < g.units_per_page(); ++s) {
            const Ppa p = g.ppa_of(shape.page(SuperblockId{0}, n), s);
            const Spare spare = d.flash.at(p);
            if (d.ftl.lookup(d.ftl.codec().lpa(spare)) == p) expected[n] |= 1u << s;
        }
    ASSERT_GT(expected.size(), 10u);
    std::uint32_t page = 0, slots = 0;
    for (const auto& [n, mask] : expected) {
        ASSERT_TRUE(d.ftl.next_valid_page(SuperblockId{0}, page, slots));
        EXPECT_EQ(page, n);
        EXPECT_EQ(slots, mask);
        ++page;
    }
    EXPECT_FALSE(d.ftl.next_valid_page(SuperblockId{0}, page, slots));
}

TEST(Superblock, ReadsOfEachOfItsBlocksHoldOffTheErase) {
    const NandGeometry g = with_planes(2);
    Device d(small_config(g, 0.4, SuperblockSpan::die), g);
    const SuperblockId victim{25};  // die 1, block 1: planes 2 and 3
    for (const std::uint32_t plane : {2u, 3u}) {
        const BlockId block = g.block_id(PlaneId{plane}, 1);
        d.ftl.read_started(block);
        EXPECT_FALSE(d.ftl.erase_allowed(victim));
        d.ftl.read_finished(block);
        EXPECT_TRUE(d.ftl.erase_allowed(victim));
    }
}

TEST(Superblock, HoldsAndOverwritesTheLargestCapacity) {
    for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die}) {
        for (const std::string fixed : {"none", "C", span == SuperblockSpan::plane ? "WDP" : "CW"}) {
            SCOPED_TRACE(fixed);
            const NandGeometry g = with_planes(4);
            FtlConfig c = small_config(g, 0.5, span);
            c.static_dimensions = fixed;
            c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
            c.initial_state = InitialState::random;
            c.overwrite = 3.0;
            Device d(c, g);
            Preconditioner(d.ftl).run();
            d.ftl.verify_books();
        }
    }
}

}  // namespace
}  // namespace ssdtlm
