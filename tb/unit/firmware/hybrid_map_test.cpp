// SPDX-License-Identifier: Apache-2.0
// A firmware whose FTL has log blocks: random commands of every kind with merges under way all the time. Contents are
// checked at every read, timelines at every completion, all books at the end. SSDTLM_TEST_SEED in the environment moves
// all seeds.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <vector>

#include "common/random/random.h"
#include "cut_host.h"
#include "random_host.h"
#include "support/seeds.h"

namespace ssdtlm {
namespace {

/// Without random ones: block mapping.
DeviceShape log_block_device(std::uint32_t random_logs, SuperblockSpan span, std::uint32_t page_bytes = 8192,
                             std::uint32_t unit_bytes = 4096) {
    DeviceShape d = tiny_device(page_bytes, unit_bytes);
    d.ftl.mapping = random_logs == 0 ? "block" : "fast";
    d.ftl.fast.random_log_blocks = random_logs;
    d.ftl.superblock = span;
    d.geometry.blocks_per_plane += random_logs;
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * unit_bytes;
    return d;
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
        for (const std::uint32_t logs : {0u, 1u, 2u, 5u})
            for (const bool bytes : {false, true}) {
                DeviceShape d = log_block_device(logs, span);
                d.bytes = bytes;
                Mix m;
                m.commands = 5000;
                const FtlCounters c =
                    exercise(d, m, logs + 10 * static_cast<std::uint64_t>(span == SuperblockSpan::die));
                if (HasFatalFailure()) return;
                EXPECT_GT(logs == 0 ? c.partial_merges : c.full_merges, 10u);
            }
}

TEST(HybridMapFirmware, ShapesAndBuffers) {
    for (std::uint64_t seed = 100; seed < 132; ++seed) {
        const std::uint32_t logs = seed < 116 ? 2 : 0, shape = seed / 4 % 4;
        const std::uint32_t page = std::array{4096u, 8192u, 16384u, 65536u}[shape], unit = shape == 1 ? 8192 : 4096,
                            buffer = std::array{1u, 3u, 8u, 64u}[seed % 4];
        DeviceShape d = log_block_device(logs, seed % 2 == 0 ? SuperblockSpan::plane : SuperblockSpan::die, page, unit);
        d.ftl.buffer_bytes = std::uint64_t{buffer} * unit;
        if (seed % 3 == 0) d.ftl.buffer_mode = BufferMode::write_through;
        if (seed % 4 == 1) d.ftl.flush_start_percent = 50;
        if (seed % 3 != 0 && seed % 7 < 3) {
            d.ftl.buffer_order = BufferOrder::lru;
            d.ftl.flush_stop_percent = seed % 7 == 0 ? 0 : 100;
        }
        if (seed % 5 == 0) d.ftl.initial_state = InitialState::random;
        if (seed % 5 == 1) d.ftl.initial_state = InitialState::fresh;
        if (seed % 5 == 2) d.ftl.gc_max_inflight_pages = 1;
        if (seed % 5 == 3) d.late_map = LateMap::Shape{};
        d.ftl.fill = seed % 2 == 0 ? 1.0 : 0.7;
        d.bytes = seed % 3 == 1;
        Mix m;
        m.commands = 4000;
        m.units = seed % 2 == 0 ? 40 : 4;
        d.slot_bytes = 41 * unit;
        exercise(d, m, seed);
        if (HasFatalFailure()) return;
    }
}

// An ascending write copies nothing, however many cores put it into pages; where log blocks are full sooner than others
// are erased, pages wait for erases.
TEST(HybridMapFirmware, AnAscendingWriteIsSwitchedOnly) {
    for (const auto& [logs, pages] : {std::pair{2u, 1u}, {2u, 2u}, {2u, 7u}, {0u, 1u}, {0u, 2u}, {0u, 7u}}) {
        SCOPED_TRACE(std::to_string(logs) + " random log blocks, " + std::to_string(pages) + " pages");
        DeviceShape d = log_block_device(logs, SuperblockSpan::die);
        d.geometry.blocks_per_plane = 80;
        d.geometry.pages_per_block = pages;
        d.ftl.gc_soft_free_blocks = 3;
        d.ftl.user_capacity_bytes = std::uint64_t{40} * pages * 4 * 4096;
        d.ftl.buffer_bytes = 400ull * 4096;
        d.slots = 1;  // one command after the other: their data come in order
        d.firmware.cores = 3;
        d.firmware.clock_hz = 20'000'000;
        d.seed = pages;
        DeviceUnderTest device(d);
        for (int round = 0; round < 20; ++round) {
            for (std::uint64_t lba = 0; lba < device.blocks(); lba += 60 * device.blocks_per_unit()) {
                if (!device.has_room()) device.drain();
                device.write(lba, static_cast<std::uint32_t>(std::min<std::uint64_t>(60ull * device.blocks_per_unit(),
                                                                                     device.blocks() - lba)));
            }
        }
        ASSERT_NO_THROW(device.drain());
        ASSERT_NO_THROW(device.shut_down());
        ASSERT_NO_THROW(device.read_all());
        const FtlCounters& c = device.ftl.counters();
        EXPECT_EQ(c.switch_merges, 20u * 40u);
        EXPECT_EQ(c.gc_pages, 0u);
    }
}

// Several commands at a time bring their units out of order. With block mapping each page that is late costs a logical
// block: without an order of its own the drive would copy five pages for each of the host.
TEST(HybridMapFirmware, AnAscendingWriteOutOfOrderIsPutInOrder) {
    DeviceShape d = log_block_device(0, SuperblockSpan::die);
    d.ftl.buffer_bytes = 400ull * 4096;
    d.slots = 16;
    DeviceUnderTest device(d);
    for (int round = 0; round < 4; ++round) {
        Random random(static_cast<std::uint64_t>(round), 1);
        const std::uint64_t step = device.blocks_per_unit();
        std::vector<std::uint64_t> next;  // eight units, in any order
        for (std::uint64_t lba = 0; lba < device.blocks(); lba += step) {
            next.push_back(lba);
            if (next.size() < 8 && lba + step < device.blocks()) continue;
            for (; !next.empty(); next.erase(next.begin())) {
                std::swap(next.front(), next[random.below(next.size())]);
                if (!device.has_room()) device.drain();
                device.write(next.front(), static_cast<std::uint32_t>(step));
            }
        }
    }
    ASSERT_NO_THROW(device.drain());
    ASSERT_NO_THROW(device.shut_down());
    ASSERT_NO_THROW(device.read_all());
    const FtlCounters& c = device.ftl.counters();
    std::printf("%lu pages of the host, %lu copied\n", c.host_pages, c.gc_pages);
    EXPECT_LT(c.gc_pages, 2 * c.host_pages);
}

TEST(HybridMapFirmware, ManyGroupsAndCores) {
    for (const std::uint32_t cores : {1u, 3u, 4u}) {
        DeviceShape d = log_block_device(cores == 4 ? 0 : 2, SuperblockSpan::die);
        d.geometry.planes_per_die = 4;
        d.geometry.ways = 3;
        d.firmware.cores = cores;
        d.firmware.clock_hz = 10'000'000;
        d.ftl.user_capacity_bytes =
            most_logical_units(d.ftl, d.geometry) * 4096 - 5 * 4096;  // the last row is not full
        Mix m;
        m.commands = 12000;
        m.hot = 20;
        m.units = 60;
        exercise(d, m, 200 + cores);
    }
}

// What stays is found again: with whatever was open, half merged or not yet erased.
TEST(HybridMapFirmware, LossOfPower) {
    for (std::uint64_t seed = 300; seed < 300 + share_of(16); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        DeviceShape d = log_block_device(static_cast<std::uint32_t>(seed % 4),
                                         seed % 8 < 4 ? SuperblockSpan::plane : SuperblockSpan::die);
        d.ftl.initial_state = InitialState::fresh;
        d.seed = seed + seed_offset();
        d.slots = 8;
        CutHost host(d, seed + seed_offset());
        host.run(12);
        if (HasFailure()) return;
        EXPECT_EQ(host.read_only, 0u);
    }
}

// The same while programs and erases fail: a start finds what had failed and was to be merged first.
TEST(HybridMapFirmware, LossOfPowerWhileBlocksFail) {
    std::uint64_t read_only = 0, failed = 0;
    const std::uint64_t seeds = share_of(24);
    for (std::uint64_t seed = 400; seed < 400 + seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        DeviceShape d = log_block_device(static_cast<std::uint32_t>(seed % 4),
                                         seed % 8 < 4 ? SuperblockSpan::plane : SuperblockSpan::die);
        d.ftl.spare_blocks = 12;
        d.geometry.blocks_per_plane += d.ftl.spare_blocks;
        d.ftl.initial_state = InitialState::fresh;
        d.faults = {seed % 2 == 0 ? 2e-3 : 1e-2, 1e-3, 1e-3, 0};
        d.seed = seed + seed_offset();
        d.slots = 8;
        CutHost host(d, seed + seed_offset());
        host.run(12);
        if (HasFailure()) return;
        read_only += host.read_only != 0;
        failed += host.programs_failed;
    }
    std::printf("%lu programs failed; %lu of %lu drives were read-only before the last loss of power\n", failed,
                read_only, seeds);
    EXPECT_GT(failed, 10 * seeds);
    EXPECT_LT(read_only, seeds);
}

}  // namespace
}  // namespace ssdtlm
