// SPDX-License-Identifier: Apache-2.0
// The Verilated schedulers in this program.
#pragma once

#include <vector>

#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {

/// Those of the build, in the order they are documented (none when it found no Verilator), then those added.
const std::vector<RtlScheduler>& rtl_schedulers();
/// Makes one more choosable as scheduler.rtl_module. CMake's ssdtlm_verilated_scheduler() makes the call, before
/// main().
void add_rtl_scheduler(RtlScheduler scheduler);

}  // namespace ssdtlm
