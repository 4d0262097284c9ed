// SPDX-License-Identifier: Apache-2.0
// The Verilated schedulers in this program.
#pragma once

#include <vector>

#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {

/// Returns the blocks of the build, in the order of the documentation (none without Verilator), then the added ones.
const std::vector<RtlScheduler>& rtl_schedulers();
/// Makes one more choosable as scheduler.rtl_module. CMake's ssdtlm_verilated_scheduler() makes the call, before
/// main().
void add_rtl_scheduler(RtlScheduler scheduler);

}  // namespace ssdtlm
