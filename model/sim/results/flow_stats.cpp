// SPDX-License-Identifier: Apache-2.0
#include "sim/results/flow_stats.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

FlowStats::FlowStats(std::vector<std::uint32_t> flow_of_job) : flow_of_job_(std::move(flow_of_job)) {
    std::uint32_t flows = 0;
    for (const std::uint32_t flow : flow_of_job_) flows = std::max(flows, flow + 1);
    figures_.resize(flows);
    cells_.resize(std::size_t{flows} * (flows + 1));
    waited_.resize(flows);
}

void FlowStats::on_complete(const HostRequest& request, SimTime, SimTime submitted, SimTime now,
                            const Timeline& timeline, bool measured) {
    if (!measured) return;
    const std::uint32_t flow = flow_of_job_[request.job];
    FlowFigures& f = figures_[flow];
    ++f.commands;
    f.bytes += request.bytes;
    f.response_ps += (now - submitted).count();
    bool flash = false;
    timeline.for_each([&](Stage stage, std::int64_t ps) {
        if (is_flash_wait(stage)) waited_[flow][static_cast<std::size_t>(stage)] += ps;
        flash = flash || stage == Stage::array;
    });
    if (request.op == HostOp::read) {
        ++f.reads;
        f.reads_without_flash += flash ? 0 : 1;
    }
    timeline.for_each_wait([&](Stage stage, std::uint8_t of, std::int64_t ps) {
        SSDTLM_CHECK(of <= figures_.size(), "a command waited for a flow that there is not");
        cell(flow, of)[static_cast<std::size_t>(stage)] += ps;
    });
}

std::vector<FlowWait> FlowStats::waits() const {
    std::vector<FlowWait> all;
    for (std::uint32_t flow = 0; flow < figures_.size(); ++flow) {
        Stages sum{};
        for (std::uint32_t of = 0; of <= figures_.size(); ++of) {
            const Stages& ps = cells_[flow * (figures_.size() + 1) + of];
            for (std::size_t i = 0; i < kStageCount; ++i) sum[i] += ps[i];
            if (std::any_of(ps.begin(), ps.end(), [](std::int64_t p) { return p != 0; }))
                all.push_back({flow + 1, of, ps});
        }
        SSDTLM_CHECK(sum == waited_[flow], "the waits of a flow by the flows that caused them are not its waits");
    }
    return all;
}

}  // namespace ssdtlm
