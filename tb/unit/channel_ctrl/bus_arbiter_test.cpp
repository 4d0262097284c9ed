// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/bus_arbiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>

#include "controller/scheduler/bus_orders.h"

namespace ssdtlm {
namespace {

std::uint32_t bit(BusTurn t) {
    return BusArbiter::bit(t);
}

struct Arbiter : BusArbiter {
    Arbiter() : BusArbiter(*order()) {}
    static const BusOrder* order() {
        static const std::unique_ptr<BusOrder> o = make_bus_order(SchedulerConfig{});
        return o.get();
    }
};

TEST(BusArbiter, AsksForEachTurnOnce) {
    Arbiter a;
    EXPECT_EQ(a.next(0, true).turn, BusTurn::none);
    FlashTransaction read;
    a.queued(FlashOp::program);
    a.queued(FlashOp::erase);
    a.data_ready(read);
    EXPECT_EQ(a.next(0, true).turn, BusTurn::commands);
    EXPECT_EQ(a.next(bit(BusTurn::commands), true).turn, BusTurn::data_out);
    // Where no die could take anything, only data is left.
    EXPECT_EQ(a.next(0, false).turn, BusTurn::data_out);
    EXPECT_EQ(&a.start_data_out(nullptr), &read);
    EXPECT_EQ(a.next(bit(BusTurn::commands), true).turn, BusTurn::programs);
    EXPECT_EQ(a.next(bit(BusTurn::commands) | bit(BusTurn::programs), true).turn, BusTurn::none);
}

TEST(BusArbiter, TheClassesOfATurnAreAskedForOnce) {
    EXPECT_EQ(BusArbiter::classes(BusTurn::commands) & BusArbiter::classes(BusTurn::programs), 0u);
    EXPECT_EQ(BusArbiter::classes(BusTurn::commands) | BusArbiter::classes(BusTurn::programs), kAllClasses);
    EXPECT_EQ(class_names(BusArbiter::classes(BusTurn::programs)), "host_write, mapping_write, gc_write");
}

/// What an order picks leaves the list, wherever it is, and the others keep their order.
TEST(BusArbiter, DataLeavesInTheOrderPicked) {
    std::mt19937 random(3);
    Arbiter a;
    std::deque<FlashTransaction> pool(64);
    std::deque<FlashTransaction*> free, waiting;
    for (FlashTransaction& t : pool) free.push_back(&t);
    for (int step = 0; step < 20'000; ++step) {
        if (!free.empty() && random() % 2 == 0) {
            a.data_ready(*free.front());
            waiting.push_back(free.front());
            free.pop_front();
        } else if (!waiting.empty()) {
            const bool picks = random() % 3 != 0;
            const auto it = waiting.begin() + (picks ? static_cast<std::ptrdiff_t>(random() % waiting.size()) : 0);
            ASSERT_EQ(&a.start_data_out(picks ? *it : nullptr), *it);
            free.push_back(*it);
            waiting.erase(it);
        }
        ASSERT_EQ(a.data_waits(), !waiting.empty());
    }
    EXPECT_THROW(
        {
            FlashTransaction other;
            a.data_ready(other);
            FlashTransaction stranger;
            a.start_data_out(&stranger);
        },
        Panic);
}

/// Random turns against the rule as the header tells it, kept here in plain containers.
TEST(BusArbiter, AProgramIsPassedAtMostThirtyTwoTimes) {
    std::mt19937 random(7);
    Arbiter a;
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
                const BusTurn turn = a.next(0, true).turn;
                const BusTurn expected = programs != 0 && passed >= 32 ? BusTurn::programs
                                         : shorts != 0                 ? BusTurn::commands
                                         : !data.empty()               ? BusTurn::data_out
                                         : programs != 0               ? BusTurn::programs
                                                                       : BusTurn::none;
                ASSERT_EQ(turn, expected) << step;
                if (turn == BusTurn::none) break;
                if (turn == BusTurn::commands) {
                    a.started(FlashOp::read, 1);
                    --shorts;
                } else if (turn == BusTurn::data_out) {
                    ASSERT_EQ(&a.start_data_out(nullptr), data.front()) << "oldest first";
                    data.pop_front();
                } else {
                    a.started(FlashOp::program, 1);
                    --programs;
                    due += passed >= 32;
                    passed = 0;
                    break;
                }
                passed += programs != 0;
                most = std::max(most, passed);
            }
        }
        ASSERT_EQ(a.programs(), programs);
        ASSERT_EQ(a.commands(), shorts);
        ASSERT_EQ(a.data_waits(), !data.empty());
        ASSERT_LT(data.size(), pool.size());
    }
    EXPECT_EQ(most, SchedulerConfig{}.bus_program_turns);
    EXPECT_GT(due, 10u) << "the limit was never reached: the test shows nothing";
}

}  // namespace
}  // namespace ssdtlm
