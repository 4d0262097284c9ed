// SPDX-License-Identifier: Apache-2.0
// A map on the flash with a small cache, below random commands of every kind: contents, timelines, books and who wakes whom are
// checked as for a map in memory, and each entry that comes from the flash against what the map says. SSDTLM_TEST_SEED in the
// environment moves all seeds, for long searches.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "random_host.h"

namespace ssdtlm {
namespace {

/// Translation pages of eight entries, so that a tiny device has many.
DeviceShape dftl_device(std::uint32_t slots, MapGranularity granularity, std::uint32_t page_bytes = 8192) {
    DeviceShape d = tiny_device(page_bytes);
    d.ftl.mapping = "dftl";
    d.ftl.map.granularity = granularity;
    d.ftl.map.entry_bytes = 512;
    d.ftl.map.cache_bytes = std::uint64_t{slots} * (granularity == MapGranularity::page ? d.geometry.unit_bytes : 1024);
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
    return d;
}

struct Sum {
    CachedMap::Counters map;
    WriteBacks::Counters written;
    std::uint64_t victims = 0;
};

void exercise(DeviceShape shape, Mix mix, std::uint64_t seed, Sum& sum) {
    if (const char* offset = std::getenv("SSDTLM_TEST_SEED")) seed += std::strtoull(offset, nullptr, 10);
    SCOPED_TRACE("seed " + std::to_string(seed));
    shape.seed = seed;
    shape.ftl.superblock = seed % 2 == 0 ? SuperblockSpan::plane : SuperblockSpan::die;
    shape.bytes = seed % 3 == 0;
    DeviceUnderTest device(shape);
    RandomHost host(device, mix, seed);
    ASSERT_NO_THROW(host.run()) << device.firmware.dump();
    ASSERT_NO_THROW(device.shut_down()) << device.firmware.dump();
    ASSERT_NO_THROW(device.read_all()) << device.firmware.dump();
    EXPECT_EQ(device.oracle.unverified(), 0u);
    EXPECT_GT(device.firmware.gc().victims(), 10u);
    const CachedMap::Counters& c = device.firmware.cached_map()->counters();
    sum.map.hits += c.hits;
    sum.map.misses += c.misses;
    sum.map.reads += c.reads;
    const WriteBacks::Counters& w = device.firmware.cached_map()->write_backs().counters();
    sum.written.reads += w.reads;
    sum.written.written += w.written;
    sum.written.entries += w.entries;
    sum.victims += device.firmware.gc().victims();
}

TEST(CachedMapRandom, EveryKindOfCommand) {
    Sum sum;
    std::uint64_t seed = 1;
    for (const MapGranularity granularity : {MapGranularity::entry, MapGranularity::page})
        for (const MapReplacement replacement : {MapReplacement::lru, MapReplacement::segmented_lru})
            for (const std::uint32_t slots : {8u, 20u, 100u}) {
                DeviceShape d = dftl_device(slots, granularity);
                d.ftl.map.replacement = replacement;
                Mix m;
                m.commands = 6000;
                m.hot = 20;
                exercise(d, m, seed++, sum);
            }
    std::printf("entries asked for: %llu hits, %llu misses; %llu translation pages read, %llu to be changed, %llu written with %llu entries; %llu victims\n",
                static_cast<unsigned long long>(sum.map.hits), static_cast<unsigned long long>(sum.map.misses),
                static_cast<unsigned long long>(sum.map.reads), static_cast<unsigned long long>(sum.written.reads),
                static_cast<unsigned long long>(sum.written.written), static_cast<unsigned long long>(sum.written.entries),
                static_cast<unsigned long long>(sum.victims));
    EXPECT_GT(sum.written.reads, 1000u);
    EXPECT_GT(sum.map.misses, 10000u);
}

}  // namespace
}  // namespace ssdtlm
