// SPDX-License-Identifier: Apache-2.0
// Random commands of every kind on a device of a few megabytes that collects garbage all the time. Contents are checked
// at every read, timelines at every completion, all books at the end. SSDTLM_TEST_SEED in the environment moves all
// seeds, for long searches.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "device_under_test.h"

namespace ssdtlm {
namespace {

struct Mix {
    unsigned read = 40, write = 45, trim = 8, zeroes = 4, flush = 3;  ///< percent
    unsigned fua = 10;      ///< percent of the writes
    unsigned whole = 60;    ///< percent of transfers in whole mapping units
    unsigned bad = 0;       ///< percent of the writes whose data cannot be read
    std::uint32_t units = 4;  ///< largest transfer
    unsigned hot = 50;      ///< percent of the commands that go to the first 16 units
    std::uint64_t commands = 30000;  ///< half of them for each span of a superblock
};

class RandomHost {
public:
    RandomHost(DeviceUnderTest& device, const Mix& mix, std::uint64_t seed) : device_(device), mix_(mix), random_(seed, 9) {}
    void run() {
        device_.on_end = [this](std::uint32_t) { refill(); };
        refill();
        device_.drain();
        device_.on_end = nullptr;
        ASSERT_EQ(left_, 0u);
    }

private:
    void refill() {
        while (left_ > 0 && device_.has_room()) {
            --left_;
            one();
        }
    }
    void one() {
        const std::uint32_t per_unit = device_.blocks_per_unit();
        const std::uint64_t span = random_.percent(mix_.hot) ? std::min<std::uint64_t>(16ull * per_unit, device_.blocks()) : device_.blocks();
        const std::uint64_t most = std::min<std::uint64_t>(std::uint64_t{mix_.units} * per_unit, span);
        std::uint64_t n = 1 + random_.below(most);
        std::uint64_t at = random_.below(span - n + 1);
        const auto whole = [&] {
            n = std::max<std::uint64_t>(n / per_unit, 1) * per_unit;
            at = at / per_unit * per_unit;
            if (at + n > device_.blocks()) at = device_.blocks() - n;
        };
        if (random_.percent(mix_.whole)) whole();
        std::uint64_t what = random_.below(100);
        const auto is = [&what](unsigned share) {
            if (what < share) return true;
            what -= share;
            return false;
        };
        const auto blocks = static_cast<std::uint32_t>(n);
        if (is(mix_.read)) {
            device_.read(at, blocks);
        } else if (is(mix_.write)) {
            const bool fua = random_.percent(mix_.fua);
            device_.write(at, blocks, fua, mix_.bad != 0 && random_.percent(mix_.bad));
        } else if (is(mix_.trim)) {
            device_.trim(at, blocks);
        } else if (is(mix_.zeroes)) {
            whole();
            device_.write_zeroes(at, static_cast<std::uint32_t>(n));
        } else {
            device_.flush();
        }
    }
    DeviceUnderTest& device_;
    const Mix mix_;
    Random random_;
    std::uint64_t left_ = mix_.commands;
};

void exercise(DeviceShape shape, const Mix& mix, std::uint64_t seed, SuperblockSpan span) {
    SCOPED_TRACE(span == SuperblockSpan::die ? "superblock die" : "superblock plane");
    shape.ftl.superblock = span;
    shape.seed = seed;
    DeviceUnderTest device(shape);
    RandomHost host(device, mix, seed);
    ASSERT_NO_THROW(host.run()) << device.firmware.dump();
    ASSERT_NO_THROW(device.shut_down()) << device.firmware.dump();
    ASSERT_NO_THROW(device.read_all()) << device.firmware.dump();
    EXPECT_EQ(device.oracle.unverified(), 0u);
    EXPECT_GT(device.firmware.gc().victims(), 10u);
    if (shape.late_map) {
        EXPECT_GT(device.late_map->late, mix.commands / 10);
        EXPECT_EQ(device.firmware.waiters().waiting_for_map(), 0u);
    }
}

void exercise(const DeviceShape& shape, Mix mix, std::uint64_t seed) {
    mix.commands /= 2;
    if (const char* offset = std::getenv("SSDTLM_TEST_SEED")) seed += std::strtoull(offset, nullptr, 10);
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die}) exercise(shape, mix, seed, span);
}

