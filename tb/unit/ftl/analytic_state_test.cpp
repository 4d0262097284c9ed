// SPDX-License-Identifier: Apache-2.0
// Steady state by formula: its write amplification against other formulas, and a device in it against itself much
// later.
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "controller/ftl/victims/victim_policy.h"
#include "controller/precondition/precondition.h"
#include "controller/precondition/steady_state.h"
#include "controller/snapshot/ftl_state.h"
#include "support/memory_snapshot.h"
#include "unit/ftl/ftl_fixture.h"
#include "unit/ftl/steady_state.h"

namespace ssdtlm {
namespace {

using test::Device;
using Kind = ChoiceLaw::Kind;

/// A victim is what its blocks' shares say: the least valid of some drawn.
double write_amplification(const ChoiceLaw& law, std::uint32_t n, const std::vector<double>& shares) {
    double above = 0, drawn_ones = 0, victim = 0;
    for (std::uint32_t i = 0; i <= std::min(n, law.most_valid); ++i) drawn_ones += shares[i];
    if (law.drawn == ChoiceLaw::kAll) {
        // What is lost in the time of one victim leaves the fullest ones at the pace at which they are filled.
        double valid = 0;
        for (std::uint32_t i = 0; i <= n; ++i) valid += i * shares[i];
        return n / (valid / (n * shares[n]));
    }
    for (std::uint32_t i = std::min(n, law.most_valid) + 1; i-- > 0;) {
        const double with = above + shares[i] / drawn_ones;
        victim += i * (std::pow(with, law.drawn) - std::pow(above, law.drawn));
        above = with;
    }
    return n / (n - victim);
}

// d-choices: the figures of an independent simulation and of the mean-field model (256 pages, 16384 blocks, random
// overwrites).
TEST(SteadyState, HasTheWriteAmplificationOfOtherFormulas) {
    const std::uint32_t n = 256;
    struct Row {
        const char* what;
        ChoiceLaw law;
        double alpha, expected;
    };
    const std::vector<Row> rows = {
        {"greedy 7 %", {Kind::best_of, ChoiceLaw::kAll, n - 1}, 1.07, test::greedy_formula(1.07, n)},
        {"greedy 12.5 %", {Kind::best_of, ChoiceLaw::kAll, n - 1}, 1.125, test::greedy_formula(1.125, n)},
        {"greedy 28 %", {Kind::best_of, ChoiceLaw::kAll, n - 1}, 1.28, test::greedy_formula(1.28, n)},
        {"random 7 %", {Kind::best_of, 1, n - 1}, 1.07, test::random_formula(1.07, n)},
        {"random 28 %", {Kind::best_of, 1, n - 1}, 1.28, test::random_formula(1.28, n)},
        {"random, any full block 7 %", {Kind::best_of, 1, n}, 1.07, 1.07 / 0.07},
        {"random, any full block 28 %", {Kind::best_of, 1, n}, 1.28, 1.28 / 0.28},
        {"d_choices 10, 7 %", {Kind::best_of, 10, n}, 1.07, 7.8280},
        {"d_choices 2, 7 %", {Kind::best_of, 2, n}, 1.07, 10.5835},
    };
    for (const Row& r : rows) {
        const std::vector<double> shares = valid_shares(r.law, n, 1 / r.alpha);
        double sum = 0, valid = 0;
        for (std::uint32_t i = 0; i <= n; ++i) sum += shares[i], valid += i * shares[i];
        EXPECT_NEAR(sum, 1, 1e-9) << r.what;
        EXPECT_NEAR(valid / n * r.alpha, 1, 1e-9) << r.what;
        const double wa = write_amplification(r.law, n, shares);
        std::printf("%-28s WA %.4f, expected %.4f (%+.2f %%)\n", r.what, wa, r.expected, 100 * (wa / r.expected - 1));
        EXPECT_NEAR(wa / r.expected, 1, 0.002) << r.what;
    }
    for (const double alpha : {1.07, 1.125, 1.28, 2.0})
        EXPECT_NEAR(1 / (1 - oldest_share(1 / alpha)) / test::fifo_formula(alpha, 1, 1), 1, 1e-9) << "fifo";
}

TEST(SteadyState, CountsAddUpWhateverIsAskedFor) {
    Random random(3);
    for (int i = 0; i < 400; ++i) {
        const auto n = static_cast<std::uint32_t>(1 + random.below(300)),
                   blocks = static_cast<std::uint32_t>(1 + random.below(200));
        const std::uint64_t units = random.below(std::uint64_t{n} * blocks + 1);
        const ChoiceLaw laws[] = {
            {Kind::oldest}, {Kind::best_of, ChoiceLaw::kAll, n - 1}, {Kind::best_of, 3, n}, {Kind::best_of, 1, n / 2}};
        for (const ChoiceLaw& law : laws) {
            const auto counts = steady_counts(law, n, blocks, units, random);
            ASSERT_EQ(counts.size(), blocks);
            ASSERT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), units);
            for (const std::uint32_t c : counts) ASSERT_LE(c, n);
        }
    }
}

struct Case {
    const char* policy;
    PolicyValues settings;
    double over_provisioning;
    std::uint32_t planes_joined, units_per_page;
};

NandGeometry geometry_of(const Case& c) {
    NandGeometry g;
    g.channels = 4;
    g.planes_per_die = c.planes_joined;
    g.blocks_per_plane = 512;
    g.page_bytes = 4096 * c.units_per_page;
    g.pages_per_block = 256 / c.units_per_page / c.planes_joined;
    return g;
}

