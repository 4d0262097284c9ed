// SPDX-License-Identifier: Apache-2.0
// The drive loses its power at random times under load, 5,600 times in all, or that share of it that SSDTLM_TEST_SHARE
// says, and at many entries of the agenda of a short run. When the map has been found again, every unit is as it was
// last durable, or as something submitted later left it; all units are read through the host as well. The waiters are
// checked after every entry of the agenda, the books at the end.
#include "power_run.h"
#include "support/seeds.h"

namespace ssdtlm {
namespace {

/// Of each drive.
const std::uint64_t kCuts = share_of(200);

/// Between two of them: 2 ms and up to this, or one in ten the shorter one, into the search for the map.
struct Gaps {
    Ps most = 400ms, shorter = 50ms;
    std::uint64_t read_back_each = 1;
};

PowerResult check_power(SsdConfig config, std::uint64_t seed, const Gaps& gaps = {}, RandomMix::Spec mix = {}) {
    seed += seed_offset();
    mix.seed = seed;
    mix.depth = 8;
    mix.requests = 100'000'000;
    config.run.seed = seed;
    config.run.check_waiters = true;
    config.host.queue_pairs = mix.jobs;
    config.host.power_off_time = 1ms;
    config.nvme.ready_time = 10us;
    Random random(seed, 41);
    Ps at{};
    for (std::uint64_t i = 0; i < kCuts; ++i) {
        const Ps most = random.percent(10) ? gaps.shorter : gaps.most;
        at += Ps{2ms} + Ps{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most.count())))};
        config.host.power_cut_at.push_back(at);
    }
    PowerResult r;
    try {
        r = run_power(config, mix, kCuts, 0, gaps.read_back_each);
    } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
        return r;
    }
    const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
    std::printf(
        "%llu losses of power: %llu pages torn, %llu erases cut, %llu commands cancelled; map found %llu times, with "
        "%llu units of more "
        "than one possible version; all read back %llu times; %llu commands, %llu blocks compared, %llu units moved\n",
        n(kCuts), n(r.torn), n(r.erases_cut), n(r.cancelled), n(r.looks), n(r.open), n(r.read_backs), n(r.commands),
        n(r.checked), n(r.moved));
    if (config.ftl.has_checkpoints())
        std::printf(
            "starts: %llu from a checkpoint and what was written since, %llu from a clean one; %llu losses without a "
            "shutdown, %llu pages of checkpoints\n",
            n(r.from_checkpoint), n(r.from_clean), n(r.unsafe), n(r.checkpoint_pages));
    if (!config.host.power_cut_shutdown) {
        // Nothing is programmed in a drive that is read-only; where capacitors protect the buffer, only collection is
        // under way in the end.
        const bool saves = config.ftl.buffer_mode == BufferMode::power_protected;
        EXPECT_GT(r.torn, config.faults.any() || saves ? kCuts / 10 : kCuts / 2);
        EXPECT_GT(r.erases_cut, 0u);
        EXPECT_GE(r.on_capacitors, saves ? kCuts / 2 : 0);
        EXPECT_GT(r.cancelled, kCuts);
    }
    EXPECT_GT(r.looks, kCuts / 2);
    EXPECT_GT(r.open, config.host.power_cut_shutdown ? 0 : 10 * kCuts);
    EXPECT_GT(r.moved, 1000u);
    return r;
}

/// Fewer losses of power than all may not lead so far.
void check_scarce(const PowerResult& r) {
    std::printf("%llu times a group of planes had no free block\n", static_cast<unsigned long long>(r.without_free));
    EXPECT_TRUE(r.without_free > 0 || kCuts < 200);
}

/// A victim is often not empty before the next loss comes.
void check_frequent(const SsdConfig& config, std::uint64_t seed) {
    check_scarce(check_power(config, seed, {80ms, 50ms, 20}));
}

TEST(PowerCut, UnderLoad) {
    check_power(stress_device(), 1);
}

TEST(PowerCut, WithPartialPagesAndSpareBlocks) {
    SsdConfig c = stress_device(16384, 16384);
    c.ftl.spare_blocks = 2;
    fill_up(c);
    check_power(c, 2);
}

