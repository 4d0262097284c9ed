// SPDX-License-Identifier: Apache-2.0
// The contract in ftl/victims/victim_policy.h, for every registered policy, and what is particular to each.
#include "controller/ftl/victims/victim_policy.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"

namespace ssdtlm {
namespace {

SuperblockShape geometry() {
    NandGeometry g;
    g.channels = 3;
    g.blocks_per_plane = 20;
    g.pages_per_block = 8;
    g.page_bytes = 16384;
    return g;
}
constexpr std::uint32_t kReclaim = 4;

class AnyVictimPolicy : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, AnyVictimPolicy, testing::ValuesIn(VictimPolicies::instance().names()),
                         [](const auto& name) { return name.param; });

/// Random traffic; returns what was selected. Checks the contract on the way.
std::vector<std::uint32_t> traffic(const std::string& name, std::uint64_t seed, bool greedy) {
    const SuperblockShape g = geometry();
    const auto policy = VictimPolicies::instance().make("gc.policy", name, {g, kReclaim, seed});
    std::map<std::uint32_t, std::uint32_t> candidates;  // block -> valid
    std::vector<std::uint32_t> selected;
    Random random(11);
    std::uint64_t clock = 0;
    for (int i = 0; i < 20000; ++i) {
        const auto b = static_cast<std::uint32_t>(random.below(g.superblocks()));
        const auto c = candidates.find(b);
        if (random.percent(4)) {
            const GroupId group{static_cast<std::uint32_t>(random.below(g.groups()))};
            std::uint32_t fewest = g.units();
            for (const auto& [block, valid] : candidates) {
                if (g.group_of(SuperblockId{block}) == group) fewest = std::min(fewest, valid);
            }
            const std::uint32_t most =
                random.percent(50) ? ~0u : static_cast<std::uint32_t>(random.below(g.units() + 1));
            const SuperblockId victim = policy->select(group, clock, most);
            if (victim == kNoSuperblock) {
                EXPECT_TRUE(fewest + kReclaim > g.units() || fewest > most);
                continue;
            }
            selected.push_back(idx(victim));
            EXPECT_EQ(g.group_of(victim), group);
            EXPECT_TRUE(candidates.count(idx(victim)) == 1) << "not a candidate";
            EXPECT_LE(candidates[idx(victim)] + kReclaim, g.units());
            EXPECT_LE(candidates[idx(victim)], most);
            EXPECT_TRUE(!greedy || candidates[idx(victim)] == fewest);
            candidates.erase(idx(victim));
        } else if (c != candidates.end() && random.percent(5)) {
            policy->removed(SuperblockId{b});
            candidates.erase(c);
        } else if (c == candidates.end()) {
            const auto valid = static_cast<std::uint32_t>(random.below(g.units() + 1));
            policy->sealed(SuperblockId{b}, valid, clock);
            candidates[b] = valid;
        } else if (c->second != 0) {
            policy->invalidated(SuperblockId{b}, --c->second);
            ++clock;
        }
    }
    return selected;
}

TEST_P(AnyVictimPolicy, KeepsTheContractAndIsDeterministic) {
    const auto first = traffic(GetParam(), 5, GetParam() == "greedy");
    EXPECT_GT(first.size(), 500u);
    EXPECT_EQ(first, traffic(GetParam(), 5, false));
}

TEST_P(AnyVictimPolicy, FindsTheOnlyBlockWorthCollecting) {
    const SuperblockShape g = geometry();
    const auto policy = VictimPolicies::instance().make("gc.policy", GetParam(), {g, kReclaim, 1});
    EXPECT_EQ(policy->select(GroupId{1}, 0), kNoSuperblock);
    for (std::uint32_t b = 0; b < g.superblocks(); ++b)
        policy->sealed(SuperblockId{b}, g.units() - (b == 33 ? kReclaim : kReclaim - 1), b);
    EXPECT_EQ(policy->select(GroupId{0}, 100), kNoSuperblock);
    EXPECT_EQ(policy->select(GroupId{1}, 100), SuperblockId{33});
    EXPECT_EQ(policy->select(GroupId{1}, 100), kNoSuperblock);
    policy->invalidated(SuperblockId{21}, g.units() - kReclaim);
    EXPECT_EQ(policy->select(GroupId{1}, 100), SuperblockId{21});
}

TEST_P(AnyVictimPolicy, DoesNotFindABlockTwice) {
    const SuperblockShape g = geometry();
    const auto policy = VictimPolicies::instance().make("gc.policy", GetParam(), {g, kReclaim, 1});
    for (std::uint32_t b = 0; b < 6; ++b) policy->sealed(SuperblockId{b}, b == 5 ? 0 : g.units(), b);
    EXPECT_EQ(policy->select(GroupId{0}, 100), SuperblockId{5});
    EXPECT_EQ(policy->select(GroupId{0}, 100), kNoSuperblock);
}

TEST(VictimPolicies, GreedyPrefersTheFirstToReachTheCount) {
    const SuperblockShape g = geometry();
    const auto policy = VictimPolicies::instance().make("gc.policy", "greedy", {g, 1, 1});
    for (const std::uint32_t b : {7u, 2u, 9u, 4u}) policy->sealed(SuperblockId{b}, 10, 0);
    policy->invalidated(SuperblockId{9}, 9);
    policy->invalidated(SuperblockId{7}, 9);
    for (const std::uint32_t b : {9u, 7u, 2u, 4u}) EXPECT_EQ(policy->select(GroupId{0}, 0), SuperblockId{b});
}

TEST(VictimPolicies, WindowedGreedyChoosesAmongTheOldest) {
    const SuperblockShape g = geometry();
    const auto policy = VictimPolicies::instance().make("gc.policy", "windowed_greedy", {g, kReclaim, 1},
                                                        {{"windowed_greedy", {{"window", std::int64_t{3}}}}});
    for (const auto& [block, valid] :
         std::vector<std::pair<std::uint32_t, std::uint32_t>>{{7, 20}, {2, 12}, {9, 12}, {4, 1}, {5, 30}, {6, 2}})
        policy->sealed(SuperblockId{block}, valid, 0);
    // 7, 2, 9; then 7, 9, 4; then 7, 9, 5; then 7, 5, 6.
    for (const std::uint32_t b : {2u, 4u, 9u, 6u, 7u}) EXPECT_EQ(policy->select(GroupId{0}, 0), SuperblockId{b});
    EXPECT_EQ(policy->select(GroupId{0}, 0), kNoSuperblock);  // nothing to be won from 5
    policy->sealed(SuperblockId{1}, 31, 0);
    policy->sealed(SuperblockId{3}, 30, 0);
    policy->sealed(SuperblockId{8}, 28, 0);
    EXPECT_EQ(policy->select(GroupId{0}, 0), SuperblockId{8});  // behind the window
}

TEST(VictimPolicies, RandomTakesWhatItIsSetTo) {
    const SuperblockShape g = geometry();
    const auto make = [&](std::int64_t pages, std::uint64_t seed = 1) {
        return VictimPolicies::instance().make("gc.policy", "random", {g, kReclaim, seed},
                                               {{"random", {{"least_invalid_pages", pages}}}});
    };
    // Any, while one wins something; then none: moving full blocks would go on for ever.
    int full_ones = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const auto any = make(0, seed);
        for (std::uint32_t b = 0; b < 5; ++b)
            any->sealed(SuperblockId{b}, b == 3 ? g.units() - kReclaim : g.units(), 0);
        SuperblockId last = kNoSuperblock;
        for (SuperblockId b; (b = any->select(GroupId{0}, 0)) != kNoSuperblock; last = b) ++full_ones;
        EXPECT_EQ(last, SuperblockId{3});
        --full_ones;
    }
    EXPECT_NEAR(full_ones, 200, 5 * std::sqrt(200.0));  // before the one: 0 to 4, two in the mean
    const auto more = make(3);
    for (std::uint32_t b = 0; b < 10; ++b)
        more->sealed(SuperblockId{b}, g.units() - (b == 6 ? 3 : b == 7 ? 0 : 2) * kReclaim, 0);
    EXPECT_EQ(more->select(GroupId{0}, 0), SuperblockId{6});
    for (int i = 0; i < 8; ++i) {
        const SuperblockId b = more->select(GroupId{0}, 0);
        EXPECT_NE(b, kNoSuperblock);
        EXPECT_NE(b, SuperblockId{7});
    }
    EXPECT_EQ(more->select(GroupId{0}, 0), kNoSuperblock);
}

