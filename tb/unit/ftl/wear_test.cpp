// SPDX-License-Identifier: Apache-2.0
// Erase counts of a drive most of which never changes: with and without static wear levelling.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "common/random/random.h"
#include "controller/precondition/precondition.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;

struct Worn {
    double mean = 0, write_amplification = 0;
    std::uint32_t least = ~0u, most = 0;
    std::uint32_t spread() const { return most - least; }
};

/// One plane (or one die of two) of 128 superblocks of 16 pages, over-provisioning 25 %; writes go to a tenth of the
/// pages.
Worn wear_out(FtlConfig c, std::uint32_t planes, double cycles, std::uint32_t& worst_spread) {
    NandGeometry g;
    g.planes_per_die = planes;
    g.blocks_per_plane = 128;
    g.pages_per_block = 16;
    const std::uint64_t logical = g.pages() * 4 / 5;
    c.user_capacity_bytes = logical * g.unit_bytes;
    c.gc_hard_free_blocks = 2;
    c.gc_soft_free_blocks = 4;
    c.superblock = SuperblockSpan::die;
    c.initial_state = InitialState::sequential;
    Device d(c, g);
    Preconditioner(d.ftl).run();
    Random random(9);
    const auto look = [&] {
        Worn w;
        std::uint64_t sum = 0;
        for (std::uint32_t b = 0; b < g.blocks(); ++b) {
            const std::uint32_t e = d.flash.erase_count(BlockId{b});
            sum += e;
            w.least = std::min(w.least, e);
            w.most = std::max(w.most, e);
        }
        w.mean = static_cast<double>(sum) / g.blocks();
        return w;
    };
    std::vector<Lpa> unit;
    for (std::uint64_t i = 0;; ++i) {
        unit.assign(1, Lpa{static_cast<std::uint32_t>(random.below(logical / 10))});
        while (!d.write(unit)) d.collect(GroupId{0});
        if (i % 4096 != 0) continue;
        const Worn w = look();
        worst_spread = std::max(worst_spread, w.spread());
        if (w.mean >= cycles) break;
    }
    d.ftl.verify_books();
    Worn w = look();
    w.write_amplification = d.ftl.counters().unit_write_amplification(1);
    EXPECT_EQ(d.ftl.counters().wear_victims != 0, c.most_spread != 0);
    return w;
}

class WearTest : public testing::TestWithParam<std::uint32_t> {};

TEST_P(WearTest, StaticLevellingBoundsTheSpread) {
    std::uint32_t worst = 0;
    FtlConfig c;
    const Worn without = wear_out(c, GetParam(), 1000, worst);
    EXPECT_EQ(without.least, 0u);  // nine tenths of the data never move
    std::printf("%u planes, mean %.0f P/E: without levelling %u to %u, WA %.3f\n", GetParam(), without.mean,
                without.least, without.most, without.write_amplification);
    EXPECT_GT(without.spread(), 3000u);
    for (const FreeBlocks free : {FreeBlocks::in_turn, FreeBlocks::by_wear})
        for (const std::uint32_t spread : {10u, 50u}) {
            c.free_blocks = free;
            c.most_spread = spread;
            worst = 0;
            const Worn with = wear_out(c, GetParam(), 1000, worst);
            std::printf("  at most %u, free blocks %s: %u to %u, worst spread %u, WA %.3f (%+.1f %%)\n", spread,
                        free == FreeBlocks::in_turn ? "in turn" : "by wear", with.least, with.most, worst,
                        with.write_amplification, 100 * (with.write_amplification / without.write_amplification - 1));
            // A block in use may be erased several times before the least worn one has its turn.
            const bool by_wear = free == FreeBlocks::by_wear;
            EXPECT_LE(worst, spread + (by_wear ? 10u : 60u));
            // A block that is emptied serves until it is as worn as the others: that many times as much is written for
            // each block that is moved. By wear, it rests on a worn block; in turn, on any, and soon has to be moved
            // again.
            const double cost = with.write_amplification / without.write_amplification - 1;
            EXPECT_GT(cost, 0.5 / spread);
            EXPECT_LT(cost, (by_wear ? 1.0 : 2.0) / spread + (by_wear ? 0.02 : 0.08));
        }
}
INSTANTIATE_TEST_SUITE_P(Planes, WearTest, testing::Values(1u, 2u));

// Each victim by the rule: the least worn sealed one, when that is due, when the counts differ by too much, and when a
// block is free for what it holds beside the one that other victims need.
TEST(WearLevelling, ChoosesTheLeastWornWhenItIsDue) {
    const NandGeometry g = test::small_geometry();
    for (const std::uint32_t each : {1u, 3u, 8u})
        for (const std::uint32_t spread : {1u, 2u, 6u}) {
            SCOPED_TRACE(std::to_string(each) + " " + std::to_string(spread));
            FtlConfig c = test::small_config(g, 0.5);
            c.most_spread = spread;
            c.levelling_each = each;
            Device d(c, g);
            const std::uint32_t per_group = d.ftl.shape().blocks_per_group();
            std::vector<std::uint32_t> since(d.ftl.shape().groups()), erases(per_group);
            std::uint32_t levelled = 0, early = 0, even = 0;
            const auto collect = [&](GroupId group) {
                const auto block = [&](std::uint32_t i) { return SuperblockId{idx(group) * per_group + i}; };
                std::uint32_t least = ~0u, most = 0;
                for (std::uint32_t i = 0; i < per_group; ++i) {
                    erases[i] = d.ftl.erases(block(i));
                    most = std::max(most, erases[i]);
                    if (d.ftl.superblock(block(i)).state == BlockState::sealed) least = std::min(least, erases[i]);
                }
                const bool due = ++since[idx(group)] >= each, apart = most - least > spread;
                const bool levels = due && apart && d.ftl.free_blocks(group) >= 2;
                const std::uint64_t before = d.ftl.counters().wear_victims;
                ASSERT_TRUE(d.collect(group));
                ASSERT_EQ(d.ftl.counters().wear_victims != before, levels)
                    << since[idx(group)] << " since, " << least << " to " << most;
                early += apart && !due;
                even += due && !apart;
                if (!levels) return;
                ++levelled;
                since[idx(group)] = 0;
                for (std::uint32_t i = 0; i < per_group; ++i)
                    ASSERT_TRUE(d.ftl.erases(block(i)) == erases[i] || erases[i] == least)
                        << "one that is more worn was emptied";
            };
            Random random(each, spread);
            const auto units = static_cast<std::uint32_t>(d.ftl.logical_units());
            std::vector<Lpa> all(units);
            for (std::uint32_t u = 0; u < units; ++u) all[u] = Lpa{u};
            ASSERT_TRUE(d.write(std::vector<Lpa>(all)));
            for (int i = 0; i < 15000 && !testing::Test::HasFatalFailure(); ++i) {
                const auto first = static_cast<std::uint32_t>(random.below(units / 5));
                std::vector<Lpa> page(all.begin() + first, all.begin() + first + g.units_per_page());
                while (!d.write(page) && !testing::Test::HasFatalFailure())
                    for (std::uint32_t n = 0; n < d.ftl.shape().groups(); ++n)
                        if (d.ftl.wants_collection(GroupId{n})) collect(GroupId{n});
            }
            EXPECT_GT(levelled, 20u);
            EXPECT_GT(even, 20u);
            EXPECT_TRUE(early > 20 || each == 1);
            d.ftl.verify_books();
        }
}

}  // namespace
}  // namespace ssdtlm
