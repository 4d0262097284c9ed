// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/wait_accounting.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace ssdtlm {
namespace {

constexpr SimTime at(Ps t) {
    return SimTime{t};
}

NandConfig config(bool independent) {
    NandConfig c;
    c.geometry.ways = 2;
    c.geometry.planes_per_die = 2;
    c.independent_plane_read = independent;
    return c;
}

FlashTransaction transaction(FlashOp op, FlashClass cls, std::uint8_t plane) {
    FlashTransaction t;
    t.op = op;
    t.cls = cls;
    t.plane = plane;
    return t;
}

TEST(WaitAccounting, SplitsTheWaitByWhoseWorkKeptTheDie) {
    WaitAccounting w(config(false));
    const auto erase = transaction(FlashOp::erase, FlashClass::erase, 0);
    const auto gc = transaction(FlashOp::program, FlashClass::gc_write, 1);
    auto read = transaction(FlashOp::read, FlashClass::host_read, 1);
    w.busy(erase, 0, at(0us));
    read.begin(at(10us));
    w.begin(read, 0, at(10us));
    w.idle(erase, 0, at(30us));
    w.busy(gc, 0, at(35us));  // in between the bus was not free
    w.idle(gc, 0, at(75us));
    w.end(read, 0, at(80us), at(81us));
    EXPECT_EQ(read.timeline.of(Stage::die_wait_erase), 20us);
    EXPECT_EQ(read.timeline.of(Stage::die_wait_gc), 40us);
    EXPECT_EQ(read.timeline.of(Stage::channel_wait), 10us);  // 5 us before and 5 us after the program
    EXPECT_EQ(read.timeline.of(Stage::scheduler), 1us);
    EXPECT_EQ(read.timeline.sum(), 71us);
    EXPECT_EQ(w.totals(0, at(90us))[static_cast<std::size_t>(BusyKind::gc)], Ps{40us}.count());
    EXPECT_EQ(w.totals(1, at(90us)), BusyMeter::Totals{});
}

// Over a loss of power the counts go on, those of planes too, and what is on the die then has been busy up to now.
TEST(WaitAccounting, ItsSuccessorGoesOnCounting) {
    for (const bool independent : {false, true}) {
        SCOPED_TRACE(independent ? "planes apart" : "planes together");
        WaitAccounting w(config(independent));
        const auto read = transaction(FlashOp::read, FlashClass::host_read, 0);
        w.busy(read, 1, at(10us));
        WaitAccounting next(config(independent), w.history(at(25us)));
        EXPECT_EQ(next.totals(1, at(30us))[static_cast<std::size_t>(BusyKind::host_read)], Ps{15us}.count());
        EXPECT_EQ(next.totals(0, at(30us)), BusyMeter::Totals{});
        if (independent) {
            EXPECT_EQ(next.plane_busy(1, 0, at(30us)), Ps{15us});
        }
        next.busy(read, 1, at(40us));
        next.idle(read, 1, at(47us));
        EXPECT_EQ(next.totals(1, at(50us))[static_cast<std::size_t>(BusyKind::host_read)], Ps{22us}.count());
        if (independent) {
            EXPECT_EQ(next.plane_busy(1, 0, at(50us)), Ps{22us});
        }
    }
}

FlashTransaction of_flow(FlashTransaction t, std::uint16_t flow) {
    t.whose.tenant = flow;
    return t;
}

// The same with three flows: whose the operations were, on the die and, while it was free, on the bus.
TEST(WaitAccounting, SaysForWhichFlowItWaited) {
    FlowWaitTotals totals{std::vector<std::int64_t>(4), std::vector<std::uint64_t>(4)};
    WaitAccounting w(config(false));
    w.tell_flows_apart(totals);
    auto erase = of_flow(transaction(FlashOp::erase, FlashClass::erase, 0), 2);
    auto gc = of_flow(transaction(FlashOp::program, FlashClass::gc_write, 1), 3);
    auto other = of_flow(transaction(FlashOp::program, FlashClass::host_write, 0), 2);
    auto read = of_flow(transaction(FlashOp::read, FlashClass::host_read, 1), 1);
    FlashTransaction* const held[] = {&other};
    w.busy(erase, 0, at(0us));
    read.begin(at(10us));
    w.begin(read, 0, at(10us));
    w.idle(erase, 0, at(30us));
    w.hold(held, 1, 1, at(31us), at(34us));  // another die's command has the bus
    w.busy(gc, 0, at(35us));
    w.idle(gc, 0, at(75us));
    w.end(read, 0, at(80us), at(81us));
    std::array<std::array<Ps, 4>, kStageCount> found{};
    read.timeline.for_each_wait(
        [&](Stage s, std::uint8_t flow, std::int64_t ps) { found[static_cast<std::size_t>(s)][flow] += Ps{ps}; });
    std::array<std::array<Ps, 4>, kStageCount> expected{};
    expected[static_cast<std::size_t>(Stage::die_wait_erase)][2] = 20us;
    expected[static_cast<std::size_t>(Stage::die_wait_gc)][3] = 40us;
    expected[static_cast<std::size_t>(Stage::channel_wait)] = {7us, 0us, 3us, 0us};  // 2 + 5 us nobody had it
    EXPECT_EQ(found, expected);
    EXPECT_EQ(read.timeline.of(Stage::scheduler), 1us);
    EXPECT_EQ(read.timeline.sum(), 71us);
    EXPECT_EQ(totals.waited_ps, (std::vector<std::int64_t>{0, Ps{71us}.count(), 0, 0}));
    EXPECT_EQ(totals.transactions, (std::vector<std::uint64_t>{0, 1, 0, 0}));
}

// Joined reads of one kind: the time is that of the flow whose operation began first, as long as it runs.
TEST(WaitAccounting, JoinedOperationsOfTwoFlows) {
    FlowWaitTotals totals{std::vector<std::int64_t>(4), std::vector<std::uint64_t>(4)};
    WaitAccounting w(config(false));
    w.tell_flows_apart(totals);
    auto first = of_flow(transaction(FlashOp::read, FlashClass::host_read, 0), 3);
    auto second = of_flow(transaction(FlashOp::read, FlashClass::host_read, 1), 2);
    auto read = of_flow(transaction(FlashOp::read, FlashClass::host_read, 1), 1);
    w.busy(first, 0, at(0us));
    w.busy(second, 0, at(0us));
    read.begin(at(5us));
    w.begin(read, 0, at(5us));
    w.idle(first, 0, at(50us));
    w.idle(second, 0, at(80us));
    w.end(read, 0, at(80us), at(80us));
    std::array<Ps, 4> found{};
    read.timeline.for_each_wait([&](Stage s, std::uint8_t flow, std::int64_t ps) {
        EXPECT_EQ(s, Stage::die_wait_host_read);
        found[flow] += Ps{ps};
    });
    EXPECT_EQ(found, (std::array<Ps, 4>{0us, 0us, 30us, 45us}));
}

// Each cause has a stage of its own, also where another one of them was met before.
TEST(WaitAccounting, WorkWithACauseOfItsOwnHasItsStage) {
    const struct {
        FlashCause cause;
        FlashOp op;
        FlashClass cls;
        Stage stage;
    } all[] = {{FlashCause::rmw, FlashOp::read, FlashClass::host_read, Stage::die_wait_rmw},
               {FlashCause::fold, FlashOp::read, FlashClass::gc_read, Stage::die_wait_fold},
               {FlashCause::relocation, FlashOp::program, FlashClass::gc_write, Stage::die_wait_relocation},
               {FlashCause::merge, FlashOp::program, FlashClass::gc_write, Stage::die_wait_merge},
               {FlashCause::journal, FlashOp::program, FlashClass::gc_write, Stage::die_wait_journal},
               {FlashCause::parity, FlashOp::program, FlashClass::gc_write, Stage::die_wait_parity},
               {FlashCause::padding, FlashOp::program, FlashClass::host_write, Stage::die_wait_padding},
               {FlashCause::checkpoint, FlashOp::program, FlashClass::mapping_write, Stage::die_wait_checkpoint},
               {FlashCause::merge, FlashOp::erase, FlashClass::erase, Stage::die_wait_erase},
               {FlashCause::of_class, FlashOp::program, FlashClass::gc_write, Stage::die_wait_gc}};
    WaitAccounting w(config(false));
    SimTime now = at(0us);
    std::array<Ps, kStageCount> of{};
    for (const auto& a : all) {
        auto work = transaction(a.op, a.cls, 0);
        work.cause = a.cause;
        auto read = transaction(FlashOp::read, FlashClass::host_read, 0);
        w.busy(work, 0, now);
        read.begin(now + 3us);
        w.begin(read, 0, now + 3us);
        w.idle(work, 0, now + 10us);
        w.end(read, 0, now + 12us, now + 12us);
        EXPECT_EQ(read.timeline.of(a.stage), 7us) << stage_name(a.stage);
        EXPECT_EQ(read.timeline.of(Stage::channel_wait), 2us);
        EXPECT_EQ(read.timeline.sum(), 9us);
        of[static_cast<std::size_t>(a.stage)] += 10us;
        now += 20us;
    }
    for (std::size_t k = 0; k < kBusyKinds; ++k)
        EXPECT_EQ(w.totals(0, now)[k], of[static_cast<std::size_t>(wait_stage(k))].count())
            << stage_name(wait_stage(k));
}

TEST(WaitAccounting, AnIndependentReadWaitsForItsPlaneOnly) {
    for (const bool independent : {false, true}) {
        WaitAccounting w(config(independent));
        const auto other = transaction(FlashOp::read, FlashClass::host_read, 0);
        auto read = transaction(FlashOp::read, FlashClass::host_read, 1);
        auto program = transaction(FlashOp::program, FlashClass::host_write, 1);
        w.busy(other, 1, at(0us));
        read.begin(at(0us));
        program.begin(at(0us));
        w.begin(read, 1, at(0us));
        w.begin(program, 1, at(0us));
        w.idle(other, 1, at(50us));
        w.end(read, 1, at(50us), at(50us));
        w.end(program, 1, at(50us), at(50us));
        EXPECT_EQ(read.timeline.of(Stage::die_wait_host_read), independent ? Ps{0} : Ps{50us});
        EXPECT_EQ(read.timeline.of(Stage::channel_wait), independent ? Ps{50us} : Ps{0});
        EXPECT_EQ(program.timeline.of(Stage::die_wait_host_read), 50us) << "a program needs the whole die";
    }
}

// Where planes read on their own, each has a log: a read is in its own, anything else in all, and so is its end.
TEST(WaitAccounting, TellsTheLogOfEachPlaneWhatHeldIt) {
    for (const bool independent : {false, true}) {
        SCOPED_TRACE(independent ? "planes apart" : "planes together");
        NandConfig c = config(independent);
        c.geometry.planes_per_die = 4;
        WaitAccounting w(c);
        Occupancy log({1, 2, 4, independent, 1});
        w.record(log, 0, 0);
        auto read = transaction(FlashOp::read, FlashClass::host_read, 2);
        auto erase = transaction(FlashOp::erase, FlashClass::erase, 1);
        read.number = 7;
        erase.number = 8;
        FlashTransaction* const reads[] = {&read};
        FlashTransaction* const erases[] = {&erase};
        w.hold(reads, 1, 1, at(1us), at(2us));
        w.let_go(read, 1, at(5us));
        w.hold(erases, 1, 1, at(6us), at(7us));
        w.let_go(erase, 1, at(9us));
        for (std::uint32_t plane = 0; plane < 8; ++plane) {
            std::vector<std::uint64_t> held;
            log.plane(plane).between(at(0us), at(20us), [&](const Occupation& o) {
                held.push_back(o.number);
                EXPECT_EQ(o.from, o.number == 7 ? at(1us) : at(6us));
                EXPECT_EQ(o.to, o.number == 7 ? at(5us) : at(9us));
            });
            const bool reads_here = plane == 6 || (!independent && plane >= 4);
            EXPECT_EQ(held, plane < 4    ? std::vector<std::uint64_t>{}
                            : reads_here ? (std::vector<std::uint64_t>{7, 8})
                                         : std::vector<std::uint64_t>{8})
                << "plane " << plane;
        }
    }
}

}  // namespace
}  // namespace ssdtlm
