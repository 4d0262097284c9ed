// SPDX-License-Identifier: Apache-2.0
// Write streams in superblocks of their own: which superblock a page goes to, that garbage collection keeps them apart,
// and what that is worth, beside an independent simulation.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <tuple>
#include <vector>

#include "common/random/random.h"
#include "controller/ftl/ftl_check.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;

/// A page with one unit of this stream, after as many collections as it takes.
void write(Device& d, std::uint32_t unit, std::uint8_t stream) {
    PageAddress a;
    while (d.ftl.allocate_host_pages(1, &a, false, d.ftl.partitions().of(Lpa{unit}, stream)) == 0) {
        bool any = false;
        for (std::uint32_t g = 0; g < d.ftl.shape().groups(); ++g)
            any |= d.ftl.gc_hard(GroupId{g}) && d.collect(GroupId{g});
        ASSERT_TRUE(any) << "no space and nothing to collect";
    }
    std::vector<Spare> out(d.geometry.units_per_page(), kPadding);
    out[0] = d.ftl.codec().make(Lpa{unit}, 1);
    d.map(Lpa{unit}, d.geometry.ppa_of(a, 0));
    d.flash.program_page(a, out.data(), d.ftl.draw_record(a));
    d.ftl.host_page_programmed(a);
}

NandGeometry one_plane(std::uint32_t blocks, std::uint32_t pages) {
    NandGeometry g;
    g.blocks_per_plane = blocks;
    g.pages_per_block = pages;
    return g;
}

TEST(Streams, NoSuperblockHasUnitsOfTwo) {
    for (const std::uint32_t own : {1u, 2u, 4u}) {
        NandGeometry g = test::small_geometry();
        g.page_bytes = g.unit_bytes;
        g.blocks_per_plane = 40;
        FtlConfig c = test::small_config(g, 0.5);
        c.stream_frontiers = own;
        Device d(c, g);
        const auto logical = static_cast<std::uint32_t>(d.ftl.logical_units());
        // A unit's stream never changes; 5 and 6 have no superblocks of their own, and go with 0.
        const auto stream_of = [](std::uint32_t unit) { return static_cast<std::uint8_t>(unit % 7); };
        Random random(own);
        for (std::uint32_t i = 0; i < 10 * logical; ++i) {
            const auto unit = static_cast<std::uint32_t>(i < logical ? i : random.below(logical));
            write(d, unit, stream_of(unit));
            if (::testing::Test::HasFatalFailure()) return;
        }
        EXPECT_GT(d.ftl.counters().victims, 1000u);
        std::vector<std::set<std::uint32_t>> streams(d.ftl.shape().superblocks());
        for (std::uint32_t u = 0; u < logical; ++u)
            streams[idx(d.ftl.shape().superblock_of(d.ftl.lookup(Lpa{u})))].insert(stream_of(u) > own ? 0
                                                                                                      : stream_of(u));
        std::set<std::uint32_t> all;
        for (std::uint32_t b = 0; b < streams.size(); ++b) {
            ASSERT_LE(streams[b].size(), 1u) << b;
            for (const std::uint32_t s : streams[b]) {
                all.insert(s);
                ASSERT_EQ(host_stream_of(d.ftl.superblock(SuperblockId{b}).stream), s) << b;
            }
        }
        EXPECT_EQ(all.size(), own + 1);
        d.ftl.verify_books();
    }
}

TEST(Streams, AGroupIsHeldForAllOfThem) {
    const NandGeometry g = test::small_geometry();
    FtlConfig c = test::small_config(g, 0.4);
    c.stream_frontiers = 2;
    Device d(c, g);
    d.ftl.hold_host(GroupId{3}, true);
    for (std::uint32_t i = 0; i < 60; ++i) {
        PageAddress a;
        ASSERT_EQ(d.ftl.allocate_host_pages(1, &a, false, i % 3), 1u);
        EXPECT_NE(idx(d.ftl.shape().group_of(a.plane)), 3u);
    }
}

TEST(Streams, AtTheHardThresholdThoseGoOnThatHaveASuperblock) {
    const NandGeometry g = one_plane(24, 16);
    FtlConfig c = test::small_config(g, 0.4);
    c.stream_frontiers = 2;
    Device d(c, g);
    const GroupId group{0};
    write(d, 0, 2);
    for (std::uint32_t i = 1; !d.ftl.gc_hard(group); ++i) write(d, i % 100, 0);
    EXPECT_TRUE(d.ftl.takes_host_pages(group, 0));
    EXPECT_FALSE(d.ftl.takes_host_pages(group, 1));
    EXPECT_TRUE(d.ftl.takes_host_pages(group, 2));
    EXPECT_FALSE(d.ftl.takes_all_streams(group));
    PageAddress a;
    EXPECT_EQ(d.ftl.allocate_host_pages(1, &a, false, 1), 0u);
    EXPECT_EQ(d.ftl.allocate_host_pages(1, &a, false, 2), 1u);
}

/// Every stream writes all units of a drive as full as it may be: each has a superblock that is filled in part, and one
/// of garbage collection.
TEST(Streams, WriteTheLargestCapacity) {
    for (const std::uint32_t own : {1u, 3u, 6u}) {
        NandGeometry g = test::small_geometry();
        g.page_bytes = g.unit_bytes;
        g.blocks_per_plane = 40;
        FtlConfig c = test::small_config(g, 0.5);
        c.stream_frontiers = own;
        c.static_dimensions = "CWDP";  // each plane holds its share
        c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
        Device d(c, g);
        const auto logical = static_cast<std::uint32_t>(d.ftl.logical_units());
        Random random(own);
        for (std::uint32_t i = 0; i < 12 * logical; ++i) {
            const auto unit = static_cast<std::uint32_t>(i < logical ? i : random.below(logical));
            write(d, unit, static_cast<std::uint8_t>(random.below(own + 2)));
            if (::testing::Test::HasFatalFailure()) return;
        }
        d.ftl.verify_books();
    }
}

