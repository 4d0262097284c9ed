// SPDX-License-Identifier: Apache-2.0
#include "common/address/scattered_layout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

TEST(RandomPermutation, IsOneInBothDirections) {
    for (const std::uint32_t n : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 100u, 1000u, 4095u, 4096u, 4097u, 70001u}) {
        for (std::uint64_t seed = 1; seed < 6; ++seed) {
            const RandomPermutation p(n, seed);
            std::vector<bool> seen(n);
            for (std::uint32_t i = 0; i < n; ++i) {
                const std::uint32_t j = p(i);
                ASSERT_LT(j, n);
                ASSERT_FALSE(seen[j]) << n << ", seed " << seed;
                seen[j] = true;
                ASSERT_EQ(p.inverse(j), i);
            }
        }
    }
}

TEST(RandomPermutation, GoesUpToTheLastNumberOf32Bits) {
    const std::uint32_t n = 0xFFFFFFF0u;
    const RandomPermutation p(n, 3);
    Random random(1);
    for (int i = 0; i < 100000; ++i) {
        const auto x = static_cast<std::uint32_t>(random.below(n));
        ASSERT_LT(p(x), n);
        ASSERT_EQ(p.inverse(p(x)), x);
    }
}

// Neighbours do not stay neighbours, and where they go is not seen from where they come from: as of numbers drawn anew.
TEST(RandomPermutation, LeavesNothingOfTheOrder) {
    constexpr std::uint32_t n = 1'000'000, bins = 100;
    for (std::uint64_t seed = 1; seed < 9; ++seed) {
        const RandomPermutation p(n, seed);
        std::vector<double> pairs(bins * bins), steps(bins);
        for (std::uint32_t i = 0; i + 1 < n; ++i) {
            const std::uint32_t a = p(i), b = p(i + 1);
            ++pairs[a / (n / bins) * bins + b / (n / bins)];
            ++steps[(b + n - a) % n / (n / bins)];
        }
        const auto chi_squared = [](const std::vector<double>& counts) {
            const double expected = static_cast<double>(n - 1) / static_cast<double>(counts.size());
            double sum = 0;
            for (const double c : counts) sum += (c - expected) * (c - expected) / expected;
            const auto freedom = static_cast<double>(counts.size() - 1);
            return (sum - freedom) / std::sqrt(2 * freedom);  // in standard deviations
        };
        EXPECT_LT(std::abs(chi_squared(pairs)), 6) << "seed " << seed;
        EXPECT_LT(std::abs(chi_squared(steps)), 6) << "seed " << seed;
    }
}

TEST(ScatteredLayout, EachUnitHasOnePlaceAndEachBlockWhatItHolds) {
    Random random(7);
    for (int n = 0; n < 60; ++n) {
        NandGeometry g;
        g.channels = 1 + static_cast<std::uint32_t>(random.below(3));
        g.planes_per_die = 1 + static_cast<std::uint32_t>(random.below(2));
        g.blocks_per_plane = 1 + static_cast<std::uint32_t>(random.below(40));
        g.pages_per_block = 1 + static_cast<std::uint32_t>(random.below(300));
        g.unit_bytes = 4096, g.page_bytes = 4096u << random.below(3);
        std::vector<std::uint32_t> held(g.blocks());
        for (auto& h : held) {
            const std::uint64_t kind = random.below(5);
            h = kind == 0   ? ScatteredLayout::kErasedBlock
                : kind == 1 ? 0
                : kind == 2 ? g.units_per_block()
                            : static_cast<std::uint32_t>(random.below(g.units_per_block() + 1));
        }
        const ScatteredLayout layout(g, held, random.next());
        std::uint64_t units = 0;
        for (std::uint32_t b = 0; b < g.blocks(); ++b) {
            const BlockId block{b};
            const bool erased = held[b] == ScatteredLayout::kErasedBlock;
            EXPECT_EQ(layout.is_erased(block), erased);
            std::vector<bool> in_use(g.units_per_block());
            layout.for_each_slot(block, [&](std::uint32_t slot) {
                ASSERT_FALSE(in_use[slot]);
                in_use[slot] = true;
            });
            std::uint32_t here = 0;
            for (std::uint32_t slot = 0; slot < g.units_per_block(); ++slot) {
                const Ppa at{b * g.units_per_block() + slot};
                const std::uint32_t unit = layout.unit_at(at);
                if (erased || !in_use[slot]) {
                    ASSERT_EQ(unit, erased ? ScatteredLayout::kNotProgrammed : ScatteredLayout::kNothing);
                    continue;
                }
                ++here;
                ASSERT_LT(unit, layout.units());
                ASSERT_EQ(layout.place_of(Lpa{unit}), at);
            }
            ASSERT_EQ(here, erased ? 0 : held[b]);
            units += here;
        }
        ASSERT_EQ(units, layout.units());  // each place has another unit, so each unit one place
        EXPECT_EQ(layout.place_of(Lpa{static_cast<std::uint32_t>(units)}), kUnmapped);
    }
}

// Which units of a block are in use: all with the same chance, and one says nothing about the next.
TEST(ScatteredLayout, UsesAnyPlaceOfABlock) {
    NandGeometry g;
    g.channels = 1, g.planes_per_die = 1;
    g.blocks_per_plane = 4000, g.pages_per_block = 16, g.unit_bytes = 4096, g.page_bytes = 16384;
    constexpr std::uint32_t kHeld = 24;  // of 64
    const ScatteredLayout layout(g, std::vector<std::uint32_t>(g.blocks(), kHeld), 11);
    std::vector<std::uint32_t> by_slot(64), of_page(5);
    for (std::uint32_t b = 0; b < g.blocks(); ++b) {
        std::vector<std::uint32_t> pages(16);
        layout.for_each_slot(BlockId{b}, [&](std::uint32_t slot) { ++by_slot[slot], ++pages[slot / 4]; });
        for (const std::uint32_t p : pages) ++of_page[p];
    }
    const double p = kHeld / 64.0, sigma = std::sqrt(4000 * p * (1 - p));
    for (const std::uint32_t n : by_slot) EXPECT_NEAR(n, 4000 * p, 5 * sigma);
    // Units in use of a page of four, of 64 of which 24 are in use: hypergeometric.
    const auto choose = [](double n, int k) {
        double c = 1;
        for (int i = 0; i < k; ++i) c *= (n - i) / (i + 1);
        return c;
    };
    for (int k = 0; k <= 4; ++k) {
        const double share = choose(kHeld, k) * choose(64 - kHeld, 4 - k) / choose(64, 4);
        // 64 tables of slots, each turned: pages of different blocks are not independent, but nearly.
        EXPECT_NEAR(of_page[static_cast<std::size_t>(k)] / 64000.0, share, 0.02) << k << " of 4";
    }
}

}  // namespace
}  // namespace ssdtlm
