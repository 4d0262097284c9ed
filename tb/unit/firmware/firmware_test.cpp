// SPDX-License-Identifier: Apache-2.0
// Single situations: who waits for whom, what is programmed when, what a failure leaves behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "device_under_test.h"

namespace ssdtlm {
namespace {

TEST(Firmware, ForcedWriteThatIsDeallocatedWhileItMergesEnds) {
    DeviceUnderTest d(tiny_device());
    d.flash.hold = true;
    const auto write = d.write(1, 1, true);  // part of a mapped unit: its old copy is read
    d.agenda.run();
    EXPECT_FALSE(d.done(write));
    EXPECT_EQ(d.firmware.merge_reads(), 1u);
    const auto trim = d.trim(0, 8);
    d.agenda.run();
    EXPECT_TRUE(d.done(trim));
    d.flash.release();
    d.drain();
    EXPECT_TRUE(d.done(write));
    EXPECT_EQ(d.firmware.host_units_mapped(), 0u);
    d.shut_down();
}

TEST(Firmware, FlushWaitsForUnitsThatMerge) {
    DeviceUnderTest d(tiny_device());
    d.flash.hold = true;
    d.write(1, 1);
    d.agenda.run();
    const auto flush = d.flush();
    d.agenda.run();
    EXPECT_FALSE(d.done(flush));
    d.flash.release();
    d.drain();
    EXPECT_EQ(d.firmware.host_units_mapped(), 1u);
    EXPECT_EQ(d.timeline(flush).of(Stage::completion).count(), 0);
    d.shut_down();
}

// While programs are running, a command that waits for space is no reason to program pages in part.
TEST(Firmware, FullBufferDoesNotPadPages) {
    DeviceShape s = tiny_device(16384, 4096);
    s.ftl.buffer_bytes = 16 * 4096;
    s.ftl.flush_depth_per_die = 64;
    s.slots = 256;
    s.slot_bytes = 4096;
    DeviceUnderTest d(s);
    constexpr std::uint64_t kUnits = 1024;
    std::uint64_t next = 0;
    const auto refill = [&] {
        for (; next < kUnits && d.has_room(); ++next) d.write(next % 512 * 8, 8);
    };
    d.on_end = [&](std::uint32_t) { refill(); };
    refill();
    d.drain();
    d.on_end = nullptr;
    d.shut_down();
    const FtlCounters f = d.ftl.counters() - d.before;
    EXPECT_EQ(f.host_units, kUnits);
    EXPECT_LE(f.host_pages, kUnits / 4 + 2);
}

// Nor is a unit that must become durable but waits for its older copy.
// A buffer of eight units, and flash that does not end: a reset does not wait for it.
TEST(Firmware, AResetAbortsWhatWaitsForRoom) {
    DeviceShape s = tiny_device();
    s.ftl.buffer_bytes = 8 * 4096;
    DeviceUnderTest d(s);
    d.flash.hold = true;
    std::vector<std::uint32_t> writes;
    for (std::uint64_t i = 0; i < 3; ++i) writes.push_back(d.write(16 * i, 16));
    const auto in_pieces = d.write(160, 96);  // its first four units would fit half of the buffer
    writes.push_back(d.write(48, 16));
    d.agenda.run();
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(d.done(writes[i])) << i;
    EXPECT_FALSE(d.done(in_pieces));
    EXPECT_FALSE(d.done(writes[3]));
    d.firmware.abort_waits(true);
    d.run();
    const auto expect = [&d](std::uint32_t write, CommandStatus status) {
        EXPECT_TRUE(d.done(write));
        EXPECT_EQ(d.status(write), status);
    };
    for (const std::uint32_t aborted : {in_pieces, writes[3]}) expect(aborted, CommandStatus::aborted);
    for (std::size_t i = 0; i < 3; ++i) expect(writes[i], CommandStatus::success);
    const auto takes_the_last_room = d.write(64, 16);
    d.run();
    expect(takes_the_last_room, CommandStatus::success);
    const auto forced = d.write(0, 8, true);
    d.run();
    expect(forced, CommandStatus::aborted);
    d.firmware.abort_waits(false);
    const auto again = d.write(160, 96);
    d.run();
    EXPECT_FALSE(d.done(again));
    d.flash.release();
    d.drain();
    EXPECT_EQ(d.status(again), CommandStatus::success);
    d.shut_down();
    d.read_all();
}

// The host may write there when the reset has ended: what a core has of a deallocation comes before.
TEST(Firmware, AResetWaitsForDeallocationsThatACoreHas) {
    DeviceUnderTest d(tiny_device());
    d.write(0, 16);
    d.run();
    const auto trim = d.trim(0, 16);
    d.firmware.abort_waits(true);
    EXPECT_TRUE(d.only_wait_for_flash.empty());
    EXPECT_FALSE(d.done(trim));
    const auto late = d.trim(32, 16);
    EXPECT_TRUE(d.only_wait_for_flash.empty());
    d.run();
    EXPECT_TRUE(d.done(trim));
    EXPECT_TRUE(d.done(late));
    d.firmware.abort_waits(false);
    d.write(0, 16);
    d.run();
    d.drain();
    d.shut_down();
    d.read_all();
}

// Flash that does not end: flushes, forced writes and deallocations wait for it, and a reset does not wait for them.
// Reads it waits for.
TEST(Firmware, AResetDoesNotWaitForTheFlash) {
    DeviceShape s = tiny_device();
    s.ftl.buffer_bytes = 8 * 4096;
    DeviceUnderTest d(s);
    d.flash.hold = true;
    const auto read = d.read(800, 8);
    const auto plain = d.write(0, 8);
    const auto forced = d.write(16, 8, true);
    const auto in_pieces = d.write(160, 96, true);  // 12 units: its last ones find no room
    const auto flush = d.flush();
    d.agenda.run();
    EXPECT_TRUE(d.done(plain));
    for (const auto waits : {read, forced, in_pieces, flush}) EXPECT_FALSE(d.done(waits));
    EXPECT_TRUE(d.only_wait_for_flash.empty());
    d.firmware.abort_waits(true);
    d.agenda.run();
    EXPECT_EQ(d.only_wait_for_flash, (std::set<std::uint32_t>{forced, in_pieces, flush}));
    const auto late = d.flush();
    const auto late_write = d.write(32, 8, true);
    d.agenda.run();
    EXPECT_TRUE(d.only_wait_for_flash.count(late) == 1 || d.done(late));
    EXPECT_TRUE(d.only_wait_for_flash.count(late_write) == 1 || d.status(late_write) == CommandStatus::aborted);
    EXPECT_FALSE(d.done(read));
    d.firmware.abort_waits(false);
    d.flash.release();
    d.drain();
    EXPECT_EQ(d.status(forced), CommandStatus::success);
    EXPECT_EQ(d.status(in_pieces), CommandStatus::aborted);
    EXPECT_EQ(d.status(flush), CommandStatus::success);
    d.only_wait_for_flash.clear();
    d.shut_down();
    d.read_all();
    EXPECT_TRUE(d.only_wait_for_flash.empty());
}

TEST(Firmware, DurableUnitBehindItsOlderCopyDoesNotPadPages) {
    DeviceShape s = tiny_device(16384, 4096);
    DeviceUnderTest d(s);
    d.flash.hold = true;
    d.write(0, 8, true);
    d.agenda.run();
    d.write(0, 8, true);
    d.agenda.run();
    for (int i = 1; i <= 4; ++i) {
        d.write(static_cast<std::uint64_t>(i) * 8, 8);
        d.agenda.run();
    }
    d.flash.release();
    d.drain();
    d.shut_down();
    EXPECT_EQ((d.ftl.counters() - d.before).host_pages, 3u);  // the first, four together, the second
}

TEST(Firmware, CommandLargerThanTheBufferPassesInPieces) {
    for (const bool fua : {false, true}) {
        DeviceShape s = tiny_device();
        s.ftl.buffer_bytes = 4 * 4096;
        DeviceUnderTest d(s);
        const auto big = d.write(4, 256, fua);  // 32 and a half units' worth on either side of unit borders
        d.drain();
        EXPECT_TRUE(d.done(big));
        EXPECT_EQ(d.status(big), CommandStatus::success);
        EXPECT_EQ(d.firmware.host_units_written(), 33u);
        d.read(0, 512);
        d.drain();
        d.shut_down();
    }
}

TEST(Firmware, WriteWithoutDataLeavesNothingBehind) {
    DeviceShape s = tiny_device();
    s.ftl.buffer_bytes = 2 * 4096;
    DeviceUnderTest d(s);
    const auto bad = d.write(0, 16, false, true);
    const auto good = d.write(16, 16);  // waits for the space that the first one holds
    d.drain();
    EXPECT_EQ(d.dma.failed, 1u);
    EXPECT_EQ(d.status(bad), CommandStatus::transfer_error);
    EXPECT_EQ(d.status(good), CommandStatus::success);
    EXPECT_EQ(d.firmware.host_units_written(), 2u);
    d.shut_down();
    d.read_all();
}

// It passes the buffer in pieces, and the third one has no data.
TEST(Firmware, WriteThatLosesAPieceEndsWithIt) {
    DeviceShape s = tiny_device();
    s.ftl.buffer_bytes = 4 * 4096;
    DeviceUnderTest d(s);
    d.dma.lost_transfer = 3;
    const auto bad = d.write(0, 64);
    const auto good = d.write(64, 16);  // waits for room
    d.drain();
    EXPECT_EQ(d.dma.failed, 1u);
    EXPECT_EQ(d.status(bad), CommandStatus::transfer_error);
    EXPECT_EQ(d.status(good), CommandStatus::success);
    EXPECT_EQ(d.firmware.host_units_written(), 4u);
    d.shut_down();
}

TEST(Firmware, WriteZeroesOfPartOfAUnitIsRefused) {
    DeviceUnderTest d(tiny_device());
    const auto c = d.write_zeroes(3, 8);
    d.drain();
    EXPECT_EQ(d.status(c), CommandStatus::not_possible);
    d.read_all();
}

// Found by tb/property: it ended at once, and a loss of power brought the old data back.
TEST(Firmware, ForcedWriteZeroesWaitsForTheJournal) {
    DeviceUnderTest d(tiny_device());
    d.flash.hold = true;
    const auto zeroes = d.write_zeroes(0, 8), forced = d.write_zeroes(8, 8, true);
    d.run();
    EXPECT_TRUE(d.done(zeroes));
    EXPECT_FALSE(d.done(forced));
    EXPECT_EQ(d.ftl.mapped_units(), d.ftl.logical_units() - 2);
    d.flash.release();
    d.drain();
    EXPECT_EQ(d.ftl.counters().journal_pages, 1u);
    EXPECT_GT(d.timeline(forced).of(Stage::array).count(), 0);
    d.flash.hold = true;
    const auto again = d.write_zeroes(8, 8, true);  // nothing is left to be written
    d.run();
    EXPECT_TRUE(d.done(again));
    d.flash.release();
    d.shut_down();
}

TEST(Firmware, DeallocatedUnitsReadAsZeros) {
    DeviceUnderTest d(tiny_device());
    d.trim(0, 64);
    d.drain();
    EXPECT_EQ(d.ftl.mapped_units(), d.ftl.logical_units() - 8);
    const auto c = d.read(0, 64);
    d.drain();
    EXPECT_EQ(d.timeline(c).of(Stage::array).count(), 0);
    d.shut_down();
}

// A page's units that were all deallocated before the page was taken cost no program.
TEST(Firmware, ProgramOfDeallocatedUnitsIsNotIssued) {
    DeviceShape s = tiny_device();
    s.firmware.clock_hz = 1000;  // a program is on its core for 100 ms
    DeviceUnderTest d(s);
    d.write(0, 16);
    d.agenda.run_until(SimTime{} + Ps{350'000'000'000});
    EXPECT_EQ(d.firmware.host_units_written(), 2u);
    d.trim(0, 16);
    d.drain();
    EXPECT_EQ(d.firmware.buffer().used(), 0u);
    EXPECT_EQ(d.firmware.host_units_discarded_before_map() + d.firmware.buffer().dropped_dirty() +
                  d.firmware.host_units_mapped(),
              2u);
    d.shut_down();
}

// A map that takes a fixed time costs each command just that, as stage `mapping`, and moves what follows.
TEST(Firmware, ALateMapCostsItsTimeAndNothingElse) {
    const Ps late{123'456'789};
    const auto timelines = [&](bool is_late) {
        DeviceShape s = tiny_device();
        if (is_late) s.late_map = LateMap::Shape{late, late, 0};
        DeviceUnderTest d(s);
        std::vector<Timeline> all;
        const auto one = [&](std::uint32_t slot) {
            d.drain();
            EXPECT_EQ(d.timeline(slot).sum(), d.timeline(slot).last() - d.timeline(slot).start());
            all.push_back(d.timeline(slot));
        };
        one(d.read(8, 8));
        one(d.read(3, 64));
        one(d.write(64, 8));  // whole units: the map is not asked
        one(d.write(129, 3));
        one(d.trim(256, 16));
        d.shut_down();
        return all;
    };
    const std::vector<Timeline> now = timelines(false), later = timelines(true);
    ASSERT_EQ(now.size(), later.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
        SCOPED_TRACE("command " + std::to_string(i));
        EXPECT_EQ(now[i].of(Stage::mapping), Ps{0});
        EXPECT_EQ(later[i].of(Stage::mapping), i == 2 ? Ps{0} : late);
        for (const Stage s : {Stage::firmware, Stage::firmware_wait, Stage::buffer})
            EXPECT_EQ(later[i].of(s), now[i].of(s));
    }
}

// What was removed while the map looked for it is not read from its old place.
TEST(Firmware, AReadWhoseMapAnswersLateSeesOneInstant) {
    DeviceShape s = tiny_device();
    s.late_map = LateMap::Shape{Ps{1'000'000'000}, Ps{1'000'000'000}, 0};
    DeviceUnderTest d(s);
    d.flash.hold = true;
    const auto read = d.read(0, 64);
    d.agenda.run_until(SimTime{} + Ps{500'000'000});
    EXPECT_EQ(d.firmware.wait_queues().waiting_for_map(), 1u);
    EXPECT_FALSE(d.firmware.idle());
    const auto write = d.write(0, 64);  // whole units: inserted while the read's map looks
    d.agenda.run_until(SimTime{} + Ps{900'000'000});
    EXPECT_TRUE(d.done(write));
    EXPECT_FALSE(d.done(read));
    d.agenda.run_until(SimTime{} + Ps{1'100'000'000});
    d.flash.release();
    d.drain();
    EXPECT_EQ(d.timeline(read).of(Stage::array), Ps{0});  // all of it came from the buffer
    d.shut_down();
    d.read_all();
}

// A look-up costs cycles, and what it finds is what is there when they are done.
TEST(Firmware, AReadIsLookedUpWhenTheCoreHasDoneItsCycles) {
    DeviceShape s = tiny_device();
    s.firmware.clock_hz = 1'000;  // 1 ms a cycle
    s.firmware.cores = 2;         // slot 0 and 1: one each
    s.firmware.other_command = 10;
    const Ps cycle{1'000'000'000};
    {
        DeviceUnderTest d(s);
        const auto read = d.read(0, 8);
        d.drain();
        EXPECT_GT(d.timeline(read).of(Stage::array), Ps{0});
        EXPECT_EQ(d.timeline(read).of(Stage::firmware),
                  cycle * (s.firmware.read_command + s.firmware.map_lookup + s.firmware.flash_issue));
        EXPECT_EQ(d.timeline(read).of(Stage::firmware_wait), Ps{0});
    }
    DeviceUnderTest d(s);
    const auto read = d.read(0, 8);
    const auto trim = d.trim(0, 8);
    d.agenda.run_until(SimTime{} + cycle * (s.firmware.other_command + s.firmware.map_update + 1));
    EXPECT_TRUE(d.done(trim));
    d.drain();
    EXPECT_EQ(d.timeline(read).of(Stage::array), Ps{0});
    EXPECT_EQ(d.timeline(read).of(Stage::firmware),
              cycle * (s.firmware.read_command + s.firmware.map_lookup));  // nothing to issue
    d.shut_down();
}

// Which pooled job stands for a program says nothing about the drive: what ran before must not choose the cores.
TEST(Firmware, TheOrderOfThePoolChangesNothing) {
    struct Steps final : CoreProbe {
        std::vector<std::pair<std::uint32_t, SimTime>> done;
        void on_step(std::uint32_t core, CoreStep step, std::uint64_t, SimTime start, SimTime) override {
            if (step == CoreStep::program_done) done.emplace_back(core, start);
        }
    };
    DeviceShape s = tiny_device();
    s.geometry.ways = 3;
    s.firmware.cores = 3;
    std::vector<Steps> steps;
    constexpr std::uint32_t kPages = 12, kPageBlocks = 16;
    for (const std::uint32_t at_once : {1u, 2u, 3u, 4u, 6u, 12u}) {
        DeviceUnderTest d(s);
        for (std::uint32_t page = 0; page != kPages; page += at_once) {  // takes and gives back that many jobs
            d.read(page * kPageBlocks, at_once * kPageBlocks);
            d.drain();
        }
        d.agenda.run_until(SimTime{Ps{1'000'000'000'000}});
        d.firmware.set_core_probe(&steps.emplace_back());
        for (std::uint32_t i = 0; i < 24; ++i) d.write(8 * i, 8);
        d.flush();
        d.drain();
        d.firmware.set_core_probe(nullptr);
        d.shut_down();
    }
    EXPECT_GE(steps.front().done.size(), 9u);
    for (const Steps& other : steps) EXPECT_TRUE(other.done == steps.front().done);
    const auto by_core = [&](std::uint32_t core) {
        return std::count_if(steps.front().done.begin(), steps.front().done.end(),
                             [core](const auto& d) { return d.first == core; });
    };
    for (std::uint32_t core = 0; core < 3; ++core) EXPECT_GE(by_core(core), 3) << "the dies are shared out";
}

}  // namespace
}  // namespace ssdtlm
