// SPDX-License-Identifier: Apache-2.0
// Which stream a unit goes with by how often it is written: against exact counts where no two units share a counter,
// against the probability that they do, and what it is worth for write amplification beside streams that the host
// names.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>

#include "common/random/random.h"
#include "common/report/error.h"
#include "controller/streams/stream_choices.h"

namespace ssdtlm {
namespace {

std::unique_ptr<StreamChoice> multi_hash(std::uint32_t streams, const PolicyValues& values) {
    return StreamChoices::instance().make("ftl.streams_by", "multi_hash", {1000, streams}, {{"multi_hash", values}});
}

TEST(StreamChoice, TheHostsOwnIsNone) {
    EXPECT_EQ(make_stream_choice(FtlConfig{}, 1000), nullptr);
}

TEST(StreamChoice, CountsWritesWhereNoTwoUnitsShareACounter) {
    // Of a million counters, 30 units share none.
    const auto choice =
        multi_hash(3, {{"counters", 1'000'000}, {"hashes", 3}, {"bits", 5}, {"hot", 3}, {"halve_after", 1000}});
    Random random(1);
    std::map<std::uint32_t, std::uint32_t> count;
    std::uint32_t seen[4] = {};
    for (std::uint64_t n = 1; n <= 20'000; ++n) {
        const auto unit = static_cast<std::uint32_t>(random.below(30) * random.below(30) / 30);  // some more often
        std::uint32_t& c = count[unit];
        c = std::min(c + 1, 31u);
        const std::uint32_t expected = c < 3 ? 0 : c < 6 ? 1 : c < 12 ? 2 : 3;
        ASSERT_EQ(choice->written(Lpa{unit}), expected) << "write " << n << " of unit " << unit << ", count " << c;
        ++seen[expected];
        if (n % 1000 == 0)
            for (auto& [u, of] : count) of /= 2;
    }
    for (const std::uint32_t s : seen) EXPECT_GT(s, 50u);
}

// A unit that is written once is taken for one written twice when each of its counters has another's write: with n
// units and K functions over M counters each counter is free of them with probability (1 - 1/M)^((n - 1) K).
TEST(StreamChoice, TakesTooManyForHotAsOftenAsCountersAreShared) {
    for (const std::int64_t hashes : {1, 2, 4}) {
        constexpr std::int64_t kCounters = 20'000;
        constexpr std::uint32_t kUnits = 4'000, kTimes = 20;
        std::uint64_t hot = 0;
        double expected = 0;
        for (std::uint32_t time = 0; time < kTimes; ++time) {
            const auto choice = multi_hash(
                1,
                {{"counters", kCounters}, {"hashes", hashes}, {"bits", 4}, {"hot", 2}, {"halve_after", 1'000'000'000}});
            for (std::uint32_t n = 0; n < kUnits; ++n) {
                hot += choice->written(Lpa{time * 7'000'003 + n * 31});
                const double shared =
                    1 - std::pow(1 - 1.0 / kCounters, static_cast<double>(n) * static_cast<double>(hashes));
                expected += std::pow(shared, static_cast<double>(hashes));
            }
        }
        std::printf("%lld hash functions: %llu of %u units taken for hot, expected %.1f\n",
                    static_cast<long long>(hashes), static_cast<unsigned long long>(hot), kUnits * kTimes, expected);
        EXPECT_NEAR(static_cast<double>(hot), expected, 5 * std::sqrt(expected) + 0.02 * expected);
    }
}

TEST(StreamChoice, StreamsThatCountersDoNotReachAreRefused) {
    EXPECT_NO_THROW(multi_hash(2, {}));  // 4 and 8 of 15
    EXPECT_THROW(multi_hash(3, {}), UserError);
    EXPECT_NO_THROW(multi_hash(3, {{"bits", 5}}));
}

TEST(StreamChoice, UnknownNameListsTheKnownOnes) {
    FtlConfig c;
    c.streams_by = "multi_hush";
    try {
        make_stream_choice(c, 1000);
        FAIL();
    } catch (const UserError& e) {
        EXPECT_NE(std::string(e.what()).find("multi_hash"), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace ssdtlm
