// SPDX-License-Identifier: Apache-2.0
// scheduler.implementation: decides which kind of core each channel gets.
#include <utility>

#include "common/report/error.h"
#include "controller/scheduler/clocked/checked_core.h"
#include "controller/scheduler/clocked/clocked_scheduler.h"
#include "controller/scheduler/clocked/compare_core.h"
#include "controller/scheduler/clocked/policy_core.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {
namespace {

std::unique_ptr<SchedulerCore> make_policy_core(const SchedulerConfig& config, SchedulerShape shape) {
    shape.channels = 1;
    std::unique_ptr<SchedulerPort> port = make_scheduler_policy(config, shape);
    auto* const policy = dynamic_cast<QueueScheduler*>(port.get());
    if (policy == nullptr)
        throw UserError(Problem{"scheduler.implementation", "policy '" + config.policy + "' has no cycle count",
                                "tlm, or a policy of QueueScheduler: one with class or flow queues",
                                "set scheduler.implementation = \"tlm\""});
    static_cast<void>(port.release());
    return std::make_unique<PolicyCore>(std::unique_ptr<QueueScheduler>(policy), config.queue_depth);
}

const RtlScheduler& find_rtl(const SchedulerConfig& config, const SchedulerShape& shape,
                             const std::vector<RtlScheduler>& rtl) {
    if (rtl.empty())
        throw UserError(Problem{
            "scheduler.implementation", "'" + config.implementation + "', but this program was built without Verilator",
            "tlm or tlm_clocked",
            "install Verilator 5.006 or newer (Debian: apt-get install verilator), run cmake again and build"});
    std::string names;
    std::vector<std::string> candidates;
    for (const RtlScheduler& block : rtl) {
        if (block.name != config.rtl_module) {
            names += (names.empty() ? "" : ", ") + block.name;
            candidates.push_back(block.name);
            continue;
        }
        std::vector<Problem> problems;
        const auto at_most = [&](const char* where, std::uint32_t value, const char* what, std::uint32_t limit,
                                 const char* repair) {
            if (value > limit)
                problems.push_back(Problem{where, std::to_string(value) + what + " for the Verilated " + block.name,
                                           "at most " + std::to_string(limit), repair});
        };
        at_most("nand.geometry.ways", shape.dies_per_channel, " dies on a channel are too many", block.dies,
                "use fewer, or build with -DSSDTLM_RTL_DIES=64");
        at_most("nand.geometry.planes_per_die", shape.planes_per_die, " planes are too many", block.planes,
                "use fewer");
        at_most("scheduler.queue_depth", config.queue_depth, " requests are too many", block.depth,
                "lower it, or build with -DSSDTLM_RTL_QUEUE_DEPTH=1024");
        if (!problems.empty()) throw UserError(std::move(problems));
        return block;
    }
    const std::string near = nearest(config.rtl_module, candidates);
    throw UserError(
        Problem{"scheduler.rtl_module", "no module '" + config.rtl_module + "' was built", "one of " + names,
                near.empty() ? "add its source to SSDTLM_RTL_SCHEDULERS when configuring the build (rtl/README.md)"
                             : "did you mean '" + near + "'?"});
}

}  // namespace

std::vector<std::string> scheduler_implementations() {
    return {"tlm", "tlm_clocked", "rtl", "compare"};
}

std::unique_ptr<SchedulerPort> make_scheduler(const SchedulerConfig& config, const SchedulerShape& shape,
                                              Agenda& agenda, const std::vector<RtlScheduler>& rtl) {
    if (config.implementation == "tlm") return make_scheduler_policy(config, shape);
    const RtlScheduler* const block = config.implementation == "tlm_clocked" ? nullptr : &find_rtl(config, shape, rtl);
    const Clock clock = Clock::hertz(config.clock_hz);
    const GrantRules::Limits limits{shape.dies_per_channel, shape.planes_per_die, shape.independent_plane_read,
                                    config.multi_plane, config.overtake_bound};
    const std::string policy_name = config.policy + " (C++)",
                      rtl_name = block == nullptr ? std::string{} : block->name + " (RTL)";
    std::vector<std::unique_ptr<SchedulerCore>> cores;
    for (std::uint16_t c = 0; c < shape.channels; ++c) {
        const auto checked = [&](const std::string& name, std::unique_ptr<SchedulerCore> core) {
            if (!core->proven()) core = std::make_unique<CheckedCore>(name, c, clock, limits, std::move(core));
            return core;
        };
        const auto rtl_core = [&] {
            try {
                return checked(rtl_name, block->make(config, shape));
            } catch (const SchedulerFault& e) {  // in reset
                refuse_grant({rtl_name, c, SimTime{}, e.cycle()}, e.what());
            }
        };
        const auto policy_core = [&] { return checked(policy_name, make_policy_core(config, shape)); };
        if (block == nullptr)
            cores.push_back(policy_core());
        else if (config.implementation == "rtl")
            cores.push_back(rtl_core());
        else
            cores.push_back(std::make_unique<CompareCore>(c, CompareCore::Named{policy_name, policy_core()},
                                                          CompareCore::Named{rtl_name, rtl_core()},
                                                          config.compare_cycles));
    }
    return std::make_unique<ClockedScheduler>(agenda, clock, std::move(cores));
}

}  // namespace ssdtlm