TEST(FirmwareRandom, TwoUnitsPerPage) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) exercise(tiny_device(), Mix{}, seed);
}

TEST(FirmwareRandom, UnitIsThePage) {
    exercise(tiny_device(8192, 8192), Mix{}, 1);
    exercise(tiny_device(4096, 4096), Mix{}, 2);
}

TEST(FirmwareRandom, SixteenUnitsPerPage) { exercise(tiny_device(65536, 4096), Mix{}, 1); }

TEST(FirmwareRandom, LogicalBlocksOf4096Bytes) {
    DeviceShape d = tiny_device();
    d.lba_bytes = 4096;
    exercise(d, Mix{}, 1);
}

TEST(FirmwareRandom, BufferOfAFewUnits) {
    for (const std::uint64_t units : {1, 2, 3, 5, 8}) {
        DeviceShape d = tiny_device();
        d.ftl.buffer_bytes = units * 4096;
        Mix m;
        m.commands = 10000;
        exercise(d, m, units);
    }
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

TEST(FirmwareRandom, WriteThrough) {
    DeviceShape d = tiny_device();
    d.ftl.buffer_mode = BufferMode::write_through;
    exercise(d, Mix{}, 1);
    d.ftl.buffer_bytes = 4 * 4096;
    exercise(d, Mix{}, 2);
}

TEST(FirmwareRandom, BufferThatIsEmptiedLate) {
    for (const std::uint32_t percent : {50u, 100u}) {
        DeviceShape d = tiny_device();
        d.ftl.flush_start_percent = percent;
        exercise(d, Mix{}, percent);
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

// --- flash that fails ------------------------------------------------------------------------------------------------

/// 6 of the 24 blocks of each plane are spare.
DeviceShape failing_device(const RandomFaults::Rates& rates, std::uint32_t spare_blocks = 6) {
    DeviceShape d = tiny_device();
    d.geometry.blocks_per_plane = 24;
    d.ftl.spare_blocks = spare_blocks;
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
    d.faults = rates;
    return d;
}

struct Failures {
    std::uint64_t programs = 0, erases = 0, retries = 0, lost = 0, healed = 0, marked = 0, failed_reads = 0, failed_writes = 0, retired = 0;
    unsigned read_only = 0, devices = 0;
    void add(const DeviceUnderTest& d) {
        programs += d.flash.programs_failed;
        erases += d.flash.erases_failed;
        retries += d.flash.retried;
        lost += d.lost.found;
        healed += d.lost.healed;
        marked += d.ftl.media().units_lost;
        failed_reads += d.lost.failed_reads;
        failed_writes += d.failed[0] - d.lost.failed_reads;
        retired += d.ftl.media().blocks_retired;
        read_only += d.ftl.media().read_only;
        ++devices;
    }
    void print() const {
        std::printf("%u devices, %u of them read-only at the end: %llu programs and %llu erases failed, %llu blocks retired; %llu reads retried; "
                    "%llu units lost, %llu of them marked by GC or a merge, %llu written again; %llu reads and %llu writes ended with 2/81\n",
                    devices, read_only, static_cast<unsigned long long>(programs), static_cast<unsigned long long>(erases),
                    static_cast<unsigned long long>(retired), static_cast<unsigned long long>(retries), static_cast<unsigned long long>(lost),
                    static_cast<unsigned long long>(marked), static_cast<unsigned long long>(healed),
                    static_cast<unsigned long long>(failed_reads), static_cast<unsigned long long>(failed_writes));
    }
};

/// Every unit answers 2/81 if it is lost, and else what was last written.
void expect_exactly_the_lost(DeviceUnderTest& d) {
    for (std::uint32_t unit = 0; unit < d.ftl.logical_units(); ++unit) {
        const auto slot = d.read(std::uint64_t{unit} * d.blocks_per_unit(), d.blocks_per_unit());
        d.drain();
        ASSERT_EQ(d.status(slot) == nvme::kStUnrecoveredRead, d.lost.is_lost(unit)) << "unit " << unit;
        ASSERT_EQ(d.status(slot) == nvme::kStSuccess, !d.lost.is_lost(unit)) << "unit " << unit;
    }
}

void fail(DeviceShape shape, Mix mix, std::uint64_t seed, Failures& failures) {
    if (const char* offset = std::getenv("SSDTLM_TEST_SEED")) seed += std::strtoull(offset, nullptr, 10);
    SCOPED_TRACE("seed " + std::to_string(seed));
    shape.seed = seed;
    shape.ftl.superblock = seed % 2 == 0 ? SuperblockSpan::die : SuperblockSpan::plane;
    DeviceUnderTest d(shape);
    RandomHost host(d, mix, seed);
    ASSERT_NO_THROW(host.run()) << d.firmware.dump();
    ASSERT_NO_THROW(d.shut_down()) << d.firmware.dump();
    ASSERT_EQ(d.failed[3], 0u);
    const MediaHealth& media = d.ftl.media();
    EXPECT_EQ(media.program_failures, d.flash.programs_failed);
    if (d.firmware.buffer().given_up() == 0) {
        ASSERT_NO_THROW(expect_exactly_the_lost(d)) << d.firmware.dump();
    } else {
        ASSERT_NO_THROW(d.read_all()) << d.firmware.dump();
    }
    if (!media.read_only) {
        EXPECT_EQ(d.failed[1] + d.failed[2], 0u);
        EXPECT_EQ(d.firmware.buffer().given_up(), 0u);
    } else {
        EXPECT_EQ(media.available_spare, 0u);
        const auto refused = d.write(0, 1);
        const auto trim = d.trim(0, d.blocks_per_unit());
        d.drain();
        EXPECT_EQ(d.status(refused), nvme::kStReadOnlyRange);
        EXPECT_EQ(d.status(trim), nvme::kStReadOnlyRange);
    }
    EXPECT_EQ(d.oracle.unverified(), 0u);
    ASSERT_NO_THROW(d.ftl.verify_books());
    failures.add(d);
}

TEST(FirmwareRandom, FlashThatFails) {
    Failures failures;
    Mix m;
    m.commands = 15000;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) fail(failing_device({4e-4, 1e-3, 1e-2, 5e-3}), m, seed, failures);
    failures.print();
    EXPECT_GT(failures.programs, 10u);
    EXPECT_GT(failures.marked, 100u);
    EXPECT_GT(failures.healed, 100u);
    EXPECT_GT(failures.failed_reads, 100u);
    EXPECT_LT(failures.read_only, failures.devices);
}

// Writes of parts of units that are lost, or turn out to be, in every order.
TEST(FirmwareRandom, PartialWritesToLostUnits) {
    Failures failures;
    Mix m;
    m.whole = 10;
    m.hot = 80;
    m.fua = 40;
    m.trim = 10;
    m.commands = 10000;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        DeviceShape d = failing_device({1e-4, 0, 1e-3, 3e-2});
        d.slots = seed % 3 == 0 ? 2 : 64;
        if (seed > 4) d.late_map = LateMap::Shape{Ps{1}, Ps{2'000'000'000}, 30};
        fail(d, m, seed, failures);
    }
    failures.print();
    EXPECT_GT(failures.failed_writes, 100u);
    EXPECT_GT(failures.healed, 100u);
}

TEST(FirmwareRandom, SparesThatAreUsedUp) {
    Failures failures;
    Mix m;
    m.commands = 6000;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        DeviceShape d = failing_device({seed % 2 == 0 ? 1e-2 : 2e-3, 1e-2, 1e-3, 1e-3}, static_cast<std::uint32_t>(seed % 4));
        if (seed > 8) d.ftl.buffer_mode = BufferMode::write_through;
        if (seed % 3 == 0) d.ftl.buffer_bytes = 6 * 4096;
        fail(d, m, seed, failures);
    }
    failures.print();
    EXPECT_EQ(failures.read_only, failures.devices);
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