// Of d blocks drawn with replacement out of n none is among the r that hold least with probability (1 - r / n)^d.
TEST(VictimPolicies, TheLeastValidOfSoManyDrawsIsChosen) {
    constexpr std::uint32_t kBlocks = 10;
    constexpr int kTimes = 40'000;
    for (const std::int64_t choices : {1, 2, 3, 10}) {
        SCOPED_TRACE(choices);
        const auto policy = choices == 1
                                ? VictimPolicies::instance().make("gc.policy", "random", {geometry(), kReclaim, 3})
                                : VictimPolicies::instance().make("gc.policy", "d_choices", {geometry(), kReclaim, 3},
                                                                  {{"d_choices", {{"choices", choices}}}});
        for (std::uint32_t b = 0; b < kBlocks; ++b) policy->sealed(SuperblockId{b}, b, 0);
        std::array<int, kBlocks> chosen{};
        for (int i = 0; i < kTimes; ++i) {
            const SuperblockId b = policy->select(GroupId{0}, 0);
            ASSERT_LT(idx(b), kBlocks);
            ++chosen[idx(b)];
            policy->sealed(b, idx(b), 0);
        }
        int fewer = 0;
        for (std::uint32_t r = 1; r < kBlocks; ++r) {
            fewer += chosen[r - 1];
            const double expected = 1 - std::pow(1 - static_cast<double>(r) / kBlocks, static_cast<double>(choices));
            const double sigma = std::sqrt(expected * (1 - expected) / kTimes);
            EXPECT_NEAR(static_cast<double>(fewer) / kTimes, expected, 5 * sigma) << r;
        }
    }
}