TEST(PowerCut, WithSuperblocksOfOnePlaneAndSuspendedDies) {
    SsdConfig c = stress_device();
    c.scheduler.suspend = "for_reads";
    c.ftl.superblock = SuperblockSpan::plane;
    c.nand.independent_plane_read = true;
    c.ftl.initial_state = InitialState::random;
    fill_up(c);
    check_power(c, 3);
}

// A page is in the array and the next one in the cache registers when the power goes.
TEST(PowerCut, WithCachedPrograms) {
    SsdConfig c = stress_device();
    c.nand.cache_program = true;
    check_power(c, 61);
}

TEST(PowerCut, WithCachedProgramsAndSuspendedDies) {
    SsdConfig c = stress_device(16384, 16384);
    c.nand.cache_program = true;
    c.scheduler.suspend = "for_reads";
    c.ftl.superblock = SuperblockSpan::plane;
    c.ftl.initial_state = InitialState::random;
    c.run.data = DataMode::bytes;
    fill_up(c);
    check_power(c, 62);
}

TEST(PowerCut, SoOftenThatGroupsRunOutOfFreeBlocks) {
    SsdConfig c = stress_device();
    c.ftl.superblock = SuperblockSpan::plane;
    c.ftl.initial_state = InitialState::random;
    fill_up(c);
    check_frequent(c, 19);
}

TEST(PowerCut, SoOftenThatGroupsOfADieRunOutOfFreeBlocks) {
    SsdConfig c = stress_device();
    c.ftl.gc_policy = "random";
    c.ftl.free_blocks = FreeBlocks::by_wear;
    c.ftl.most_spread = 2;
    c.ftl.levelling_each = 2;
    c.ftl.initial_state = InitialState::random;
    fill_up(c);
    check_frequent(c, 7);
}

TEST(PowerCut, WithWriteThroughAndAHostThatTakesTime) {
    SsdConfig c = stress_device();
    c.ftl.buffer_mode = BufferMode::write_through;
    c.ftl.initial_state = InitialState::fresh;
    c.host.submit_time = 3us;
    c.host.completion_time = 5us;
    c.host.interrupt_latency = 2us;
    check_power(c, 4);
}

// Every acknowledged write and deallocation is there afterwards, flushed or not.
TEST(PowerCut, OfABufferThatCapacitorsProtect) {
    SsdConfig c = stress_device();
    c.ftl.buffer_mode = BufferMode::power_protected;
    c.ftl.initial_state = InitialState::random;
    fill_up(c);
    check_power(c, 51);
}

TEST(PowerCut, OfABufferThatCapacitorsProtectWithBytesAndCheckpoints) {
    SsdConfig c = stress_device(16384, 16384);
    c.ftl.buffer_mode = BufferMode::power_protected;
    c.run.data = DataMode::bytes;
    c.nvme.lba_bytes = 512;
    c.firmware.cores = 3;
    c.ftl.checkpoint_interval_bytes = 1_MiB;
    fill_up(c);
    check_power(c, 52, {200ms, 20ms, 4});
}

TEST(PowerCut, WithASchedulerThatTakesTimeAndResets) {
    SsdConfig c = stress_device();
    c.scheduler.implementation = "tlm_clocked";
    c.nvme.interrupt_coalescing_threshold = 7;
    c.nvme.interrupt_coalescing_time = 2;
    Random random(5, 43);
    for (int i = 0; i < 400; ++i)
        c.host.reset_at.push_back(Ps{static_cast<std::int64_t>(random.below(40'000'000'000'000))});
    check_power(c, 5);
}

SsdConfig with_map_on_flash(SsdConfig c, MapGranularity granularity, std::uint32_t entry_bytes) {
    c.ftl.mapping = "dftl";
    c.ftl.map.granularity = granularity;
    c.ftl.map.entry_bytes = entry_bytes;
    // The entries of one command, or twice as many.
    c.nvme.max_transfer_bytes = 131072;
    c.ftl.map.cache_bytes =
        66ull * (granularity == MapGranularity::page ? c.nand.geometry.unit_bytes : 2 * entry_bytes);
    fill_up(c);
    return c;
}

