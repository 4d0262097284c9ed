// SPDX-License-Identifier: Apache-2.0
// Dirty translation pages are bounded at each step, by an own look at what the flash says; and what the bound costs, by
// formula.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "controller/map/cached/pages/translation_contents.h"
#include "controller/map/cached/pages/translation_sizes.h"
#include "dftl_device.h"
#include "random_host.h"
#include "support/seeds.h"

namespace ssdtlm {
namespace {

/// Pages that the flash says another thing of than the map, or whose newest copy is not programmed yet.
class FlashCompared {
public:
    explicit FlashCompared(DeviceUnderTest& d) : d_(d) { keep_translation_pages(d.ftl, d.spare); }
    std::uint32_t dirty(bool until_programmed) const {
        const Ftl& f = d_.ftl;
        const std::uint32_t n = f.needs().units_per_own;
        std::uint32_t pages = 0;
        for (std::uint32_t page = 0; page < f.own_units(); ++page) {
            const Ppa at = f.lookup(f.own_unit(page));
            bool differs = false;
            if (is_place(at)) {
                const PageAddress a = f.geometry().page_of(at);
                // What its program was given is what it says.
                if (a.page >= d_.spare.next_page(f.geometry().block_of(a))) {
                    pages += until_programmed || d_.firmware.cached_map()->table().dirty_in(page) != 0;
                    continue;
                }
            }
            for (std::uint32_t i = 0; i < n && page * n + i < f.logical_units() && !differs; ++i)
                differs = (is_place(at) ? entry_at(f, at, i) : kUnmapped) != f.lookup(Lpa{page * n + i});
            pages += differs;
        }
        return pages;
    }

private:
    DeviceUnderTest& d_;
};

DeviceShape limited(double share, DirtyUntil until, MapGranularity granularity = MapGranularity::page,
                    std::uint32_t page_bytes = 4096) {
    DeviceShape s = dftl_device(1000, granularity, page_bytes);
    s.ftl.map.power_protected = share;
    s.ftl.map.dirty_until = until;
    return s;
}

// Fewer writes than there are pages: nothing is collected, so all that differs is what the host has written.
TEST(DirtyLimit, HoldsAtEachStep) {
    for (const DirtyUntil until : {DirtyUntil::programmed, DirtyUntil::issued})
        for (const MapGranularity granularity : {MapGranularity::page, MapGranularity::entry})
            for (const std::uint32_t page_bytes : {4096u, 8192u}) {
                DeviceShape s = limited(0.06, until, granularity, page_bytes);
                s.geometry.blocks_per_plane = 64;
                DeviceUnderTest d(s);
                const FlashCompared flash(d);
                const std::uint32_t most = d.firmware.dirty_limit()->most();
                ASSERT_EQ(most, static_cast<std::uint32_t>(std::lround(d.ftl.own_units() * 0.06)));
                std::uint32_t seen = 0;
                Random random(7);
                for (int i = 0; i < 300; ++i) {
                    while (!d.has_room()) {
                        ASSERT_TRUE(d.agenda.run_one(kNever)) << d.firmware.dump();
                        d.firmware.check_waiters();
                        const std::uint32_t now = flash.dirty(until == DirtyUntil::programmed);
                        seen = std::max(seen, now);
                        ASSERT_LE(now, most) << d.firmware.dump();
                    }
                    d.write(random.below(d.blocks() / 8) * 8, 8);
                }
                EXPECT_EQ(seen, most);
                EXPECT_EQ(d.firmware.dirty_limit()->most_dirty(), most);
                ASSERT_NO_THROW(d.shut_down());
                EXPECT_EQ(d.firmware.gc().victims(), 0u);
            }
}

// LRU on references that know nothing of each other: one of T pages is among the P that were used last with the
// probability P / T.
TEST(DirtyLimit, UniformWritesMakeOnePageDirtyEachTimeBeyondItsShare) {
    for (const double share : {0.02, 0.1, 0.25, 0.5, 1.0}) {
        DeviceShape s = limited(share, DirtyUntil::issued);
        s.geometry.ways = 4;
        s.geometry.blocks_per_plane = 40;
        s.ftl.superblock = SuperblockSpan::plane;
        s.ftl.user_capacity_bytes = most_logical_units(s.ftl, s.geometry) * s.geometry.unit_bytes;
        s.ftl.initial_state = InitialState::sequential;
        s.ftl.buffer_bytes = 16 * s.geometry.unit_bytes;
        s.ftl.map.gc_updates = GcMapUpdates::found;
        DeviceUnderTest d(s);
        EXPECT_EQ(d.firmware.dirty_limit() == nullptr, share == 1.0);
        const double pages = d.ftl.own_units(), most = std::max(1.0, std::round(share * pages));
        Random random(11);
        const auto write = [&](int n) {
            for (int i = 0; i < n; ++i) {
                if (!d.has_room()) d.drain();
                d.write(random.below(d.ftl.logical_units() / 8 * 8) * 8, 8);
            }
            d.drain();
        };
        write(4000);
        const FtlCounters before = d.ftl.counters();
        write(20000);
        const FtlCounters c = d.ftl.counters() - before;
        const double ratio = static_cast<double>(c.map_pages) / static_cast<double>(c.host_pages),
                     formula = 1 - most / pages;
        std::printf("%3.0f of %3.0f pages: %.4f translation pages a page of the host, formula %.4f\n", most, pages,
                    ratio, formula);
        EXPECT_NEAR(ratio, formula, std::max(0.02 * formula, 3 * std::sqrt(formula * (1 - formula) / 20000))) << share;
        ASSERT_NO_THROW(d.shut_down());
    }
}

// What was changed longest ago is written, not what became dirty first.
TEST(DirtyLimit, ThePageThatWasChangedLongestAgoLeaves) {
    for (const DirtyUntil until : {DirtyUntil::programmed, DirtyUntil::issued}) {
        DeviceShape s = limited(0.0, until);
        s.ftl.map.power_protected = 2.0 / static_cast<double>(translation_pages_of(s.ftl, s.geometry));
        DeviceUnderTest d(s);
        ASSERT_EQ(d.firmware.dirty_limit()->most(), 2u);
        const auto written_after = [&d](std::uint32_t page) {
            d.write(std::uint64_t{page} * 8 * 8, 8);
            d.drain();
            d.flush();
            d.drain();
            return (d.ftl.counters() - d.before).map_pages;
        };
        const std::uint64_t expected[][2] = {{0, 0}, {1, 0}, {0, 0}, {2, 1}, {0, 1}, {1, 2}, {2, 3}, {1, 3}};
        for (const auto& [page, written] : expected)
            EXPECT_EQ(written_after(static_cast<std::uint32_t>(page)), written) << page;
        d.shut_down();
    }
}

/// A buffer of which the largest of T buckets is emptied each time, by itself: how many units that are.
double group_of(std::uint32_t units, std::uint32_t buckets) {
    std::vector<std::uint32_t> size(buckets);
    Random random(5);
    std::uint32_t held = 0, groups = 0;
    std::uint64_t left = 0;
    while (groups < 4000) {
        for (; held < units; ++held) ++size[random.below(buckets)];
        const auto largest = std::max_element(size.begin(), size.end());
        if (++groups > 2000) left += *largest;
        held -= *largest;
        *largest = 0;
    }
    return static_cast<double>(left) / 2000;
}

// Grouped, one page is dirty for a group of units, twice as many as there are of a page on average. In the order of
// arrival nearly each unit makes one dirty.
TEST(DirtyLimit, GroupedWritesMakeOnePageDirtyForAGroup) {
    for (const BufferOrder order : {BufferOrder::arrival, BufferOrder::by_translation_page})
        for (const std::uint32_t units : {128u, 512u}) {
            DeviceShape s = dftl_device(1000, MapGranularity::page, 4096, 512);
            s.geometry.ways = 4;
            s.geometry.blocks_per_plane = 120;
            s.ftl.user_capacity_bytes = std::uint64_t{16} * 512 * s.geometry.unit_bytes;
            s.ftl.map.power_protected = 0.07;
            s.ftl.map.dirty_until = DirtyUntil::issued;
            s.ftl.map.gc_updates = GcMapUpdates::found;
            s.ftl.superblock = SuperblockSpan::plane;
            s.ftl.initial_state = InitialState::sequential;
            s.ftl.buffer_bytes =
                (units + 32) * std::uint64_t{s.geometry.unit_bytes};  // what is on its way to and fro comes on top
            s.ftl.flush_start_percent = units * 100 / (units + 32);
            s.ftl.buffer_merges = false;
            s.ftl.buffer_order = order;
            DeviceUnderTest d(s);
            ASSERT_EQ(d.ftl.own_units(), 16u);
            ASSERT_EQ(d.firmware.dirty_limit()->most(), 1u);
            Random random(11);
            std::uint64_t queued = 0;  // a unit behind an older write of it does not count
            const auto write = [&](int n) {
                queued = 0;
                for (int i = 0; i < n; ++i) {
                    while (!d.has_room()) ASSERT_TRUE(d.agenda.run_one(kNever));
                    d.write(random.below(d.ftl.logical_units()) * 8, 8);
                    queued += d.firmware.buffer().queued();
                }
            };
            write(4000);
            const FtlCounters before = d.ftl.counters();
            write(24000);
            const FtlCounters c = d.ftl.counters() - before;
            const double group = static_cast<double>(c.host_pages) / static_cast<double>(c.map_pages);
            const double mean = static_cast<double>(queued) / 24000;
            const double expected =
                             order == BufferOrder::arrival ? 16.0 / 15 : group_of(static_cast<std::uint32_t>(mean), 16),
                         formula = order == BufferOrder::arrival ? 16.0 / 15 : 2 * mean / 16;
            std::printf("%.0f units in the buffer, 16 pages: a page for %.2f units; simulation %.2f, formula %.2f\n",
                        mean, group, expected, formula);
            EXPECT_GT(mean, 0.7 * units);
            EXPECT_NEAR(group, expected, 0.08 * expected);
            EXPECT_NEAR(group, formula, 0.12 * formula);
            ASSERT_NO_THROW(d.shut_down());
            EXPECT_EQ(d.firmware.buffer().coalesced(), 0u);
        }
}

// Nothing of a map that is all in memory is read, before the first miss or behind it.
TEST(DirtyLimit, AMapThatIsAllInTheCacheIsNotRead) {
    DeviceShape s = limited(0.3, DirtyUntil::programmed);
    s.ftl.initial_state = InitialState::sequential;
    s.ftl.map.gc_updates = GcMapUpdates::found;
    DeviceUnderTest d(s);
    std::uint64_t moved = 0;
    d.flash.on_programmed = [&](const FlashTransaction& t) {
        if (t.cls == FlashClass::gc_write)
            moved += t.spare[0] != kPadding && d.ftl.is_own(d.ftl.codec().lpa(t.spare[0]));
    };
    Mix m;
    m.commands = 4000;
    RandomHost host(d, m, 3);
    ASSERT_NO_THROW(host.run()) << d.firmware.dump();
    ASSERT_NO_THROW(d.shut_down());
    EXPECT_EQ(d.flash.ended[static_cast<std::size_t>(FlashClass::mapping_read)], 0u);
    EXPECT_EQ(d.firmware.cached_map()->counters().misses, 0u);
    EXPECT_GT(d.firmware.gc().victims(), 10u);
    const FtlCounters c = d.ftl.counters();
    EXPECT_GT(moved, 10u);
    EXPECT_LE(c.gc_own_units, moved);
    EXPECT_LE(moved, c.gc_own_units + c.gc_units_stale);
    EXPECT_EQ(c.gc_user_pages(1) + c.gc_mapping_pages(1), static_cast<double>(c.gc_pages));
}

// All kinds of commands, caches of all sizes, collection, the smallest share: every job ends, and contents are as they
// should be.
TEST(DirtyLimitRandom, EveryKindOfCommand) {
    const std::uint64_t first = 1 + seed_offset();
    std::uint64_t waits = 0, victims = 0;
    for (std::uint64_t seed = first; seed < first + 36; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const std::uint32_t page_bytes = seed % 3 == 0 ? 4096 : 8192, row = 2 * page_bytes / 4096;
        const bool by_page = seed % 2 == 0;
        DeviceShape s = dftl_device(seed % 4 < 2 ? 12 : 1000, by_page ? MapGranularity::page : MapGranularity::entry,
                                    page_bytes, seed % 5 == 0 ? 2 : 8);
        s.ftl.superblock = seed % 7 < 3   ? SuperblockSpan::die
                           : seed % 7 < 5 ? SuperblockSpan::plane
                                          : SuperblockSpan::drive;
        s.ftl.map.power_protected =
            (row + static_cast<double>(seed % 4) * 2) / static_cast<double>(translation_pages_of(s.ftl, s.geometry));
        s.ftl.map.dirty_until = seed % 6 < 3 ? DirtyUntil::issued : DirtyUntil::programmed;
        if (by_page && seed % 4 == 2) s.ftl.map.gc_updates = GcMapUpdates::found;
        s.bytes = seed % 5 == 1;
        s.ftl.buffer_merges = seed % 3 != 1;
        s.ftl.buffer_order = seed % 8 < 4 ? BufferOrder::by_translation_page : BufferOrder::arrival;
        s.ftl.buffer_prefers_dirty = seed % 16 < 4;
        s.ftl.buffer_patience = seed % 11 == 0 ? 1 : 4;
        s.ftl.flush_start_percent = seed % 5 == 0 ? 80 : 0;
        s.seed = seed;
        DeviceUnderTest d(s);
        Mix m;
        m.commands = 4000;
        m.hot = seed % 3 == 0 ? 0 : 30;
        RandomHost host(d, m, seed);
        ASSERT_NO_THROW(host.run()) << d.firmware.dump();
        d.flush();
        ASSERT_NO_THROW(d.read_all()) << d.firmware.dump();
        ASSERT_NO_THROW(d.shut_down()) << d.firmware.dump();
        EXPECT_EQ(d.oracle.unverified(), 0u);
        waits += d.firmware.dirty_limit()->waits();
        victims += d.firmware.gc().victims();
    }
    std::printf("%llu rows waited, %llu victims\n", static_cast<unsigned long long>(waits),
                static_cast<unsigned long long>(victims));
    EXPECT_GT(waits, 1000u);
    EXPECT_GT(victims, 1000u);
}

}  // namespace
}  // namespace ssdtlm
