// SPDX-License-Identifier: Apache-2.0
// The measured commands by flow, and the flows they waited for: flow x flow x stage, in whole picoseconds. It exists
// only when there are several flows.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/latency/timeline.h"
#include "host_pcie/ports/completion_observer.h"
#include "sim/results/flow_metrics.h"

namespace ssdtlm {

/// Time that commands of `flow` waited for operations that `of` owns or has caused. Flows count from 1; `of` is 0 for
/// operations without a flow.
struct FlowWait {
    std::uint32_t flow = 0, of = 0;
    std::array<std::int64_t, kStageCount> ps{};  ///< of the stages that is_flash_wait() names
};

class FlowStats final : public CompletionObserver {
public:
    /// `flow_of_job`: the flow of each job, from 0 on.
    explicit FlowStats(std::vector<std::uint32_t> flow_of_job);

    void on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now,
                     const Timeline& timeline, bool measured) override;

    std::uint32_t flows() const { return static_cast<std::uint32_t>(figures_.size()); }
    /// Figures by flow. commands, bytes, response_ps, reads and reads_without_flash are set.
    const std::vector<FlowFigures>& figures() const { return figures_; }
    /// The waits that are not zero, by `flow` and `of`. Panics when the waits of a flow differ, in some stage, from
    /// those of its commands.
    std::vector<FlowWait> waits() const;
    const std::vector<std::uint32_t>& flow_of_job() const { return flow_of_job_; }

private:
    using Stages = std::array<std::int64_t, kStageCount>;
    Stages& cell(std::uint32_t flow, std::uint32_t of) { return cells_[flow * (figures_.size() + 1) + of]; }

    const std::vector<std::uint32_t> flow_of_job_;
    std::vector<FlowFigures> figures_;
    std::vector<Stages> cells_;
    std::vector<Stages> waited_;  // by flow: the same from the timelines' sums
};

}  // namespace ssdtlm
