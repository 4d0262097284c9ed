// SPDX-License-Identifier: Apache-2.0
// The breakdown by bucket of total latency against a list of all commands: exact, and the same for a run in two halves.
#include "sim/results/latency_stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

struct Command {
    HostOp op{};
    bool measured = true;
    std::array<std::int64_t, kStageCount> ps{};
    std::int64_t total() const {
        std::int64_t sum = 0;
        for (const std::int64_t part : ps) sum += part;
        return sum;
    }
};

/// Latencies over nine decades; some of them again and again, and some stages never.
std::vector<Command> random_commands(std::size_t n) {
    Random random{11};
    std::vector<Command> all(n);
    for (Command& c : all) {
        c.op = static_cast<HostOp>(random.below(3));
        c.measured = random.percent(90);
        const auto scale = std::int64_t{1} << random.below(44);
        for (std::size_t i = 0; i + 1 < kStageCount; ++i)
            if (random.percent(40))
                c.ps[i] = random.percent(30)
                              ? 75'000'000
                              : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(scale)));
    }
    return all;
}

void feed(LatencyStats& stats, const Command& c) {
    const SimTime issued{Ps{1'000}};
    Timeline t;
    t.begin(issued);
    for (std::size_t i = 0; i < kStageCount; ++i) t.charge(static_cast<Stage>(i), t.last() + Ps{c.ps[i]});
    HostRequest r;
    r.op = c.op;
    r.bytes = 4096;
    stats.on_complete(r, issued, t.submitted(), t.last(), t, c.measured);
}

using Key = std::pair<std::string, unsigned>;
struct Sum {
    std::uint64_t count = 0;
    std::array<std::int64_t, kStageCount> ps{};
    bool operator==(const Sum& o) const { return count == o.count && ps == o.ps; }
};
void add(std::map<Key, Sum>& sums, const Key& key, std::uint64_t count,
         const std::array<std::int64_t, kStageCount>& ps) {
    Sum& s = sums[key];
    s.count += count;
    for (std::size_t i = 0; i < kStageCount; ++i) s.ps[i] += ps[i];
}
std::map<Key, Sum> bins_of(const LatencyStats& stats) {
    std::map<Key, Sum> sums;
    for (const auto& row : stats.bins()) add(sums, {row.op, row.bucket}, row.count, row.ps);
    return sums;
}

TEST(LatencyBins, HoldEveryCommandExactly) {
    const auto commands = random_commands(20'000);
    LatencyStats whole, first, second;
    std::map<Key, Sum> expected;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        const Command& c = commands[i];
        feed(whole, c);
        feed(i % 3 == 0 ? first : second, c);
        if (!c.measured) continue;
        // fio 3.33's buckets once more: 64 a power of two, one each below 128, nothing above 2^34 apart.
        const std::uint64_t ns = (static_cast<std::uint64_t>(c.total()) + 500) / 1000;
        unsigned bucket = 0;
        while (bucket + 1 < 29 * 64) {
            const std::uint64_t next = bucket + 1 < 128
                                           ? bucket + 1
                                           : (64 + (bucket + 1) % 64) * (std::uint64_t{1} << ((bucket + 1) / 64 - 1));
            if (ns < next) break;
            ++bucket;
        }
        add(expected, {host_op_name(c.op), bucket}, 1, c.ps);
    }
    EXPECT_GT(expected.size(), 1000u);
    EXPECT_EQ(bins_of(whole), expected);
    auto merged = bins_of(first);
    for (const auto& [key, sum] : bins_of(second)) add(merged, key, sum.count, sum.ps);
    EXPECT_EQ(merged, expected);
    std::printf("[   FIGURE ] %zu commands in %zu bins\n", commands.size(), expected.size());
}

TEST(LatencyBins, RowsAreTheirSums) {
    LatencyStats stats;
    const auto commands = random_commands(5'000);
    for (const Command& c : commands) feed(stats, c);
    for (const auto& row : stats.rows()) {
        std::int64_t sum = 0, longest = 0, count = 0;
        for (const Command& c : commands) {
            if (!c.measured || host_op_name(c.op) != row.op) continue;
            std::int64_t ps = c.total();
            for (std::size_t i = 0; i < kStageCount && row.stage != "total"; ++i)
                if (row.stage == stage_name(static_cast<Stage>(i))) ps = c.ps[i];
            sum += ps;
            longest = std::max(longest, ps);
            ++count;
        }
        EXPECT_EQ(row.count, static_cast<std::uint64_t>(count));
        EXPECT_DOUBLE_EQ(row.mean, static_cast<double>(sum) * 1e-6 / static_cast<double>(count))
            << row.op << " " << row.stage;
        EXPECT_DOUBLE_EQ(row.max, static_cast<double>(longest) * 1e-6);
    }
}

TEST(LatencyBins, LongestSinceItWasAsked) {
    LatencyStats stats;
    Command c;
    c.op = HostOp::write;
    for (const std::int64_t ps : {5, 9, 7}) {
        c.ps[3] = ps;
        c.measured = ps != 9;
        feed(stats, c);
    }
    EXPECT_EQ(stats.take_longest(HostOp::write), Ps{9});
    EXPECT_EQ(stats.take_longest(HostOp::write), Ps{0});
    EXPECT_EQ(stats.all_latency(HostOp::write), Ps{21});
    EXPECT_DOUBLE_EQ(stats.rows().back().max, 7e-6);
}

}  // namespace
}  // namespace ssdtlm
