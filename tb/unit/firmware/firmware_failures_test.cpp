// SPDX-License-Identifier: Apache-2.0
// Single failures of the flash: what the host is told, what becomes of the units, what becomes of the block.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <tuple>

#include "device_under_test.h"

namespace ssdtlm {
namespace {

/// What a test says, at the next opportunity.
class ScriptedFaults final : public ArrayFaults {
public:
    bool program_fails(const ArrayWork& work) override {
        const PageAddress& page = work.page;
        const bool here = !only || (only->plane == page.plane && only->block == page.block);
        return here && programs != 0 && programs-- != 0;
    }
    bool erase_fails(const ArrayWork&) override { return erases != 0 && erases-- != 0; }
    std::uint16_t wrong_bits(const ArrayWork& work, std::uint32_t) override {
        const PageAddress& page = work.page;
        const std::uint32_t cycle = work.cycle;
        return lost.count({idx(page.plane), page.block, page.page, cycle}) != 0 ? 500 : 0;
    }
    struct Place {
        std::uint32_t plane, block, page, cycle;
        bool operator<(const Place& o) const {
            return std::tie(plane, block, page, cycle) < std::tie(o.plane, o.block, o.page, o.cycle);
        }
    };
    std::uint32_t programs = 0, erases = 0;  ///< of the next ones, how many fail
    std::optional<PageAddress> only;         ///< programs fail in this block; none: anywhere
    std::set<Place> lost;
};

DeviceShape small_device(std::uint32_t spare_blocks = 2) {
    DeviceShape s = tiny_device();
    s.ftl.spare_blocks = spare_blocks;
    s.ftl.superblock = SuperblockSpan::plane;
    s.ftl.user_capacity_bytes = most_logical_units(s.ftl, s.geometry) * s.geometry.unit_bytes / 2;
    return s;
}

struct Bench : DeviceUnderTest {
    explicit Bench(const DeviceShape& s = small_device()) : DeviceUnderTest(s) { flash.faults = &faults; }
    /// From now on the page that holds the unit cannot be read.
    void lose(std::uint32_t unit) {
        const PageAddress a = shape.geometry.page_of(ftl.lookup(Lpa{unit}));
        faults.lost.insert({idx(a.plane), a.block, a.page, spare.erase_count(shape.geometry.block_of(a))});
    }
    CommandStatus end(std::uint32_t slot) {
        drain();
        return status(slot);
    }
    CommandStatus read_unit(std::uint32_t unit, std::uint32_t units = 1) { return end(read(unit * 8, units * 8)); }
    CommandStatus write_unit(std::uint32_t unit, bool fua = false) { return end(write(unit * 8, 8, fua)); }
    BlockState state_of(std::uint32_t unit) const {
        return ftl.superblock(ftl.shape().superblock_of(ftl.lookup(Lpa{unit}))).state;
    }
    ScriptedFaults faults;
};

// A part that cannot be read sends nothing; of the others, the last is still waited for, unless the lost one comes
// behind it.
TEST(FirmwareFailures, ALostPartIsNotWaitedFor) {
    Bench b;
    b.read_unit(0, 12);
    b.lose(5);
    std::uint64_t parts = 0, prompt = 0, without = 0;
    b.dma.on_write = [&](const DmaTerms& terms) {
        ++parts;
        prompt += terms.prompt;
    };
    for (int i = 0; i < 40; ++i) {
        parts = prompt = 0;
        EXPECT_EQ(b.read_unit(0, 12), CommandStatus::unrecovered_read);
        ASSERT_GT(parts, 1u);
        ASSERT_LE(prompt, 1u);
        without += prompt == 0;
    }
    EXPECT_LT(without, 30u);
}

TEST(FirmwareFailures, ALostPageFailsItsUnitsAndNoOthers) {
    Bench b;
    b.lose(4);  // and with it unit 5, which is in the same page
    EXPECT_EQ(b.read_unit(3), CommandStatus::success);
    EXPECT_EQ(b.read_unit(4), CommandStatus::unrecovered_read);
    EXPECT_EQ(b.read_unit(5), CommandStatus::unrecovered_read);
    EXPECT_EQ(b.read_unit(6), CommandStatus::success);
    EXPECT_EQ(b.end(b.read(43, 1)), CommandStatus::unrecovered_read);  // one block of unit 5
    EXPECT_EQ(b.read_unit(0, 4), CommandStatus::success);
    EXPECT_EQ(b.read_unit(0, 5), CommandStatus::unrecovered_read);  // a command with any such unit
    EXPECT_EQ(b.write_unit(4), CommandStatus::success);
    EXPECT_EQ(b.read_unit(4), CommandStatus::success);  // a new write heals its unit
    EXPECT_EQ(b.read_unit(5), CommandStatus::unrecovered_read);
    EXPECT_EQ(b.end(b.trim(40, 8)), CommandStatus::success);
    EXPECT_EQ(b.read_unit(5), CommandStatus::success);
    b.shut_down();
}

TEST(FirmwareFailures, WhatGcCannotMoveStaysLost) {
    DeviceShape s = small_device();
    s.ftl.gc_policy = "fifo";
    Bench b(s);
    b.lose(0);
    const Ppa place = b.ftl.lookup(Lpa{0});
    // What is oldest is collected first.
    for (int round = 0; b.ftl.lookup(Lpa{0}) == place; ++round) {
        ASSERT_LT(round, 200);
        for (std::uint32_t unit = 2; unit < 66; ++unit) b.write_unit(unit);
    }
    EXPECT_EQ(b.ftl.lookup(Lpa{0}), kLost);
    EXPECT_EQ(b.ftl.lost_units(), 2u);
    EXPECT_EQ(b.ftl.media().units_lost, 2u);
    b.faults.lost.clear();  // the page may be readable again: too late
    EXPECT_EQ(b.read_unit(0), CommandStatus::unrecovered_read);
    EXPECT_EQ(b.read_unit(1), CommandStatus::unrecovered_read);
    EXPECT_EQ(b.read_unit(2), CommandStatus::success);
    EXPECT_EQ(b.write_unit(0, true), CommandStatus::success);
    EXPECT_EQ(b.end(b.trim(8, 8)), CommandStatus::success);
    EXPECT_EQ(b.ftl.lost_units(), 0u);
    EXPECT_EQ(b.read_unit(0, 2), CommandStatus::success);
    b.shut_down();
}

TEST(FirmwareFailures, PartOfALostUnitCannotBeWritten) {
    Bench b;
    b.lose(0);
    EXPECT_EQ(b.end(b.write(1, 1, true)), CommandStatus::unrecovered_read);  // forced: waits for the rest
    EXPECT_EQ(b.ftl.lookup(Lpa{0}), kLost);
    EXPECT_EQ(b.read_unit(0), CommandStatus::unrecovered_read);
    EXPECT_EQ(b.end(b.write(1, 1)), CommandStatus::unrecovered_read);  // by now the map knows
    // Of a write of several units, the others are written.
    EXPECT_EQ(b.end(b.write(7, 9 + 8)), CommandStatus::unrecovered_read);
    EXPECT_EQ(b.read_unit(0), CommandStatus::unrecovered_read);
    EXPECT_EQ(b.read_unit(1, 3), CommandStatus::success);
    EXPECT_EQ(b.end(b.write(0, 8)), CommandStatus::success);
    EXPECT_EQ(b.end(b.write(1, 1)), CommandStatus::success);
    EXPECT_EQ(b.read_unit(0), CommandStatus::success);
    b.shut_down();
}

// The host has been told that it is written before the loss was found; the next read tells it.
TEST(FirmwareFailures, PartialWritesInTheBufferAreLostWithTheRestOfTheirUnit) {
    for (const bool whole_behind : {false, true}) {
        Bench b;
        b.lose(0);
        b.flash.hold = true;
        const auto first = b.write(1, 1);
        const auto flush = b.flush();  // what follows does not replace the first
        b.agenda.run();
        EXPECT_TRUE(b.done(first));
        EXPECT_EQ(b.status(first), CommandStatus::success);
        const auto forced = b.write(2, 1, true);
        const auto behind = whole_behind ? b.write(0, 8, true) : b.write(3, 1, true);
        b.agenda.run();
        EXPECT_FALSE(b.done(forced));
        b.flash.release();
        b.drain();
        EXPECT_EQ(b.status(flush), CommandStatus::success);
        EXPECT_EQ(b.status(forced), CommandStatus::unrecovered_read);
        EXPECT_EQ(b.status(behind), whole_behind ? CommandStatus::success : CommandStatus::unrecovered_read);
        EXPECT_EQ(b.read_unit(0), whole_behind ? CommandStatus::success : CommandStatus::unrecovered_read);
        EXPECT_EQ(b.firmware.buffer().merges_failed(), whole_behind ? 2u : 3u);
        b.shut_down();
    }
}

TEST(FirmwareFailures, AFailedProgramIsDoneAgainAndItsBlockIsRetired) {
    Bench b;
    b.faults.programs = 1;
    EXPECT_EQ(b.write_unit(0, true), CommandStatus::success);
    EXPECT_EQ(b.flash.programs_failed, 1u);
    EXPECT_EQ(b.read_unit(0), CommandStatus::success);
    EXPECT_EQ(b.ftl.media().blocks_retired, 1u);
    EXPECT_EQ(b.ftl.media().available_spare, 50u);
    EXPECT_FALSE(b.ftl.media().read_only);
    EXPECT_EQ(b.state_of(0), BlockState::open_gc) << "who holds a page that GC needs does not wait for GC to give one";
    std::uint32_t retired = 0;
    for (std::uint32_t s = 0; s < b.ftl.shape().superblocks(); ++s)
        retired += b.ftl.superblock(SuperblockId{s}).state == BlockState::retired;
    EXPECT_EQ(retired, 1u);
    b.shut_down();
}

// What was programmed in it before is moved, and it is not erased.
TEST(FirmwareFailures, ABlockIsEmptiedBeforeItIsRetired) {
    Bench b;
    for (std::uint32_t unit = 0; unit < 16; ++unit) b.write_unit(unit, true);
    const SuperblockId block = b.ftl.shape().superblock_of(b.ftl.lookup(Lpa{15}));
    std::set<std::uint32_t> moved;
    for (std::uint32_t unit = 0; unit < 16; ++unit)
        if (b.ftl.shape().superblock_of(b.ftl.lookup(Lpa{unit})) == block) moved.insert(unit);
    ASSERT_GT(moved.size(), 2u);
    ASSERT_EQ(b.ftl.superblock(block).state, BlockState::open_host);
    b.faults.only = b.ftl.shape().page(block, 0);
    b.faults.programs = 1;
    for (int i = 0; b.faults.programs != 0; ++i) {
        ASSERT_LT(i, 4);
        b.write_unit(20, true);
    }
    b.run();
    EXPECT_EQ(b.ftl.superblock(block).state, BlockState::retired);
    EXPECT_EQ(b.ftl.superblock(block).valid, 0u);
    EXPECT_EQ(b.flash.ended[static_cast<std::size_t>(FlashClass::erase)], 0u);
    for (const std::uint32_t unit : moved) EXPECT_EQ(b.read_unit(unit), CommandStatus::success);
    b.shut_down();
}

TEST(FirmwareFailures, ABlockThatIsNotErasedIsRetired) {
    Bench b;
    b.faults.erases = 1;
    for (std::uint32_t i = 0; b.flash.erases_failed == 0; ++i) {
        ASSERT_LT(i, 100'000u);
        b.write_unit(i * 7 % 64);
    }
    b.run();
    EXPECT_EQ(b.ftl.media().blocks_retired, 1u);
    EXPECT_EQ(b.ftl.media().available_spare, 50u);
    for (std::uint32_t i = 0; i < 3000; ++i) b.write_unit(i * 11 % 64);  // FakeFlash refuses to erase it again
    b.shut_down();
}

TEST(FirmwareFailures, WithoutSpareBlocksWritesAreRefusedAndReadsAreNot) {
    Bench b(small_device(0));
    b.faults.programs = 1;
    EXPECT_EQ(b.write_unit(0, true), CommandStatus::success);  // was accepted before, and there is room for it
    EXPECT_TRUE(b.ftl.media().read_only);
    EXPECT_EQ(b.ftl.media().available_spare, 0u);
    EXPECT_EQ(b.write_unit(1), CommandStatus::read_only);
    EXPECT_EQ(b.end(b.trim(8, 8)), CommandStatus::read_only);
    EXPECT_EQ(b.end(b.write_zeroes(8, 8)), CommandStatus::read_only);
    EXPECT_EQ(b.end(b.flush()), CommandStatus::success);
    EXPECT_EQ(b.read_unit(0, 8), CommandStatus::success);
    b.shut_down();
}

// Nothing takes the data any more: those who wait for it are told, and reads of it fail.
TEST(FirmwareFailures, DataThatFindNoPageAreGivenUp) {
    Bench b(small_device(0));
    b.flash.hold = true;
    b.write(0, 8);
    b.agenda.run();
    const auto flush = b.flush();
    const auto forced = b.write(8, 8, true);
    b.agenda.run();
    b.faults.programs = 1'000'000;
    b.flash.release();
    b.drain();
    EXPECT_TRUE(b.ftl.media().read_only);
    EXPECT_EQ(b.status(flush), CommandStatus::write_fault);
    EXPECT_EQ(b.status(forced), CommandStatus::write_fault);
    EXPECT_EQ(b.read_unit(0), CommandStatus::unrecovered_read);
    EXPECT_EQ(b.read_unit(1), CommandStatus::unrecovered_read);
    EXPECT_EQ(b.read_unit(2), CommandStatus::success);
    EXPECT_EQ(b.firmware.buffer().given_up(), 2u);
    b.shut_down();
}

// The journal finds no page any more while a flush waits that does not need it.
TEST(FirmwareFailures, AFlushIsToldWhatItAskedForAlone) {
    Bench b(small_device(0));
    b.flash.host_programs_slower = 1'000'000;
    const auto for_a_while = [&b] { b.agenda.run_until(b.agenda.now() + Ps{100'000'000'000}); };
    b.write(0, 8);
    for_a_while();
    const auto before = b.flush();
    for_a_while();
    b.trim(64, 8);
    for_a_while();
    b.faults.programs = 1'000'000;
    const auto behind = b.flush();
    for_a_while();
    b.faults.programs = 0;
    EXPECT_TRUE(b.ftl.media().read_only);
    EXPECT_FALSE(b.done(before) || b.done(behind));
    b.drain();
    EXPECT_EQ(b.status(before), CommandStatus::success);
    EXPECT_EQ(b.status(behind), CommandStatus::write_fault);
}

}  // namespace
}  // namespace ssdtlm