// Where none drawn is worth it, others are drawn: of those that are, the best of so many again. One in 20 blocks is
// empty, two are just worth it.
TEST(VictimPolicies, WhatIsNotWorthItIsDrawnAgain) {
    constexpr int kTimes = 40'000;
    const SuperblockShape g = geometry();
    const auto policy =
        VictimPolicies::instance().make("gc.policy", "d_choices", {g, kReclaim, 3}, {{"d_choices", {{"choices", 3}}}});
    const auto valid = [&g](std::uint32_t b) { return b == 0 ? 0 : b < 3 ? g.units() - kReclaim : g.units(); };
    for (std::uint32_t b = 0; b < 20; ++b) policy->sealed(SuperblockId{b}, valid(b), 0);
    int empty = 0;
    for (int i = 0; i < kTimes; ++i) {
        const SuperblockId b = policy->select(GroupId{0}, 0);
        ASSERT_LT(idx(b), 3u);
        empty += idx(b) == 0;
        policy->sealed(b, valid(idx(b)), 0);
    }
    const double is_empty = 1 - std::pow(19 / 20.0, 3), is_worth_it = 1 - std::pow(17 / 20.0, 3),
                 expected = is_empty / is_worth_it;
    EXPECT_NEAR(static_cast<double>(empty) / kTimes, expected, 5 * std::sqrt(expected * (1 - expected) / kTimes));
}

TEST(VictimPolicies, UnknownNameListsTheKnownOnes) {
    try {
        VictimPolicies::instance().make("gc.policy", "gredy", {geometry(), 1, 1});
        FAIL() << "accepted";
    } catch (const UserError& e) {
        EXPECT_NE(std::string(e.what()).find("did you mean 'greedy'"), std::string::npos) << e.what();
        for (const auto& name : VictimPolicies::instance().names())
            EXPECT_NE(std::string(e.what()).find(name), std::string::npos);
    }
}

}  // namespace
}  // namespace ssdtlm
