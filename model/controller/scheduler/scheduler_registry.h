// SPDX-License-Identifier: Apache-2.0
// The scheduler policies by name. A new policy: one file like fifo.cpp, one line here, one in the registry's table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controller/ports/scheduler_port.h"
#include "controller/scheduler/class_queues.h"
#include "controller/scheduler/scheduler_config.h"

namespace ssdtlm {

std::unique_ptr<SchedulerPort> make_read_first(const SchedulerConfig& config, const SchedulerShape& shape);
std::unique_ptr<SchedulerPort> make_fifo(const SchedulerConfig& config, const SchedulerShape& shape);

/// Registered names, in the order they are documented.
std::vector<std::string> scheduler_policies();
/// The policy named by config.policy; UserError with the nearest name when there is none.
std::unique_ptr<SchedulerPort> make_scheduler(const SchedulerConfig& config, const SchedulerShape& shape);

}  // namespace ssdtlm
