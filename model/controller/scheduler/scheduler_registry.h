// SPDX-License-Identifier: Apache-2.0
// The scheduler policies by name, and the implementations. A new policy: one file like fifo.cpp and its line in the build
// list.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/config/policy_registry.h"
#include "common/tlm/agenda.h"
#include "controller/ports/scheduler_port.h"
#include "controller/scheduler/class_queues.h"
#include "controller/scheduler/clocked/scheduler_core.h"
#include "controller/scheduler/scheduler_config.h"

namespace ssdtlm {

struct SchedulerSetup {
    const SchedulerConfig& config;
    SchedulerShape shape;
};
/// All that are linked into the program; scheduler.policy names one, and [scheduler.<name>] has its parameters.
using SchedulerPolicies = PolicyRegistry<SchedulerPort, SchedulerSetup>;

/// What a scheduler needs to know of the flash.
inline SchedulerShape scheduler_shape(const NandGeometry& g, bool independent_plane_read) {
    return {g.channels, g.dies_per_channel(), independent_plane_read, g.planes_per_die};
}

/// The policy named by config.policy; UserError with the nearest name when there is none.
inline std::unique_ptr<SchedulerPort> make_scheduler_policy(const SchedulerConfig& config, const SchedulerShape& shape) {
    return SchedulerPolicies::instance().make("scheduler.policy", config.policy, {config, shape}, config.policies);
}

/// Values of scheduler.implementation, in the order they are documented.
std::vector<std::string> scheduler_implementations();

/// A Verilated block that scheduler.rtl_module may name, and the largest channel it can be used for.
struct RtlScheduler {
    std::string name;
    std::uint32_t dies = 0;
    std::uint32_t planes = 0;
    std::uint32_t depth = 0;
    std::unique_ptr<SchedulerCore> (*make)(const SchedulerConfig&, const SchedulerShape&) = nullptr;
};
/// The policy itself (tlm), or clocked with a core per channel. `rtl`: the blocks that were built. UserError when the
/// configuration asks for what there is not.
std::unique_ptr<SchedulerPort> make_scheduler(const SchedulerConfig& config, const SchedulerShape& shape, Agenda& agenda,
                                              const std::vector<RtlScheduler>& rtl);

}  // namespace ssdtlm