/// Blocks in arrays, of each stream one open for the host and one for moved pages; greedy, of equals the one that is so
/// for longest.
class TwoStreams {
public:
    TwoStreams(std::uint32_t blocks, std::uint32_t pages, std::uint32_t logical, std::uint32_t reserve, bool apart)
        : pages_(pages), reserve_(reserve), apart_(apart), blocks_(blocks), place_(logical, -1), open_(4, -1) {
        for (std::uint32_t b = 0; b < blocks; ++b) free_.push_back(b);
    }
    void write(std::uint32_t unit, std::uint32_t stream) {
        const std::uint32_t log = apart_ ? stream : 0;
        while (open_[log] < 0 && free_.size() <= reserve_) collect();
        put(unit, log, log);
        ++hosts;
    }
    std::uint64_t hosts = 0, moves = 0;

private:
    struct Block {
        std::vector<std::uint32_t> units;
        std::uint32_t valid = 0, log = 0;
        std::uint64_t since = 0;  ///< it has so many valid units
        bool full = false;
    };
    void put(std::uint32_t unit, std::uint32_t log, std::uint32_t open) {
        if (open_[open] < 0) {
            open_[open] = free_.front();
            free_.erase(free_.begin());
            blocks_[static_cast<std::size_t>(open_[open])].log = log;
        }
        if (place_[unit] >= 0) {
            Block& old = blocks_[static_cast<std::size_t>(place_[unit])];
            --old.valid;
            old.since = ++steps_;
        }
        Block& b = blocks_[static_cast<std::size_t>(open_[open])];
        place_[unit] = open_[open];
        b.units.push_back(unit);
        ++b.valid;
        if (b.units.size() != pages_) return;
        b.full = true;
        b.since = ++steps_;
        open_[open] = -1;
    }
    void collect() {
        std::size_t victim = blocks_.size();
        for (std::size_t b = 0; b < blocks_.size(); ++b)
            if (blocks_[b].full &&
                (victim == blocks_.size() ||
                 std::tie(blocks_[b].valid, blocks_[b].since) < std::tie(blocks_[victim].valid, blocks_[victim].since)))
                victim = b;
        const std::vector<std::uint32_t> units = blocks_[victim].units;
        const std::uint32_t log = blocks_[victim].log;
        std::set<std::uint32_t> done;  // a unit may be there twice: the last one counts, and both say the same
        for (const std::uint32_t u : units) {
            if (place_[u] != static_cast<std::int64_t>(victim) || !done.insert(u).second) continue;
            put(u, log, 2 + log);
            ++moves;
        }
        blocks_[victim] = Block{};
        free_.push_back(static_cast<std::uint32_t>(victim));
    }

    const std::uint32_t pages_, reserve_;
    const bool apart_;
    std::uint64_t steps_ = 0;
    std::vector<Block> blocks_;
    std::vector<std::int64_t> place_;  // block of each unit; -1: none
    std::vector<std::int64_t> open_;   // of the host by log, then of what is moved
    std::vector<std::uint32_t> free_;
};

TEST(Streams, WriteAmplificationIsThatOfAnIndependentSimulation) {
    constexpr std::uint32_t kBlocks = 500, kPages = 64;
    struct Case {
        unsigned hot_units, hot_writes;
    };
    for (const Case& k : {Case{50, 50}, Case{20, 80}, Case{10, 90}, Case{5, 95}}) {
        double by_ftl[2], by_simulation[2];
        for (const bool apart : {false, true}) {
            const NandGeometry g = one_plane(kBlocks, kPages);
            FtlConfig c = test::small_config(g, 0.8);
            c.stream_frontiers = apart ? 1 : 0;
            Device d(c, g);
            const auto logical = static_cast<std::uint32_t>(d.ftl.logical_units()), hot = logical * k.hot_units / 100;
            TwoStreams plain(kBlocks, kPages, logical, c.gc_hard_free_blocks, apart);
            Random random(k.hot_units, 3);
            const auto overwrite = [&](std::uint32_t times) {
                for (std::uint64_t i = 0; i < std::uint64_t{times} * logical; ++i) {
                    const auto unit = static_cast<std::uint32_t>(
                        random.percent(k.hot_writes) ? random.below(hot) : hot + random.below(logical - hot));
                    write(d, unit, unit < hot);
                    plain.write(unit, unit < hot);
                }
            };
            for (std::uint32_t u = 0; u < logical; ++u) {
                write(d, u, u < hot);
                plain.write(u, u < hot);
            }
            overwrite(6);
            const FtlCounters before = d.ftl.counters();
            plain.hosts = plain.moves = 0;
            overwrite(6);
            const FtlCounters& now = d.ftl.counters();
            by_ftl[apart] = 1 + static_cast<double>(now.gc_units_moved - before.gc_units_moved) /
                                    static_cast<double>(now.host_units - before.host_units);
            by_simulation[apart] = 1 + static_cast<double>(plain.moves) / static_cast<double>(plain.hosts);
            EXPECT_NEAR(by_ftl[apart] / by_simulation[apart], 1.0, 0.01);
        }
        std::printf(
            "%2u %% of the writes to %2u %% of the units: WA %.3f together (simulation %.3f), %.3f apart (simulation "
            "%.3f)\n",
            k.hot_writes, k.hot_units, by_ftl[0], by_simulation[0], by_ftl[1], by_simulation[1]);
        if (k.hot_units < 50) {
            EXPECT_LT(by_ftl[1], 0.95 * by_ftl[0]);
        }
    }
}

}  // namespace
}  // namespace ssdtlm
