// SPDX-License-Identifier: Apache-2.0
#include "controller/scheduler/scheduler_registry.h"

#include "common/report/error.h"

namespace ssdtlm {
namespace {

struct Policy {
    const char* name;
    std::unique_ptr<SchedulerPort> (*make)(const SchedulerConfig&, const SchedulerShape&);
};
constexpr Policy kPolicies[] = {{"read_first", make_read_first}, {"fifo", make_fifo}};

}  // namespace

std::vector<std::string> scheduler_policies() {
    std::vector<std::string> names;
    for (const Policy& p : kPolicies) names.emplace_back(p.name);
    return names;
}

std::unique_ptr<SchedulerPort> make_scheduler_policy(const SchedulerConfig& config, const SchedulerShape& shape) {
    for (const Policy& p : kPolicies)
        if (config.policy == p.name) return p.make(config, shape);
    std::string allowed;
    for (const Policy& p : kPolicies) allowed += std::string(allowed.empty() ? "" : ", ") + p.name;
    const std::string near = nearest(config.policy, scheduler_policies());
    throw UserError(Problem{"scheduler.policy", "no policy '" + config.policy + "'", "one of " + allowed,
                            near.empty() ? std::string{} : "did you mean '" + near + "'?"});
}

}  // namespace ssdtlm
