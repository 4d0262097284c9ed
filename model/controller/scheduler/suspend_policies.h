// SPDX-License-Identifier: Apache-2.0
// The policies of suspending programs and erases by name. A new policy is one file like suspend_for_reads.cpp and its
// line in the build list.
#pragma once

#include <memory>

#include "common/config/policy_registry.h"
#include "controller/ports/suspend_policy.h"
#include "controller/scheduler/scheduler_config.h"

namespace ssdtlm {

struct SuspendSetup {};
/// All policies that are linked into the program. scheduler.suspend names one, and [scheduler.<name>] has its
/// parameters.
using SuspendPolicies = PolicyRegistry<SuspendPolicy, SuspendSetup>;

/// Makes the policy that config.suspend names; null for "never". Throws UserError with the nearest name when there is
/// none.
inline std::unique_ptr<SuspendPolicy> make_suspend_policy(const SchedulerConfig& config) {
    return SuspendPolicies::instance().make("scheduler.suspend", config.suspend, {}, config.policies);
}

}  // namespace ssdtlm
