// SPDX-License-Identifier: Apache-2.0
// Random mixed traffic through the whole back end in several shapes: everything completes, reads return what the page
// holds, every timeline tiles, no resource is busy for longer than time passed, and a read that starts at once does
// what it would do if it were queued.
#include <gtest/gtest.h>

#include <deque>

#include "flash_traffic.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

/// A policy whose reads start at once where they can, or are queued first in any case.
class Watched final : public SchedulerPort {
public:
    Watched(std::unique_ptr<SchedulerPort> policy, bool at_once, std::uint32_t& started)
        : policy_(std::move(policy)), at_once_(at_once), started_(started) {}
    void push(const SchedulerRequest& request) override { policy_->push(request); }
    bool grant_at_once(const SchedulerRequest& request) override {
        const bool granted = at_once_ && policy_->grant_at_once(request);
        started_ += granted;
        return granted;
    }
    GrantAnswer grant(const GrantQuery& query, Grant& out) override { return policy_->grant(query, out); }
    std::uint32_t queued(std::uint16_t channel) const override { return policy_->queued(channel); }

private:
    const std::unique_ptr<SchedulerPort> policy_;
    const bool at_once_;
    std::uint32_t& started_;
};

void expect_equal(const Traffic& one, const Traffic& other) {
    ASSERT_EQ(one.done.size(), other.done.size());
    for (std::size_t i = 0; i < one.done.size(); ++i) {
        ASSERT_EQ(one.done[i]->number, other.done[i]->number) << i;
        ASSERT_EQ(one.done[i]->timeline.last(), other.done[i]->timeline.last()) << i;
    }
}

TEST(FlashStress, MixedTrafficInAllShapes) {
    struct Pair {
        std::uint32_t started = 0, never = 0;
        std::unique_ptr<Traffic> at_once, queued;
    };
    std::deque<Pair> all;
    for (const std::string& policy : SchedulerPolicies::instance().names())
        for (const std::uint32_t luns : {1u, 2u})
            for (const bool independent : {false, true})
                for (const std::uint32_t planes : {1u, 4u}) {
                    SchedulerConfig s;
                    s.policy = policy;
                    s.starvation_limit = 16;
                    s.bus_program_turns =
                        1 + static_cast<std::uint32_t>(all.size() % 5);  // few: what passes a waiting program counts
                    const NandConfig nand = traffic_config(luns, planes, independent);
                    const SchedulerShape shape{nand.geometry.channels, nand.geometry.dies_per_channel(), independent};
                    const std::string name = std::to_string(all.size());
                    const std::uint64_t seed = all.size() + 1;
                    Pair& pair = all.emplace_back();
                    pair.at_once = std::make_unique<Traffic>("t" + name, nand, s, seed, [&](Agenda&) {
                        return std::make_unique<Watched>(make_scheduler_policy(s, shape), true, pair.started);
                    });
                    pair.queued = std::make_unique<Traffic>("q" + name, nand, s, seed, [&](Agenda&) {
                        return std::make_unique<Watched>(make_scheduler_policy(s, shape), false, pair.never);
                    });
                }
    FlashBench::elaborate();
    for (Pair& pair : all) {
        SCOPED_TRACE(pair.at_once->backend->name());
        for (Traffic* const traffic : {pair.at_once.get(), pair.queued.get()}) {
            traffic->run(1'200, 200us);
            traffic->run(1'200, 1ms);
            traffic->run(300, 8ms);  // mostly idle
            traffic->check();
        }
        expect_equal(*pair.at_once, *pair.queued);
        EXPECT_GT(pair.started, 50u);
        EXPECT_EQ(pair.never, 0u);
    }
}

}  // namespace
}  // namespace ssdtlm
