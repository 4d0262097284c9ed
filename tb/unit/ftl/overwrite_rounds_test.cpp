// SPDX-License-Identifier: Apache-2.0
// When rounds of overwrites are steady, and what a drive is said to be like: against sums done another way.
#include "controller/precondition/overwrite_rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "controller/precondition/drive_state.h"
#include "controller/precondition/precondition.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;
using test::small_config;
using test::small_geometry;

// Numbers that are exact in binary, so that "at most" can be told from "less than".
TEST(Steadiness, HoldsUpToBothBoundsAndNotBeyond) {
    struct Row {
        const char* what;
        std::vector<double> rounds;
        double mean, excursion, drift;
        bool holds;
    };
    const std::vector<Row> rows = {
        {"all the same", {3, 3, 3, 3, 3}, 3, 0, 0, true},
        {"20 % apart, level", {9, 11, 10, 11, 9}, 10, 0.2, 0, true},
        {"more than 20 % apart, level", {8.75, 11.25, 10, 11.25, 8.75}, 10, 0.25, 0, false},
        {"rises by 10 %", {9.5, 9.75, 10, 10.25, 10.5}, 10, 0.1, 0.1, true},
        {"falls by 10 %", {10.5, 10.25, 10, 9.75, 9.5}, 10, 0.1, 0.1, true},
        {"falls by 20 %", {11, 10.5, 10, 9.5, 9}, 10, 0.2, 0.2, false},
        {"rises by more than 10 %", {9.25, 9.75, 10, 10.25, 10.75}, 10, 0.15, 0.14, false},
        {"one round without collection", {1, 2.5, 2.5, 2.5, 2.5}, 2.2, 1.5 / 2.2, 0.3 * 4 / 2.2, false},
    };
    for (const Row& r : rows) {
        const Steadiness s = steadiness(r.rounds.data());
        EXPECT_NEAR(s.mean, r.mean, 1e-12) << r.what;
        EXPECT_NEAR(s.excursion, r.excursion, 1e-12) << r.what;
        EXPECT_NEAR(s.drift, r.drift, 1e-12) << r.what;
        EXPECT_EQ(s.holds, r.holds) << r.what;
    }
}

TEST(Steadiness, SlopeIsThatOfTheNormalEquations) {
    Random random(4);
    for (int i = 0; i < 1000; ++i) {
        double y[Steadiness::kWindow], sx = 0, sy = 0, sxy = 0, sxx = 0, n = Steadiness::kWindow;
        for (std::size_t x = 0; x < Steadiness::kWindow; ++x) {
            y[x] = 1 + 9 * random.unit();
            const auto at = static_cast<double>(x + 1);
            sx += at, sy += y[x], sxy += at * y[x], sxx += at * at;
        }
        const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
        const Steadiness s = steadiness(y);
        EXPECT_NEAR(s.slope, slope, 1e-12);
        EXPECT_NEAR(s.drift, std::abs(slope) * 4 / (sy / 5), 1e-12);
        EXPECT_EQ(s.holds, *std::max_element(y, y + 5) - *std::min_element(y, y + 5) <= 0.2 * sy / 5 &&
                               std::abs(slope) * 4 <= 0.1 * sy / 5);
    }
}

FtlCounters after(std::uint64_t host_units, std::uint64_t gc_pages) {
    FtlCounters c;
    c.host_units = 1000 + host_units;  // it does not begin at 0
    c.host_pages_allocated = (1000 + host_units) / 4;
    c.gc_pages = gc_pages;
    return c;
}

TEST(OverwriteRounds, AreJudgedWhenTheFreeBlocksAreUsed) {
    OverwriteRounds r(100, 250, 4, after(0, 0));
    EXPECT_EQ(r.units(), 0u);
    EXPECT_FALSE(r.is_over(99));
    EXPECT_TRUE(r.is_over(104));
    std::uint64_t moved = 0;
    for (std::uint64_t round = 1; round <= 9; ++round) {
        EXPECT_FALSE(r.is_over(100 * round - 1)) << round;
        ASSERT_TRUE(r.is_over(100 * round)) << round;
        if (round > 3) moved += 25;  // three begin while there are free blocks
        r.end_round(after(100 * round, moved));
        EXPECT_EQ(r.without_collection(), std::min<std::uint64_t>(round, 3));
        EXPECT_EQ(r.is_judged(), round >= 8) << round;
        EXPECT_EQ(r.is_steady(), round >= 8) << round;
    }
    EXPECT_EQ(r.rounds(), (std::vector<double>{1, 1, 1, 2, 2, 2, 2, 2, 2}));
    r.end(after(952, moved));
    EXPECT_EQ(r.units(), 952u);
    EXPECT_DOUBLE_EQ(r.write_amplification(), (952 + 4.0 * 150) / 952);
    // A step over several rounds is one.
    r.end_round(after(1452, moved));
    EXPECT_FALSE(r.is_over(1499));
    EXPECT_TRUE(r.is_over(1500));
    EXPECT_FALSE(r.is_steady());
}

