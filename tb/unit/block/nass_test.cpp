// SPDX-License-Identifier: Apache-2.0
// The rules of NASS on features that are written down, with limits computed by hand.
#include "host_block/nass/nass.h"

#include <gtest/gtest.h>

namespace ssdtlm {
namespace {

constexpr std::uint32_t kDepth = 32;
const std::vector<std::uint32_t> kEqual{100, 100};

NassFeatures features(double intensity, double tags, double bytes, double reads = 1) {
    NassFeatures f;
    f.active = true;
    f.intensity = intensity;
    f.tags = tags;
    f.request_bytes = f.command_bytes = bytes;
    f.reads = reads;
    return f;
}
NassConfig simple() {
    NassConfig c;
    c.aggre = true;
    c.read_command = Ps{2'000'000};
    c.read_kib = Ps{1'000'000};
    c.write_command = Ps{4'000'000};
    c.write_kib = Ps{2'000'000};
    return c;
}
std::vector<std::uint32_t> limits(const NassConfig& c, const std::vector<NassFeatures>& f,
                                  const std::vector<std::uint32_t>& weights = kEqual,
                                  std::vector<std::uint32_t> before = {}) {
    before.resize(f.size(), kDepth);
    return nass_aggre_limits(c, f, weights, kDepth, before);
}

TEST(Nass, CostIsLinearInBytesAndMixesDirections) {
    EXPECT_DOUBLE_EQ(nass_cost(simple(), features(1, 1, 4096)), 6e6);
    EXPECT_DOUBLE_EQ(nass_cost(simple(), features(1, 1, 4096, 0)), 12e6);
    EXPECT_DOUBLE_EQ(nass_cost(simple(), features(1, 1, 4096, 0.5)), 9e6);
    EXPECT_DOUBLE_EQ(nass_cost(simple(), features(1, 1, 131072)), 130e6);
}

TEST(Nass, AggressivenessIsTagsTimesCostOverTheShareByWeight) {
    const std::vector<NassFeatures> f{features(2, 2, 4096), features(32, 30, 4096)};
    const std::vector<double> equal = nass_aggressiveness(simple(), f, kEqual);
    EXPECT_DOUBLE_EQ(equal[0], 2.0 / 32 * 2);
    EXPECT_DOUBLE_EQ(equal[1], 30.0 / 32 * 2);
    const std::vector<double> weighted = nass_aggressiveness(simple(), f, {100, 300});
    EXPECT_DOUBLE_EQ(weighted[0], 2.0 / 32 * 4);
    EXPECT_DOUBLE_EQ(weighted[1], 30.0 / 32 * 4 / 3);
}

TEST(Nass, NobodyIsLimitedWhoIsAloneOrFair) {
    EXPECT_EQ(limits(simple(), {features(32, 32, 4096), NassFeatures{}}), (std::vector<std::uint32_t>{32, 32}));
    EXPECT_EQ(limits(simple(), {features(32, 16, 4096), features(32, 16, 4096)}), (std::vector<std::uint32_t>{32, 32}));
    // 1.0625 of its share: within delta.
    EXPECT_EQ(limits(simple(), {features(32, 15, 4096), features(32, 17, 4096)}), (std::vector<std::uint32_t>{32, 32}));
}

// TEST5 of the study: depth 2 beside depth 32, requests of one cost.
TEST(Nass, TheIntensiveOneGetsHalfOfTheTags) {
    EXPECT_EQ(limits(simple(), {features(2, 2, 4096), features(32, 30, 4096)}), (std::vector<std::uint32_t>{32, 16}));
    // With three times the weight: 32 * 3 / 4.
    EXPECT_EQ(limits(simple(), {features(2, 2, 4096), features(32, 30, 4096)}, {100, 300}),
              (std::vector<std::uint32_t>{32, 24}));
}

// What the other one wants stays free: 15 requests of it, 14.2 on average.
TEST(Nass, LeavesATagForEachRequestOfTheOthers) {
    const std::vector<NassFeatures> f{features(14.2, 2, 4096), features(32, 30, 4096)};
    EXPECT_EQ(limits(simple(), f, {100, 300}), (std::vector<std::uint32_t>{32, 17}));
}

// TEST3: 4 KiB beside 128 KiB. Costs 6 and 130 us: 32 * (1/130) / (1/6 + 1/130) = 1.41.
TEST(Nass, LimitsAreInProportionToTheInverseOfTheCost) {
    EXPECT_EQ(limits(simple(), {features(32, 16, 4096), features(32, 16, 131072)}),
              (std::vector<std::uint32_t>{32, 1}));
    // 64 tags times three quarters, of 16 KiB against 4 KiB: costs 18 and 6, 32 * (1/18) / (1/6 + 1/18) = 8.
    EXPECT_EQ(limits(simple(), {features(32, 16, 4096), features(32, 16, 16384)}), (std::vector<std::uint32_t>{32, 8}));
}

// Under its limit it is fair, and would take all again.
TEST(Nass, KeepsALimitThatIsWanted) {
    const std::vector<NassFeatures> f{features(32, 24, 4096), features(32, 8, 16384)};
    EXPECT_LT(nass_aggressiveness(simple(), f, kEqual)[1], 1.1);
    EXPECT_EQ(limits(simple(), f, kEqual, {32, 8}), (std::vector<std::uint32_t>{32, 8}));
    EXPECT_EQ(limits(simple(), f, kEqual, {32, 32}), (std::vector<std::uint32_t>{32, 32}));
    // One that wants less than its limit is let go.
    EXPECT_EQ(limits(simple(), {features(32, 18, 4096), features(6, 6, 16384)}, kEqual, {32, 8}),
              (std::vector<std::uint32_t>{32, 32}));
}

ContextUse use(std::int64_t ms, double requests, double tags, std::uint64_t commands, std::uint64_t bytes) {
    ContextUse u;
    u.requests_ps = static_cast<std::int64_t>(requests * static_cast<double>(ms) * 1e9);
    u.tags_ps = static_cast<std::int64_t>(tags * static_cast<double>(ms) * 1e9);
    u.arrivals = u.reads = u.commands = u.completions = commands;
    u.arrived_bytes = u.command_bytes = commands * bytes;
    u.sequential = commands;
    u.latency_ps = static_cast<std::int64_t>(commands) * 50'000'000;
    return u;
}
ContextUse operator+(ContextUse a, const ContextUse& b) {
    a.requests_ps += b.requests_ps;
    a.tags_ps += b.tags_ps;
    a.arrivals += b.arrivals;
    a.reads += b.reads;
    a.commands += b.commands;
    a.completions += b.completions;
    a.arrived_bytes += b.arrived_bytes;
    a.command_bytes += b.command_bytes;
    a.sequential += b.sequential;
    a.latency_ps += b.latency_ps;
    return a;
}

TEST(NassModel, SmoothsByAQuarter) {
    EvaluationModel m(1, kDepth);
    const ContextUse first = use(100, 8, 4, 1000, 4096), second = use(100, 16, 8, 500, 8192);
    m.window_ends({first}, Ps{100'000'000'000});
    EXPECT_DOUBLE_EQ(m.features()[0].intensity, 8);
    EXPECT_DOUBLE_EQ(m.features()[0].tags, 4);
    EXPECT_DOUBLE_EQ(m.features()[0].request_bytes, 4096);
    EXPECT_DOUBLE_EQ(m.features()[0].latency_us, 50);
    EXPECT_DOUBLE_EQ(m.features()[0].bytes_per_s, 1000 * 4096 / 0.1);
    EXPECT_DOUBLE_EQ(m.utilisation(), 4.0 / kDepth);
    m.window_ends({first + second}, Ps{100'000'000'000});
    EXPECT_DOUBLE_EQ(m.features()[0].intensity, 8 + (16 - 8) / 4.0);
    EXPECT_DOUBLE_EQ(m.features()[0].request_bytes, 4096 + 4096 / 4.0);
    EXPECT_DOUBLE_EQ(m.utilisation(), (4 + (8 - 4) / 4.0) / kDepth);
    // Nothing came: sizes stay, intensity falls.
    m.window_ends({first + second}, Ps{100'000'000'000});
    EXPECT_FALSE(m.features()[0].active);
    EXPECT_DOUBLE_EQ(m.features()[0].request_bytes, 5120);
    EXPECT_DOUBLE_EQ(m.features()[0].intensity, 7.5);
}

TEST(Nass, SetsLimitsWhenAWindowEnds) {
    NassConfig c = simple();
    c.window_completions = 100;
    Nass nass(c, kEqual, kDepth);
    EXPECT_FALSE(nass.window_is_over(SimTime{Ps{99'999'999'999}}));
    EXPECT_TRUE(nass.window_is_over(SimTime{Ps{100'000'000'000}}));
    for (int i = 0; i < 100; ++i) nass.command_ended();
    EXPECT_TRUE(nass.window_is_over(SimTime{Ps{1}}));
    EXPECT_TRUE(nass.may_dispatch(1, kDepth - 1, kDepth - 1, false));
    nass.window_ends({use(100, 2, 2, 1000, 4096), use(100, 32, 30, 9000, 4096)}, SimTime{Ps{100'000'000'000}});
    EXPECT_EQ(nass.limit(0), kDepth);
    EXPECT_EQ(nass.limit(1), 16u);
    EXPECT_TRUE(nass.may_dispatch(1, 15, 17, false));
    EXPECT_FALSE(nass.may_dispatch(1, 16, 18, false));
    EXPECT_FALSE(nass.window_is_over(SimTime{Ps{100'000'000'001}}));
}

TEST(Nass, LendsFreeTagsWhileTheOthersAreIdle) {
    NassConfig c = simple();
    c.anti = true;
    Nass nass(c, kEqual, kDepth);
    nass.window_ends({use(100, 2, 2, 1000, 4096), use(100, 32, 30, 9000, 4096)}, SimTime{Ps{100'000'000'000}});
    ASSERT_EQ(nass.limit(1), 16u);
    EXPECT_FALSE(nass.may_dispatch(1, 16, 16, false));
    EXPECT_TRUE(nass.may_dispatch(1, 16, 16, true));
    // Up to theta, 90 % of 32 tags: 28.8.
    EXPECT_TRUE(nass.may_dispatch(1, 28, 28, true));
    EXPECT_FALSE(nass.may_dispatch(1, 29, 29, true));
    EXPECT_TRUE(nass.fills_waits(15));
    EXPECT_FALSE(nass.fills_waits(16));
    c.anti = false;
    EXPECT_FALSE(Nass(c, kEqual, kDepth).fills_waits(0));
}

// Bandwidth by limit: what merging makes of the tags that are left.
TEST(SeqProbe, FindsTheFewestTagsThatKeepTheBandwidth) {
    const NassConfig c;
    const auto bandwidth = [](std::uint32_t tags) { return tags >= 4 ? 100.0 : 25.0 * tags; };
    SeqProbe probe;
    std::vector<std::uint32_t> tried;
    for (int window = 0; window < 12; ++window) {
        tried.push_back(probe.limit(kDepth));
        probe.window_ends(c, true, bandwidth(probe.limit(kDepth)), kDepth);
    }
    // Two windows each: the first after a change is not looked at.
    EXPECT_EQ(tried, (std::vector<std::uint32_t>{32, 32, 1, 1, 2, 2, 4, 4, 4, 4, 4, 4}));
    // No stream any more.
    probe.window_ends(c, false, 0, kDepth);
    EXPECT_EQ(probe.limit(kDepth), kDepth);
}

TEST(SeqProbe, LeavesAStreamAloneThatNeedsAllTags) {
    SeqProbe probe;
    for (int window = 0; window < 40; ++window) probe.window_ends(NassConfig{}, true, probe.limit(kDepth), kDepth);
    EXPECT_EQ(probe.limit(kDepth), kDepth);
}

TEST(SeqProbe, TriesAgainAfterAWhile) {
    SeqProbe probe;
    std::uint32_t first_again = 0;
    for (std::uint32_t window = 0; window < 100 && first_again == 0; ++window) {
        if (window > 20 && probe.limit(kDepth) == kDepth) first_again = window;
        probe.window_ends(NassConfig{}, true, 1.0, kDepth);
    }
    // 2 windows without a limit, 2 under that of one tag, then it is kept.
    EXPECT_EQ(first_again, 4 + SeqProbe::kKeep + 1);
}

}  // namespace
}  // namespace ssdtlm
