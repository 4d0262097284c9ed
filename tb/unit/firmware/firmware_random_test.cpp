// SPDX-License-Identifier: Apache-2.0
// Random commands of every kind on a device of a few megabytes that collects garbage all the time. Contents are checked
// at every read, timelines at every completion, all books at the end. SSDTLM_TEST_SEED in the environment moves all
// seeds, for long searches.
#include <gtest/gtest.h>

#include <tuple>

#include "random_exercise.h"

namespace ssdtlm {
namespace {

TEST(FirmwareRandom, TwoUnitsPerPage) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) exercise(tiny_device(), Mix{}, seed);
}

TEST(FirmwareRandom, UnitIsThePage) {
    exercise(tiny_device(8192, 8192), Mix{}, 1);
    exercise(tiny_device(4096, 4096), Mix{}, 2);
}

TEST(FirmwareRandom, OneFrontier) {
    std::uint64_t seed = 1;
    Mix m;
    m.commands = 8000;
    for (const bool late_map : {false, true})
        for (const char* pace : {"full", "tokens"}) {
            DeviceShape d = tiny_device();
            d.ftl.gc_frontier = GcFrontier::shared;
            d.ftl.gc_pace = pace;
            d.ftl.gc_least_invalid = late_map ? 0.4 : 0.0;
            if (late_map) d.late_map = LateMap::Shape{};
            exercise(d, m, seed++);
            d = with_slc_cache(tiny_device(), 2, 1);
            d.ftl.gc_frontier = GcFrontier::shared;
            d.geometry.bits_per_cell = 3;
            exercise(d, m, seed++);
        }
}

TEST(FirmwareRandom, CollectionInNoTime) {
    std::uint64_t seed = 1;
    Mix m;
    m.commands = 8000;
    for (const GcFrontier frontier : {GcFrontier::own, GcFrontier::shared})
        for (const bool late_map : {false, true}) {
            DeviceShape d = tiny_device();
            d.ftl.gc_charge_time = false;
            d.ftl.gc_frontier = frontier;
            if (late_map) d.late_map = LateMap::Shape{};
            if (late_map) d.ftl.gc_least_invalid = 0.25;
            exercise(d, m, seed++);
            d = with_slc_cache(tiny_device(), 2, 1, late_map ? Ps{20'000'000} : Ps{});
            d.ftl.gc_charge_time = false;
            d.ftl.gc_frontier = frontier;
            d.geometry.bits_per_cell = 3;
            exercise(d, m, seed++);
        }
}

TEST(FirmwareRandom, SixteenUnitsPerPage) {
    exercise(tiny_device(65536, 4096), Mix{}, 1);
}

TEST(FirmwareRandom, LogicalBlocksOf4096Bytes) {
    DeviceShape d = tiny_device();
    d.lba_bytes = 4096;
    exercise(d, Mix{}, 1);
}

TEST(FirmwareRandom, CommandsLargerThanTheBuffer) {
    DeviceShape d = tiny_device();
    d.ftl.buffer_bytes = 6 * 4096;
    Mix m;
    m.units = 40;
    m.commands = 5000;
    for (const unsigned fua : {0u, 50u, 100u}) {
        m.fua = fua;
        exercise(d, m, 1 + fua);
    }
}

TEST(FirmwareRandom, SlcCache) {
    std::uint64_t seed = 1;
    for (const std::uint32_t bits : {2u, 3u, 4u})
        for (const std::uint32_t blocks : {1u, 2u, 7u})
            for (const std::uint32_t fold : {0u, 1u, blocks}) {
                DeviceShape d = with_slc_cache(tiny_device(), blocks, fold, fold == 0 ? Ps{20'000'000} : Ps{});
                d.geometry.bits_per_cell = bits;
                Mix m;
                m.commands = 8000;
                if (seed % 4 == 0) d.late_map = LateMap::Shape{};
                if (seed % 5 == 0) d.ftl.gc_pace = "tokens";
                if (seed % 5 == 1) d.ftl.initial_state = InitialState::random;
                exercise(d, m, seed++);
            }
}

TEST(FirmwareRandom, HardwareSteps) {
    DeviceShape d = tiny_device();
    d.firmware.read_command = d.firmware.write_command = d.firmware.other_command = d.firmware.map_lookup =
        d.firmware.map_update = d.firmware.buffer_insert = d.firmware.flash_issue = d.firmware.flash_complete =
            d.firmware.gc_victim = 0;
    exercise(d, Mix{}, 1);
}

TEST(FirmwareRandom, SlowCores) {
    for (const std::uint32_t cores : {1u, 3u, 16u}) {
        DeviceShape d = tiny_device();
        d.firmware.cores = cores;
        d.firmware.clock_hz = 1'000'000;
        Mix m;
        m.commands = 10000;
        exercise(d, m, cores);
    }
}

TEST(FirmwareRandom, FastFlashSlowHost) {
    DeviceShape d = tiny_device();
    d.flash_longest = Ps{1'000'000};
    d.dma_longest = Ps{500'000'000};
    exercise(d, Mix{}, 1);
}

