// SPDX-License-Identifier: Apache-2.0
// A C++ policy with the cycle count of the RTL scheduler (rtl/scheduler/channel_scheduler.sv). A push takes one cycle.
// A question takes one cycle for each die tried and each request looked at, and two more.
#pragma once

#include "controller/scheduler/clocked/scheduler_core.h"
#include "controller/scheduler/queue_scheduler.h"

namespace ssdtlm {

class PolicyCore final : public SchedulerCore {
public:
    static constexpr std::uint32_t kBaseCycles = 2;

    /// `policy` serves one channel. `depth`: requests that the block holds.
    PolicyCore(std::unique_ptr<QueueScheduler> policy, std::uint32_t depth)
        : policy_(std::move(policy)), depth_(depth) {}

    bool full() const override { return policy_->queued(0) >= depth_; }
    std::uint64_t push(const SchedulerRequest& request, std::uint64_t edge) override {
        SchedulerRequest own = request;
        own.channel = 0;
        policy_->push(own);
        return edge;
    }
    void decide(const GrantQuery& query, std::uint64_t, CoreDecision& out) override {
        GrantQuery own = query;
        own.channel = 0;
        out.answer = policy_->grant(own, out.grant);
        out.cycles = kBaseCycles + policy_->effort().dies + policy_->effort().requests;
    }
    bool proven() const override { return policy_->proven(); }
    std::string dump() const override { return policy_->dump(0); }

private:
    std::unique_ptr<QueueScheduler> policy_;
    const std::uint32_t depth_;
};

}  // namespace ssdtlm
