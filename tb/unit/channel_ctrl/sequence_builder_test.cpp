// SPDX-License-Identifier: Apache-2.0
// Sequences and the time they hold the bus, against the formulas of the timing tables. 400 MT/s: 2.5 ns a byte.
#include "controller/channel_ctrl/sequence_builder.h"

#include <gtest/gtest.h>

#include <array>

namespace ssdtlm {
namespace {

constexpr SimTime kNow{Ps{5us}};
constexpr Ps data_in(std::int64_t bytes) {
    return 15ns + bytes * Ps{2500} + Ps{6'500} + 15ns;
}
constexpr Ps data_out(std::int64_t bytes) {
    return 20ns + 15ns + 2 * Ps{25ns} + (bytes + 1) * Ps{2500} + 15ns;
}
constexpr Ps kSelect = 20ns + 7 * Ps{25ns} + 400ns;
constexpr Ps kPlaneBusy = 100ns + 500ns;  // tWB + tDBSY

NandConfig config() {
    NandConfig c;
    c.geometry.ways = 2;
    c.geometry.dies_per_chip = 2;
    c.geometry.planes_per_die = 4;
    c.geometry.page_bytes = 16384;
    c.geometry.spare_bytes = 2048;
    c.onfi.megatransfers = 400;
    c.transfer_spare = false;
    return c;
}

struct Builder : ::testing::Test {
    FlashTransaction& txn(FlashOp op, std::uint8_t plane, std::uint32_t bytes) {
        FlashTransaction& t = pool[used++];
        t.op = op;
        t.cls = op == FlashOp::read      ? FlashClass::host_read
                : op == FlashOp::program ? FlashClass::gc_write
                                         : FlashClass::erase;
        t.plane = plane;
        t.address.block = 10u + plane;
        t.address.page = 6;
        t.data_bytes = bytes;
        return t;
    }
    OnfiPayload& operation(FlashOp op, std::uint32_t die, std::uint32_t count, std::uint32_t bytes = 16384) {
        std::array<FlashTransaction*, kMaxPlanes> txns{};
        for (std::uint32_t i = 0; i < count; ++i) txns[i] = &txn(op, static_cast<std::uint8_t>(i), bytes);
        return sequences.operation(op, die, txns.data(), count, kNow);
    }
    Ps data_out_of(std::uint32_t die, std::uint8_t plane, std::uint32_t bytes) {
        OnfiPayload& p = sequences.data_out(die, txn(FlashOp::read, plane, bytes), kNow);
        const Ps held = p.onfi.bus_end - p.onfi.bus_begin;
        EXPECT_EQ(sequences.bus_free_at(), p.onfi.bus_end + 100ns) << "tRHW";
        sequences.release(p);
        return held;
    }
    std::array<FlashTransaction, 64> pool{};
    std::size_t used = 0;
    SequenceBuilder sequences{config()};
};

TEST_F(Builder, OperationsHoldTheBusForTheirCyclesAndData) {
    for (std::uint32_t n = 1; n <= 4; ++n) {
        const auto held = [&](FlashOp op) {
            OnfiPayload& p = operation(op, 1, n);
            EXPECT_EQ(p.onfi.count, n);
            EXPECT_EQ(p.onfi.bus_begin, kNow);
            EXPECT_EQ(sequences.bus_free_at(), p.onfi.bus_end);
            sequences.release(p);
            return p.onfi.bus_end - kNow;
        };
        EXPECT_EQ(held(FlashOp::read), n * Ps{195ns} + (n - 1) * kPlaneBusy);
        EXPECT_EQ(held(FlashOp::erase), n * Ps{145ns} + (n - 1) * kPlaneBusy);
        EXPECT_EQ(held(FlashOp::program), n * (Ps{170ns + 300ns + 45ns} + data_in(16384)) + (n - 1) * kPlaneBusy);
    }
}

TEST_F(Builder, EachPlaneInSlcModeTakesOneCommandCycleMore) {
    const Ps native[] = {195ns, 170ns + 300ns + 45ns, 145ns};
    for (const FlashOp op : {FlashOp::read, FlashOp::program, FlashOp::erase}) {
        for (std::uint32_t modes = 0; modes < 16; ++modes) {  // a bit per plane
            std::array<FlashTransaction*, kMaxPlanes> txns{};
            used = 0;
            for (std::uint32_t i = 0; i < 4; ++i) {
                txns[i] = &txn(op, static_cast<std::uint8_t>(i), 16384);
                txns[i]->slc = (modes >> i & 1) != 0;
            }
            const Ps commands_before = sequences.counters().command, data_before = sequences.counters().data_in;
            OnfiPayload& p = sequences.operation(op, 1, txns.data(), 4, kNow);
            const Ps commands =
                4 * native[static_cast<std::size_t>(op)] + 3 * kPlaneBusy + __builtin_popcount(modes) * Ps{25ns};
            const Ps data = op == FlashOp::program ? 4 * data_in(16384) : Ps{0};
            EXPECT_EQ(p.onfi.bus_end - kNow, commands + data);
            EXPECT_EQ(sequences.bus_free_at(), p.onfi.bus_end);
            EXPECT_EQ(sequences.counters().command - commands_before, commands);
            EXPECT_EQ(sequences.counters().data_in - data_before, data);
            for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(p.onfi.target[i].slc, (modes >> i & 1) != 0);
            sequences.release(p);
        }
    }
}

TEST_F(Builder, DataAndSuspendsOfSlcModeTakeNoPrefix) {
    FlashTransaction& read = txn(FlashOp::read, 0, 4096);
    read.slc = true;
    FlashTransaction* const one = &read;
    EXPECT_EQ(sequences.operation(FlashOp::read, 0, &one, 1, kNow).onfi.bus_end - kNow, 195ns + 25ns);
    EXPECT_EQ(sequences.data_out(0, read, kNow).onfi.bus_end - kNow, data_out(4096));
    EXPECT_EQ(sequences.control(FlashOp::program_suspend, 0, read, kNow).onfi.bus_end - kNow, 20ns + 4 * Ps{25ns});
    EXPECT_EQ(sequences.control(FlashOp::program_resume, 0, read, kNow).onfi.bus_end - kNow, 20ns + 25ns);
}

// A resume has no address: it takes 78h and three row cycles more when its chip enable addressed another LUN last.
TEST_F(Builder, AResumeSelectsItsLun) {
    const auto held = [&](FlashOp op, std::uint32_t die) {
        OnfiPayload& p = sequences.control(op, die, txn(FlashOp::read, 0, 4096), kNow);
        EXPECT_EQ(sequences.bus_free_at(), p.onfi.bus_end);
        sequences.release(p);
        return p.onfi.bus_end - kNow;
    };
    const Ps alone = 20ns + 25ns, selected = alone + 4 * Ps{25ns};
    held(FlashOp::erase_suspend, 0);
    EXPECT_EQ(held(FlashOp::erase_resume, 0), alone);
    operation(FlashOp::read, 1, 1);  // the other LUN of the package
    EXPECT_EQ(held(FlashOp::erase_resume, 0), selected);
    EXPECT_EQ(held(FlashOp::program_resume, 0), alone);
    operation(FlashOp::read, 2, 1);  // another package
    EXPECT_EQ(held(FlashOp::program_resume, 0), alone);
    held(FlashOp::program_suspend, 1);
    EXPECT_EQ(held(FlashOp::program_resume, 0), selected);
    data_out_of(1, 0, 4096);  // 06h-5A-E0h
    EXPECT_EQ(held(FlashOp::program_resume, 0), selected);
}

TEST_F(Builder, TargetsNameBlockPageAndData) {
    const OnfiExtension& program = operation(FlashOp::program, 3, 2).onfi;
    EXPECT_EQ(program.die, 3);
    EXPECT_EQ(program.target[1].plane, 1);
    EXPECT_EQ(program.target[1].block, 11u);
    EXPECT_EQ(program.target[1].page, 6u);
    EXPECT_EQ(program.target[1].spare, pool[1].spare.data());
    const OnfiExtension& erase = operation(FlashOp::erase, 0, 1).onfi;
    EXPECT_EQ(erase.target[0].page, 0u) << "an erase has no page";
    EXPECT_EQ(erase.target[0].spare, nullptr);
    EXPECT_EQ(operation(FlashOp::read, 0, 1).onfi.target[0].spare, nullptr);
}

TEST_F(Builder, AnotherPlaneOrLunIsSelectedBeforeItsData) {
    operation(FlashOp::read, 0, 1, 4096);
    EXPECT_EQ(data_out_of(0, 0, 4096), data_out(4096)) << "the plane read last";
    operation(FlashOp::read, 0, 1, 4096);
    operation(FlashOp::read, 2, 1, 4096);
    EXPECT_EQ(data_out_of(0, 0, 4096), data_out(4096)) << "die 2 is behind another chip enable";
    operation(FlashOp::read, 1, 1, 4096);
    EXPECT_EQ(data_out_of(0, 0, 4096), kSelect + data_out(4096)) << "die 1 is the same chip's other LUN";
    operation(FlashOp::read, 1, 2, 4096);
    EXPECT_EQ(data_out_of(1, 0, 4096), kSelect + data_out(4096)) << "after a multi-plane read each plane is selected";
    EXPECT_EQ(data_out_of(1, 1, 4096), kSelect + data_out(4096));
    EXPECT_EQ(data_out_of(1, 1, 512), data_out(512));
}

TEST_F(Builder, CountsWhatTheBusWasHeldFor) {
    operation(FlashOp::read, 0, 1, 4096);
    data_out_of(0, 0, 4096);
    operation(FlashOp::program, 0, 3);
    operation(FlashOp::erase, 1, 2);
    data_out_of(1, 0, 512);
    const ChannelCounters& c = sequences.counters();
    const Ps commands = Ps{195ns} + 3 * Ps{515ns} + 2 * kPlaneBusy + 2 * Ps{145ns} + kPlaneBusy + kSelect;
    EXPECT_EQ(c.command, commands);
    EXPECT_EQ(c.data_in, 3 * data_in(16384));
    EXPECT_EQ(c.data_out, data_out(4096) + data_out(512));
    EXPECT_EQ(c.turnaround, 2 * Ps{100ns});
    EXPECT_EQ(c.bytes_in, 3u * 16384);
    EXPECT_EQ(c.bytes_out, 4096u + 512);
    EXPECT_EQ(c.operations, 3u);
    EXPECT_EQ(c.multi_plane, 2u);
    EXPECT_EQ(c.joined_programs, 3u);
    EXPECT_EQ(c.pages[static_cast<std::size_t>(FlashClass::host_read)], 1u);
    EXPECT_EQ(c.pages[static_cast<std::size_t>(FlashClass::gc_write)], 3u);
    EXPECT_EQ(c.pages[static_cast<std::size_t>(FlashClass::erase)], 2u);
}

}  // namespace
}  // namespace ssdtlm