/// A drive that is asked to go on until it is steady is left as one that is asked for just that much.
TEST(OverwriteRounds, UntilSteadyIsAnAmountThatIsFoundOut) {
    NandGeometry g = small_geometry();
    g.blocks_per_plane = 300;  // then the groups begin as far apart whatever is asked for
    struct Case {
        const char* mapping;
        SuperblockSpan span;
        const char* partitions;
        double share;
    };
    std::set<std::size_t> rounds;
    for (const Case& c :
         {Case{"page", SuperblockSpan::plane, "none", 0.85}, Case{"page", SuperblockSpan::die, "none", 0.9},
          Case{"page", SuperblockSpan::die, "CW", 0.7}, Case{"dftl", SuperblockSpan::die, "none", 0.8},
          Case{"fast", SuperblockSpan::die, "none", 0.5}, Case{"page", SuperblockSpan::plane, "none", 0.45}}) {
        SCOPED_TRACE(std::string(c.mapping) + " " + c.partitions + " " + std::to_string(c.share));
        FtlConfig f = small_config(g, c.share, c.span);
        f.mapping = c.mapping;
        f.static_dimensions = c.partitions;
        f.initial_state = InitialState::random;
        f.until = OverwriteUntil::steady;
        f.most_rounds = 200;
        Device until(f, g, 7);
        const OverwriteRounds reached = Preconditioner(until.ftl).run();
        until.ftl.verify_books();
        ASSERT_TRUE(reached.is_steady());
        EXPECT_GT(reached.last().mean, 1.0);  // it had to collect
        rounds.insert(reached.rounds().size());
        // The round that made it steady was the last, and no earlier window would have done.
        for (std::size_t i = reached.without_collection() + Steadiness::kWindow; i < reached.rounds().size(); ++i)
            EXPECT_FALSE(steadiness(&reached.rounds()[i - Steadiness::kWindow]).holds) << i;
        f.until = OverwriteUntil::amount;
        f.overwrite = static_cast<double>(reached.units()) / static_cast<double>(until.ftl.mapped_units());
        Device amount(f, g, 7);
        const OverwriteRounds same = Preconditioner(amount.ftl).run();
        EXPECT_EQ(same.rounds(), reached.rounds());
        EXPECT_EQ(same.units(), reached.units());
        EXPECT_EQ(same.is_steady(), reached.is_steady());
        for (std::uint32_t l = 0; l < until.ftl.logical_units(); ++l)
            ASSERT_EQ(until.ftl.lookup(Lpa{l}), amount.ftl.lookup(Lpa{l})) << l;
        for (std::uint32_t b = 0; b < until.ftl.shape().superblocks(); ++b)
            ASSERT_EQ(until.ftl.superblock(SuperblockId{b}).state, amount.ftl.superblock(SuperblockId{b}).state) << b;
        // One round fewer than it takes: the bound ends it.
        f.until = OverwriteUntil::steady;
        f.most_rounds = static_cast<std::uint32_t>(reached.rounds().size() - 1);
        Device cut_off(f, g, 7);
        const OverwriteRounds less = Preconditioner(cut_off.ftl).run();
        EXPECT_FALSE(less.is_steady());
        EXPECT_EQ(less.units(), f.most_rounds * less.round_units());
    }
    EXPECT_GT(rounds.size(), 2u);  // the cases are different ones
}

TEST(DriveState, IsWhatTheMapAndTheBlocksSay) {
    const NandGeometry g = small_geometry();
    for (const InitialState state :
         {InitialState::fresh, InitialState::sequential, InitialState::random, InitialState::analytic}) {
        for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die}) {
            FtlConfig f = small_config(g, 0.7, span);
            f.initial_state = state;
            f.fill = 0.9;
            Device d(f, g, 3);
            Preconditioner(d.ftl).run();
            const SuperblockShape& shape = d.ftl.shape();
            std::vector<std::uint32_t> valid(shape.superblocks());
            std::uint64_t mapped = 0;
            for (std::uint32_t l = 0; l < d.ftl.logical_units(); ++l) {
                if (!is_place(d.ftl.lookup(Lpa{l}))) continue;
                ++mapped;
                ++valid[idx(shape.superblock_of(d.ftl.lookup(Lpa{l})))];
            }
            // Sealed, as seen from the flash: all pages of all blocks programmed, and no victim.
            std::vector<std::uint64_t> bins(DriveState::kTenths + 1);
            std::vector<std::uint32_t> free(shape.groups());
            std::uint64_t full = 0;
            for (std::uint32_t n = 0; n < shape.superblocks(); ++n) {
                const SuperblockId b{n};
                std::uint32_t programmed = 0;
                for (std::uint32_t p = 0; p < shape.planes(); ++p) programmed += d.flash.next_page(shape.block(b, p));
                free[idx(shape.group_of(b))] += programmed == 0;
                if (programmed != shape.pages() || d.ftl.superblock(b).state == BlockState::victim) continue;
                ++full;
                std::size_t bin = 0;
                while (bin < DriveState::kTenths &&
                       static_cast<std::uint64_t>(valid[n]) * 10 >= (bin + 1) * shape.units())
                    ++bin;
                ++bins[bin];
            }
            const DriveState s = drive_state(d.ftl);
            EXPECT_EQ(s.logical_units, d.ftl.logical_units());
            EXPECT_EQ(s.mapped_units, mapped);
            EXPECT_EQ(s.groups, shape.groups());
            EXPECT_EQ(s.least_free, *std::min_element(free.begin(), free.end()));
            EXPECT_EQ(s.most_free, *std::max_element(free.begin(), free.end()));
            double mean = 0;
            for (const std::uint32_t n : free) mean += n;
            EXPECT_NEAR(s.mean_free, mean / static_cast<double>(free.size()), 1e-9);
            EXPECT_EQ(s.full, full);
            EXPECT_EQ(std::vector<std::uint64_t>(s.full_by_valid.begin(), s.full_by_valid.end()), bins);
            if (state == InitialState::fresh) {
                EXPECT_EQ(full, 0u);
            }
            if (state == InitialState::sequential) {
                EXPECT_EQ(s.full_by_valid[DriveState::kTenths], full);
            }
        }
    }
}

}  // namespace
}  // namespace ssdtlm
