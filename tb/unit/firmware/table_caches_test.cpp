// SPDX-License-Identifier: Apache-2.0
// The cores' caches for the map's table: against caches that are a list of lines and no more, and the waits against the
// DRAM's formula.
#include "controller/cpu/table_caches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <list>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "controller/dram/serial_dram.h"
#include "support/memory_snapshot.h"

namespace ssdtlm {
namespace {

FirmwareConfig config_of(std::uint32_t cores, std::uint32_t line, std::uint32_t ways, std::uint32_t sets) {
    FirmwareConfig c;
    c.cores = cores;
    c.table_line_bytes = line;
    c.table_ways = ways;
    c.table_cache_bytes = std::uint64_t{line} * ways * sets;
    return c;
}

/// Each set a list, used last first.
struct Reference {
    struct Line {
        std::uint64_t number;
        bool dirty;
    };
    Reference(const FirmwareConfig& c, std::uint32_t entry_bytes)
        : config(c), entry(entry_bytes), sets(table_cache_sets(c)), lists(c.cores * sets) {}
    std::list<Line>& set(std::uint64_t core, std::uint64_t line) { return lists[core * sets + line % sets]; }
    void touch(std::uint64_t core, std::uint64_t unit, bool changes) {
        const std::uint64_t line = unit * entry / config.table_line_bytes;
        const auto is_it = [line](const Line& l) { return l.number == line; };
        for (std::uint64_t other = 0; other < config.cores; ++other) {
            if (other == core) continue;
            std::list<Line>& l = set(other, line);
            const auto found = std::find_if(l.begin(), l.end(), is_it);
            if (found == l.end()) continue;
            written_back += found->dirty;
            found->dirty = false;
            if (changes) l.erase(found);
        }
        std::list<Line>& l = set(core, line);
        const auto found = std::find_if(l.begin(), l.end(), is_it);
        if (found != l.end()) {
            ++hits;
            l.splice(l.begin(), l, found);
        } else {
            ++misses;
            if (l.size() == config.table_ways) {
                written_back += l.back().dirty;
                l.pop_back();
            }
            l.push_front({line, false});
        }
        l.front().dirty = l.front().dirty || changes;
    }
    const FirmwareConfig config;
    const std::uint32_t entry;
    const std::uint64_t sets;
    std::vector<std::list<Line>> lists;
    std::uint64_t hits = 0, misses = 0, written_back = 0;
};

TEST(TableCaches, AreAsListsOfLines) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, 17);
        const FirmwareConfig c =
            config_of(static_cast<std::uint32_t>(1 + random.below(3)), 16u << random.below(4),
                      static_cast<std::uint32_t>(1 + random.below(5)), static_cast<std::uint32_t>(1 + random.below(7)));
        const std::uint32_t entry = random.below(2) == 0 ? 4 : 8;
        Agenda agenda;
        SerialDram dram(agenda, DramConfig{});
        TableCaches caches(agenda, c, entry, dram);
        Reference reference(c, entry);
        const std::uint64_t units =
            (table_cache_sets(c) * c.table_ways * c.table_line_bytes / entry) * (1 + random.below(4));
        for (int i = 0; i < 3000; ++i) {
            const std::uint64_t number = random.below(100), first = random.below(units),
                                count = 1 + random.below(std::min<std::uint64_t>(40, units - first));
            const bool changes = random.below(3) == 0;
            caches.want(number, {first, count}, changes);
            // Entries of one line are one access to it.
            std::uint64_t line = ~std::uint64_t{0};
            for (std::uint64_t u = first; u < first + count; ++u)
                if (u * entry / c.table_line_bytes != line) {
                    line = u * entry / c.table_line_bytes;
                    reference.touch(number % c.cores, u, changes);
                }
            if (random.below(3) != 0) caches.wait();
            if (i % 1000 == 500) {
                TableCaches restored(agenda, c, entry, dram);
                caches.wait();
                MemorySnapshot told, again;
                caches.state(told);
                MemorySnapshot taken(told.data);
                restored.state(taken);
                restored.state(again);
                EXPECT_EQ(MemorySnapshot::difference(told, again), "");
            }
            ASSERT_EQ(caches.counters().hits, reference.hits) << i;
            ASSERT_EQ(caches.counters().misses, reference.misses) << i;
            ASSERT_EQ(caches.counters().written_back, reference.written_back) << i;
        }
        EXPECT_GT(reference.hits, 0u);
        EXPECT_GT(reference.misses, 0u);
    }
}

// What a step lacks comes in one go; what leaves is written behind it, and delays who asks next.
TEST(TableCaches, WaitsAreTheDramsTimes) {
    const FirmwareConfig c = config_of(1, 64, 2, 1);
    DramConfig d;
    d.bytes_per_second = 1'000'000'000;  // 64 ns a line
    d.access_latency = Ps{50'000};
    Agenda agenda;
    SerialDram dram(agenda, d);
    TableCaches caches(agenda, c, 4, dram);
    const auto wait = [&](TableSpan entries, bool changes) {
        caches.want(0, entries, changes);
        return caches.wait().count();
    };
    EXPECT_EQ(wait({0, 1}, false), 50'000 + 64'000);
    EXPECT_EQ(wait({15, 1}, true), 0) << "the same line";
    EXPECT_EQ(wait({16, 1}, false), 64'000 + 50'000 + 64'000)
        << "at the same instant as the first: behind it on the bus";
    agenda.run_until(SimTime{Ps{1'000'000}});
    EXPECT_EQ(wait({32, 32}, false), 50'000 + 2 * 64'000) << "both lines leave, the changed one is written";
    EXPECT_EQ(caches.counters().written_back, 1u);
    EXPECT_EQ(wait({0, 1}, false), 3 * 64'000 + 50'000 + 64'000) << "behind two lines read and one written";
    EXPECT_EQ(caches.counters().misses, 5u);
    EXPECT_EQ(caches.counters().hits, 1u);
    EXPECT_EQ(dram.bytes(), 6u * 64);
}

// Entries drawn alike from a table: as many hits as its share in the cache.
TEST(TableCaches, HitRatioOfUniformReads) {
    const FirmwareConfig c = config_of(1, 64, 4, 64);
    Agenda agenda;
    SerialDram dram(agenda, DramConfig{});
    TableCaches caches(agenda, c, 4, dram);
    const std::uint64_t lines = 1024, reads = 200'000;
    Random random(3, 1);
    for (std::uint64_t i = 0; i < 10'000; ++i) caches.want(0, {random.below(lines * 16), 1}, false);
    const std::uint64_t before = caches.counters().hits;
    for (std::uint64_t i = 0; i < reads; ++i) {
        caches.want(0, {random.below(lines * 16), 1}, false);
        caches.wait();
    }
    const double p = 256.0 / static_cast<double>(lines), n = static_cast<double>(reads),
                 hits = static_cast<double>(caches.counters().hits - before);
    std::printf("[   FIGURE ] hit ratio %.4f, C/N %.4f\n", hits / n, p);
    EXPECT_NEAR(hits, n * p, 3 * std::sqrt(n * p * (1 - p)));
}

}  // namespace
}  // namespace ssdtlm
