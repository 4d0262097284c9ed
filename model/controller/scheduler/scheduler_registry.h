// SPDX-License-Identifier: Apache-2.0
// The scheduler policies by name, and the implementations. A new policy is one file like fifo.cpp and its line in the
// build list.
#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "common/config/policy_registry.h"
#include "common/tlm/agenda.h"
#include "controller/ports/scheduler_port.h"
#include "controller/scheduler/clocked/scheduler_core.h"
#include "controller/scheduler/queue_scheduler.h"
#include "controller/scheduler/scheduler_config.h"

namespace ssdtlm {

struct SchedulerSetup {
    const SchedulerConfig& config;
    SchedulerShape shape;
};
/// All policies that are linked into the program. scheduler.policy names one, and [scheduler.<name>] has its
/// parameters.
using SchedulerPolicies = PolicyRegistry<SchedulerPort, SchedulerSetup>;

/// What a scheduler needs to know of the flash. `Nand` is NandConfig.
template <class Nand>
SchedulerShape scheduler_shape(const Nand& nand) {
    SchedulerShape shape{nand.geometry.channels,
                         nand.geometry.dies_per_channel(),
                         nand.independent_plane_read,
                         nand.geometry.planes_per_die,
                         {},
                         {}};
    const auto mean = [](const std::vector<Ps>& times) {
        return std::accumulate(times.begin(), times.end(), Ps{}) / static_cast<std::int64_t>(times.size());
    };
    for (std::size_t c = 0; c < kFlashClassCount; ++c)
        shape.array_time[c] = (kReadClasses >> c & 1u) != 0      ? mean(nand.t_read)
                              : (kProgramClasses >> c & 1u) != 0 ? mean(nand.t_program)
                                                                 : nand.t_erase;
    shape.byte_time = Ps{1'000'000 / nand.onfi.megatransfers};
    return shape;
}

/// Makes the policy that config.policy names. Throws UserError with the nearest name when there is none.
inline std::unique_ptr<SchedulerPort> make_scheduler_policy(const SchedulerConfig& config,
                                                            const SchedulerShape& shape) {
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
/// Makes the policy itself (tlm), or a clocked scheduler with a core per channel. `rtl`: the blocks that were built.
/// Throws UserError when the configuration asks for a block that does not exist.
std::unique_ptr<SchedulerPort> make_scheduler(const SchedulerConfig& config, const SchedulerShape& shape,
                                              Agenda& agenda, const std::vector<RtlScheduler>& rtl);

}  // namespace ssdtlm
