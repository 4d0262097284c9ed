// SPDX-License-Identifier: Apache-2.0
// The contract in gc/victim_policy.h, for every registered policy, and what is particular to each.
#include "controller/ftl/gc/victim_policy.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"

namespace ssdtlm {
namespace {

NandGeometry geometry() {
    NandGeometry g;
    g.channels = 3;
    g.blocks_per_plane = 20;
    g.pages_per_block = 8;
    g.page_bytes = 16384;
    return g;
}
constexpr std::uint32_t kReclaim = 4;

class AnyVictimPolicy : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, AnyVictimPolicy, testing::ValuesIn(victim_policy_names()),
                         [](const auto& name) { return name.param; });

/// Random traffic; returns what was selected. Checks the contract on the way.
std::vector<std::uint32_t> traffic(const std::string& name, std::uint64_t seed, bool greedy) {
    const NandGeometry g = geometry();
    const auto policy = make_victim_policy(name, {g, kReclaim, seed});
    std::map<std::uint32_t, std::uint32_t> candidates;  // block -> valid
    std::vector<std::uint32_t> selected;
    Random random(11);
    std::uint64_t clock = 0;
    for (int i = 0; i < 20000; ++i) {
        const auto b = static_cast<std::uint32_t>(random.below(g.blocks()));
        const auto c = candidates.find(b);
        if (random.percent(4)) {
            const PlaneId plane{static_cast<std::uint32_t>(random.below(g.planes()))};
            std::uint32_t fewest = g.units_per_block();
            for (const auto& [block, valid] : candidates) {
                if (g.plane_of(BlockId{block}) == plane) fewest = std::min(fewest, valid);
            }
            const BlockId victim = policy->select(plane, clock);
            if (victim == kNoBlock) {
                EXPECT_GT(fewest + kReclaim, g.units_per_block());
                continue;
            }
            selected.push_back(idx(victim));
            EXPECT_EQ(g.plane_of(victim), plane);
            EXPECT_TRUE(candidates.count(idx(victim)) == 1) << "not a candidate";
            EXPECT_LE(candidates[idx(victim)] + kReclaim, g.units_per_block());
            EXPECT_TRUE(!greedy || candidates[idx(victim)] == fewest);
            candidates.erase(idx(victim));
        } else if (c == candidates.end()) {
            const auto valid = static_cast<std::uint32_t>(random.below(g.units_per_block() + 1));
            policy->sealed(BlockId{b}, valid, clock);
            candidates[b] = valid;
        } else if (c->second != 0) {
            policy->invalidated(BlockId{b}, --c->second);
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
    const NandGeometry g = geometry();
    const auto policy = make_victim_policy(GetParam(), {g, kReclaim, 1});
    EXPECT_EQ(policy->select(PlaneId{1}, 0), kNoBlock);
    for (std::uint32_t b = 0; b < g.blocks(); ++b)
        policy->sealed(BlockId{b}, g.units_per_block() - (b == 33 ? kReclaim : kReclaim - 1), b);
    EXPECT_EQ(policy->select(PlaneId{0}, 100), kNoBlock);
    EXPECT_EQ(policy->select(PlaneId{1}, 100), BlockId{33});
    EXPECT_EQ(policy->select(PlaneId{1}, 100), kNoBlock);
    policy->invalidated(BlockId{21}, g.units_per_block() - kReclaim);
    EXPECT_EQ(policy->select(PlaneId{1}, 100), BlockId{21});
}

TEST(VictimPolicies, GreedyPrefersTheFirstToReachTheCount) {
    const NandGeometry g = geometry();
    const auto policy = make_victim_policy("greedy", {g, 1, 1});
    for (const std::uint32_t b : {7u, 2u, 9u, 4u}) policy->sealed(BlockId{b}, 10, 0);
    policy->invalidated(BlockId{9}, 9);
    policy->invalidated(BlockId{7}, 9);
    for (const std::uint32_t b : {9u, 7u, 2u, 4u}) EXPECT_EQ(policy->select(PlaneId{0}, 0), BlockId{b});
}

TEST(VictimPolicies, UnknownNameListsTheKnownOnes) {
    try {
        make_victim_policy("gredy", {geometry(), 1, 1});
        FAIL() << "accepted";
    } catch (const UserError& e) {
        EXPECT_NE(std::string(e.what()).find("did you mean greedy?"), std::string::npos) << e.what();
        for (const auto& name : victim_policy_names()) EXPECT_NE(std::string(e.what()).find(name), std::string::npos);
    }
}

}  // namespace
}  // namespace ssdtlm