void check_on_flash(const PowerResult& r) {
    std::printf("%llu translation pages read after losses, %llu entries were dirty; read-only after %llu\n",
                static_cast<unsigned long long>(r.translation_reads), static_cast<unsigned long long>(r.dirty_entries),
                static_cast<unsigned long long>(r.read_only));
    EXPECT_GT(r.translation_reads, 10 * kCuts);
    EXPECT_GT(r.dirty_entries, 10 * kCuts);
}

TEST(PowerCut, WithTheMapOnTheFlash) {
    SsdConfig c = stress_device();
    c.ftl.initial_state = InitialState::random;
    check_on_flash(check_power(with_map_on_flash(c, MapGranularity::entry, 64), 31));
}

TEST(PowerCut, OfABufferThatCapacitorsProtectWithTheMapOnTheFlash) {
    SsdConfig c = stress_device();
    c.ftl.buffer_mode = BufferMode::power_protected;
    check_on_flash(check_power(with_map_on_flash(c, MapGranularity::entry, 64), 53));
}

TEST(PowerCut, WithTheMapOnTheFlashByPagesAndBytes) {
    SsdConfig c = stress_device(16384, 16384);
    c.ftl.superblock = SuperblockSpan::plane;
    c.run.data = DataMode::bytes;
    c.firmware.cores = 3;
    RandomMix::Spec mix;
    mix.whole = 15;
    check_on_flash(check_power(with_map_on_flash(c, MapGranularity::page, 1024), 32, {150ms, 50ms, 4}, mix));
}

TEST(PowerCut, WithTheMapOnTheFlashSoOftenThatGroupsRunOutOfFreeBlocks) {
    SsdConfig c = stress_device();
    c.ftl.superblock = SuperblockSpan::plane;
    c.ftl.initial_state = InitialState::random;
    c.run.data = DataMode::bytes;
    const PowerResult r = check_power(with_map_on_flash(c, MapGranularity::entry, 64), 33, {110ms, 50ms, 20});
    check_on_flash(r);
    check_scarce(r);
}

// Most commands are of single blocks of 512 B: versions by block, and one moment for all blocks of a unit.
TEST(PowerCut, WithBytesAndBlocksOf512Bytes) {
    SsdConfig c = stress_device();
    c.run.data = DataMode::bytes;
    RandomMix::Spec mix;
    mix.whole = 15;
    mix.most_bytes = 8192;
    check_power(c, 6, {150ms, 50ms, 4}, mix);
}

/// Superblocks that have failed are known after the loss, and so is what SMART says of them.
PowerResult check_failing(SsdConfig c, const FaultRates& rates, std::uint64_t seed, const Gaps& gaps,
                          const RandomMix::Spec& mix = {}) {
    c.nand.geometry.blocks_per_plane = 32;
    c.ftl.spare_blocks = 6;
    static_cast<FaultRates&>(c.faults) = rates;
    fill_up(c);
    const PowerResult r = check_power(c, seed, gaps, mix);
    std::printf(
        "%llu blocks retired at the end; after %llu losses some had failed before, after %llu the last was not known "
        "yet, after %llu the drive "
        "was read-only; %llu commands ended with errors\n",
        static_cast<unsigned long long>(r.retired), static_cast<unsigned long long>(r.with_failed),
        static_cast<unsigned long long>(r.forgotten), static_cast<unsigned long long>(r.read_only),
        static_cast<unsigned long long>(r.errors));
    EXPECT_GT(r.with_failed, kCuts / 4);
    EXPECT_LT(r.forgotten, kCuts / 10);
    return r;
}

TEST(PowerCut, OfFailingFlash) {
    SsdConfig c = stress_device();
    c.ftl.superblock = SuperblockSpan::plane;
    const PowerResult r = check_failing(c, {2e-4, 5e-4, 1e-3, 1e-4}, 8, {200ms, 50ms, 4});
    EXPECT_GT(r.errors, 0u);
}

