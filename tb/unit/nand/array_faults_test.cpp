// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "nand/array/random_faults.h"

namespace ssdtlm {
namespace {

/// Within five standard deviations of a binomial distribution.
void expect_rate(std::uint64_t found, std::uint64_t of, double rate) {
    const double n = static_cast<double>(of), mean = n * rate;
    EXPECT_NEAR(static_cast<double>(found), mean, 5 * std::sqrt(mean * (1 - rate)) + 1e-9) << "of " << of;
}

ArrayWork at(const PageAddress& page, std::uint32_t cycle = 0) {
    return {page, cycle, SimTime{}, false};
}

PageAddress page(std::uint32_t i) {
    return {PlaneId{i % 7}, i / 7 % 500, i / 3500};
}

TEST(RandomFaults, ComeAtTheirRates) {
    RandomFaults f({1e-3, 2e-2, 5e-3, 1e-3, 500}, 3);
    std::uint64_t programs = 0, erases = 0, once = 0, lost = 0;
    constexpr std::uint32_t n = 400'000;
    for (std::uint32_t i = 0; i < n; ++i) {
        programs += f.program_fails(at(page(i)));
        erases += f.erase_fails(at({PlaneId{7}, i, 0}));  // each block once: one that has failed fails again
        const bool for_good = f.wrong_bits(at(page(i)), 1) != 0;
        lost += for_good;
        once += !for_good && f.wrong_bits(at(page(i)), 0) != 0;
        ASSERT_EQ(for_good, f.lost(page(i), 0));
    }
    expect_rate(programs, n, 1e-3);
    expect_rate(erases, n, 2e-2);
    expect_rate(lost, n, 1e-3);
    expect_rate(once, n - lost, 5e-3);
}

TEST(RandomFaults, AWornOutBlockIsNeverErasedAgain) {
    RandomFaults f({1e-2, 1e-2, 0, 0, 1}, 4);
    std::uint32_t worn = 0;
    for (std::uint32_t block = 0; block < 10'000; ++block) {
        const PageAddress a{PlaneId{block % 3}, block, block % 5};
        const bool failed = block % 2 == 0 ? f.program_fails(at(a)) : f.erase_fails(at(a));
        if (!failed) continue;
        ++worn;
        for (int again = 0; again < 3; ++again) EXPECT_TRUE(f.erase_fails(at({a.plane, a.block, 0})));
        EXPECT_FALSE(f.erase_fails(at({PlaneId{3}, a.block, 0})) && f.erase_fails(at({PlaneId{4}, a.block, 0})))
            << "of another plane";
    }
    expect_rate(worn, 10'000, 1e-2);
}

TEST(RandomFaults, ABlockBearsSoManyErases) {
    FaultRates rates;
    EXPECT_FALSE(RandomFaults(rates, 1).kinds().any());
    for (const std::uint32_t most : {1u, 3u, 10'000u}) {
        rates.most_erases = most;
        EXPECT_TRUE(rates.any() && !rates.by_chance());
        RandomFaults f(rates, 1);
        EXPECT_TRUE(f.kinds().erases && !f.kinds().programs && !f.kinds().reads);
        // As a die asks it: what fails does not count as an erase.
        std::uint32_t erases = 0;
        for (std::uint32_t n = 0; n < most + 5; ++n) {
            EXPECT_FALSE(f.program_fails(at(page(3), erases)));
            erases += !f.erase_fails(at(page(3), erases));
        }
        EXPECT_EQ(erases, most);
        EXPECT_FALSE(f.erase_fails(at(page(4), most - 1))) << "each block counts for itself";
    }
}

TEST(RandomFaults, ALostPageIsLostUntilItsBlockIsErased) {
    RandomFaults f({0, 0, 0, 0.1, 77}, 5);
    std::uint32_t lost = 0, lost_again = 0;
    for (std::uint32_t i = 0; i < 5'000; ++i) {
        const std::uint16_t bits = f.wrong_bits(at(page(i), 3), 0);
        EXPECT_EQ(bits, f.lost(page(i), 3) ? 77 : 0);
        for (std::uint32_t again = 0; again < 3; ++again) EXPECT_EQ(f.wrong_bits(at(page(i), 3), again), bits);
        lost += bits != 0;
        lost_again += bits != 0 && f.lost(page(i), 4);
    }
    expect_rate(lost, 5'000, 0.1);
    expect_rate(lost_again, lost, 0.1);
}

TEST(RandomFaults, BlocksThatTheFactoryHasMarked) {
    NandGeometry g;
    g.channels = 4;
    g.planes_per_die = 2;
    g.blocks_per_plane = 1000;
    FaultRates rates;
    EXPECT_TRUE(RandomFaults(rates, 1, g).factory_bad().empty());
    rates.factory_bad = 0.02;
    EXPECT_FALSE(rates.any());  // nothing fails later
    const std::vector<BlockId> bad = RandomFaults(rates, 1, g).factory_bad();
    expect_rate(static_cast<std::uint32_t>(bad.size()), g.blocks(), 0.02);
    EXPECT_TRUE(std::is_sorted(bad.begin(), bad.end()));
    EXPECT_EQ(RandomFaults(rates, 1, g).factory_bad(), bad);
    EXPECT_NE(RandomFaults(rates, 2, g).factory_bad(), bad);
    std::vector<std::uint32_t> of_plane(g.planes());
    for (const BlockId b : bad) ++of_plane[idx(g.plane_of(b))];
    for (const std::uint32_t n : of_plane) expect_rate(n, g.blocks_per_plane, 0.02);
}

TEST(RandomFaults, NoneWithoutRatesAndTheSameForTheSameSeed) {
    RandomFaults none({}, 1), a({0.5, 0.5, 0.5, 0, 1}, 9), b({0.5, 0.5, 0.5, 0, 1}, 9);
    for (std::uint32_t i = 0; i < 1'000; ++i) {
        EXPECT_FALSE(none.program_fails(at(page(i))) || none.erase_fails(at(page(i))) ||
                     none.wrong_bits(at(page(i)), 0) != 0);
        EXPECT_EQ(a.program_fails(at(page(i))), b.program_fails(at(page(i))));
        if (i % 3 == 0) a.erase_fails(at(page(i)));  // leaves programs and reads as they were
        EXPECT_EQ(a.wrong_bits(at(page(i)), 0), b.wrong_bits(at(page(i)), 0));
    }
}

}  // namespace
}  // namespace ssdtlm
