// SPDX-License-Identifier: Apache-2.0
// weighted_priorities: like MQSim's scheduler with priorities (TSU_Priority_OutOfOrder). On each die reads come before
// programs, and programs before collection and erases. Reads of the map go first, then reads of urgent submission
// queues (QPRIO). High, medium and low ones share the rest by their weights, which are 4:2:1 in MQSim.
//
// The shares are an interleaved weighted round robin. For n from the largest weight down to 1, each level whose weight
// is at least n has a turn: high, then medium, then low. A level without reads is skipped. 4:2:1 is the cycle H H H M H
// M L. Work without a flow goes with the low ones. Programs and collection keep the order of arrival. MQSim also
// chooses programs by priority, before they have a page; here pages are assigned in the order of the buffer.
#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "controller/scheduler/flow_queues.h"

namespace ssdtlm {
namespace {

class WeightedPriorities final : public FlowPolicy {
public:
    static constexpr std::uint32_t kLevels = 3;  // high, medium, low

    explicit WeightedPriorities(const std::vector<std::int64_t>& weights) {
        for (std::int64_t n = *std::max_element(weights.begin(), weights.end()); n > 0; --n)
            for (std::uint32_t level = 0; level < kLevels; ++level)
                if (weights[level] >= n) cycle_.push_back(level);
        // Computes, for each place of the cycle, how far it is to the next turn of each level.
        const auto length = static_cast<std::uint32_t>(cycle_.size());
        distance_.resize(length);
        for (std::uint32_t from = 0; from < length; ++from)
            for (std::uint32_t level = 0; level < kLevels; ++level) {
                std::uint32_t steps = 0;
                while (cycle_[(from + steps) % length] != level) ++steps;
                distance_[from][level] = steps;
            }
    }

    std::uint32_t flow_of(const WorkTag& whose) const override { return priority(whose); }
    bool goes_before(const FlowQueue& a, const FlowQueue& b, SimTime) const override { return rank(a) < rank(b); }
    void granted(const SchedulerRequest& request, std::uint32_t, SimTime) override {
        const std::uint32_t urgency = priority(request.whose);
        if (request.cls != FlashClass::host_read || urgency == kUrgent) return;
        std::uint32_t& place = place_of(request.die);
        place = (place + distance_[place][urgency - 1] + 1) % static_cast<std::uint32_t>(cycle_.size());
    }
    bool proven() const override { return true; }

private:
    static constexpr std::uint32_t kUrgent = 0, kLow = 3;
    static std::uint32_t priority(const WorkTag& whose) { return whose.is_nobodys() ? kLow : whose.priority; }
    std::uint32_t& place_of(std::uint16_t die) {
        if (die >= places_.size()) places_.resize(die + std::size_t{1});
        return places_[die];
    }
    /// Rank of the queue's turn. 0: it goes at once; else one more than the steps to the next turn of its level.
    std::uint32_t turn(const FlowQueue& q) const {
        const std::uint32_t urgency = priority(q.first.whose);
        if (q.first.cls != FlashClass::host_read || urgency == kUrgent) return 0;
        const std::uint32_t place = q.first.die < places_.size() ? places_[q.first.die] : 0;
        return 1 + distance_[place][urgency - 1];
    }
    std::tuple<std::uint32_t, bool, std::uint32_t, std::uint64_t> rank(const FlowQueue& q) const {
        return {group_of(q.first.cls), q.first.cls != FlashClass::mapping_read, turn(q), q.arrival};
    }

    std::vector<std::uint32_t> cycle_;
    std::vector<std::array<std::uint32_t, kLevels>> distance_;  // by place in the cycle
    std::vector<std::uint32_t> places_;                         // by die of the channel
};

const SchedulerPolicies::Registered kWeightedPriorities{
    {"weighted_priorities",
     "on each die as read_first; of the host's reads those of urgent submission queues (host.queue_priorities) first, "
     "and high, medium and low ones by weights, as in MQSim",
     {policy_integers("weights", {4, 2, 1})
          .range("1", "100")
          .says("Reads of high, medium and low queues in a round on each die. Three numbers")
          .from("MQSim src/ssd/Host_Interface_NVMe_Priorities.h, get_scheduling_weight(): 4, 2, 1")},
     [](const SchedulerSetup& s, const PolicySettings& own) {
         const std::vector<std::int64_t> weights = own.numbers("weights");
         if (weights.size() != WeightedPriorities::kLevels)
             throw UserError(
                 Problem{"scheduler.weighted_priorities.weights", std::to_string(weights.size()) + " numbers",
                         "three: for queues of high, medium and low priority", "write [4, 2, 1], for example"});
         return flow_scheduler(s, [&] { return std::make_unique<WeightedPriorities>(weights); });
     }}};

}  // namespace
}  // namespace ssdtlm
