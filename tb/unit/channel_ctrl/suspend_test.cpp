// SPDX-License-Identifier: Apache-2.0
// Programs and erases suspended for reads: when a read is served and when the operation ends, to the picosecond.
#include <gtest/gtest.h>

#include "controller/channel_ctrl/suspend_control.h"
#include "flash_bench.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

constexpr Ps kRead = 50us, kProgram = 600us, kErase = 3ms;
constexpr Ps kProgramSuspend = 30us, kProgramResume = 10us, kEraseSuspend = 100us, kEraseResume = 50us;
// NV-DDR2 defaults: tCS 20, tWC 25, tWB 100, tRR 20, tRPRE 15, tDQSRE 25, tRPSTH 15, tRHW 100, tPLPBSY 500; 400 MT/s.
constexpr Ps kReadIssue = 20ns + 7 * 25ns;
constexpr Ps kEraseIssue = 20ns + 5 * 25ns;
constexpr Ps kSuspendIssue = 20ns + 4 * 25ns;  // 61h or 84h, three address cycles
constexpr Ps kSelect = 20ns + 7 * 25ns + 400ns;
constexpr Ps kResumeIssue = 20ns + 25ns;  // D2h or 13h
constexpr Ps kWb = 100ns, kRhw = 100ns, kPlaneBusy = 500ns;
constexpr Ps data_out(std::int64_t bytes) {
    return 20ns + 15ns + 25ns + 25ns + 15ns + (bytes + 1) * Ps{2500};
}
constexpr Ps program_cycles(std::int64_t bytes) {
    const Ps data = Ps{15'000} + bytes * Ps{2500} + Ps{6'500} + Ps{15'000};
    return (20ns + 6 * 25ns) + 300ns + data + (20ns + 25ns);
}

NandConfig config(bool independent) {
    NandConfig c;
    c.geometry.planes_per_die = 2;
    c.geometry.blocks_per_plane = 16;
    c.geometry.pages_per_block = 32;
    c.geometry.page_bytes = 16384;
    c.onfi.megatransfers = 400;
    c.t_read = {kRead};
    c.t_program = {kProgram};
    c.t_erase = kErase;
    c.t_program_suspend = kProgramSuspend;
    c.t_program_resume = kProgramResume;
    c.t_erase_suspend = kEraseSuspend;
    c.t_erase_resume = kEraseResume;
    c.transfer_spare = false;
    c.independent_plane_read = independent;
    return c;
}

SchedulerConfig suspending(Ps least_run, std::int64_t limit = 1000, const char* policy = "read_first") {
    SchedulerConfig s;
    s.policy = policy;
    s.suspend = "for_reads";
    s.policies["for_reads"] = {{"least_run", Value{std::int64_t{least_run.count()}}},
                               {"least_left", Value{std::int64_t{0}}},
                               {"limit", Value{limit}}};
    return s;
}

struct Benches {
    FlashBench at_once{"at_once", config(false), {}, suspending(0us)};
    FlashBench planes{"planes", config(true), {}, suspending(0us)};
    FlashBench patient{"patient", config(false), {}, suspending(400us)};
    FlashBench twice{"twice", config(false), {}, suspending(0us, 2)};
    FlashBench flood{"flood", config(false), {}, suspending(0us, 2)};
    FlashBench fifo{"fifo", config(false), {}, suspending(0us, 1000, "fifo")};
    Benches() { FlashBench::elaborate(); }
};
Benches& benches() {
    static Benches b;
    return b;
}

SimTime end_of(const FlashTransaction& t) {
    return t.timeline.last();
}
void run(FlashBench& b) {
    while (b.agenda.run_one(kNever)) b.backend->check_waiters();
    EXPECT_TRUE(b.backend->idle());
}
void expect_tiled(const FlashBench& b) {
    for (const FlashTransaction* t : b.done) EXPECT_EQ(t->timeline.sum(), t->timeline.last() - t->queued_at);
}

TEST(Suspend, AnEraseStopsForAReadAndGoesOn) {
    FlashBench& b = benches().at_once;
    b.fill(0, 0, 1, 4);
    b.settle();
    const SimTime start = b.now();
    const FlashTransaction& erase = b.erase(0, 0, 5);
    const SimTime work = start + kEraseIssue + kWb;  // of the array
    const SimTime asked = start + 1ms;
    b.agenda.run_until(asked);
    const FlashTransaction& read = b.read(0, 0, 1, 2, 4096);
    run(b);
    const SimTime stop = asked + kSuspendIssue + kWb;
    const SimTime stopped = stop + kEraseSuspend;
    EXPECT_EQ(end_of(read), stopped + kReadIssue + kWb + kRead + data_out(4096));
    EXPECT_EQ(read.timeline.of(Stage::die_wait_erase), stopped - asked);
    const SimTime resumed = end_of(read) + kRhw + kResumeIssue + kWb;
    EXPECT_EQ(end_of(erase), resumed + kEraseResume + (work + kErase - stop));
    EXPECT_EQ(erase.timeline.of(Stage::array), end_of(erase) - work);
    EXPECT_EQ(b.backend->channel(0).counters().suspends, 1u);
    expect_tiled(b);
}

TEST(Suspend, APlaneReadsBesideItsOwnSuspendedProgram) {
    FlashBench& b = benches().planes;
    for (const std::uint32_t plane : {0u, 1u}) b.fill(0, plane, 1, 4);
    b.settle();
    const SimTime start = b.now();
    const FlashTransaction& one = b.program(0, 0, 7, 0);
    const FlashTransaction& other = b.program(0, 1, 7, 0);
    const SimTime work = start + 2 * program_cycles(16384) + kWb + kPlaneBusy + kWb;
    const SimTime asked = work + 200us;
    b.agenda.run_until(asked);
    const FlashTransaction& first = b.read(0, 0, 1, 0, 4096);
    const FlashTransaction& second = b.read(0, 1, 1, 3, 4096);
    run(b);
    const SimTime stop = asked + kSuspendIssue + kWb;
    const SimTime stopped = stop + kProgramSuspend;
    // The second command follows the first on the bus; both arrays work at once. Each plane is selected for its data.
    EXPECT_EQ(end_of(first), stopped + kReadIssue + kWb + kRead + kSelect + data_out(4096));
    EXPECT_EQ(end_of(second), end_of(first) + kRhw + kSelect + data_out(4096));
    EXPECT_EQ(first.timeline.of(Stage::die_wait_host_write), stopped - asked);
    const SimTime resumed = end_of(second) + kRhw + kResumeIssue + kWb;
    EXPECT_EQ(end_of(one), resumed + kProgramResume + (work + kProgram - stop));
    EXPECT_EQ(end_of(other), end_of(one));
    EXPECT_EQ(b.backend->channel(0).counters().suspends, 1u);
    for (const std::uint32_t plane : {0u, 1u})
        EXPECT_NE(b.area.at(b.geometry.ppa_of({PlaneId{plane}, 7, 0}, 0)), kErased);
    expect_tiled(b);
}

TEST(Suspend, WhatEndsBeforeTheArrayCouldStopIsNotStopped) {
    FlashBench& b = benches().at_once;
    b.fill(0, 0, 2, 4);
    b.settle();
    const SimTime start = b.now();
    const FlashTransaction& erase = b.erase(0, 0, 6);
    const SimTime ends = start + kEraseIssue + kWb + kErase;
    b.agenda.run_until(ends - Ps{40us});
    const std::uint64_t before = b.backend->channel(0).counters().suspends;
    const FlashTransaction& read = b.read(0, 0, 2, 2, 4096);
    run(b);
    EXPECT_EQ(end_of(erase), ends);
    EXPECT_EQ(end_of(read), ends + kReadIssue + kWb + kRead + data_out(4096));
    EXPECT_EQ(b.backend->channel(0).counters().suspends, before + 1);  // asked for, too late
    expect_tiled(b);
}

TEST(Suspend, TheOperationRunsForALeastTimeBetweenTwo) {
    FlashBench& b = benches().patient;
    b.fill(0, 0, 1, 4);
    b.settle();
    const SimTime start = b.now();
    const FlashTransaction& erase = b.erase(0, 0, 5);
    const SimTime work = start + kEraseIssue + kWb;
    b.agenda.run_until(start + 100us);
    const FlashTransaction& early = b.read(0, 0, 1, 0, 4096);
    b.agenda.run_until(start + 900us);
    const FlashTransaction& again = b.read(0, 0, 1, 1, 4096);
    run(b);
    const SimTime stopped = work + 400us + kSuspendIssue + kWb + kEraseSuspend;
    EXPECT_EQ(end_of(early), stopped + kReadIssue + kWb + kRead + data_out(4096));
    const SimTime resumed = end_of(early) + kRhw + kResumeIssue + kWb;
    EXPECT_EQ(end_of(again),
              resumed + 400us + kSuspendIssue + kWb + kEraseSuspend + kReadIssue + kWb + kRead + data_out(4096));
    EXPECT_GT(end_of(erase), end_of(again));
    EXPECT_EQ(b.backend->channel(0).counters().suspends, 2u);
    expect_tiled(b);
}

TEST(Suspend, NoOperationIsStoppedForGood) {
    FlashBench& b = benches().twice;
    b.fill(0, 0, 1, 4);
    b.settle();
    const FlashTransaction& erase = b.erase(0, 0, 5);
    // A read every 250 us for 10 ms: one suspend for each would never let the erase end.
    for (int i = 0; i < 40; ++i) {
        b.agenda.run_until(b.now() + 250us);
        b.read(0, 0, 1, static_cast<std::uint32_t>(i % 4), 4096);
    }
    run(b);
    EXPECT_EQ(b.backend->channel(0).counters().suspends, 2u);
    EXPECT_LT(end_of(erase) - erase.queued_at, kErase + 2 * (kEraseSuspend + kEraseResume + 200us));
    expect_tiled(b);
}

// Reads that keep coming, always more than one waiting: the erase goes on after the longest time, twice, and then ends.
TEST(Suspend, NoFloodOfReadsKeepsADieSuspended) {
    FlashBench& b = benches().flood;
    b.fill(0, 0, 1, 4);
    b.settle();
    const FlashTransaction& erase = b.erase(0, 0, 5);
    for (int i = 0; i < 400; ++i) {
        b.agenda.run_until(b.now() + 50us);  // a read takes longer than that
        b.read(0, 0, 1, static_cast<std::uint32_t>(i % 4), 4096);
    }
    const SimTime last = b.now();
    run(b);
    EXPECT_LT(end_of(erase), last);
    EXPECT_LT(end_of(erase) - erase.queued_at, kErase + 2 * (kEraseSuspend + kEraseResume + 2ms + 200us));
    EXPECT_EQ(b.backend->channel(0).counters().suspends, 2u);
    expect_tiled(b);
}

// First come, first served: beside the erase nothing may run but the program, which came before the read; beside the
// program the read.
TEST(Suspend, ADieWhosePolicyHasSomethingElseFirstGoesOn) {
    FlashBench& b = benches().fifo;
    b.fill(0, 0, 1, 4);
    b.settle();
    const FlashTransaction& erase = b.erase(0, 0, 5);
    const FlashTransaction& program = b.program(0, 1, 7, 0);
    b.agenda.run_until(b.now() + 500us);
    const FlashTransaction& read = b.read(0, 0, 1, 0, 4096);
    run(b);
    EXPECT_LT(end_of(erase), end_of(read));
    EXPECT_LT(end_of(read), end_of(program));
    EXPECT_EQ(b.backend->channel(0).counters().suspends, 2u);  // of the erase in vain, and once of the program
    expect_tiled(b);
}

struct FixedPolicy final : SuspendPolicy {
    static constexpr Ps kAfter = 30us, kLongest = 200us;
    SimTime when(const SuspendWork& work, SimTime) const override { return work.begun + kAfter; }
    Ps longest(const SuspendWork& work) const override { return kLongest + work.suspends * Ps{1us}; }
};

/// A policy is told when the work ends by the times of its planes' modes.
TEST(SuspendControl, TheUsualTimeIsThatOfTheMode) {
    struct AtItsEnd final : SuspendPolicy {
        SimTime when(const SuspendWork& work, SimTime) const override { return work.ends; }
        Ps longest(const SuspendWork&) const override { return 200us; }
    } const policy;
    NandConfig nand = config(false);
    nand.slc.t_program = 111us;
    nand.slc.t_erase = 1ms;
    SuspendControl control(policy, nand);
    control.queued(FlashClass::host_read, 0);
    constexpr SimTime kBegin{1ms};
    for (const FlashOp op : {FlashOp::program, FlashOp::erase}) {
        const Ps native = op == FlashOp::program ? kProgram : kErase,
                 slc = op == FlashOp::program ? Ps{111us} : Ps{1ms};
        for (std::uint32_t modes = 0; modes < 4; ++modes) {
            std::array<FlashTransaction, 2> txns;
            FlashTransaction* works[] = {&txns[0], &txns[1]};
            for (std::uint32_t i = 0; i < 2; ++i) {
                txns[i].op = op;
                txns[i].slc = (modes >> i & 1) != 0;
            }
            control.started(0, works, 2, kBegin);
            EXPECT_EQ(control.stop_at(0, kBegin), kBegin + (modes == 3 ? slc : native));
            control.ended(0);
        }
    }
}

// Without a die: what a policy answers, and what follows from it, to the picosecond.
TEST(SuspendControl, ADieIsSuspendedForNoLongerThanItsPolicySays) {
    const FixedPolicy policy;
    const NandConfig nand = config(false);
    SuspendControl control(policy, nand);
    FlashTransaction erase;
    erase.op = FlashOp::erase;
    erase.cls = FlashClass::erase;
    FlashTransaction* const works[] = {&erase};
    constexpr Ps kInstant{1};
    SimTime now{1ms};
    EXPECT_FALSE(control.concerns(0));
    control.started(0, works, 1, now);
    EXPECT_FALSE(control.concerns(0));
    EXPECT_EQ(control.stop_at(0, now), kNever) << "nobody waits";
    control.queued(FlashClass::host_write, 0);
    EXPECT_EQ(control.stop_at(0, now), kNever) << "nothing is suspended for a write";
    for (const FlashClass cls : {FlashClass::host_read, FlashClass::mapping_read}) control.queued(cls, 0);
    for (std::uint32_t suspends = 1; suspends <= 3; ++suspends) {
        EXPECT_TRUE(control.concerns(0));
        EXPECT_EQ(control.stop_at(0, now), now + FixedPolicy::kAfter);
        now += FixedPolicy::kAfter;
        control.stopping(0, now);
        EXPECT_EQ(control.stop_at(0, now), kNever) << "it is being suspended already";
        EXPECT_FALSE(control.wants_reads(0, now));
        EXPECT_FALSE(control.may_go_on(0, now));
        ASSERT_TRUE(control.stopped(0, now));
        const SimTime until = now + FixedPolicy::kLongest + suspends * Ps{1us};
        for (const SimTime at : {now, until - kInstant}) {
            EXPECT_TRUE(control.wants_reads(0, at));
            EXPECT_FALSE(control.may_go_on(0, at));
        }
        for (const SimTime at : {until, until + kInstant}) {
            EXPECT_FALSE(control.wants_reads(0, at));
            EXPECT_TRUE(control.may_go_on(0, at));
        }
        now = until;
        control.goes_on(0, now);
        EXPECT_FALSE(control.may_go_on(0, now));
    }
    control.stopping(0, control.stop_at(0, now));
    ASSERT_TRUE(control.stopped(0, now));
    control.granted(FlashClass::host_read, 0, 1);
    EXPECT_TRUE(control.wants_reads(0, now));
    control.granted(FlashClass::mapping_read, 0, 1);
    EXPECT_FALSE(control.wants_reads(0, now)) << "the last is granted";
    EXPECT_TRUE(control.may_go_on(0, now));
    control.queued(FlashClass::host_read, 0);
    EXPECT_TRUE(control.wants_reads(0, now));
    control.give_up(0);
    EXPECT_FALSE(control.wants_reads(0, now));
    EXPECT_TRUE(control.may_go_on(0, now));
    control.goes_on(0, now);
    EXPECT_EQ(control.stop_at(0, now), kNever) << "it was suspended in vain";
    control.ended(0);
    EXPECT_FALSE(control.concerns(0));
    EXPECT_FALSE(control.stopped(0, now));
}

}  // namespace
}  // namespace ssdtlm
