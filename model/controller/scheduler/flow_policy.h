// SPDX-License-Identifier: Apache-2.0
// A scheduler policy that distinguishes flows. It sees all fields of a request, is told of each grant, and may keep a
// state.
#pragma once

#include <cstdint>

#include "controller/ports/scheduler_port.h"

namespace ssdtlm {

/// Waiting requests of a die, as a policy sees them: reads of one class and one flow, or all programs or erases of one
/// class.
struct FlowQueue {
    const SchedulerRequest& first;  ///< the oldest; of programs and erases, its owner may not be that of the others
    std::uint64_t arrival;          ///< of that one; smaller is older
    std::uint32_t waiting;          ///< requests
};

/// Contract. There is one object for each channel. It is made together with the scheduler, and again after a loss of
/// power, because its memory is volatile. It survives a reset of the controller.
/// - pushed() and granted() are called once for each request, in the order of time.
/// - goes_before() is a strict weak ordering of the queues of one die. Equal ones go in order of arrival. It depends on
///   the queues, on earlier calls of pushed() and granted(), and on `now`. It is called again only after a push or a
///   grant on the channel.
class FlowPolicy {
public:
    virtual ~FlowPolicy() = default;

    /// Reads with equal numbers share a queue; reads of one flow (WorkTag::same_flow) must have equal numbers. Any
    /// number will do; each new one takes some memory.
    virtual std::uint32_t flow_of(const WorkTag& whose) const = 0;
    /// True: `a` is to start before `b` at this time.
    virtual bool goes_before(const FlowQueue& a, const FlowQueue& b, SimTime now) const = 0;
    virtual void pushed(const SchedulerRequest& request) { static_cast<void>(request); }
    /// Called for each request of a grant. `joined`: requests of this grant, one for each plane.
    virtual void granted(const SchedulerRequest& request, std::uint32_t joined, SimTime now) {
        static_cast<void>(request);
        static_cast<void>(joined);
        static_cast<void>(now);
    }
    /// Which grants count as overtaking a queue (scheduler.starvation_limit): those of all other queues, or only those
    /// of other classes. The latter is for a policy that itself sees to it that no flow starves.
    enum class Overtaking : std::uint8_t { by_all_others, by_other_classes };
    virtual Overtaking overtaking() const { return Overtaking::by_all_others; }
    /// As SchedulerPort::proven().
    virtual bool proven() const { return false; }

    /// Groups in the order of read_first. 0: reads that a command waits for, 1: writes, 2: collection.
    static std::uint32_t group_of(FlashClass cls) {
        constexpr ClassSet kCollection =
            class_bit(FlashClass::gc_read) | class_bit(FlashClass::gc_write) | class_bit(FlashClass::erase);
        return (kCollection & class_bit(cls)) != 0 ? 2 : (kProgramClasses & class_bit(cls)) != 0 ? 1 : 0;
    }
};

}  // namespace ssdtlm
