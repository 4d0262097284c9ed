// SPDX-License-Identifier: Apache-2.0
// The back end, the buses and the packages together, against formulas. All times in ns or us as in the datasheet
// tables; 400 MT/s: 2.5 ns per byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/report/error.h"
#include "flash_bench.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

constexpr Ps kRead[] = {50us, 70us};
constexpr Ps kProgram = 600us;
constexpr Ps kErase = 3ms;
constexpr Ps kDecode = 1500ns;
// NV-DDR2 defaults: tCS 20, tWC 25, tWB 100, tRR 20, tRPRE 15, tDQSRE 25, tRPSTH 15, tRHW 100, tADL 300, tCCS 400.
constexpr Ps kReadIssue = 20ns + 7 * 25ns;
constexpr Ps kEraseIssue = 20ns + 5 * 25ns;
constexpr Ps kSelect = 20ns + 7 * 25ns + 400ns;
constexpr Ps kWb = 100ns;
constexpr Ps kRhw = 100ns;
constexpr Ps kPlaneBusy = 500ns;

constexpr Ps data_out(std::int64_t bytes) {
    return 20ns + 15ns + 25ns + 25ns + 15ns + (bytes + 1) * Ps{2500};
}
constexpr Ps program_cycles(std::int64_t bytes) {
    const Ps data = Ps{15'000} + bytes * Ps{2500} + Ps{6'500} + Ps{15'000};
    return (20ns + 6 * 25ns) + 300ns + data + (20ns + 25ns);
}

NandConfig config(std::uint32_t ways, std::uint32_t luns, std::uint32_t planes) {
    NandConfig c;
    c.geometry.channels = 2;
    c.geometry.ways = ways;
    c.geometry.dies_per_chip = luns;
    c.geometry.planes_per_die = planes;
    c.geometry.blocks_per_plane = 16;
    c.geometry.pages_per_block = 32;
    c.geometry.page_bytes = 16384;
    c.geometry.spare_bytes = 2048;
    c.geometry.unit_bytes = 4096;
    c.onfi.megatransfers = 400;
    c.geometry.bits_per_cell = 2;
    c.t_read = {kRead[0], kRead[1]};
    c.t_program = {kProgram};
    c.t_erase = kErase;
    c.transfer_spare = false;
    return c;
}

NandConfig independent(NandConfig c) {
    c.independent_plane_read = true;
    return c;
}

SchedulerConfig bus_order(const char* name) {
    SchedulerConfig c;
    c.bus_order = name;
    return c;
}

struct Benches {
    FlashBench plain{"plain", config(4, 1, 1)};
    FlashBench ecc{"ecc", config(1, 1, 1), EccConfig{kDecode}};
    FlashBench luns{"luns", config(1, 2, 1)};
    FlashBench planes{"planes", config(2, 1, 4)};
    FlashBench async{"async", independent(config(2, 1, 4))};
    FlashBench commands_first{"commands_first", config(4, 1, 1), {}, bus_order("commands_first")};
    FlashBench data_first{"data_first", config(4, 1, 1), {}, bus_order("data_first")};
    Benches() { FlashBench::elaborate(); }
};
Benches& benches() {
    static Benches b;
    return b;
}

/// Every transaction's stages tile its life.
void expect_tiled(const FlashBench& b) {
    for (const FlashTransaction* t : b.done) {
        EXPECT_EQ(t->timeline.sum(), t->timeline.last() - t->queued_at);
        EXPECT_LE(t->timeline.last(), b.now());
    }
}

Ps life(const FlashTransaction& t) {
    return t.timeline.last() - t.queued_at;
}

TEST(FlashBackend, UncontendedReadTakesTheSumOfItsPartsInTwoEvents) {
    FlashBench& b = benches().plain;
    b.fill(1, 0, 3, 2);
    for (const std::uint32_t page : {0u, 1u}) {
        b.settle();
        const SimTime begin = b.now();
        const std::uint64_t events = b.agenda.executed();
        FlashTransaction& t = b.read(1, 0, 3, page, 4096);
        b.agenda.run();
        ASSERT_EQ(b.done.size(), 1u);
        EXPECT_EQ(b.now() - begin, kReadIssue + kWb + kRead[page] + data_out(4096));
        EXPECT_EQ(b.agenda.executed() - events, 2u);
        EXPECT_EQ(t.timeline.of(Stage::channel), kReadIssue + kWb + data_out(4096));
        EXPECT_EQ(t.timeline.of(Stage::array), kRead[page]);
        EXPECT_EQ(t.spare[2], Spare{4000 + 10 * page + 2});
        expect_tiled(b);
    }
    EXPECT_TRUE(b.backend->idle());
}

TEST(FlashBackend, ChargesTheTimelineThatATransactionContinues) {
    FlashBench& b = benches().plain;
    b.settle();
    Timeline command;
    command.begin(b.now());
    FlashTransaction& t = b.make(FlashOp::read, FlashClass::host_read, 1, 0, 4, 0, 4096);
    t.path = &command;
    b.submit(t);
    b.agenda.run();
    EXPECT_EQ(command.of(Stage::array), kRead[0]);
    EXPECT_EQ(command.sum(), command.last() - t.queued_at);
    FlashTransaction& late = b.make(FlashOp::read, FlashClass::host_read, 1, 0, 4, 0, 4096);
    late.path = &command;
    b.settle();
    EXPECT_THROW(b.submit(late), Panic);  // a gap: nobody would be charged with it
    EXPECT_TRUE(b.backend->idle());
}

TEST(FlashBackend, DecodingIsAddedAfterTheDataLeftTheBus) {
    FlashBench& b = benches().ecc;
    b.fill(0, 0, 0, 1);
    FlashTransaction& t = b.read(0, 0, 0, 0, 8192);
    b.agenda.run();
    EXPECT_EQ(b.now() - SimTime{}, kReadIssue + kWb + kRead[0] + data_out(8192) + kDecode);
    EXPECT_EQ(t.timeline.of(Stage::ecc), kDecode);
    // The bus is free and the die idle when the data is out, not when it is decoded.
    b.done.clear();
    const SimTime begin = b.now();
    FlashTransaction& first = b.read(0, 0, 0, 0, 16384);
    FlashTransaction& second = b.read(0, 0, 0, 0, 16384);
    b.agenda.run();
    const Ps one = kReadIssue + kWb + kRead[0] + data_out(16384);
    EXPECT_EQ(life(first), one + kDecode);
    EXPECT_EQ(b.now() - begin, one + kRhw + one + kDecode);
    EXPECT_EQ(second.timeline.of(Stage::die_wait_host_read), one);
    EXPECT_EQ(second.timeline.of(Stage::channel_wait), kRhw);
    expect_tiled(b);
}

TEST(FlashBackend, DiesOfOneChannelOverlapAndShareTheBus) {
    FlashBench& b = benches().plain;
    b.settle();
    b.fill(0, 0, 0, 1);
    b.fill(2, 0, 0, 1);
    const SimTime begin = b.now();
    FlashTransaction& first = b.read(0, 0, 0, 0, 16384);
    FlashTransaction& second = b.read(2, 0, 0, 0, 16384);
    b.agenda.run();
    EXPECT_EQ(life(first), kReadIssue + kWb + kRead[0] + data_out(16384));
    // The second command follows the first at once; its data waits for the first's and tRHW.
    const Ps out = kReadIssue + kWb + kRead[0] + data_out(16384) + kRhw;
    EXPECT_EQ(b.now() - begin, out + data_out(16384));
    EXPECT_EQ(second.timeline.of(Stage::channel_wait), kReadIssue + (out - (2 * kReadIssue + kWb + kRead[0])));
    EXPECT_EQ(second.timeline.of(Stage::die_wait_host_read), Ps{0});
    expect_tiled(b);
}

TEST(FlashBackend, ProgramAndEraseHoldTheDieUntilReady) {
    FlashBench& b = benches().plain;
    b.settle();
    const SimTime begin = b.now();
    FlashTransaction& program = b.program(3, 0, 5, 0);
    b.agenda.run_until(begin + program_cycles(16384) + kWb + kProgram - Ps{1});
    EXPECT_EQ(b.area.next_page(b.geometry.block_of(program.address)), 0u) << "contents appear when tPROG ends";
    EXPECT_TRUE(b.done.empty());
    FlashTransaction& read = b.read(3, 0, 5, 0, 4096);
    b.agenda.run();
    EXPECT_EQ(life(program), program_cycles(16384) + kWb + kProgram);
    EXPECT_EQ(program.timeline.of(Stage::channel), program_cycles(16384) + kWb);
    EXPECT_EQ(read.timeline.of(Stage::die_wait_host_write), Ps{1});
    EXPECT_EQ(read.spare[1], Spare{6001});

    const SimTime erase_begin = b.now();
    FlashTransaction& erase = b.erase(3, 0, 5);
    b.agenda.run();
    EXPECT_EQ(b.now() - erase_begin, kRhw + kEraseIssue + kWb + kErase);  // the bus turns round after the read
    EXPECT_EQ(erase.timeline.of(Stage::array), kErase);
    EXPECT_EQ(b.area.at(b.geometry.ppa_of(program.address, 0)), kErased);
    expect_tiled(b);
}

TEST(FlashBackend, WaitsAreChargedToWhatKeptTheDieBusy) {
    FlashBench& b = benches().plain;
    b.settle();
    b.fill(1, 0, 7, 2);
    FlashTransaction& erase = b.erase(1, 0, 9);
    FlashTransaction& collect = b.read(1, 0, 7, 0, 16384, FlashClass::gc_read);
    b.agenda.run_until(b.now() + 1ms);
    FlashTransaction& read = b.read(1, 0, 7, 1, 4096);
    FlashTransaction& mapping = b.read(1, 0, 7, 0, 4096, FlashClass::mapping_read);
    b.agenda.run();
    const Ps erase_time = kEraseIssue + kWb + kErase;
    const Ps read_time = kReadIssue + kWb + kRead[1] + data_out(4096);
    const Ps mapping_time = kReadIssue + kWb + kRead[0] + data_out(4096);
    EXPECT_EQ(life(erase), erase_time);
    EXPECT_EQ(read.timeline.of(Stage::die_wait_erase), erase_time - 1ms);
    EXPECT_EQ(life(read), erase_time - 1ms + read_time);
    EXPECT_EQ(mapping.timeline.of(Stage::die_wait_erase), erase_time - 1ms);
    EXPECT_EQ(mapping.timeline.of(Stage::die_wait_host_read), read_time);
    EXPECT_EQ(mapping.timeline.of(Stage::channel_wait), kRhw);
    EXPECT_EQ(collect.timeline.of(Stage::die_wait_erase), erase_time);
    EXPECT_EQ(collect.timeline.of(Stage::die_wait_host_read), read_time);
    EXPECT_EQ(collect.timeline.of(Stage::die_wait_mapping), mapping_time);
    EXPECT_EQ(collect.timeline.of(Stage::die_wait_gc), Ps{0});
    EXPECT_EQ(collect.timeline.of(Stage::channel_wait), 2 * kRhw);
    expect_tiled(b);
}

TEST(FlashBackend, DataOutGoesBeforeTheDataInOfPrograms) {
    FlashBench& b = benches().plain;
    b.settle();
    b.fill(0, 0, 2, 1);
    b.fill(1, 0, 2, 1);
    FlashTransaction& first = b.read(0, 0, 2, 0, 16384);
    FlashTransaction& second = b.read(1, 0, 2, 0, 16384);
    b.agenda.run_until(b.now() + kReadIssue + kWb + kRead[0] + 10us);  // in the first one's data out
    FlashTransaction& program = b.program(2, 0, 2, 0);
    b.agenda.run();
    EXPECT_EQ(second.timeline.last(), first.timeline.last() + kRhw + data_out(16384));
    EXPECT_EQ(program.timeline.last(), second.timeline.last() + kRhw + program_cycles(16384) + kWb + kProgram);
    EXPECT_EQ(program.timeline.of(Stage::channel_wait), second.timeline.last() + kRhw - program.queued_at);
    expect_tiled(b);
}

TEST(FlashBackend, AnotherLunMustBeSelectedBeforeItsDataOut) {
    FlashBench& b = benches().luns;
    b.fill(0, 0, 0, 1);
    b.fill(1, 0, 0, 1);
    FlashTransaction& first = b.read(0, 0, 0, 0, 4096);
    FlashTransaction& second = b.read(1, 0, 0, 0, 4096);  // same chip enable: LUN 1 is addressed last
    b.agenda.run();
    EXPECT_EQ(life(first), kReadIssue + kWb + kRead[0] + kSelect + data_out(4096));
    EXPECT_EQ(second.timeline.last(), first.timeline.last() + kRhw + kSelect + data_out(4096));
    b.settle();
    FlashTransaction& alone = b.read(0, 0, 0, 0, 4096);
    b.agenda.run();
    EXPECT_EQ(life(alone), kReadIssue + kWb + kRead[0] + data_out(4096));
    expect_tiled(b);
}

TEST(FlashBackend, MultiPlaneWorkOfOneInstantIsJoined) {
    FlashBench& b = benches().planes;
    const auto cycles = [](Ps one) { return 4 * one + 3 * (kWb + kPlaneBusy); };
    for (std::uint32_t plane = 0; plane < 4; ++plane) b.program(1, plane, plane, 0);
    b.agenda.run();
    EXPECT_EQ(b.now() - SimTime{}, cycles(program_cycles(16384)) + kWb + kProgram);
    EXPECT_EQ(b.backend->channel(0).counters().operations, 1u);
    EXPECT_EQ(b.backend->channel(0).counters().multi_plane, 1u);

    b.done.clear();
    const SimTime begin = b.now();
    for (std::uint32_t plane = 0; plane < 4; ++plane) b.read(1, plane, plane, 0, 16384);
    b.agenda.run();
    ASSERT_EQ(b.done.size(), 4u);
    const Ps out = kSelect + data_out(16384);
    for (std::int64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(life(*b.done[i]), cycles(kReadIssue) + kWb + kRead[0] + (i + 1) * out + i * kRhw);
        EXPECT_EQ(b.done[i]->spare[3], Spare{static_cast<std::uint32_t>(1000 * (i + 1) + 3)});
    }
    EXPECT_EQ(b.now() - begin, cycles(kReadIssue) + kWb + kRead[0] + 4 * out + 3 * kRhw);

    expect_tiled(b);
    b.settle();
    const SimTime erase_begin = b.now();
    for (std::uint32_t plane = 0; plane < 4; ++plane) b.erase(1, plane, plane);
    b.agenda.run();
    EXPECT_EQ(b.now() - erase_begin, cycles(kEraseIssue) + kWb + kErase);
    EXPECT_EQ(b.area.next_page(b.geometry.block_of(b.done[0]->address)), 0u);
    expect_tiled(b);
}

TEST(FlashBackend, IndependentPlanesReadWhileOthersDo) {
    FlashBench& b = benches().async;
    b.fill(0, 0, 0, 2);
    b.fill(0, 3, 0, 2);
    FlashTransaction& slow = b.read(0, 0, 0, 1, 4096);
    b.agenda.run_until(b.now() + 10us);
    FlashTransaction& fast = b.read(0, 3, 0, 0, 4096);  // another page, another plane of the same die
    FlashTransaction& behind = b.read(0, 0, 0, 0, 4096);
    FlashTransaction& erase = b.erase(0, 1, 0);
    b.agenda.run();
    // The second plane's data is ready first and comes from the plane addressed last; the first's needs 06h-E0h.
    EXPECT_EQ(life(fast), kReadIssue + kWb + kRead[0] + data_out(4096));
    const SimTime fast_free = fast.timeline.last() + kRhw;
    EXPECT_EQ(slow.timeline.last(), fast_free + kSelect + data_out(4096));
    EXPECT_EQ(behind.timeline.of(Stage::die_wait_host_read), slow.timeline.last() - behind.queued_at);
    EXPECT_EQ(erase.timeline.of(Stage::die_wait_host_read) + erase.timeline.of(Stage::channel_wait) + kEraseIssue +
                  kWb + kErase,
              life(erase));
    EXPECT_GE(erase.timeline.last() - kErase, behind.timeline.last());
    expect_tiled(b);
}

// Whoever waits for the bus, it is one entry of the agenda that looks for all of them when it is free.
TEST(FlashBackend, TheFreeBusIsLookedAtOnce) {
    FlashBench& b = benches().plain;
    b.settle();
    b.program(0, 0, 12, 0);
    const std::size_t before = b.agenda.pending();
    b.read(1, 0, 0, 0, 4096);
    EXPECT_EQ(b.agenda.pending(), before + 1);
    b.read(2, 0, 0, 0, 4096);
    b.read(3, 0, 0, 0, 4096);
    EXPECT_EQ(b.agenda.pending(), before + 1);
    b.agenda.run();
    EXPECT_EQ(b.done.size(), 4u);
}

TEST(FlashBackend, CountersAddUp) {
    FlashBench& b = benches().plain;
    b.read(1, 0, 0, 0, 4096);
    b.program(1, 0, 11, 0, FlashClass::gc_write);
    b.agenda.run();
    const ChannelCounters& c = b.backend->channel(0).counters();
    EXPECT_GT(c.pages[static_cast<std::size_t>(FlashClass::host_read)], 0u);
    EXPECT_EQ(c.multi_plane, 0u);
    std::uint64_t pages = 0;
    for (const std::uint64_t n : c.pages) pages += n;
    EXPECT_EQ(pages, c.operations);
    EXPECT_LE(c.bus_busy(), b.now() - SimTime{});
    EXPECT_THAT(b.backend->dump(), ::testing::HasSubstr("idle"));
    b.read(0, 0, 0, 0, 4096);
    EXPECT_THAT(b.backend->dump(), ::testing::HasSubstr("plane 0 read block 0 page 0"));
    b.agenda.run();
}

TEST(FlashBackend, RefusesWhatTheDieForbids) {
    FlashBench& b = benches().ecc;
    FlashTransaction& t = b.make(FlashOp::program, FlashClass::host_write, 1, 0, 4, 7, 16384);
    try {
        b.submit(t);
        FAIL() << "accepted";
    } catch (const Panic& p) {
        EXPECT_THAT(std::string(p.what()),
                    ::testing::HasSubstr("die 1 plane 0 block 4: program of page 7 out of order"));
    }
}

/// A read's page is ready and another die's read waits for its command, while a program's data holds the bus.
TEST(FlashBackend, TheBusOrderDecidesBetweenDataAndCommands) {
    for (const bool data_first : {false, true}) {
        FlashBench& b = data_first ? benches().data_first : benches().commands_first;
        b.fill(0, 0, 3, 1);
        b.fill(1, 0, 3, 1);
        b.settle();
        const SimTime begin = b.now();
        FlashTransaction& data = b.read(0, 0, 3, 0, 4096);
        b.agenda.run_until(begin + 30us);
        b.program(2, 0, 0, 0);
        b.agenda.run_until(begin + 60us);
        FlashTransaction& command = b.read(1, 0, 3, 0, 4096);
        b.agenda.run();
        const SimTime free = begin + 30us + program_cycles(16384);
        const SimTime data_begin = data_first ? free : free + kReadIssue;
        const SimTime command_begin = data_first ? free + data_out(4096) + kRhw : free;
        EXPECT_EQ(data.timeline.last(), data_begin + data_out(4096));
        EXPECT_EQ(command.timeline.last(), command_begin + kReadIssue + kWb + kRead[0] + data_out(4096));
        expect_tiled(b);
    }
}

}  // namespace
}  // namespace ssdtlm
