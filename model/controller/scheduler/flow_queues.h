// SPDX-License-Identifier: Apache-2.0
// One FIFO per die, read class and flow, and one per die and class of programs and erases, for policies that
// distinguish flows (flow_policy.h). Only memory limits the number of flows. The starvation bound, round robin over the
// dies of a channel and the joining of planes are those of class_queues.h. Not modelled: the time a decision takes.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/scheduler/flow_policy.h"
#include "controller/scheduler/queue_scheduler.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {

/// A push costs O(1). A grant costs O(queues that wait on the dies which could start).
class FlowQueueScheduler final : public QueueScheduler {
public:
    /// `policies`: one for each channel.
    FlowQueueScheduler(const SchedulerConfig& config, const SchedulerShape& shape,
                       std::vector<std::unique_ptr<FlowPolicy>> policies);

    void push(const SchedulerRequest& request) override;
    bool grant_at_once(const SchedulerRequest& request) override;
    GrantAnswer grant(const GrantQuery& query, Grant& out) override;
    std::uint32_t queued(std::uint16_t channel) const override { return channels_[channel].queued; }
    const PlanesHeld* planes_held(std::uint16_t channel) const override { return &channels_[channel].held; }
    bool proven() const override { return channels_.front().policy->proven(); }
    /// The text of ClassQueueScheduler::dump(), and how many queues wait.
    std::string dump(std::uint16_t channel) const override;

private:
    struct Queue {
        std::uint32_t head = kNone;
        std::uint32_t tail = kNone;
        FlashClass cls = FlashClass::host_read;
        bool starved = false;         // at the limit
        std::uint32_t waiting = 0;    // requests
        std::uint32_t overtaken = 0;  // grants since the head came that went to younger requests of the die
        std::uint32_t place = 0;      // in Die::waiting, while something waits
    };
    struct Die {
        std::vector<std::uint32_t> waiting;  // queues, in any order
        std::uint32_t chosen = 0;            // valid while asked_at is the channel's count of changes
        std::uint64_t asked_at = 0;
        std::uint32_t starved = 0;    // queues at the limit
        std::uint32_t whole_die = 0;  // queues of programs and erases that wait
        std::uint8_t held = 0;        // bit per plane, of PlanesHeld
    };
    struct Channel {
        std::unique_ptr<FlowPolicy> policy;
        std::uint64_t working = 0;                // bit per die with something
        std::uint64_t changes = 1;                // pushes and grants
        std::array<std::uint32_t, 2> next_die{};  // round robin, apart for queries with and without programs
        std::uint32_t queued = 0;
        PlanesHeld held;
    };
    static bool is_read(FlashClass cls) { return (kReadClasses & class_bit(cls)) != 0; }
    Die& die(std::uint32_t channel, std::uint32_t d) { return dies_[channel * dies_per_channel_ + d]; }
    std::uint32_t queue_of(const SchedulerRequest& request);
    FlowQueue view(const Queue& q) const { return {requests_[q.head], nodes_[q.head].arrival, q.waiting}; }
    bool goes_before(const Channel& channel, std::uint32_t a, std::uint32_t b, SimTime now) const;
    std::uint32_t chosen(Channel& channel, Die& die, SimTime now);
    bool grant_idle_plane(Channel& channel, const GrantQuery& query, std::uint32_t d, Die& die, Grant& out);
    /// Grants a request and, with `join`, its multi-plane partners.
    void take(Channel& channel, const GrantQuery& query, std::uint32_t d, Die& die, std::uint32_t queue, Place place,
              bool join, Grant& out);
    void count_overtaken(const Channel& channel, Die& die, std::uint32_t granted, std::uint64_t granted_arrival);

    std::vector<Channel> channels_;
    std::vector<Die> dies_;
    std::vector<Queue> queues_;                                             // never fewer
    std::vector<SchedulerRequest> requests_;                                // by node
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> queue_by_key_;  // flow, die and class
    std::vector<std::uint32_t> order_;                                      // scratch
};

/// Makes a scheduler of such a policy, for the registry. `make()` returns the policy of one channel.
template <class Make>
std::unique_ptr<SchedulerPort> flow_scheduler(const SchedulerSetup& setup, Make make) {
    std::vector<std::unique_ptr<FlowPolicy>> policies;
    for (std::uint32_t c = 0; c < setup.shape.channels; ++c) policies.push_back(make());
    return std::make_unique<FlowQueueScheduler>(setup.config, setup.shape, std::move(policies));
}

}  // namespace ssdtlm
