// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/gc/victim_policy.h"

#include "common/report/error.h"

namespace ssdtlm {

namespace {
struct Registered {
    const char* name;
    std::unique_ptr<VictimPolicy> (*make)(const VictimPolicySetup&);
};
// Sorted by name. A new policy is one file and one row.
constexpr Registered kPolicies[] = {
    {"cost_benefit", make_cost_benefit_policy},
    {"d_choices", make_d_choices_policy},
    {"fifo", make_fifo_policy},
    {"greedy", make_greedy_policy},
    {"random", make_random_policy},
};
}  // namespace

std::vector<std::string> victim_policy_names() {
    std::vector<std::string> names;
    for (const auto& p : kPolicies) names.emplace_back(p.name);
    return names;
}

std::unique_ptr<VictimPolicy> make_victim_policy(const std::string& name, const VictimPolicySetup& setup) {
    for (const auto& p : kPolicies) {
        if (name == p.name) return p.make(setup);
    }
    std::string allowed = "allowed are";
    for (const auto& p : kPolicies) allowed += std::string(" ") + p.name;
    const std::string near = nearest(name, victim_policy_names());
    throw UserError(Problem{"gc.policy", "unknown policy '" + name + "'", allowed,
                            near.empty() ? "" : "did you mean " + near + "?"});
}

}  // namespace ssdtlm
