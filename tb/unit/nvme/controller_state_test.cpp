// SPDX-License-Identifier: Apache-2.0
// ControllerState against work that ends when the test says: what is asked of the others, and when.
#include "controller/nvme/controller_state.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

using namespace nvme;

struct FakeWork final : ControllerWork {
    void create_admin_queues(const NvmeRegisters&) override {
        EXPECT_FALSE(queues) << "queues exist already";
        queues = true;
        ++created;
    }
    bool idle() const override { return busy == 0; }
    void abort_waits(bool on) override {
        EXPECT_TRUE(on || aborts);
        aborts = on;
    }
    void drop_queues() override {
        EXPECT_EQ(busy, 0u) << "queues dropped under work";
        EXPECT_TRUE(aborts) << "commands were left to wait for room";
        queues = false;
        ++dropped;
    }
    void flush() override {
        EXPECT_EQ(busy, 0u);
        ++busy;
        ++flushes;
        flushing = true;
    }
    void resume() override { ++resumed; }

    std::uint32_t busy = 0;
    bool queues = false, flushing = false, aborts = false;
    std::uint32_t created = 0, dropped = 0, flushes = 0, resumed = 0;
};

struct Bench {
    Bench() : state(agenda, config(), counters, work) { state.write(kRegAqa, 4, Aqa::of(32, 32)); }
    static NvmeConfig config() {
        NvmeConfig c;
        c.ready_time = 10us;
        return c;
    }
    void cc(std::uint32_t value) { state.write(kRegCc, 4, value); }
    std::uint32_t csts() const { return state.registers().csts(); }
    /// A piece of work ends; the flush is the last of them to have begun.
    void end_one() {
        --work.busy;
        if (work.flushing && work.busy == 0) {
            work.flushing = false;
            state.flushed();
        }
        state.settle();
    }
    Agenda agenda;
    NvmeCounters counters;
    FakeWork work;
    ControllerState state;
};

TEST(ControllerState, IsNotReadyBeforeTheDriveIs) {
    Bench b;
    b.state.drive_is_starting();
    b.cc(Cc::kTypical);
    b.agenda.run_until(SimTime{1s});
    EXPECT_EQ(b.csts(), 0u);
    b.cc(0);  // given up, and tried again
    b.cc(Cc::kTypical);
    b.agenda.run_until(SimTime{2s});
    EXPECT_EQ(b.csts(), 0u);
    b.state.check_waiters();
    b.state.drive_is_up();
    EXPECT_EQ(b.csts(), Csts::kReady);
    // The drive first, the ready time second.
    b.cc(0);
    b.state.drive_is_starting();
    b.cc(Cc::kTypical);
    b.state.drive_is_up();
    EXPECT_EQ(b.csts(), 0u);
    b.agenda.run();
    EXPECT_EQ(b.csts(), Csts::kReady);
}

TEST(ControllerState, CapToCoversTheSearchForTheMap) {
    NvmeConfig c = Bench::config();
    EXPECT_EQ(Cap::to(NvmeRegisters(c).cap()), 1u);
    EXPECT_EQ(Cap::to(NvmeRegisters(c, 500ms - 10us).cap()), 1u);
    EXPECT_EQ(Cap::to(NvmeRegisters(c, 500ms).cap()), 2u);
    EXPECT_EQ(Cap::to(NvmeRegisters(c, 1h).cap()), 255u);
}

TEST(ControllerState, ResetWaitsForWorkAndNotForTheEnableBefore) {
    Bench b;
    b.cc(Cc::kTypical);
    EXPECT_EQ(b.work.created, 1u);
    b.agenda.run_until(SimTime{5us});
    b.cc(0);  // before it was ready
    EXPECT_EQ(b.work.dropped, 1u);
    b.cc(Cc::kTypical);
    b.agenda.run_until(SimTime{10us});
    EXPECT_EQ(b.csts(), 0u) << "the ready time of the first enable does not count";
    b.agenda.run_until(SimTime{15us});
    EXPECT_EQ(b.csts(), Csts::kReady);
    b.work.busy = 2;
    b.cc(0);
    EXPECT_FALSE(b.state.serving());
    EXPECT_EQ(b.csts(), Csts::kReady);
    b.cc(Cc::kTypical);  // enabled again while stopping: starts when stopped
    b.end_one();
    EXPECT_EQ(b.work.dropped, 1u);
    b.end_one();
    EXPECT_EQ(b.work.dropped, 2u);
    EXPECT_EQ(b.work.created, 3u);
    EXPECT_EQ(b.csts(), 0u);
    b.agenda.run();
    EXPECT_EQ(b.csts(), Csts::kReady);
    EXPECT_EQ(b.counters.resets, 2u);
}

