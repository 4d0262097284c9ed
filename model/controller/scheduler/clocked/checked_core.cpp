// SPDX-License-Identifier: Apache-2.0
#include "controller/scheduler/clocked/checked_core.h"

#include <utility>

namespace ssdtlm {

CheckedCore::CheckedCore(std::string name, std::uint16_t channel, Clock clock, const GrantRules::Limits& limits,
                         std::unique_ptr<SchedulerCore> core)
    : name_(std::move(name)), channel_(channel), clock_(clock), rules_(limits), core_(std::move(core)) {}

std::uint64_t CheckedCore::push(const SchedulerRequest& request, std::uint64_t edge) {
    rules_.pushed(request, SimTime{clock_.cycles(edge)});
    try {
        return core_->push(request, edge);
    } catch (const SchedulerFault& e) {
        refuse(e.what(), e.cycle().value_or(edge));
    }
}

void CheckedCore::decide(const GrantQuery& query, std::uint64_t edge, CoreDecision& out) {
    rules_.asked(query);
    try {
        core_->decide(query, edge, out);
    } catch (const SchedulerFault& e) {
        refuse(e.what(), e.cycle().value_or(edge));
    }
    const std::string found = rules_.take(out.answer, out.grant, SimTime{clock_.cycles(edge + out.cycles)});
    if (!found.empty()) refuse(found, edge + out.cycles);
}

void CheckedCore::refuse(const std::string& found, std::uint64_t edge) const {
    refuse_grant({name_, channel_, SimTime{clock_.cycles(edge)}, edge}, found);
}

}  // namespace ssdtlm
