// SPDX-License-Identifier: Apache-2.0
// priority_classes: on each die the work of urgent submission queues goes first, then that of high, medium and low ones
// (QPRIO). Within a priority the order is that of read_first. Work that a flow has caused, above all garbage
// collection, has the flow's priority. Otherwise a command that waits for a free block would wait behind all others.
// Work without a flow goes with the low ones. The order is strict except for scheduler.starvation_limit.
#include <tuple>

#include "controller/scheduler/flow_queues.h"

namespace ssdtlm {
namespace {

class PriorityClasses final : public FlowPolicy {
public:
    std::uint32_t flow_of(const WorkTag& whose) const override { return priority(whose); }
    bool goes_before(const FlowQueue& a, const FlowQueue& b, SimTime) const override { return rank(a) < rank(b); }
    bool proven() const override { return true; }

private:
    static constexpr std::uint32_t kLow = 3;
    static std::uint32_t priority(const WorkTag& whose) { return whose.is_nobodys() ? kLow : whose.priority; }
    static std::tuple<std::uint32_t, std::uint32_t, std::uint64_t> rank(const FlowQueue& q) {
        return {priority(q.first.whose), group_of(q.first.cls), q.arrival};
    }
};

const SchedulerPolicies::Registered kPriorityClasses{
    {"priority_classes",
     "on each die the priority of the submission queue (host.queue_priorities), also of what its writes cause, then as "
     "read_first",
     {},
     [](const SchedulerSetup& s, const PolicySettings&) {
         return flow_scheduler(s, [] { return std::make_unique<PriorityClasses>(); });
     }}};

}  // namespace
}  // namespace ssdtlm