TEST(FirmwareRandom, PartialWritesToFewUnits) {
    Mix m;
    m.whole = 5;
    m.hot = 95;
    m.trim = 15;
    m.write = 55;
    m.read = 23;
    m.fua = 40;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        DeviceShape d = tiny_device();
        d.slots = 128;
        d.slot_bytes = 32 << 10;
        d.ftl.flush_start_percent = 25;
        d.host_offset = 508;
        DeviceShape fresh = d;
        fresh.ftl.initial_state = InitialState::fresh;
        exercise(d, m, seed);
        m.hot = 70;
        exercise(fresh, m, seed);
        m.hot = 95;
    }
}

TEST(FirmwareRandom, DataThatCannotBeFetched) {
    Mix m;
    m.bad = 20;
    exercise(tiny_device(), m, 1);
    DeviceShape d = tiny_device();
    d.ftl.buffer_bytes = 4 * 4096;
    m.units = 12;
    exercise(d, m, 2);
}

TEST(FirmwareRandom, NothingButWrites) {
    Mix m;
    m.read = m.trim = m.zeroes = m.flush = m.fua = 0;
    m.write = 100;
    m.hot = 0;
    DeviceShape d = tiny_device();
    d.slots = 256;
    d.slot_bytes = 16 << 10;
    exercise(d, m, 1);
    d.ftl.gc_max_inflight_pages = 1;
    exercise(d, m, 2);
}

// With many commands under way, the next event wakes whom the last one forgot; with one or two, nothing does.
TEST(FirmwareRandom, FewCommandsAtATime) {
    Mix m;
    m.whole = 30;
    m.fua = 30;
    m.flush = 10;
    m.read = 33;
    for (const std::uint32_t slots : {1u, 2u, 3u}) {
        DeviceShape d = tiny_device();
        d.slots = slots;
        exercise(d, m, slots);
        d.ftl.buffer_bytes = 3 * 4096;
        exercise(d, m, 10 + slots);
    }
}

TEST(FirmwareRandom, FourPlanes) {
    DeviceShape d = tiny_device();
    d.geometry.planes_per_die = 4;
    d.geometry.ways = 2;
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
    Mix m;
    m.flush = 1;
    m.hot = 10;
    for (const std::uint32_t depth : {1u, 2u, 4u}) {
        d.ftl.flush_depth_per_die = depth;
        exercise(d, m, depth);
    }
}

TEST(FirmwareRandom, WearLevelling) {
    DeviceShape d = tiny_device();
    d.ftl.free_blocks = FreeBlocks::by_wear;
    d.ftl.most_spread = 1;
    d.ftl.levelling_each = 2;
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
    Mix m;
    m.hot = 10;
    exercise(d, m, 1);
}

// Overlapping commands whose maps answer in any order, while their units are written, removed and moved by GC.
TEST(FirmwareRandom, MapThatAnswersLate) {
    Mix m;
    m.whole = 30;
    m.fua = 30;
    m.trim = 12;
    m.write = 41;
    m.hot = 70;
    m.commands = 6000;
    for (const unsigned at_once : {0u, 60u}) {
        for (const std::uint32_t slots : {2u, 32u}) {
            DeviceShape d = tiny_device();
            d.slots = slots;
            d.late_map = LateMap::Shape{Ps{1}, Ps{2'000'000'000}, at_once};
            exercise(d, m, 1 + at_once);
            d.ftl.buffer_bytes = 6 * 4096;
            exercise(d, m, 2 + at_once);
            d.firmware.clock_hz = 1'000'000;
            d.firmware.cores = 2;
            exercise(d, m, 3 + at_once);
        }
    }
}

// Answered at once through the port, everything is as with the map in memory.
TEST(FirmwareRandom, AMapThatIsAskedThroughThePortChangesNothing) {
    const auto run = [](bool through_port) {
        DeviceShape d = tiny_device();
        if (through_port) d.late_map = LateMap::Shape{Ps{0}, Ps{0}, 100};
        DeviceUnderTest device(d);
        Mix m;
        m.commands = 5000;
        RandomHost(device, m, 1).run();
        device.shut_down();
        return std::make_tuple(device.agenda.now(), device.agenda.executed(), device.firmware.gc().victims());
    };
    EXPECT_EQ(run(false), run(true));
}

TEST(FirmwareRandom, RandomStateAtTheStart) {
    for (const double overwrite : {0.1, 0.5, 3.0}) {
        DeviceShape d = tiny_device();
        d.ftl.initial_state = InitialState::random;
        d.ftl.overwrite = overwrite;
        exercise(d, Mix{}, 1);
    }
}

TEST(FirmwareRandom, EveryVictimPolicy) {
    for (const char* policy : {"fifo", "random", "cost_benefit"}) {
        DeviceShape d = tiny_device();
        d.ftl.gc_policy = policy;
        Mix m;
        m.commands = 10000;
        exercise(d, m, 1);
    }
}

}  // namespace
}  // namespace ssdtlm
