// SPDX-License-Identifier: Apache-2.0
// Counts the measured commands by flow, and their waits for other flows: flow x flow x stage, in whole picoseconds. It
// exists only if there are several flows.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/latency/timeline.h"
#include "host_pcie/ports/completion_observer.h"
#include "sim/results/flow_metrics.h"

namespace ssdtlm {

/// The time for which commands of `flow` waited for operations that the flow `of` owns or has caused. Flows count from
/// 1; `of` is 0 for operations without a flow.
struct FlowWait {
    std::uint32_t flow = 0, of = 0;
    std::array<std::int64_t, kStageCount> ps{};  ///< by stage; only the waits of is_flash_wait() count
};

class FlowStats final : public CompletionObserver {
public:
    /// `flow_of_job`: the flow of each job, from 0 on.
    explicit FlowStats(std::vector<std::uint32_t> flow_of_job);

    void on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now,
                     const Timeline& timeline, bool measured) override;

    std::uint32_t flows() const { return static_cast<std::uint32_t>(figures_.size()); }
    /// The figures by flow. Only commands, bytes, response_ps, reads and reads_without_flash are set.
    const std::vector<FlowFigures>& figures() const { return figures_; }
    /// The waits that are not zero, ordered by `flow` and `of`. Panics when their sum in a stage differs from the sum
    /// over the flow's commands.
    std::vector<FlowWait> waits() const;
    const std::vector<std::uint32_t>& flow_of_job() const { return flow_of_job_; }

private:
    using Stages = std::array<std::int64_t, kStageCount>;
    Stages& cell(std::uint32_t flow, std::uint32_t of) { return cells_[flow * (figures_.size() + 1) + of]; }

    const std::vector<std::uint32_t> flow_of_job_;
    std::vector<FlowFigures> figures_;
    std::vector<Stages> cells_;
    std::vector<Stages> waited_;  // by flow: sums from the timelines, to check cells_
};

}  // namespace ssdtlm
