// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/bus_arbiter.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace ssdtlm {
namespace {

using Turn = BusArbiter::Turn;

TEST(BusArbiter, ShortsThenDataOutThenPrograms) {
    BusArbiter a;
    EXPECT_EQ(a.next(Turn::due_programs, true), Turn::none);
    FlashTransaction read;
    a.queued(FlashOp::program);
    a.queued(FlashOp::erase);
    a.data_ready(read);
    EXPECT_EQ(a.next(Turn::due_programs, true), Turn::shorts);
    EXPECT_EQ(a.next(BusArbiter::after(Turn::shorts), true), Turn::data_out);
    EXPECT_EQ(a.next(BusArbiter::after(Turn::data_out), true), Turn::programs);
    EXPECT_EQ(a.next(BusArbiter::after(Turn::programs), true), Turn::none);
    // Where no die could take anything, only data is left.
    EXPECT_EQ(a.next(Turn::due_programs, false), Turn::data_out);
    EXPECT_EQ(a.next(BusArbiter::after(Turn::data_out), false), Turn::none);
}

TEST(BusArbiter, TheClassesOfATurnAreAskedForOnce) {
    EXPECT_EQ(BusArbiter::classes(Turn::shorts) & BusArbiter::classes(Turn::programs), 0);
    EXPECT_EQ(BusArbiter::classes(Turn::shorts) | BusArbiter::classes(Turn::programs), kAllClasses);
    EXPECT_EQ(BusArbiter::classes(Turn::due_programs), BusArbiter::classes(Turn::programs));
    EXPECT_EQ(class_names(BusArbiter::classes(Turn::programs)), "host_write, mapping_write, gc_write");
}

/// Random turns against the rule as the header tells it, kept here in plain containers.
TEST(BusArbiter, AProgramIsPassedAtMostThirtyTwoTimes) {
    std::mt19937 random(7);
    BusArbiter a;
    std::deque<FlashTransaction> pool(4096);
    std::deque<FlashTransaction*> data;
    std::uint32_t programs = 0, shorts = 0, passed = 0, most = 0, due = 0;
    std::size_t used = 0;
    for (int step = 0; step < 20'000; ++step) {
        switch (random() % 8) {
            case 0:
                a.queued(FlashOp::program);
                ++programs;
                break;
            case 1:
            case 2:
                a.queued(random() % 4 == 0 ? FlashOp::erase : FlashOp::read);
                ++shorts;
                break;
            case 3:
                a.data_ready(pool[used]);
                data.push_back(&pool[used]);
                used = (used + 1) % pool.size();
                break;
            default: {
                const Turn turn = a.next(Turn::due_programs, true);
                const Turn expected = programs != 0 && passed >= 32 ? Turn::due_programs
                                      : shorts != 0                 ? Turn::shorts
                                      : !data.empty()               ? Turn::data_out
                                      : programs != 0               ? Turn::programs
                                                                    : Turn::none;
                ASSERT_EQ(turn, expected) << step;
                if (turn == Turn::none) break;
                if (turn == Turn::shorts) {
                    a.started(FlashOp::read, 1);
                    --shorts;
                } else if (turn == Turn::data_out) {
                    ASSERT_EQ(&a.start_data_out(), data.front()) << "oldest first";
                    data.pop_front();
                } else {
                    a.started(FlashOp::program, 1);
                    --programs;
                    due += turn == Turn::due_programs;
                    passed = 0;
                    break;
                }
                passed += programs != 0;
                most = std::max(most, passed);
            }
        }
        ASSERT_EQ(a.programs(), programs);
        ASSERT_EQ(a.shorts(), shorts);
        ASSERT_EQ(a.data_waits(), !data.empty());
        ASSERT_LT(data.size(), pool.size());
    }
    EXPECT_EQ(most, BusArbiter::kProgramTurns);
    EXPECT_GT(due, 10u) << "the limit was never reached: the test shows nothing";
}

}  // namespace
}  // namespace ssdtlm
