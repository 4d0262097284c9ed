// SPDX-License-Identifier: Apache-2.0
// fifo: each die works strictly in order of arrival, whatever the class. It is the baseline that shows the benefit of
// priorities.
#include "controller/scheduler/class_queues.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {
namespace {

class FifoScheduler final : public ClassQueueScheduler {
public:
    using ClassQueueScheduler::ClassQueueScheduler;
    bool proven() const override { return true; }

private:
    std::uint8_t choose(const DieWork& work) const override { return oldest(work, work.waiting); }
};

const SchedulerPolicies::Registered kFifoScheduler{
    {"fifo", "on each die strictly in order of arrival", {}, [](const SchedulerSetup& s, const PolicySettings&) {
         return std::make_unique<FifoScheduler>(s.config, s.shape);
     }}};

}  // namespace
}  // namespace ssdtlm
