// SPDX-License-Identifier: Apache-2.0
// earliest_deadline: on each die the request that is due first goes first. Host reads have a queue for each priority of
// their submission queues; what has no deadline (nvme.latency_targets names none, or nobody waits for it) comes after
// what has one, in the order of read_first.
#include <array>
#include <tuple>

#include "controller/scheduler/class_queues.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {
namespace {

class EarliestDeadlineScheduler final : public ClassQueueScheduler {
public:
    EarliestDeadlineScheduler(const SchedulerConfig& config, const SchedulerShape& shape) : ClassQueueScheduler(config, shape) {
        read_queue_[0] = static_cast<std::uint32_t>(FlashClass::host_read);
        for (std::size_t p = 1; p < read_queue_.size(); ++p) read_queue_[p] = add_queue(FlashClass::host_read);
    }
    bool proven() const override { return true; }

private:
    std::uint32_t queue_of(const SchedulerRequest& r) const override {
        return r.cls == FlashClass::host_read ? read_queue_[r.whose.priority] : static_cast<std::uint32_t>(r.cls);
    }
    /// 0: reads that a command waits for, 1: writes, 2: garbage collection.
    static std::uint32_t group(std::uint32_t queue) {
        constexpr Queues kCollection = class_bit(FlashClass::gc_read) | class_bit(FlashClass::gc_write) | class_bit(FlashClass::erase);
        return (kCollection & bit(queue)) != 0 ? 2 : (kProgramClasses & bit(queue)) != 0 ? 1 : 0;
    }
    std::uint8_t choose(const DieWork& work) const override {
        std::uint32_t best = kQueues;
        const auto rank = [&](std::uint32_t q) { return std::make_tuple(whose(work, q).deadline, group(q), work.arrival[q]); };
        for (std::uint32_t q = 0; q < kQueues; ++q)
            if ((work.waiting & bit(q)) != 0 && (best == kQueues || rank(q) < rank(best))) best = q;
        return static_cast<std::uint8_t>(best);
    }

    std::array<std::uint32_t, 4> read_queue_{};  // by priority
};

const SchedulerPolicies::Registered kEarliestDeadlineScheduler{{
    "earliest_deadline",
    "on each die the earliest deadline (nvme.latency_targets), then as read_first",
    {},
    [](const SchedulerSetup& s, const PolicySettings&) { return std::make_unique<EarliestDeadlineScheduler>(s.config, s.shape); }}};

}  // namespace
}  // namespace ssdtlm
