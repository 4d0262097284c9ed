// SPDX-License-Identifier: Apache-2.0
// Weighted round robin with urgent priority class: exact shares over a million commands, and every order against a slow
// arbiter of its own that takes NVMe 1.4 §4.13.2 word by word.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <vector>

#include "common/random/random.h"
#include "controller/nvme/arbiter.h"

namespace ssdtlm {
namespace {

constexpr std::uint8_t kUrgent = 0, kHigh = 1, kMedium = 2, kLow = 3;

struct Setting {
    std::uint32_t burst_code;
    std::array<std::uint32_t, 3> weights;  // commands a round: high, medium, low
    std::vector<std::uint8_t> priority;    // by queue from 1 on
};

SubmissionArbiter arbiter_of(const Setting& s) {
    SubmissionArbiter a;
    a.set_weighted(true);
    a.set_burst_code(s.burst_code);
    a.set_weights(s.weights[0] - 1, s.weights[1] - 1, s.weights[2] - 1);
    return a;
}

// All queues of the weighted class always have commands.
TEST(WeightedArbiter, SharesOverAMillionCommandsAreTheWeights) {
    const std::vector<std::uint8_t> one_each{kHigh, kMedium, kLow};
    const std::vector<std::uint8_t> several{kLow, kHigh, kMedium, kHigh, kLow, kHigh, kLow, kMedium};
    for (const Setting& s :
         {Setting{7, {8, 4, 1}, one_each}, Setting{0, {8, 4, 1}, several}, Setting{2, {8, 4, 1}, several},
          Setting{1, {4, 2, 1}, several}, Setting{3, {256, 16, 1}, several}, Setting{7, {1, 1, 1}, several},
          Setting{2, {5, 3, 7}, several}}) {
        SubmissionArbiter a = arbiter_of(s);
        std::array<std::uint64_t, 4> queues{}, count{};
        std::vector<std::uint64_t> of(s.priority.size() + 1);
        for (std::size_t q = 1; q <= s.priority.size(); ++q) {
            a.set_ready(static_cast<std::uint16_t>(q), s.priority[q - 1], true);
            ++queues[s.priority[q - 1]];
        }
        const std::uint64_t round = s.weights[0] + s.weights[1] + s.weights[2];
        // Whole rounds, so many that the queues of each level have had their turns equally often: a turn is a burst, or
        // what the round leaves of one.
        std::uint64_t turns = 1;
        for (std::uint32_t level = 0; level < 3; ++level) turns *= queues[level + 1];
        const std::uint64_t rounds = 1'000'000 / round / turns * turns;
        std::uint64_t since_low = 0, longest = 0;
        for (std::uint64_t i = 0; i < rounds * round;) {
            std::uint16_t qid = 0;
            ASSERT_TRUE(a.next(qid));
            const std::uint64_t n = std::min<std::uint64_t>(a.limit(), 3);  // as a fetch takes no more
            a.took(static_cast<std::uint32_t>(n));
            of[qid] += n;
            count[s.priority[qid - 1]] += n;
            since_low = s.priority[qid - 1] == kLow ? 0 : since_low + n;
            longest = std::max(longest, since_low);
            i += n;
        }
        std::printf(
            "[   FIGURE ] burst 2^%u, weights %u:%u:%u: %lu, %lu, %lu commands of %lu; low waits for %lu at most\n",
            s.burst_code, s.weights[0], s.weights[1], s.weights[2], count[kHigh], count[kMedium], count[kLow],
            rounds * round, longest);
        for (std::uint8_t level = kHigh; level <= kLow; ++level) {
            EXPECT_EQ(count[level], rounds * s.weights[level - 1u]);
            for (std::size_t q = 1; q <= s.priority.size(); ++q)
                if (s.priority[q - 1] == level) {
                    EXPECT_EQ(of[q], count[level] / queues[level]) << "queue " << q;
                }
        }
        EXPECT_EQ(longest, round - s.weights[2]);  // the round's commands of the others, never more
    }
}

TEST(WeightedArbiter, AdminThenUrgentThenTheRest) {
    SubmissionArbiter a = arbiter_of({0, {2, 1, 1}, {}});
    a.set_ready(4, kLow, true);
    a.set_ready(3, kHigh, true);
    std::uint16_t qid = 0;
    const auto serve = [&] {
        EXPECT_TRUE(a.next(qid));
        a.took(1);
        return static_cast<int>(qid);
    };
    EXPECT_EQ(serve(), 3);
    a.set_ready(1, kUrgent, true);
    a.set_ready(2, kUrgent, true);
    EXPECT_EQ(serve(), 1);
    EXPECT_EQ(serve(), 2);
    a.set_ready(0, kUrgent, true);  // the admin queue
    EXPECT_EQ(serve(), 0);
    EXPECT_EQ(serve(), 0);
    a.set_ready(0, kUrgent, false);
    EXPECT_EQ(serve(), 1);
    a.set_ready(1, kUrgent, false);
    a.set_ready(2, kUrgent, false);
    EXPECT_EQ(serve(), 3);  // the round goes on where it was: one of two was taken
    EXPECT_EQ(serve(), 4);
    EXPECT_EQ(serve(), 3);
    EXPECT_EQ(serve(), 3);
    EXPECT_EQ(serve(), 4);
}

TEST(WeightedArbiter, AQueueAloneHasNoLimitAndTheRoundsStayRight) {
    SubmissionArbiter a = arbiter_of({1, {4, 2, 1}, {}});
    a.set_ready(1, kHigh, true);
    std::uint16_t qid = 0;
    ASSERT_TRUE(a.next(qid));
    EXPECT_EQ(a.limit(), SubmissionArbiter::kNoLimit);
    a.took(6);  // a round of four, and two of the next
    a.set_ready(2, kLow, true);
    std::vector<int> order;
    for (int i = 0; i < 8; ++i) {
        ASSERT_TRUE(a.next(qid));
        order.push_back(qid);
        a.took(1);
    }
    EXPECT_EQ(order, (std::vector<int>{1, 1, 2, 1, 1, 1, 1, 2}));
}

// Without weights, priorities mean nothing.
TEST(WeightedArbiter, RoundRobinIgnoresPriorities) {
    SubmissionArbiter a;
    a.set_burst_code(0);
    a.set_weights(7, 3, 0);
    for (std::uint16_t q = 0; q < 5; ++q) a.set_ready(q, static_cast<std::uint8_t>(q % 4), true);
    std::uint16_t qid = 0;
    for (int i = 0; i < 15; ++i) {
        ASSERT_TRUE(a.next(qid));
        EXPECT_EQ(qid, i % 5);
        a.took(1);
    }
}

/// The same in slow words: a list of queues for each class, in the order of their next turn.
class SlowArbiter {
public:
    explicit SlowArbiter(const Setting& s) : settings_(s), burst_(s.burst_code == 7 ? ~0u : 1u << s.burst_code) {}

