// SPDX-License-Identifier: Apache-2.0
// Runs two cores on the same stream of requests and questions. The model uses the first one. The run ends at the first
// question that the second answers differently.
#pragma once

#include <memory>
#include <string>

#include "controller/scheduler/clocked/scheduler_core.h"

namespace ssdtlm {

class CompareCore final : public SchedulerCore {
public:
    struct Named {
        std::string name;
        std::unique_ptr<SchedulerCore> core;
    };
    /// `cycles`: the number of cycles must be equal, too.
    CompareCore(std::uint16_t channel, Named used, Named other, bool cycles);

    bool full() const override { return used_.core->full() || other_.core->full(); }
    std::uint64_t push(const SchedulerRequest& request, std::uint64_t edge) override;
    /// Throws CheckFailed at the first difference, with the question, both answers and both states after them.
    void decide(const GrantQuery& query, std::uint64_t edge, CoreDecision& out) override;
    bool proven() const override { return used_.core->proven(); }
    std::optional<SchedulerFairness> fairness() const override {
        return other_.core->fairness() ? other_.core->fairness() : used_.core->fairness();
    }
    std::string dump() const override;
    bool open_trace(const std::string& path) override {
        return used_.core->open_trace(path) || other_.core->open_trace(path);
    }

private:
    const std::uint16_t channel_;
    Named used_;
    Named other_;
    const bool cycles_;
    std::uint64_t pushed_ = 0;
    std::uint64_t asked_ = 0;
    std::uint64_t edge_ = 0;  // of the other core, which may be slower
    CoreDecision theirs_;
};

}  // namespace ssdtlm
