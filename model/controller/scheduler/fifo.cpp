// SPDX-License-Identifier: Apache-2.0
// fifo: on each die strictly in order of arrival, whatever the class. The baseline that shows what priorities buy.
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

}  // namespace

std::unique_ptr<SchedulerPort> make_fifo(const SchedulerConfig& config, const SchedulerShape& shape) {
    return std::make_unique<FifoScheduler>(config, shape);
}

}  // namespace ssdtlm
