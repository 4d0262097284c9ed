// SPDX-License-Identifier: Apache-2.0
// Reads one at a time with a core's cache for the map's table, to the picosecond: entries that it has, and others.
#include <gtest/gtest.h>

#include <cstdio>

#include "formula/one_by_one.h"
#include "formula/reference.h"
#include "support/devices.h"

namespace ssdtlm {
namespace {

TEST(TableCacheTime, HitsAndMisses) {
    SsdConfig c = table3_small();
    c.firmware.table_ways = 2;
    c.firmware.table_cache_bytes = 2 * c.firmware.table_line_bytes;  // one set
    // Long after the last command, so that the doorbell of its completion queue is not ahead on the wire.
    const std::int64_t hit = reference::unloaded_read(c, 4096) - reference::wire(c.link, 4 + reference::header(true));
    const std::int64_t miss = hit + reference::dram(c.dram, c.firmware.table_line_bytes);
    struct Expected {
        std::uint64_t unit;
        const char* what;
        std::int64_t time;
    };
    // 16 entries of 4 bytes a line.
    const std::vector<Expected> steps{
        {100, "nothing in the cache", miss}, {111, "the same line", hit},   {112, "the next line", miss},
        {96, "the first one again", hit},    {7000, "a third line", miss},  {111, "still there", hit},
        {112, "the one that left", miss},    {7000, "that has left", miss}, {127, "the second one is there", hit}};
    std::vector<OneByOne::Step> requests;
    for (const Expected& e : steps) requests.push_back({HostOp::read, e.unit * 4096});
    const auto times = latencies_one_by_one(c, requests);
    ASSERT_EQ(times.size(), steps.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
        std::printf("[   FIGURE ] %s: formula %ld ps, model %ld ps\n", steps[i].what, steps[i].time, times[i]);
        EXPECT_EQ(times[i], steps[i].time) << steps[i].what;
    }
}

}  // namespace
}  // namespace ssdtlm
