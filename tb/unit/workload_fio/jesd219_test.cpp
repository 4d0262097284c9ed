// SPDX-License-Identifier: Apache-2.0
// The requests of configs/workload/jesd219-enterprise*.fio against the table of JESD219 (sizes, skew, mix, alignment).
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "fio_fixture.h"

namespace ssdtlm {
namespace {

using Shares = std::map<std::uint32_t, double>;  // size -> share of the requests

const Shares kSizes{{512, 0.04},  {1024, 0.01}, {1536, 0.01}, {2048, 0.01},  {2560, 0.01},  {3072, 0.01},
                    {3584, 0.01}, {4096, 0.67}, {8192, 0.10}, {16384, 0.07}, {32768, 0.03}, {65536, 0.03}};
const Shares kSizes4k{{4096, 0.77}, {8192, 0.10}, {16384, 0.07}, {32768, 0.03}, {65536, 0.03}};

// A part of the drive, in percent, and the share of requests that begin in it.
struct Group {
    std::uint64_t begin, end;
    double share;
};
const std::vector<Group> kGroups{{0, 5, 0.50}, {5, 20, 0.30}, {20, 100, 0.20}};

/// Five standard deviations of a share that is counted in n independent draws.
double five_sigma(double share, std::size_t n) {
    return 5 * std::sqrt(share * (1 - share) / static_cast<double>(n));
}

struct Jesd219 : ::testing::TestWithParam<std::pair<const char*, const Shares*>> {
    const std::uint64_t capacity = 100 * 64_MiB;  // a percent is a whole number of the largest requests
    std::vector<Issue> run(std::uint64_t seed = 1) {
        const std::uint32_t lba = GetParam().second == &kSizes ? 512 : 4096;
        FioWorkload workload(
            load_fio_job_file(std::string(SSDTLM_WORKLOADS) + "/" + GetParam().first, FioDevice{capacity, lba, seed}));
        return drain(workload, 100us);
    }
    std::size_t group_of(const Issue& i) const {
        const std::uint64_t percent = i.request.offset * 100 / capacity;
        return percent < 5 ? 0 : percent < 20 ? 1 : 2;
    }
};

TEST_P(Jesd219, SizesHaveTheirSharesInEachPartOfTheDrive) {
    const auto issues = run();
    ASSERT_GE(issues.size(), 100'000u);
    std::map<std::uint32_t, std::size_t> all;
    std::vector<std::map<std::uint32_t, std::size_t>> by_group(3);
    std::vector<std::size_t> of_group(3);
    for (const Issue& i : issues) {
        ++all[i.request.bytes];
        ++by_group[group_of(i)][i.request.bytes];
        ++of_group[group_of(i)];
    }
    ASSERT_EQ(all.size(), GetParam().second->size());
    const double n = static_cast<double>(issues.size());
    for (const auto& [size, share] : *GetParam().second) {
        EXPECT_NEAR(static_cast<double>(all[size]) / n, share, five_sigma(share, issues.size())) << size;
        for (std::size_t g = 0; g < 3; ++g)
            EXPECT_NEAR(static_cast<double>(by_group[g][size]) / static_cast<double>(of_group[g]), share,
                        five_sigma(share, of_group[g]))
                << size << " in group " << g;
    }
}

TEST_P(Jesd219, PartsOfTheDriveHaveTheirSharesAndAreUniform) {
    const auto issues = run();
    std::vector<double> percent(100);
    for (const Issue& i : issues) ++percent[i.request.offset * 100 / capacity];
    for (const Group& g : kGroups) {
        double sum = 0;
        const double expected = g.share / static_cast<double>(g.end - g.begin);
        for (std::uint64_t p = g.begin; p < g.end; ++p) {
            sum += percent[p];
            EXPECT_NEAR(percent[p] / static_cast<double>(issues.size()), expected, five_sigma(expected, issues.size()))
                << p << " %";
        }
        EXPECT_NEAR(sum / static_cast<double>(issues.size()), g.share, five_sigma(g.share, issues.size()))
            << g.begin << " %";
    }
}

TEST_P(Jesd219, FourOfTenAreReadsAndAllStartAtWholeFourKiB) {
    const auto issues = run();
    EXPECT_NEAR(static_cast<double>(count(issues, HostOp::read)) / static_cast<double>(issues.size()), 0.4,
                five_sigma(0.4, issues.size()));
    EXPECT_EQ(count(issues, HostOp::read) + count(issues, HostOp::write), issues.size());
    double bytes = 0;
    for (const Issue& i : issues) {
        ASSERT_EQ(i.request.offset % 4096, 0u);
        ASSERT_LE(i.request.offset + i.request.bytes, capacity);
        bytes += i.request.bytes;
    }
    double mean = 0;
    double square = 0;
    for (const auto& [size, share] : *GetParam().second) {
        mean += share * size;
        square += share * size * size;
    }
    const double n = static_cast<double>(issues.size());
    EXPECT_NEAR(bytes / n, mean, 5 * std::sqrt((square - mean * mean) / n));
}

TEST_P(Jesd219, FourJobsEachKeep256UnderWay) {
    const auto issues = run();
    std::vector<std::size_t> first(4);
    for (std::size_t i = 0; i < 4 * 256; ++i) {
        ASSERT_EQ(issues[i].at, SimTime{});
        ++first[issues[i].request.job];
    }
    EXPECT_EQ(first, std::vector<std::size_t>(4, 256));
    EXPECT_GT(issues[4 * 256].at, SimTime{});
}

TEST_P(Jesd219, TheSeedDecides) {
    const auto offsets = [this](std::uint64_t seed) {
        std::vector<std::uint64_t> all;
        for (const Issue& i : run(seed)) all.push_back(i.request.offset);
        return all;
    };
    const auto once = offsets(7);
    EXPECT_EQ(once, offsets(7));
    EXPECT_NE(once, offsets(8));
}

INSTANTIATE_TEST_SUITE_P(Shipped, Jesd219,
                         ::testing::Values(std::pair{"jesd219-enterprise.fio", &kSizes},
                                           std::pair{"jesd219-enterprise-4k.fio", &kSizes4k}),
                         [](const auto& of) { return of.index == 0 ? "Enterprise" : "Enterprise4k"; });

}  // namespace
}  // namespace ssdtlm
