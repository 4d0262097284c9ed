// SPDX-License-Identifier: Apache-2.0
// The contract of BusOrder, for every registered order, and what tells one from another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "common/random/random.h"
#include "common/report/error.h"
#include "controller/scheduler/bus_orders.h"

namespace ssdtlm {
namespace {

std::unique_ptr<BusOrder> order(const std::string& name, std::uint32_t limit = 32) {
    SchedulerConfig c;
    c.bus_order = name;
    c.bus_program_turns = limit;
    return make_bus_order(c);
}

class Registered : public ::testing::TestWithParam<std::string> {};

TEST_P(Registered, ChoosesWhatItMay) {
    const auto o = order(GetParam());
    for (std::uint32_t passed : {0u, 31u, 32u, 33u})
        for (int m = 0; m < 8; ++m) {
            const BusChoice may{(m & 1) != 0, (m & 2) != 0, (m & 4) != 0};
            FlashTransaction t;
            const BusWork work{5, 3, passed, &t};
            const BusPick pick = o->next(work, may);
            const BusTurn turn = pick.turn;
            EXPECT_TRUE(pick.data == nullptr || pick.data == &t);
            EXPECT_EQ(turn == BusTurn::none, m == 0);
            EXPECT_TRUE(turn == BusTurn::none || (turn == BusTurn::commands && may.commands) ||
                        (turn == BusTurn::data_out && may.data_out) || (turn == BusTurn::programs && may.programs));
            EXPECT_EQ(turn, o->next(work, may).turn) << "a function of its arguments";
        }
}

TEST_P(Registered, ProgramsWaitForABoundedNumberOfTurns) {
    for (const std::uint32_t limit : {0u, 1u, 7u, 32u}) {
        const auto o = order(GetParam(), limit);
        Random random(limit + 1);
        std::uint32_t passed = 0, most = 0, programs = 0;
        for (int step = 0; step < 10'000; ++step) {
            const BusTurn turn =
                o->next({9, 1, passed, nullptr}, {random.below(4) != 0, random.below(4) != 0, true}).turn;
            if (turn == BusTurn::programs) {
                ++programs;
                passed = 0;
            } else {
                most = std::max(most, ++passed);
            }
        }
        EXPECT_EQ(most, limit == 32 ? most : limit);
        EXPECT_LE(most, limit);
        EXPECT_GT(programs, 200u);
    }
}

INSTANTIATE_TEST_SUITE_P(Orders, Registered, ::testing::ValuesIn(BusOrders::instance().names()),
                         [](const auto& i) { return i.param; });

TEST(BusOrders, DifferWhereCommandsAndDataWait) {
    const BusChoice both{true, true, true};
    EXPECT_EQ(order("commands_first")->next({}, both).turn, BusTurn::commands);
    EXPECT_EQ(order("data_first")->next({}, both).turn, BusTurn::data_out);
}

TEST(BusOrders, AnUnknownOneIsRefusedWithTheNearest) {
    try {
        order("data_frist");
        FAIL();
    } catch (const UserError& e) {
        EXPECT_THAT(e.what(), ::testing::AllOf(::testing::HasSubstr("scheduler.bus_order"),
                                               ::testing::HasSubstr("commands_first, data_first"),
                                               ::testing::HasSubstr("did you mean 'data_first'?")));
    }
}

}  // namespace
}  // namespace ssdtlm
