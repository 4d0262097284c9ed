// SPDX-License-Identifier: Apache-2.0
// A map on the flash with a small cache, below random commands of every kind: contents, timelines, books and who wakes
// whom are checked as for a map in memory, and each entry that comes from the flash against what the map says.
// SSDTLM_TEST_SEED in the environment moves all seeds, for long searches.
#include <gtest/gtest.h>

#include <cstdio>

#include "controller/checkpoint/checkpoint_feature.h"
#include "dftl_device.h"
#include "random_host.h"
#include "support/seeds.h"

namespace ssdtlm {
namespace {

TEST(CachedMap, CountsGoOnBehindALossOfPower) {
    CachedMap::Counters sum{1, 2, 3, 40, 0, {}, 0, 0, 0};
    sum += CachedMap::Counters{10, 20, 30, 4, 5, {}, 0, 0, 0};
    EXPECT_EQ(sum.checkpoint_reads, 5u);
    EXPECT_EQ(sum.hits, 11u);
    EXPECT_EQ(sum.misses, 22u);
    EXPECT_EQ(sum.reads, 33u);
    EXPECT_EQ(sum.most_entries, 40u);
}

struct Sum {
    CachedMap::Counters map;
    WriteBacks::Counters written;
    std::uint64_t victims = 0;
};

void exercise(DeviceShape shape, Mix mix, std::uint64_t seed, Sum& sum, std::uint64_t more_victims_than = 10) {
    seed += seed_offset();
    SCOPED_TRACE("seed " + std::to_string(seed));
    shape.seed = seed;
    shape.ftl.superblock = seed % 2 == 0 ? SuperblockSpan::plane : SuperblockSpan::die;
    shape.bytes = seed % 3 == 0;
    DeviceUnderTest device(shape);
    RandomHost host(device, mix, seed);
    ASSERT_NO_THROW(host.run()) << device.firmware.dump();
    device.flush();
    // To read all of it, entries leave and come, and for those that leave there must be garbage collection.
    ASSERT_NO_THROW(device.read_all()) << device.firmware.dump();
    ASSERT_NO_THROW(device.shut_down()) << device.firmware.dump();
    EXPECT_EQ(device.oracle.unverified(), 0u);
    EXPECT_GE(device.firmware.gc().victims(), more_victims_than);
    const CachedMap::Counters& c = device.firmware.cached_map()->counters();
    sum.map += c;
    const WriteBacks::Counters& w = device.firmware.cached_map()->write_backs().counters();
    sum.written.reads += w.reads;
    sum.written.written += w.written;
    sum.written.entries += w.entries;
    sum.victims += device.firmware.gc().victims();
}

TEST(CachedMap, CountsWhoFindsAnEntryAndWhoDoesNot) {
    DeviceUnderTest d(dftl_device(100, MapGranularity::entry));
    const auto counted = [&d] {
        d.drain();
        d.flush();
        d.drain();
        const CachedMap::Counters& c = d.firmware.cached_map()->counters();
        return std::pair(c.hits, c.misses);
    };
    d.write(0, 8);
    const auto [hits, misses] = counted();
    EXPECT_EQ(hits, 0u);
    EXPECT_EQ(misses, 1u);
    d.write(0, 8);
    EXPECT_EQ(counted(), std::pair(hits + 1, misses));
    d.read(0, 8);
    EXPECT_EQ(counted(), std::pair(hits + 2, misses));
    d.read(8 * 8, 8);
    EXPECT_EQ(counted(), std::pair(hits + 2, misses + 1));
    d.shut_down();
}

// Room for two entries, each of another translation page: both are read at once, and a third one waits.
TEST(CachedMap, CommandsThatJustFitDoNotWaitForEachOther) {
    DeviceUnderTest d(dftl_device(2, MapGranularity::entry));
    d.flash.hold = true;
    for (const std::uint32_t commands : {1u, 2u, 3u}) {
        d.read(std::uint64_t{commands} * 64 * 8, 8);
        d.agenda.run();
        EXPECT_EQ(d.flash.held(), std::min(commands, 2u));
    }
    d.flash.release();
    d.drain();
    d.shut_down();
}

// It would wait for ever for room. Front ends for foreign hosts may hand over such commands.
TEST(CachedMap, ACommandOfMoreThanItsRoomIsCarriedOutInPieces) {
    DeviceUnderTest d(dftl_device(2, MapGranularity::entry));
    d.read(0, 2 * 8);
    d.drain();
    for (const std::uint32_t units : {3u, 5u}) {
        d.read(64 * 8, units * 8);
        d.drain();
    }
    d.shut_down();
}

// A page of a checkpoint that says where all units are is put together from all translation pages.
TEST(CachedMap, ACheckpointReadsTheTranslationPagesOfWhatHasChanged) {
    for (const MapGranularity granularity : {MapGranularity::entry, MapGranularity::page}) {
        DeviceShape s = dftl_device(100, granularity);
        s.ftl.initial_state = InitialState::sequential;
        s.ftl.checkpoint_interval_bytes = 1_MiB;
        s.geometry.blocks_per_plane += 8;
        DeviceUnderTest d(s);
        ASSERT_EQ(checkpoints_of(d.ftl)->map_pages(), 1u);
        d.write(0, 8);
        d.drain();
        d.flush();
        d.drain();
        const CachedMap::Counters& c = d.firmware.cached_map()->counters();
        EXPECT_EQ(c.checkpoint_reads, d.ftl.own_units());
        EXPECT_EQ(d.flash.ended[static_cast<std::size_t>(FlashClass::mapping_read)], c.reads + c.checkpoint_reads);
        EXPECT_TRUE(checkpoints_of(d.ftl)->latest());
    }
}

TEST(CachedMapRandom, EveryKindOfCommand) {
    Sum sum;
    std::uint64_t seed = 1;
    for (const MapGranularity granularity : {MapGranularity::entry, MapGranularity::page})
        for (const MapReplacement replacement : {MapReplacement::lru, MapReplacement::segmented_lru})
            for (const std::uint32_t slots : {5u, 20u, 100u}) {
                DeviceShape d = dftl_device(slots, granularity);
                d.ftl.map.replacement = replacement;
                Mix m;
                m.commands = 6000;
                m.hot = 20;
                exercise(d, m, seed++, sum);
            }
    std::printf(
        "entries asked for: %llu hits, %llu misses; %llu translation pages read, %llu to be changed, %llu written with "
        "%llu entries; %llu victims\n",
        static_cast<unsigned long long>(sum.map.hits), static_cast<unsigned long long>(sum.map.misses),
        static_cast<unsigned long long>(sum.map.reads), static_cast<unsigned long long>(sum.written.reads),
        static_cast<unsigned long long>(sum.written.written), static_cast<unsigned long long>(sum.written.entries),
        static_cast<unsigned long long>(sum.victims));
    EXPECT_GT(sum.written.reads, 1000u);
    EXPECT_GT(sum.map.misses, 10000u);
}

// Of all that a drive of this capacity may have, the cache that holds one command and one row: every job ends.
TEST(CachedMapRandom, TheSmallestCache) {
    Sum sum;
    std::uint64_t seed = 1000;
    for (const MapGranularity granularity : {MapGranularity::entry, MapGranularity::page})
        for (const std::uint32_t page_bytes : {4096u, 16384u, 65536u})
            for (const BufferMode mode : {BufferMode::write_back, BufferMode::write_through})
                for (const std::uint32_t commands_at_once : {1u, 32u}) {
                    const std::uint32_t row = 2 * page_bytes / 4096;
                    // Every other device loses whole translation pages when a range is deallocated.
                    const std::uint32_t entries = seed % 2 == 0 ? 8 : 2;
                    DeviceShape d =
                        dftl_device(std::max(row, granularity == MapGranularity::page ? 2 + 4 / entries : 5u),
                                    granularity, page_bytes, entries);
                    d.ftl.buffer_mode = mode;
                    d.slots = commands_at_once;
                    Mix m;
                    m.commands = commands_at_once == 1 ? 1500 : 4000;
                    m.hot = 0;
                    m.trim = seed % 3 == 0 ? 30 : 4;
                    m.read = 40 - m.trim / 2;
                    m.write = 53 - m.trim / 2;
                    exercise(d, m, seed++, sum, commands_at_once == 1 ? 0 : 10);
                }
    std::printf("%llu victims, %llu entries missed; at most %llu in memory\n",
                static_cast<unsigned long long>(sum.victims), static_cast<unsigned long long>(sum.map.misses),
                static_cast<unsigned long long>(sum.map.most_entries));
}

TEST(CachedMapRandom, PartsForTenants) {
    std::uint64_t seed = 2000;
    for (const MapGranularity granularity : {MapGranularity::entry, MapGranularity::page})
        for (const MapReplacement replacement : {MapReplacement::lru, MapReplacement::segmented_lru})
            for (const std::uint32_t slots : {12u, 60u}) {
                Sum sum;
                DeviceShape d = dftl_device(slots, granularity, 8192, seed % 2 == 0 ? 8 : 2);
                d.ftl.map.replacement = replacement;
                d.ftl.map.quotas = {40, 30};
                if (seed % 3 == 0) d.ftl.buffer_quotas = {20, 20, 20};
                Mix m;
                m.commands = 5000;
                m.hot = seed % 4 < 2 ? 0 : 50;
                exercise(d, m, seed++, sum);
                CachedMap::Asked all;
                for (const CachedMap::Asked& a : sum.map.of_tenant) {
                    all.hits += a.hits;
                    all.misses += a.misses;
                }
                EXPECT_EQ(all.hits, sum.map.hits);
                EXPECT_EQ(all.misses, sum.map.misses);
                for (const std::size_t tenant : {0u, 1u, 2u, 3u, 4u}) EXPECT_GT(sum.map.of_tenant[tenant].misses, 20u);
            }
}

// A drive that is read-only may have no page for dirty entries: they stay in memory, and reads go on beside them.
TEST(CachedMap, ReadsOfADriveThatIsReadOnly) {
    for (const MapGranularity granularity : {MapGranularity::entry, MapGranularity::page}) {
        DeviceShape d = dftl_device(20, granularity);
        d.seed = 7;
        DeviceUnderTest device(d);
        Mix m;
        m.commands = 3000;
        RandomHost host(device, m, 7);
        ASSERT_NO_THROW(host.run()) << device.firmware.dump();
        device.flush();
        device.drain();
        device.ftl.refuse_writes();
        const std::uint64_t written = device.ftl.counters().map_pages;
        ASSERT_NO_THROW(device.read_all()) << device.firmware.dump();
        EXPECT_EQ(device.oracle.unverified(), 0u);
        EXPECT_EQ(device.ftl.counters().map_pages, written);
        ASSERT_NO_THROW(device.shut_down()) << device.firmware.dump();
    }
}

}  // namespace
}  // namespace ssdtlm