    int next(const std::vector<int>& backlog) {
        const auto ready = [&](int level) {
            for (std::size_t q = 0; q < backlog.size(); ++q)
                if (backlog[q] > 0 && class_of(q) == level) return true;
            return false;
        };
        for (const int strict : {-1, 0})
            if (ready(strict)) return turn(strict, backlog);
        for (;;) {
            if (credit_[level_] > 0 && ready(static_cast<int>(level_) + 1)) {
                const int q = turn(static_cast<int>(level_) + 1, backlog);
                if (--credit_[level_] == 0) left_[level_ + 2] = 0;
                return q;
            }
            credit_[level_] = 0;
            if (++level_ == 3) {
                level_ = 0;
                credit_ = settings_.weights;
            }
        }
    }
    void emptied(int q) {
        const int level = class_of(static_cast<std::size_t>(q));
        if (current_[static_cast<std::size_t>(level + 1)] == q) left_[static_cast<std::size_t>(level + 1)] = 0;
    }

private:
    int class_of(std::size_t q) const { return q == 0 ? -1 : settings_.priority[q - 1]; }
    int turn(int level, const std::vector<int>& backlog) {
        int& current = current_[static_cast<std::size_t>(level + 1)];
        std::uint32_t& left = left_[static_cast<std::size_t>(level + 1)];
        const int n = static_cast<int>(backlog.size());
        if (left == 0) {
            do current = (current + 1) % n;
            while (backlog[static_cast<std::size_t>(current)] == 0 ||
                   class_of(static_cast<std::size_t>(current)) != level);
            left = burst_;
        }
        --left;
        return current;
    }

    const Setting& settings_;
    const std::uint32_t burst_;
    std::array<int, 5> current_{-1, -1, -1, -1, -1};
    std::array<std::uint32_t, 5> left_{};
    std::array<std::uint32_t, 3> credit_{};
    std::size_t level_ = 0;
};

TEST(WeightedArbiter, EveryOrderIsThatOfTheSpecification) {
    std::uint64_t served = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE(seed);
        Random r(seed);
        Setting s;
        s.burst_code = static_cast<std::uint32_t>(r.below(8));
        for (std::uint32_t& w : s.weights) w = 1 + static_cast<std::uint32_t>(r.below(r.percent(20) ? 256 : 6));
        s.priority.resize(1 + r.below(12));
        for (std::uint8_t& p : s.priority) p = static_cast<std::uint8_t>(r.below(4));
        SubmissionArbiter a = arbiter_of(s);
        SlowArbiter slow(s);
        std::vector<int> backlog(s.priority.size() + 1);
        const auto priority = [&](std::size_t q) { return q == 0 ? kUrgent : s.priority[q - 1]; };
        for (int step = 0; step < 3000; ++step) {
            if (r.percent(30)) {  // a doorbell
                const std::size_t q = r.below(r.percent(90) ? backlog.size() : 1);
                backlog[q] += 1 + static_cast<int>(r.below(20));
                a.set_ready(static_cast<std::uint16_t>(q), priority(q), true);
            }
            const bool any = *std::max_element(backlog.begin(), backlog.end()) > 0;
            std::uint16_t qid = 0;
            ASSERT_EQ(a.next(qid), any);
            if (!any) continue;
            std::uint32_t n = std::min<std::uint32_t>(a.limit(), 1 + static_cast<std::uint32_t>(r.below(5)));
            n = std::min(n, static_cast<std::uint32_t>(backlog[qid]));
            for (std::uint32_t i = 0; i < n; ++i, ++served) ASSERT_EQ(slow.next(backlog), qid);
            a.took(n);
            backlog[qid] -= static_cast<int>(n);
            if (backlog[qid] == 0) {
                a.set_ready(qid, priority(qid), false);
                slow.emptied(qid);
            }
        }
    }
    EXPECT_GT(served, 1'000'000u);
}

}  // namespace
}  // namespace ssdtlm
