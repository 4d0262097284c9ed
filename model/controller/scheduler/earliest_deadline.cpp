// SPDX-License-Identifier: Apache-2.0
// earliest_deadline: on each die the request with the earliest deadline goes first. Reads have a queue for each
// priority of their submission queues. A request without a deadline comes last, in the order of read_first. It has none
// if nvme.latency_targets names none, or if no command waits for it.
#include <tuple>

#include "controller/scheduler/flow_queues.h"

namespace ssdtlm {
namespace {

class EarliestDeadline final : public FlowPolicy {
public:
    std::uint32_t flow_of(const WorkTag& whose) const override { return whose.priority; }
    bool goes_before(const FlowQueue& a, const FlowQueue& b, SimTime) const override { return rank(a) < rank(b); }
    bool proven() const override { return true; }

private:
    static std::tuple<SimTime, std::uint32_t, std::uint64_t> rank(const FlowQueue& q) {
        return {q.first.whose.deadline, group_of(q.first.cls), q.arrival};
    }
};

const SchedulerPolicies::Registered kEarliestDeadline{
    {"earliest_deadline",
     "on each die the earliest deadline (nvme.latency_targets), then as read_first",
     {},
     [](const SchedulerSetup& s, const PolicySettings&) {
         return flow_scheduler(s, [] { return std::make_unique<EarliestDeadline>(); });
     }}};

}  // namespace
}  // namespace ssdtlm
