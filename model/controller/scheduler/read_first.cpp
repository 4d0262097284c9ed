// SPDX-License-Identifier: Apache-2.0
// read_first: on each die, work that a host command waits for goes before work that only has to be done some time.
// Reads (host, mapping) go before writes (host, mapping), and these before garbage collection (reads, writes, erases).
// Within such a group the order is that of arrival, so that a collected block's erase follows its copies.
#include "controller/scheduler/class_queues.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {
namespace {

class ReadFirstScheduler final : public ClassQueueScheduler {
public:
    using ClassQueueScheduler::ClassQueueScheduler;
    bool proven() const override { return true; }

private:
    std::uint8_t choose(const DieWork& work) const override {
        constexpr ClassSet kGroups[] = {class_bit(FlashClass::host_read) | class_bit(FlashClass::mapping_read),
                                        class_bit(FlashClass::host_write) | class_bit(FlashClass::mapping_write)};
        for (const ClassSet group : kGroups)
            if ((work.waiting & group) != 0) return oldest(work, work.waiting & group);
        return oldest(work, work.waiting);
    }
};

const SchedulerPolicies::Registered kReadFirstScheduler{
    {"read_first",
     "on each die reads of the host, then its writes, then garbage collection, each in order of arrival",
     {},
     [](const SchedulerSetup& s, const PolicySettings&) {
         return std::make_unique<ReadFirstScheduler>(s.config, s.shape);
     }}};

}  // namespace
}  // namespace ssdtlm
