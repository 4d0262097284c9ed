// SPDX-License-Identifier: Apache-2.0
// Several workloads at once, each a flow, for example a job file beside a trace. All begin at time 0 and are
// independent of each other. Workloads that can issue take turns. A workload that waits for a completion or for a time
// is not asked meanwhile. A flow may have a region of the drive, which it sees as a drive of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

class FlowsWorkload final : public Workload {
public:
    struct Flow {
        std::unique_ptr<Workload> workload;
        std::uint64_t first_byte = 0;  ///< of its region
    };
    /// With `only`, the other flows have no requests, but keep their jobs and queues. One flow alone keeps its own
    /// tenants; with several, each flow is a tenant.
    explicit FlowsWorkload(std::vector<Flow> flows, std::optional<std::uint32_t> only = std::nullopt);

    Next next(SimTime now) override;
    void completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) override;
    std::uint32_t jobs() const override { return static_cast<std::uint32_t>(flow_of_job_.size()); }
    std::uint32_t tenant(std::uint32_t job) const override {
        return flows_.size() == 1 ? flows_.front().workload->tenant(job) : flow_of_job_[job];
    }
    IoPriority priority(std::uint32_t job) const override {
        const Part& p = of(job);
        return p.workload->priority(job - p.first_job);
    }
    std::uint32_t depth(std::uint32_t job) const override {
        const Part& p = of(job);
        return p.workload->depth(job - p.first_job);
    }
    double progress(SimTime now) const override;
    bool measuring(const HostRequest& request, SimTime now) const override {
        const Part& p = of(request.job);
        return p.workload->measuring(own(p, request), now);
    }
    std::optional<JobTime> job_time(std::uint32_t job) const override {
        const Part& p = of(job);
        return p.workload->job_time(job - p.first_job);
    }

private:
    struct Part {
        std::unique_ptr<Workload> workload;
        std::uint64_t first_byte = 0;
        std::uint32_t first_job = 0;
        State state = State::ready;  // its last answer; ready after one of its completions
        SimTime when{};              // state wait
    };
    const Part& of(std::uint32_t job) const { return flows_[flow_of_job_[job]]; }
    /// The request as the flow's workload made it.
    static HostRequest own(const Part& p, HostRequest request) {
        request.job -= p.first_job;
        request.offset -= p.first_byte;
        return request;
    }

    std::vector<Part> flows_;
    std::vector<std::uint32_t> flow_of_job_;
    std::uint32_t turn_ = 0;  // flow that is asked first
};

}  // namespace ssdtlm