TEST(PowerCut, OfFailingFlashWithTheMapOnTheFlash) {
    SsdConfig c = stress_device();
    c.ftl.superblock = SuperblockSpan::plane;
    c.nand.geometry.blocks_per_plane = 32;
    check_on_flash(
        check_failing(with_map_on_flash(c, MapGranularity::entry, 64), {2e-4, 5e-4, 1e-3, 1e-3}, 34, {200ms, 50ms, 4}));
}

TEST(PowerCut, OfFailingFlashWithTheMapOnTheFlashByPages) {
    SsdConfig c = stress_device();
    c.nand.geometry.blocks_per_plane = 32;
    c.run.data = DataMode::bytes;
    RandomMix::Spec mix;
    mix.whole = 15;
    const PowerResult r = check_failing(with_map_on_flash(c, MapGranularity::page, 256), {2e-3, 4e-3, 0, 1e-4}, 35,
                                        {120ms, 50ms, 20}, mix);
    check_on_flash(r);
    EXPECT_GT(r.read_only, 0u);
}

TEST(PowerCut, UntilADriveIsReadOnlyAndAfterwards) {
    SsdConfig c = stress_device();
    c.ftl.initial_state = InitialState::random;
    const PowerResult r = check_failing(c, {1e-3, 2e-3, 0, 0}, 10, {120ms, 50ms, 20});
    EXPECT_GT(r.read_only, 0u);
    EXPECT_LT(r.read_only, r.looks);
}

TEST(PowerCut, OfFailingFlashWithBytes) {
    SsdConfig c = stress_device();
    c.run.data = DataMode::bytes;
    RandomMix::Spec mix;
    mix.whole = 15;
    check_failing(c, {2e-4, 1e-3, 1e-3, 1e-4}, 9, {80ms, 50ms, 20}, mix);
}

SsdConfig with_checkpoints(SsdConfig c, std::uint64_t interval, bool at_shutdown) {
    c.nand.geometry.blocks_per_plane += 8;
    c.ftl.checkpoint_interval_bytes = interval;
    c.ftl.checkpoint_at_shutdown = at_shutdown;
    fill_up(c);
    return c;
}

TEST(PowerCut, WithCheckpoints) {
    const PowerResult r = check_power(with_checkpoints(stress_device(), 1_MiB, false), 21, {200ms, 20ms, 4});
    EXPECT_GT(r.from_checkpoint, kCuts / 2);
    EXPECT_EQ(r.unsafe, kCuts);
}

TEST(PowerCut, WithCheckpointsThatFollowEachOther) {
    SsdConfig c = stress_device(16384, 16384);
    c.ftl.superblock = SuperblockSpan::plane;
    c.scheduler.suspend = "for_reads";
    c.ftl.initial_state = InitialState::random;
    c.firmware.cores = 3;
    const PowerResult r = check_power(with_checkpoints(c, 1, true), 22, {100ms, 20ms, 4});
    EXPECT_GT(r.from_checkpoint, kCuts / 2);
}

TEST(PowerCut, AfterShutdowns) {
    SsdConfig c = stress_device();
    c.host.power_cut_shutdown = true;
    const PowerResult r = check_power(with_checkpoints(c, 0, true), 23, {200ms, 20ms, 4});
    EXPECT_EQ(r.unsafe, 0u);
    EXPECT_EQ(r.from_clean, kCuts);
    EXPECT_EQ(r.torn, 0u);
    EXPECT_EQ(r.erases_cut, 0u);
}

TEST(PowerCut, AfterShutdownsAndResets) {
    SsdConfig c = stress_device();
    c.host.power_cut_shutdown = c.host.reset_shutdown = true;
    c.ftl.initial_state = InitialState::random;
    Random random(6, 43);
    for (int i = 0; i < 200; ++i)
        c.host.reset_at.push_back(Ps{static_cast<std::int64_t>(random.below(20'000'000'000'000))});
    const PowerResult r = check_power(with_checkpoints(c, 4_MiB, true), 24, {200ms, 20ms, 4});
    EXPECT_EQ(r.from_clean, kCuts);
}

