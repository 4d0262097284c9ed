// SPDX-License-Identifier: Apache-2.0
// Checks a foreign core against the contract of SchedulerPort. It throws CheckFailed at the core's first answer that
// breaks the contract, and when the core reports a fault of its own. The message names the clock cycle.
#pragma once

#include <memory>
#include <string>

#include "common/units/units.h"
#include "controller/ports/grant_rules.h"
#include "controller/scheduler/clocked/scheduler_core.h"

namespace ssdtlm {

class CheckedCore final : public SchedulerCore {
public:
    /// `name`: the core's name in messages.
    CheckedCore(std::string name, std::uint16_t channel, Clock clock, const GrantRules::Limits& limits,
                std::unique_ptr<SchedulerCore> core);

    bool full() const override { return core_->full(); }
    std::uint64_t push(const SchedulerRequest& request, std::uint64_t edge) override;
    void decide(const GrantQuery& query, std::uint64_t edge, CoreDecision& out) override;
    bool proven() const override { return true; }
    std::optional<SchedulerFairness> fairness() const override { return rules_.fairness(); }
    std::string dump() const override { return core_->dump(); }
    bool open_trace(const std::string& path) override { return core_->open_trace(path); }

private:
    [[noreturn]] void refuse(const std::string& found, std::uint64_t edge) const;

    const std::string name_;
    const std::uint16_t channel_;
    const Clock clock_;
    GrantRules rules_;
    std::unique_ptr<SchedulerCore> core_;
};

}  // namespace ssdtlm
