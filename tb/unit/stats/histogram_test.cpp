// SPDX-License-Identifier: Apache-2.0
#include "common/stats/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "common/random/random.h"
#include "common/stats/sample_stat.h"

namespace ssdtlm {
namespace {

// "bins" and "percentile" of one clat_ns object that fio 3.33 printed with --output-format=json+ (libaio, randrw).
const std::vector<std::pair<std::uint64_t, std::uint64_t>> kFioBins = {
    {28288, 1},  {30080, 1},  {33024, 1},  {34048, 2},  {34560, 1},  {35072, 10}, {35584, 9},  {36096, 19}, {36608, 34},
    {37120, 33}, {37632, 33}, {38144, 18}, {38656, 24}, {39168, 24}, {39680, 25}, {40192, 25}, {40704, 18}, {41216, 30},
    {41728, 30}, {42240, 28}, {42752, 25}, {43264, 16}, {43776, 20}, {44288, 14}, {44800, 13}, {45312, 15}, {45824, 15},
    {46336, 14}, {46848, 13}, {47360, 6},  {47872, 10}, {48384, 12}, {48896, 10}, {49408, 4},  {49920, 3},  {50432, 4},
    {50944, 2},  {51456, 4},  {51968, 2},  {52480, 3},  {54016, 5},  {55040, 4},  {55552, 5},  {56064, 2},  {56576, 4},
    {57088, 1},  {57600, 3},  {58112, 4},  {58624, 2},  {59648, 3},  {60160, 6},  {60672, 2},  {61184, 4},  {61696, 3},
    {62208, 6},  {62720, 7},  {63232, 4},  {63744, 6},  {64256, 1},  {64768, 3},  {65280, 1},  {66048, 7},  {67072, 4},
    {68096, 7},  {69120, 3},  {70144, 4},  {71168, 4},  {72192, 4},  {73216, 3},  {74240, 2},  {75264, 2},  {76288, 4},
    {77312, 5},  {78336, 6},  {79360, 4},  {80384, 2},  {81408, 1},  {82432, 2},  {83456, 1},  {84480, 4},  {85504, 2},
    {86528, 3},  {87552, 6},  {88576, 5},  {89600, 3},  {90624, 5},  {91648, 3},  {92672, 2},  {93696, 1},  {94720, 3},
    {95744, 3},  {96768, 3},  {98816, 1},  {99840, 1},  {100864, 1}, {101888, 1}, {103936, 3}, {104960, 2}, {107008, 1},
    {108032, 1}, {109056, 1}, {110080, 1}, {111104, 1}, {115200, 1}, {118272, 1}, {119296, 2}, {121344, 1}, {123392, 1},
    {125440, 1}, {126464, 1}, {136192, 1}, {144384, 1}, {158720, 1}, {162816, 1}, {166912, 1}, {171008, 1}, {175104, 1},
    {203776, 1}, {284672, 1},
};
const std::vector<std::pair<double, std::uint64_t>> kFioPercentiles = {
    {50.0, 43264}, {90.0, 80384}, {99.0, 144384}, {99.9, 284672}, {99.99, 284672}, {99.999, 284672},
};
constexpr std::uint64_t kFioCount = 786, kFioMin = 28322, kFioMax = 286517;

TEST(Histogram, BucketsAreFios) {
    for (const auto& [key, count] : kFioBins) EXPECT_EQ(Histogram::midpoint_of(Histogram::index_of(key)), key);
    // fio's own extremes fall into its first and last non-empty bucket.
    EXPECT_EQ(Histogram::midpoint_of(Histogram::index_of(kFioMin)), kFioBins.front().first);
    EXPECT_EQ(Histogram::midpoint_of(Histogram::index_of(kFioMax)), kFioBins.back().first);
}

TEST(Histogram, PercentilesAreFios) {
    Histogram h;
    for (const auto& [key, count] : kFioBins)
        for (std::uint64_t i = 0; i < count; ++i) h.record(key);
    EXPECT_EQ(h.count(), kFioCount);
    std::vector<double> list;
    for (const auto& [p, value] : kFioPercentiles) {
        EXPECT_EQ(h.percentile(p), value) << p;
        list.push_back(p);
    }
    const auto all = h.percentiles(list);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], kFioPercentiles[i].second);
    std::size_t n = 0;
    h.for_each([&](std::uint64_t key, std::uint64_t count) {
        ASSERT_LT(n, kFioBins.size());
        EXPECT_EQ(key, kFioBins[n].first);
        EXPECT_EQ(count, kFioBins[n].second);
        ++n;
    });
    EXPECT_EQ(n, kFioBins.size());
}

