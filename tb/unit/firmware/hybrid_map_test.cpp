// SPDX-License-Identifier: Apache-2.0
// A firmware whose FTL has log blocks: random commands of every kind with merges under way all the time. Contents are checked at every
// read, timelines at every completion, all books at the end. SSDTLM_TEST_SEED in the environment moves all seeds.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cut_host.h"
#include "random_host.h"

namespace ssdtlm {
namespace {

DeviceShape log_block_device(std::uint32_t random_logs, SuperblockSpan span, std::uint32_t page_bytes = 8192, std::uint32_t unit_bytes = 4096) {
    DeviceShape d = tiny_device(page_bytes, unit_bytes);
    d.ftl.mapping = "fast";
    d.ftl.fast.random_log_blocks = random_logs;
    d.ftl.superblock = span;
    d.geometry.blocks_per_plane += random_logs;
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * unit_bytes;
    return d;
}

std::uint64_t seed_offset() {
    const char* const offset = std::getenv("SSDTLM_TEST_SEED");
    return offset == nullptr ? 0 : std::strtoull(offset, nullptr, 10);
}

FtlCounters exercise(DeviceShape shape, const Mix& mix, std::uint64_t seed) {
    seed += seed_offset();
    shape.seed = seed;
    SCOPED_TRACE("seed " + std::to_string(seed));
    DeviceUnderTest device(shape);
    const auto run = [&] {
        RandomHost host(device, mix, seed);
        ASSERT_NO_THROW(host.run()) << device.firmware.dump();
        ASSERT_NO_THROW(device.shut_down()) << device.firmware.dump();
        ASSERT_NO_THROW(device.read_all()) << device.firmware.dump();
        EXPECT_EQ(device.oracle.unverified(), 0u);
    };
    run();
    return device.ftl.counters();
}

TEST(HybridMapFirmware, RandomCommands) {
    for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die})
        for (const std::uint32_t logs : {1u, 2u, 5u})
            for (const bool bytes : {false, true}) {
                DeviceShape d = log_block_device(logs, span);
                d.bytes = bytes;
                Mix m;
                m.commands = 5000;
                const FtlCounters c = exercise(d, m, logs + 10 * static_cast<std::uint64_t>(span == SuperblockSpan::die));
                if (HasFatalFailure()) return;
                EXPECT_GT(c.full_merges, 10u);
            }
}

}  // namespace
}  // namespace ssdtlm
