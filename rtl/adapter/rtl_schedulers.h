// SPDX-License-Identifier: Apache-2.0
// The Verilated schedulers in this build.
#pragma once

#include <vector>

#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {

/// In the order they are documented; empty when the build found no Verilator.
const std::vector<RtlScheduler>& rtl_schedulers();

}  // namespace ssdtlm
