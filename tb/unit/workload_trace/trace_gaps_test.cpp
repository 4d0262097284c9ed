// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/trace/trace_gaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

__extension__ using Wide = __int128;

std::vector<TraceRecord> at(const std::vector<std::int64_t>& ticks) {
    std::vector<TraceRecord> records(ticks.size());
    for (std::size_t i = 0; i < ticks.size(); ++i) records[i].t = Ps{ticks[i]};
    return records;
}

TEST(TraceGaps, ShortOnesStayAndNoneIsLongerThanAsked) {
    std::vector<TraceRecord> r = at({0, 5, 1'000'000, 1'000'010, 9'000'000});
    const TraceGaps gaps = shorten_gaps(r, 1000, Age::nanoseconds(100'000));  // 100 ticks of a microsecond
    const std::vector<std::int64_t> expected{0, 5, 105, 115, 215};
    for (std::size_t i = 0; i < r.size(); ++i) EXPECT_EQ(r[i].t.count(), expected[i]) << i;
    EXPECT_EQ(gaps.shortened, 2u);
    EXPECT_EQ(gaps.longest, Age::nanoseconds(7'999'990'000));
    EXPECT_EQ(gaps.left_out, Age::nanoseconds((9'000'000 - 215) * std::int64_t{1000}));
    EXPECT_THAT(gaps.sentence(), testing::HasSubstr("2 pauses of up to"));
    EXPECT_THAT(gaps.sentence(), testing::Not(testing::HasSubstr("because")));
    std::vector<TraceRecord> same = at({0, 5, 1'000'000});
    EXPECT_EQ(shorten_gaps(same, 1000, Age::longest()).sentence(), "");
    EXPECT_EQ(same[2].t.count(), 1'000'000);
    std::vector<TraceRecord> none;
    EXPECT_EQ(shorten_gaps(none, 1000, Age::longest()).shortened, 0u);
}

// Random traces of months to millennia: what remains fits, in order; a pause is as it was or one of the longest, which
// could not be a tick longer.
TEST(TraceGaps, AsMuchIsKeptAsFits) {
    Random random(3);
    for (int round = 0; round < 300; ++round) {
        const std::int64_t tick = random.percent(30) ? 1 : random.percent(50) ? 100 : 1000;
        const std::int64_t limit = kLongestReplay.count() / tick;
        std::vector<std::int64_t> ticks{0};
        const std::size_t n = 1 + random.below(60);
        for (std::size_t i = 0; i < n; ++i) {
            const std::int64_t room = std::int64_t{9'000'000'000'000'000'000} - ticks.back();
            const auto gap =
                static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(random.percent(80) ? 40 : 62)));
            ticks.push_back(ticks.back() + std::min(gap, room));
        }
        const bool asks = random.percent(40);
        const Age most =
            asks ? Age::nanoseconds(1 + static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(60))))
                 : Age::longest();
        std::vector<TraceRecord> r = at(ticks);
        const TraceGaps gaps = shorten_gaps(r, tick, most);
        const std::int64_t asked = std::max<std::int64_t>(most.count() / tick, 1);
        std::int64_t kept = 0;
        std::uint64_t shortened = 0;
        for (std::size_t i = 1; i < r.size(); ++i) {
            const std::int64_t was = ticks[i] - ticks[i - 1], is = r[i].t.count() - r[i - 1].t.count();
            ASSERT_GE(is, 0);
            ASSERT_LE(is, was);
            if (asks) {
                ASSERT_LE(is, asked);
            }
            if (is != was) {
                ASSERT_TRUE(shortened == 0 || is == kept) << "all that were shortened last as long";
                kept = is;
                ++shortened;
            }
        }
        for (std::size_t i = 1; i < r.size(); ++i)
            ASSERT_TRUE(shortened == 0 || r[i].t.count() - r[i - 1].t.count() <= kept);
        ASSERT_LE(r.back().t.count(), limit);
        ASSERT_EQ(gaps.shortened, shortened);
        if (shortened == 0 || (asks && kept == asked)) continue;
        Wide longer = 0;  // with a tick more for each
        for (std::size_t i = 1; i < ticks.size(); ++i) longer += std::min(ticks[i] - ticks[i - 1], kept + 1);
        ASSERT_GT(longer, limit) << "a longer pause would have fitted";
        ASSERT_FALSE(gaps.asked);
    }
}

}  // namespace
}  // namespace ssdtlm