TEST(PowerCut, WithCheckpointsAndTheMapOnTheFlash) {
    SsdConfig c = stress_device();
    c.ftl.initial_state = InitialState::random;
    c.run.data = DataMode::bytes;
    const PowerResult r = check_power(with_checkpoints(with_map_on_flash(c, MapGranularity::entry, 64), 256_KiB, false),
                                      36, {200ms, 20ms, 4});
    check_on_flash(r);
    EXPECT_GT(r.from_checkpoint, kCuts / 2);
}

TEST(PowerCut, AfterShutdownsWithTheMapOnTheFlash) {
    SsdConfig c = stress_device();
    c.host.power_cut_shutdown = true;
    const PowerResult r = check_power(with_checkpoints(with_map_on_flash(c, MapGranularity::page, 256), 4_MiB, true),
                                      37, {200ms, 20ms, 4});
    EXPECT_EQ(r.from_clean, kCuts);
    EXPECT_EQ(r.unsafe, 0u);
    std::printf("%llu translation pages read after losses, %llu entries were dirty\n",
                static_cast<unsigned long long>(r.translation_reads), static_cast<unsigned long long>(r.dirty_entries));
    EXPECT_LT(r.translation_reads, kCuts);  // what garbage collection changed last may find no block
}

TEST(PowerCut, OfFailingFlashWithCheckpointsAndTheMapOnTheFlash) {
    SsdConfig c = stress_device();
    c.ftl.superblock = SuperblockSpan::plane;
    c.nand.geometry.blocks_per_plane = 32;
    c.ftl.checkpoint_interval_bytes = 256_KiB;
    c.ftl.checkpoint_at_shutdown = true;
    const PowerResult r =
        check_failing(with_map_on_flash(c, MapGranularity::entry, 64), {2e-4, 5e-4, 1e-3, 1e-3}, 38, {200ms, 50ms, 4});
    check_on_flash(r);
    EXPECT_GT(r.from_checkpoint, kCuts / 2);
}

TEST(PowerCut, OfFailingFlashWithCheckpoints) {
    SsdConfig c = stress_device();
    c.ftl.checkpoint_interval_bytes = 256_KiB;
    c.ftl.checkpoint_at_shutdown = true;
    c.ftl.superblock = SuperblockSpan::plane;
    const PowerResult r = check_failing(c, {2e-4, 5e-4, 1e-3, 1e-4}, 25, {200ms, 50ms, 4});
    EXPECT_GT(r.from_checkpoint, kCuts / 2);
}

TEST(PowerCut, OfFailingFlashAfterShutdowns) {
    SsdConfig c = stress_device();
    c.ftl.checkpoint_at_shutdown = c.host.power_cut_shutdown = true;
    const PowerResult r = check_failing(c, {2e-4, 5e-4, 1e-3, 1e-4}, 26, {200ms, 50ms, 4});
    EXPECT_GT(r.from_clean, kCuts / 2);
}

TEST(PowerCut, WithCheckpointsAtManyEntriesOfAShortRun) {
    EXPECT_GT(cut_everywhere(41, DataMode::signatures, true), 50u);
}

TEST(PowerCut, WithBytesAtManyEntriesOfAShortRun) {
    EXPECT_GT(cut_everywhere(71, DataMode::bytes), 20u);
}

TEST(PowerCut, WithTheMapOnTheFlashAtManyEntriesOfAShortRun) {
    EXPECT_GT(cut_everywhere(41, DataMode::bytes, false, true), 50u);
}

TEST(PowerCut, OfABufferThatCapacitorsProtectAtManyEntriesOfAShortRun) {
    EXPECT_GT(cut_everywhere(29, DataMode::bytes, false, false, BufferMode::power_protected), 50u);
}

TEST(PowerCut, AtManyEntriesOfAShortRun) {
    EXPECT_GT(cut_everywhere(23), 50u);
}

}  // namespace
}  // namespace ssdtlm
