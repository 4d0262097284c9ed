// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/arbiter.h"

#include <gtest/gtest.h>

#include <vector>

namespace ssdtlm {
namespace {

/// Takes `total` commands one at a time from queues with the given backlogs; the order of the queues.
std::vector<int> order(RoundRobinArbiter& a, std::vector<int> backlog, int total) {
    for (std::size_t q = 0; q < backlog.size(); ++q) a.set_ready(static_cast<std::uint16_t>(q), backlog[q] > 0);
    std::vector<int> out;
    std::uint16_t qid = 0;
    while (total-- > 0 && a.next(qid)) {
        EXPECT_GE(a.limit(), 1u);
        out.push_back(qid);
        a.took(1);
        a.set_ready(qid, --backlog[qid] > 0);
    }
    return out;
}

TEST(Arbiter, RoundRobinOverAllQueuesAdminIncluded) {
    RoundRobinArbiter a;
    a.set_burst_code(0);
    EXPECT_EQ(order(a, {9, 9, 9}, 7), (std::vector<int>{0, 1, 2, 0, 1, 2, 0}));
}

TEST(Arbiter, BurstOfFour) {
    RoundRobinArbiter a;
    a.set_burst_code(2);
    EXPECT_EQ(order(a, {2, 9, 5}, 16), (std::vector<int>{0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 2, 1}));
}

TEST(Arbiter, NoLimitEmptiesAQueueFirst) {
    RoundRobinArbiter a;
    a.set_burst_code(7);
    EXPECT_EQ(order(a, {1, 3, 2}, 6), (std::vector<int>{0, 1, 1, 1, 2, 2}));
}

TEST(Arbiter, FindsQueuesAcrossWords) {
    RoundRobinArbiter a;
    a.set_burst_code(0);
    std::vector<int> backlog(128, 0);
    backlog[0] = backlog[63] = backlog[64] = backlog[127] = 2;
    EXPECT_EQ(order(a, backlog, 9), (std::vector<int>{0, 63, 64, 127, 0, 63, 64, 127}));
}

TEST(Arbiter, TurnEndsWhenAQueueRunsEmpty) {
    RoundRobinArbiter a;
    a.set_burst_code(3);
    std::uint16_t qid = 0;
    a.set_ready(1, true);
    a.set_ready(2, true);
    ASSERT_TRUE(a.next(qid));
    EXPECT_EQ(qid, 1);
    EXPECT_EQ(a.limit(), 8u);
    a.took(3);
    a.set_ready(1, false);
    a.set_ready(1, true);  // refilled, but its turn is over
    ASSERT_TRUE(a.next(qid));
    EXPECT_EQ(qid, 2);
    EXPECT_EQ(a.limit(), 8u);
}

TEST(Arbiter, ReportsTheRestOfTheBurst) {
    RoundRobinArbiter a;
    a.set_burst_code(3);
    a.set_ready(5, true);
    a.set_ready(6, true);
    std::uint16_t qid = 0;
    ASSERT_TRUE(a.next(qid));
    a.took(6);
    ASSERT_TRUE(a.next(qid));
    EXPECT_EQ(qid, 5);
    EXPECT_EQ(a.limit(), 2u);
    a.took(2);
    ASSERT_TRUE(a.next(qid));
    EXPECT_EQ(qid, 6);
    EXPECT_EQ(a.limit(), 8u);
    a.reset();
    EXPECT_FALSE(a.next(qid));
}

TEST(Arbiter, AloneAQueueTakesTurnAfterTurn) {
    RoundRobinArbiter a;
    a.set_burst_code(3);
    a.set_ready(5, true);
    std::uint16_t qid = 0;
    ASSERT_TRUE(a.next(qid));
    EXPECT_EQ(a.limit(), RoundRobinArbiter::kNoLimit);
    a.took(11);  // a whole turn and three commands of the next
    a.set_ready(6, true);
    ASSERT_TRUE(a.next(qid));
    EXPECT_EQ(qid, 5);
    EXPECT_EQ(a.limit(), 5u);
}

}  // namespace
}  // namespace ssdtlm
