// SPDX-License-Identifier: Apache-2.0
// When a running program or erase is suspended for reads that a command waits for, as a policy.
#pragma once

#include <cstdint>

#include "controller/ports/flash.h"

namespace ssdtlm {

/// A program or erase that occupies the array of a die for which reads wait.
struct SuspendWork {
    FlashOp op = FlashOp::program;
    FlashClass cls = FlashClass::host_write;
    WorkTag whose{};
    SimTime begun{};             ///< start of its current run: its start, or when it was resumed last
    SimTime ends{};              ///< when it would end by its usual time
    std::uint32_t suspends = 0;  ///< how often it was suspended so far
};

/// Contract (tb/unit/scheduler/suspend_policy_test.cpp holds every registered policy to it):
/// - when() returns the time at which to suspend the work: now: at once; later: it is asked again then; kNever: not at
///   all. It is also asked again when the bus was not free in time.
/// - The answer depends on the arguments alone.
/// - It is kNever after a bounded number of suspends of one operation, so that the operation ends.
/// - longest() returns how long the work may stay suspended while reads keep coming. After that it resumes as soon as
///   the running reads have ended.
class SuspendPolicy {
public:
    virtual ~SuspendPolicy() = default;
    virtual SimTime when(const SuspendWork& work, SimTime now) const = 0;
    virtual Ps longest(const SuspendWork& work) const = 0;
};

}  // namespace ssdtlm
