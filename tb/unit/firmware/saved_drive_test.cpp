// SPDX-License-Identifier: Apache-2.0
// A drive that is saved and read again goes on as the one that was not: the same commands end at the same times with
// the same status and data, and leave the same flash, tables and counters. Random drives and random commands, saved
// whenever they are drained.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "random_host.h"
#include "support/memory_snapshot.h"
#include "support/seeds.h"

namespace ssdtlm {
namespace {

DeviceShape random_shape(Random& r) {
    DeviceShape d = tiny_device(r.percent(30) ? 16384 : r.percent(20) ? 4096 : 8192);
    d.geometry.ways = r.percent(40) ? 2 : 1;
    FtlConfig& f = d.ftl;
    f.superblock = r.percent(40) ? SuperblockSpan::die : r.percent(60) ? SuperblockSpan::plane : SuperblockSpan::drive;
    const char* const policies[] = {"greedy", "cost_benefit", "d_choices", "random", "fifo", "windowed_greedy"};
    f.gc_policy = policies[r.below(6)];
    if (r.percent(30)) f.gc_pace = "yield";
    if (r.percent(30)) f.placement = Placement::first_idle;
    if (r.percent(30)) f.free_blocks = FreeBlocks::by_wear;
    if (r.percent(30)) f.most_spread = 8;
    if (r.percent(30)) f.flush_start_percent = 50;
    if (r.percent(30))
        f.read_cache = {40 * 4096, r.percent(50) ? ReadCacheReplacement::lru : ReadCacheReplacement::fifo,
                        static_cast<ReadCacheFill>(r.below(3))};
    if (r.percent(50)) f.initial_state = InitialState::random;
    if (r.percent(40)) {
        f.mapping = "dftl";
        f.map.granularity = r.percent(50) ? MapGranularity::entry : MapGranularity::page;
        f.map.replacement = r.percent(50) ? MapReplacement::lru : MapReplacement::segmented_lru;
        f.map.entry_bytes = d.geometry.unit_bytes / (r.percent(50) ? 8 : 32);
        f.map.cache_bytes = (8 + r.below(100)) *
                            (f.map.granularity == MapGranularity::page ? d.geometry.unit_bytes : 2 * f.map.entry_bytes);
        if (r.percent(40)) f.checkpoint_interval_bytes = 1 << 18;
        if (r.percent(40)) {
            f.map.power_protected = 0.5;
            f.map.dirty_until = r.percent(50) ? DirtyUntil::issued : DirtyUntil::programmed;
        }
    } else {
        if (r.percent(30)) f.checkpoint_interval_bytes = 1 << 20;
        if (r.percent(30)) {
            d.faults.program_fails = 2e-4;
            d.faults.erase_fails = 1e-3;
            f.spare_blocks = 3;
            d.geometry.blocks_per_plane += 3;
        }
    }
    if (r.percent(30) && f.superblock != SuperblockSpan::drive)
        f.static_dimensions = f.superblock == SuperblockSpan::plane ? "WP" : "W";
    else if (r.percent(20) && f.superblock != SuperblockSpan::drive)
        f.nvm_sets = f.superblock == SuperblockSpan::plane ? "P0, P1" : d.geometry.ways == 2 ? "W0, W1" : "W0";
    if (f.mapping == "page" && f.nvm_sets.empty() && !f.has_checkpoints() && f.spare_blocks == 0 && r.percent(40)) {
        f.mapping = r.percent(60) ? "fast" : "block";
        if (f.superblock == SuperblockSpan::drive) f.superblock = SuperblockSpan::die;
        f.fast.random_log_blocks = 1 + static_cast<std::uint32_t>(r.below(4));
        f.static_dimensions = "none";
        f.placement = Placement::in_turn;
        f.most_spread = 0;
        f.gc_pace = "full";
        d.geometry.blocks_per_plane += f.fast.random_log_blocks;
        f.user_capacity_bytes = most_logical_units(f, d.geometry) * d.geometry.unit_bytes;
        return d;
    }
    if (f.initial_state == InitialState::random && f.static_dimensions == "none" && f.nvm_sets.empty() &&
        (f.gc_policy == "greedy" || f.gc_policy == "fifo"))
        f.initial_state = InitialState::analytic;
    if (f.has_checkpoints()) d.geometry.blocks_per_plane += 8;
    if (r.percent(30)) {
        d = with_slc_cache(d, 1 + static_cast<std::uint32_t>(r.below(4)), 1);
    } else if (r.percent(40)) {
        d.ftl.stream_frontiers = 1 + static_cast<std::uint32_t>(r.below(2));
        d.geometry.blocks_per_plane += 2 * d.ftl.stream_frontiers;
    }
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
    return d;
}

struct End {
    std::uint32_t slot;
    Ps at;  ///< since the drive was saved
    CommandStatus status;
};

/// Goes on, and then to rest.
std::vector<End> go_on(DeviceUnderTest& device, const Mix& mix, std::uint64_t seed) {
    device.sort_slots();
    device.flash.draw_from(seed);
    device.dma.draw_from(seed);
    const SimTime begin = device.agenda.now();
    std::vector<End> ends;
    RandomHost host(device, mix, seed);
    host.on_end = [&](std::uint32_t slot) { ends.push_back({slot, device.agenda.now() - begin, device.status(slot)}); };
    host.run();
    // Without a flush the journal may have an open page, and with few units the buffer waits for more.
    if (seed % 2 == 0 || !device.firmware.idle()) {
        device.flush();
        device.drain();
    }
    return ends;
}

MemorySnapshot saved(DeviceUnderTest& device) {
    MemorySnapshot s;
    device.state(s);
    return s;
}

TEST(SavedDrive, GoesOnAsTheOneThatWasNotSaved) {
    const std::uint64_t first = 1 + seed_offset();
    std::uint64_t pairs = 0, commands = 0, bytes = 0, erased = 0, failed = 0;
    for (std::uint64_t seed = first; seed < first + 34; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random r(seed, 3);
        DeviceShape shape = random_shape(r);
        shape.seed = seed;
        Mix mix;
        mix.commands = 1500;
        auto device = std::make_unique<DeviceUnderTest>(shape);
        go_on(*device, mix, seed);
        for (std::uint64_t round = 1; round <= 3; ++round) {
            SCOPED_TRACE("round " + std::to_string(round));
            ASSERT_TRUE(device->firmware.idle()) << device->firmware.dump();
            const MemorySnapshot then = saved(*device);
            ASSERT_EQ(MemorySnapshot::difference(then, saved(*device)), "") << "to save it changes it";
            DeviceShape empty = shape;
            empty.ftl.initial_state = InitialState::fresh;
            auto other = std::make_unique<DeviceUnderTest>(empty);
            MemorySnapshot s(then.data);
            ASSERT_NO_THROW(other->state(s));
            ASSERT_EQ(s.taken, then.data.size());
            ASSERT_EQ(MemorySnapshot::difference(then, saved(*other)), "") << "it was not read as it was saved";
            const std::vector<End> here = go_on(*device, mix, seed + round * 1000),
                                   there = go_on(*other, mix, seed + round * 1000);
            ASSERT_EQ(here.size(), there.size());
            for (std::size_t i = 0; i < here.size(); ++i) {
                ASSERT_EQ(here[i].at.count(), there[i].at.count()) << "end " << i;
                ASSERT_EQ(here[i].slot, there[i].slot) << "end " << i;
                ASSERT_EQ(here[i].status, there[i].status) << "end " << i;
            }
            ASSERT_EQ(MemorySnapshot::difference(saved(*device), saved(*other)), "");
            ASSERT_NO_THROW(other->ftl.verify_books());
            ++pairs;
            commands += here.size();
            bytes += then.data.size();
            erased += (other->ftl.counters() - other->before).blocks_erased;
            failed += other->ftl.media().blocks_retired;
            if (round % 2 == 0) device = std::move(other);  // saved again what was read
        }
    }
    std::printf(
        "%llu drives saved and read: %llu commands behind that, %llu superblocks erased, %llu blocks that had failed; "
        "%llu bytes each\n",
        static_cast<unsigned long long>(pairs), static_cast<unsigned long long>(commands),
        static_cast<unsigned long long>(erased), static_cast<unsigned long long>(failed),
        static_cast<unsigned long long>(bytes / pairs));
    EXPECT_GE(pairs, 100u);
    EXPECT_GT(erased, 5000u);
    EXPECT_GT(failed, 10u);
}

}  // namespace
}  // namespace ssdtlm