TEST(ControllerState, ShutdownFlushesOnceIdle) {
    Bench b;
    b.cc(Cc::kTypical);
    b.agenda.run();
    b.work.busy = 1;
    b.cc(Cc::kTypical | Cc::kShnNormal);
    EXPECT_EQ(b.csts(), Csts::kReady | Csts::kShstOccurring);
    EXPECT_FALSE(b.state.running());
    EXPECT_TRUE(b.state.serving());
    EXPECT_EQ(b.work.flushes, 0u);
    b.end_one();
    EXPECT_EQ(b.work.flushes, 1u);
    b.end_one();
    EXPECT_EQ(b.csts(), Csts::kReady | Csts::kShstComplete);
    b.state.check_waiters();
}

// A function-level reset takes as long as the work under way. A host may ask for a shutdown before that.
TEST(ControllerState, AShutdownIsCarriedOutBehindTheResetBeforeIt) {
    Bench b;
    b.cc(Cc::kTypical);
    b.agenda.run();
    b.work.busy = 1;
    bool stopped = false;
    b.state.reset_function([&stopped] { stopped = true; });
    b.cc(Cc::kShnNormal);
    EXPECT_EQ(b.csts(), Csts::kShstOccurring);
    EXPECT_EQ(b.work.flushes, 0u);
    b.end_one();
    EXPECT_TRUE(stopped);
    EXPECT_EQ(b.work.flushes, 1u);
    EXPECT_EQ(b.csts(), Csts::kShstOccurring);
    b.end_one();
    EXPECT_EQ(b.csts(), Csts::kShstComplete);
    b.state.check_waiters();
}

// Random register writes and ends of work: nothing is asked for at a wrong moment (FakeWork checks), nothing waits for
// ever, and CSTS says what CC asked for once everything has ended.
TEST(ControllerState, RandomLives) {
    std::uint32_t resets = 0, shutdowns = 0, ready = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Random random(seed);
        Bench b;
        for (int step = 0; step < 200; ++step) {
            switch (random.below(8)) {
                case 0:
                    b.cc(Cc::kTypical);
                    break;
                case 1:
                    b.cc(0);
                    break;
                case 2:
                    b.cc(Cc::kTypical | Cc::kShnNormal);
                    break;
                case 3:
                    b.agenda.run_until(b.agenda.now() + Ps{1us} * static_cast<std::int64_t>(random.below(15)));
                    break;
                case 4:
                    if (b.state.running()) ++b.work.busy;
                    break;
                case 5:
                    b.cc(Cc::kShnNormal);
                    break;
                case 6:
                    if (b.state.registers().is_stopping()) break;
                    b.state.reset_function([] {});
                    b.state.write(kRegAqa, 4, Aqa::of(32, 32));
                    break;
                default:
                    if (b.work.busy != 0) b.end_one();
            }
            ASSERT_EQ(b.state.running() && !b.work.queues, false);
            b.state.check_waiters();
        }
        while (b.work.busy != 0) b.end_one();
        b.agenda.run();
        const bool enabled = Cc::en(b.state.registers().cc());
        ASSERT_EQ(b.work.queues, enabled);
        ASSERT_EQ((b.csts() & Csts::kReady) != 0, enabled) << "seed " << seed;
        ASSERT_NE(b.csts() & Csts::kShstMask, Csts::kShstOccurring) << "a shutdown that never ends, seed " << seed;
        ready += enabled;
        resets += b.work.dropped;
        shutdowns += b.work.flushes;
    }
    std::printf("%u resets, %u shutdown flushes, %u of 300 ready at the end\n", resets, shutdowns, ready);
    EXPECT_GT(resets, 2000u);
    EXPECT_GT(shutdowns, 300u);
}

}  // namespace
}  // namespace ssdtlm
