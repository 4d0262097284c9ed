// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/flows_workload.h"

#include <algorithm>

namespace ssdtlm {

FlowsWorkload::FlowsWorkload(std::vector<Flow> flows, std::optional<std::uint32_t> only) {
    for (Flow& f : flows) {
        const auto number = static_cast<std::uint32_t>(flows_.size());
        const std::uint32_t first_job = jobs();
        flow_of_job_.resize(first_job + f.workload->jobs(), number);
        const State state = only.value_or(number) == number ? State::ready : State::done;
        flows_.push_back({std::move(f.workload), f.first_byte, first_job, state, {}});
    }
}

Workload::Next FlowsWorkload::next(SimTime now) {
    Next result;
    result.state = State::done;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
        const std::uint32_t number = turn_;
        turn_ = turn_ + 1 == flows_.size() ? 0 : turn_ + 1;
        Part& p = flows_[number];
        if (p.state == State::ready || (p.state == State::wait && p.when <= now)) {
            Next n = p.workload->next(now);
            p.state = n.state;
            p.when = n.when;
            if (n.state == State::ready) {
                n.request.job += p.first_job;
                n.request.offset += p.first_byte;
                return n;
            }
        }
        if (p.state == State::wait && (result.state != State::wait || p.when < result.when)) {
            result.state = State::wait;
            result.when = p.when;
        } else if (p.state == State::blocked && result.state == State::done) {
            result.state = State::blocked;
        }
    }
    return result;
}

void FlowsWorkload::completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) {
    Part& p = flows_[flow_of_job_[request.job]];
    p.workload->completed(own(p, request), issued, submitted, now, ok);
    if (p.state != State::done) p.state = State::ready;
}

/// The progress of the slowest flow, because the run ends with the last one.
double FlowsWorkload::progress(SimTime now) const {
    double least = 1;
    for (const Part& p : flows_)
        if (p.state != State::done) least = std::min(least, p.workload->progress(now));
    return least;
}

}  // namespace ssdtlm
