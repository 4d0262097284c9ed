// SPDX-License-Identifier: Apache-2.0
// Means over all intervals, whether they were looked at or left out because nothing happened in them.
#include "sim/results/die_queues.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

TEST(DieQueues, NoneBeforeTheFirstLook) {
    const DieQueues q(2, [](std::uint32_t) { return 7u; });
    EXPECT_TRUE(q.queues().empty());
    EXPECT_EQ(q.looks(), 0u);
}

TEST(DieQueues, IntervalsLeftOutHaveTheQueuesOfTheLookBefore) {
    Random random(1, 1);
    for (int round = 0; round < 50; ++round) {
        std::vector<std::uint32_t> now{0, 0, 0};
        DieQueues q(3, [&](std::uint32_t die) { return now[die]; });
        // Of every interval, as one sees it who looks at each of them.
        std::vector<std::vector<std::uint32_t>> all;
        while (all.size() < 200) {
            const std::uint64_t left_out = random.below(4);
            for (std::uint64_t i = 0; i < left_out; ++i) all.push_back(now);
            for (auto& n : now) n = static_cast<std::uint32_t>(random.below(10));
            all.push_back(now);
            q.look(all.size());
        }
        ASSERT_EQ(q.looks(), all.size());
        for (std::size_t die = 0; die < now.size(); ++die) {
            double sum = 0;
            std::uint32_t most = 0;
            for (const auto& interval : all) {
                sum += interval[die];
                most = std::max(most, interval[die]);
            }
            EXPECT_DOUBLE_EQ(q.queues()[die].mean, sum / static_cast<double>(all.size()));
            EXPECT_EQ(q.queues()[die].most, most);
        }
    }
}

TEST(DieQueues, CountFromTheBeginningOfTheWindow) {
    std::uint32_t now = 9;
    DieQueues q(1, [&](std::uint32_t) { return now; });
    q.look(3);
    q.begin(5);
    EXPECT_TRUE(q.queues().empty());
    now = 2;
    q.look(8);  // 9 at the ends of 6 and 7, which were left out
    EXPECT_EQ(q.looks(), 3u);
    EXPECT_DOUBLE_EQ(q.queues()[0].mean, (9 + 9 + 2) / 3.0);
    EXPECT_EQ(q.queues()[0].most, 9u);
}

}  // namespace
}  // namespace ssdtlm
