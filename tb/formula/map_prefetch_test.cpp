// SPDX-License-Identifier: Apache-2.0
// Hits in a map on the flash when a missing entry brings in those behind it, against a count in the test: an entry is
// there when it was brought in, and the run ends with its translation page. A sequential stream hits (p - 1) / p.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "controller/ftl/ftl_check.h"
#include "support/devices.h"
#include "support/read_units.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kEntries = 1024;  // of a translation page

SsdConfig device(std::uint32_t prefetch, std::uint32_t slots) {
    SsdConfig c = table3_small();
    c.ftl.mapping = "dftl";
    c.ftl.map.prefetch = prefetch;
    c.ftl.map.cache_bytes = std::uint64_t{slots} * 2 * c.ftl.map.entry_bytes;
    c.ftl.user_capacity_bytes = most_logical_units(c.ftl, c.nand.geometry) / kEntries * kEntries * 4096;
    return c;
}

struct Counted {
    std::uint64_t hits = 0, misses = 0, prefetched = 0, hit_then = 0, dropped = 0, pages_read = 0;
};

Counted of_model(const SsdConfig& c, const std::vector<std::uint32_t>& units, std::uint32_t depth = 1) {
    const nlohmann::json all = read_units(c, units, depth)["counters"];
    Counted n{all["map_hits"], all["map_misses"], 0, 0, 0, all["map_translation_page_reads"]};
    if (c.ftl.map.prefetch == 1) {
        EXPECT_FALSE(all.contains("map_entries_prefetched"));
        return n;
    }
    n.prefetched = all["map_entries_prefetched"];
    n.hit_then = all["map_prefetched_entries_hit"];
    n.dropped = all["map_prefetched_entries_dropped"];
    return n;
}

/// Ascending units, each `stride` behind the one before, so that nothing is asked for again: an entry is there when it
/// is before the end of the last run.
Counted by_formula(const std::vector<std::uint32_t>& units, std::uint32_t prefetch) {
    Counted n;
    std::uint32_t end = 0;
    for (const std::uint32_t unit : units) {
        if (unit < end) {
            ++n.hits;
            continue;
        }
        ++n.misses;
        end = std::min(unit + prefetch, (unit / kEntries + 1) * kEntries);
        n.prefetched += end - unit - 1;
    }
    n.hit_then = n.hits;
    n.pages_read = n.misses;
    return n;
}

std::vector<std::uint32_t> every(std::uint32_t stride, std::uint32_t count) {
    std::vector<std::uint32_t> units;
    for (std::uint32_t i = 0; i < count; ++i) units.push_back(i * stride);
    return units;
}

void expect_equal(const Counted& model, const Counted& formula) {
    EXPECT_EQ(model.hits, formula.hits);
    EXPECT_EQ(model.misses, formula.misses);
    EXPECT_EQ(model.prefetched, formula.prefetched);
    EXPECT_EQ(model.hit_then, formula.hit_then);
    EXPECT_EQ(model.pages_read, formula.pages_read);
}

TEST(MapPrefetch, ASequentialStreamHits) {
    const std::vector<std::uint32_t> units = every(1, 4 * kEntries);
    for (const std::uint32_t prefetch : {1u, 2u, 8u, 64u, 1024u}) {
        const Counted model = of_model(device(prefetch, 100'000), units);
        std::printf("[   FIGURE ] sequential, runs of %u entries: %llu hits of %zu\n", prefetch,
                    static_cast<unsigned long long>(model.hits), units.size());
        EXPECT_EQ(model.hits, units.size() / prefetch * (prefetch - 1));
        EXPECT_EQ(model.dropped, 0u);
        expect_equal(model, by_formula(units, prefetch));
    }
}

// Runs that do not divide a translation page, and runs longer than one, end with it.
TEST(MapPrefetch, ARunEndsWithItsTranslationPage) {
    for (const std::uint32_t prefetch : {3u, 1000u, 65536u})
        for (const std::uint32_t stride : {1u, 2u, 7u, 1000u, 3000u}) {
            SCOPED_TRACE(std::to_string(prefetch) + " entries, stride " + std::to_string(stride));
            const std::vector<std::uint32_t> units = every(stride, std::min(4000u, 300'000 / stride));
            const Counted model = of_model(device(prefetch, 400'000), units);
            expect_equal(model, by_formula(units, prefetch));
            EXPECT_EQ(model.dropped, 0u);
        }
}

// In a cache that holds two runs each entry is used before it is the coldest. One that holds a part of a run holds its
// beginning, and what has come with the wanted entry does not leave for what comes behind.
TEST(MapPrefetch, NotBeyondTheRoom) {
    constexpr std::uint32_t kSlots = 257;  // the longest command's and one more
    const std::vector<std::uint32_t> units = every(1, 2 * kEntries);
    expect_equal(of_model(device(128, kSlots), units), by_formula(units, 128));
    const Counted long_runs = of_model(device(1024, kSlots), units);
    // Of each run the wanted entry and those behind it that fit.
    expect_equal(long_runs, by_formula(units, kSlots));
    EXPECT_EQ(long_runs.dropped, 0u);
}

// A stream that uses each tenth entry leaves the others to be dropped: all but those that are in the cache at the end.
TEST(MapPrefetch, WhatNobodyAskedForIsCounted) {
    constexpr std::uint32_t kSlots = 300;
    const std::vector<std::uint32_t> units = every(10, 20'000);
    const Counted model = of_model(device(32, kSlots), units), formula = by_formula(units, 32);
    expect_equal(model, formula);
    EXPECT_LE(formula.prefetched - formula.hits - model.dropped, kSlots);
    EXPECT_GT(model.dropped, formula.prefetched / 2);
}

}  // namespace
}  // namespace ssdtlm