TEST(Histogram, EveryBucketBoundsItsValues) {
    for (unsigned i = 0; i < Histogram::kBuckets; ++i) {
        ASSERT_EQ(Histogram::index_of(Histogram::midpoint_of(i)), i);
        if (i > 0) {
            ASSERT_GT(Histogram::midpoint_of(i), Histogram::midpoint_of(i - 1));
        }
    }
    for (std::uint64_t v = 0; v < 128; ++v) ASSERT_EQ(Histogram::midpoint_of(Histogram::index_of(v)), v);
    for (unsigned bit = 7; bit < 34; ++bit)
        for (std::uint64_t v : {(1ull << bit) - 1, 1ull << bit, (1ull << bit) + 1, (3ull << (bit - 1)) + 5}) {
            const double middle = static_cast<double>(Histogram::midpoint_of(Histogram::index_of(v)));
            ASSERT_LE(std::abs(middle - static_cast<double>(v)), static_cast<double>(v) / 128) << v;
        }
    EXPECT_EQ(Histogram::index_of(1ull << 34), Histogram::kBuckets - 1);
    EXPECT_EQ(Histogram::index_of(~0ull), Histogram::kBuckets - 1);
}

TEST(Histogram, AgainstExactSort) {
    Random random(7);
    Histogram h;
    std::vector<std::uint64_t> values;
    long double sum = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t v = 1000 + (random.below(1u << 20) >> random.below(20));
        values.push_back(v);
        sum += static_cast<long double>(v);
        h.record(v);
    }
    std::sort(values.begin(), values.end());
    for (double p : {0.01, 1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
        const auto rank = static_cast<std::size_t>(std::ceil(p / 100.0 * static_cast<double>(values.size())));
        const auto exact = static_cast<double>(values[std::max<std::size_t>(rank, 1) - 1]);
        EXPECT_NEAR(static_cast<double>(h.percentile(p)), exact, exact / 128) << p;
    }
    const long double mean = sum / static_cast<long double>(values.size());
    long double squares = 0;
    for (auto v : values) squares += (static_cast<long double>(v) - mean) * (static_cast<long double>(v) - mean);
    const auto deviation = static_cast<double>(std::sqrt(squares / static_cast<long double>(values.size() - 1)));
    EXPECT_EQ(h.min(), values.front());
    EXPECT_EQ(h.max(), values.back());
    EXPECT_DOUBLE_EQ(h.mean(), static_cast<double>(mean));
    EXPECT_NEAR(h.stddev(), deviation, deviation * 1e-12);
}

TEST(Histogram, TinyDeviationBesideLargeMeanDoesNotCancel) {
    Histogram h;
    const std::uint64_t base = 10'000'000'000;  // 10 s in ns
    for (int i = 0; i < 1000; ++i) h.record(base + static_cast<std::uint64_t>(i % 2));
    // n/2 values at -1/2 and n/2 at +1/2 of the mean: variance = n/4 / (n - 1).
    EXPECT_NEAR(h.stddev(), std::sqrt(250.0 / 999.0), 1e-9);
}

TEST(Histogram, MergeEqualsRecordingEverything) {
    Random random(3);
    Histogram a, b, all, empty;
    for (int i = 0; i < 5000; ++i) {
        const std::uint64_t v = random.below(1u << 30);
        (i % 3 ? a : b).record(v);
        all.record(v);
    }
    a.merge(b);
    a.merge(empty);
    empty.merge(a);
    for (const Histogram* h : {&a, &empty}) {
        EXPECT_EQ(h->count(), all.count());
        EXPECT_EQ(h->sum(), all.sum());
        EXPECT_EQ(h->min(), all.min());
        EXPECT_EQ(h->max(), all.max());
        EXPECT_EQ(h->stddev(), all.stddev());
        for (unsigned i = 0; i < Histogram::kBuckets; ++i) ASSERT_EQ(h->bucket(i), all.bucket(i));
    }
}

TEST(Histogram, EmptyAndSingle) {
    Histogram h;
    EXPECT_EQ(h.percentile(50), 0u);
    EXPECT_EQ(h.min(), 0u);
    EXPECT_EQ(h.mean(), 0.0);
    EXPECT_EQ(h.stddev(), 0.0);
    h.record(77);
    EXPECT_EQ(h.percentile(0.001), 77u);
    EXPECT_EQ(h.percentile(100), 77u);
    EXPECT_EQ(h.stddev(), 0.0);
    h.clear();
    EXPECT_TRUE(h.empty());
    EXPECT_EQ(h.percentile(50), 0u);
    h.record(5);
    EXPECT_EQ(h.min(), 5u);
}

TEST(LatencyHistogram, SumIsExactInPicoseconds) {
    LatencyHistogram h;
    for (int i = 0; i < 1000; ++i) h.record(Ps{1'999});
    EXPECT_TRUE(h.sum_ps() == 1'999'000u);
    EXPECT_EQ(h.ns().max(), 1u);
    EXPECT_DOUBLE_EQ(h.mean_ns(), 1.999);
}

TEST(SampleStat, MomentsAndParallelSum) {
    SampleStat a, b;
    for (std::uint64_t v : {2u, 4u, 4u, 4u, 5u, 5u, 7u, 9u}) a.add(v);
    EXPECT_DOUBLE_EQ(a.mean(), 5.0);
    EXPECT_DOUBLE_EQ(a.stddev(), std::sqrt(32.0 / 7.0));
    b.add(10);
    a.add_parallel(b);
    EXPECT_DOUBLE_EQ(a.mean(), 15.0);
    EXPECT_EQ(a.min(), 12u);
    EXPECT_EQ(a.max(), 19u);
    EXPECT_EQ(a.count(), 9u);
}

}  // namespace
}  // namespace ssdtlm