FtlConfig config_of(const Case& c) {
    const NandGeometry g = geometry_of(c);
    FtlConfig f;
    f.superblock = SuperblockSpan::die;
    f.user_capacity_bytes =
        static_cast<std::uint64_t>(static_cast<double>(g.units()) / (1 + c.over_provisioning)) * g.unit_bytes;
    f.gc_policy = c.policy;
    f.gc_policies[c.policy] = c.settings;
    f.gc_hard_free_blocks = 2;
    f.gc_soft_free_blocks = 3;
    f.initial_state = InitialState::analytic;
    return f;
}

/// Write amplification of so many random overwrites, collecting only when the host cannot go on.
double overwrite(Device& d, Random& random, std::uint64_t units) {
    const FtlCounters before = d.ftl.counters();
    const std::size_t row = std::size_t{d.geometry.units_per_page()} * d.ftl.shape().planes();
    std::vector<Lpa> unit;
    for (std::uint64_t i = 0; i < units; i += row) {
        unit.clear();
        while (unit.size() < row) {
            const Lpa lpa{static_cast<std::uint32_t>(random.below(d.ftl.logical_units()))};
            if (std::find(unit.begin(), unit.end(), lpa) == unit.end()) unit.push_back(lpa);
        }
        // Which group waits: the one in turn, as all are written equally.
        while (!d.write(unit))
            for (std::uint32_t g = 0; g < d.ftl.shape().groups(); ++g)
                while (!d.ftl.takes_host_pages(GroupId{g})) EXPECT_TRUE(d.collect(GroupId{g}));
    }
    return (d.ftl.counters() - before).unit_write_amplification(d.geometry.units_per_page());
}

TEST(AnalyticState, GoesOnAsTheSameDeviceManyOverwritesLater) {
    const std::vector<Case> cases = {
        {"greedy", {}, 0.07, 1, 1},
        {"greedy", {}, 0.28, 2, 4},
        {"fifo", {}, 0.07, 1, 1},
        {"fifo", {}, 0.28, 2, 4},
        {"random", {}, 0.15, 1, 1},
        {"random", {{"least_invalid_pages", std::int64_t{0}}}, 0.28, 1, 1},
        {"random", {{"least_invalid_pages", std::int64_t{30}}}, 0.28, 1, 1},
        {"d_choices", {{"choices", std::int64_t{2}}}, 0.1, 1, 1},
        {"d_choices", {}, 0.28, 2, 4},
    };
    for (const Case& c : cases) {
        Device d(config_of(c), geometry_of(c), 5);
        Preconditioner(d.ftl).run();
        d.ftl.verify_books();
        Random random(8);
        const double first = overwrite(d, random, d.ftl.logical_units());
        double later = 0;
        for (int i = 2; i <= 8; ++i) {
            const double wa = overwrite(d, random, d.ftl.logical_units());
            if (i >= 4) later += wa / 5;
        }
        std::printf(
            "%-10s %4.0f %%, %u planes, %u units a page: WA of the first drive write %.4f, fourth to eighth %.4f "
            "(%+.2f %%)\n",
            c.policy, 100 * c.over_provisioning, c.planes_joined, c.units_per_page, first, later,
            100 * (first / later - 1));
        EXPECT_NEAR(first / later, 1, 0.02);
        d.ftl.verify_books();
    }
}

TEST(AnalyticState, IsTheSameForEqualSeedsAndAnotherForOthers) {
    const Case c{"greedy", {}, 0.2, 2, 4};
    for (const double fill : {1.0, 0.5, 0.01}) {
        FtlConfig f = config_of(c);
        f.fill = fill;
        Device a(f, geometry_of(c), 5), b(f, geometry_of(c), 5), other(f, geometry_of(c), 6);
        for (Device* d : {&a, &b, &other}) Preconditioner(d->ftl).run();
        const auto units = static_cast<std::uint64_t>(fill * static_cast<double>(a.ftl.logical_units()));
        ASSERT_EQ(a.ftl.mapped_units(), units);
        std::uint64_t different = 0;
        for (std::uint32_t l = 0; l < a.ftl.logical_units(); ++l) {
            ASSERT_EQ(a.ftl.lookup(Lpa{l}), b.ftl.lookup(Lpa{l}));
            different += a.ftl.lookup(Lpa{l}) != other.ftl.lookup(Lpa{l});
            ASSERT_EQ(is_place(a.ftl.lookup(Lpa{l})), l < units);
        }
        EXPECT_GT(different, units * 99 / 100);
        a.ftl.verify_books();
        Random random(1), again(1);
        EXPECT_EQ(overwrite(a, random, a.ftl.logical_units() / 10), overwrite(b, again, b.ftl.logical_units() / 10));
    }
}

TEST(AnalyticState, IsSavedWithADrive) {
    const Case c{"greedy", {}, 0.2, 2, 4};
    Device a(config_of(c), geometry_of(c), 5);
    Preconditioner(a.ftl).run();
    MemorySnapshot saved;
    FtlState::exchange(a.ftl, a.flash, saved);
    Device b(config_of(c), geometry_of(c), 5);
    MemorySnapshot read(saved.data);
    FtlState::exchange(b.ftl, b.flash, read);
    EXPECT_EQ(read.taken, read.data.size());
    b.ftl.verify_books();
    MemorySnapshot again;
    FtlState::exchange(b.ftl, b.flash, again);
    EXPECT_EQ(MemorySnapshot::difference(saved, again), "");
    for (std::uint32_t l = 0; l < a.ftl.logical_units(); ++l) ASSERT_EQ(a.ftl.lookup(Lpa{l}), b.ftl.lookup(Lpa{l}));
    std::printf("%.2f bytes of the file for each unit of flash\n",
                static_cast<double>(saved.data.size()) / static_cast<double>(a.geometry.units()));
}

}  // namespace
}  // namespace ssdtlm
