// SPDX-License-Identifier: Apache-2.0
// When a running program or erase is suspended for reads that a command waits for, as a policy.
#pragma once

#include <cstdint>

#include "controller/ports/flash.h"

namespace ssdtlm {

/// A program or erase that is at work in the array of a die for which reads wait.
struct SuspendWork {
    FlashOp op = FlashOp::program;
    FlashClass cls = FlashClass::host_write;
    WorkTag whose{};
    SimTime begun{};             ///< since when it has been at work: its start, or when it was resumed last
    SimTime ends{};              ///< when it would end by its usual time
    std::uint32_t suspends = 0;  ///< of it so far
};

/// Contract (tb/unit/scheduler/suspend_policy_test.cpp holds every registered policy to it):
/// - when() returns when the work is to be suspended, if nothing hinders it from `now` on: now: at once; later: asked
/// again then; kNever:
///   not at all. It is asked again too when the bus was not free in time.
/// - A function of its arguments alone.
/// - After a bounded number of suspends of one operation: kNever, so that it ends.
/// - longest(): for how long it may stay suspended while reads keep coming: then it goes on as soon as those that run
/// are over.
class SuspendPolicy {
public:
    virtual ~SuspendPolicy() = default;
    virtual SimTime when(const SuspendWork& work, SimTime now) const = 0;
    virtual Ps longest(const SuspendWork& work) const = 0;
};

}  // namespace ssdtlm
