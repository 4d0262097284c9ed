// SPDX-License-Identifier: Apache-2.0
// A workload that reports every request of another workload to a FioReport. It changes nothing else.
#pragma once

#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/report/fio_report.h"

namespace ssdtlm {

class ReportedWorkload final : public Workload {
public:
    /// Both must outlive this object.
    ReportedWorkload(Workload& inner, FioReport& report) : inner_(inner), report_(report) {}

    Next next(SimTime now) override {
        Next n = inner_.next(now);
        if (n.state == State::ready) report_.on_issue(n.request, now, inner_.measuring(n.request, now));
        return n;
    }
    void completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) override {
        report_.on_complete(request, issued, submitted, now, inner_.measuring(request, now), ok);
        inner_.completed(request, issued, submitted, now, ok);
    }
    std::uint32_t jobs() const override { return inner_.jobs(); }
    std::uint32_t tenant(std::uint32_t job) const override { return inner_.tenant(job); }
    IoPriority priority(std::uint32_t job) const override { return inner_.priority(job); }
    std::uint32_t depth(std::uint32_t job) const override { return inner_.depth(job); }
    double progress(SimTime now) const override { return inner_.progress(now); }
    bool measuring(const HostRequest& request, SimTime now) const override { return inner_.measuring(request, now); }
    std::optional<JobTime> job_time(std::uint32_t job) const override { return inner_.job_time(job); }

    /// Ends the report at `end`, with the jobs' own times. Call once, after the run.
    void finish(SimTime end) {
        for (std::uint32_t job = 0; job < jobs(); ++job)
            if (const auto time = job_time(job)) report_.set_runtime(job, time->end - time->begin);
        report_.finish(end);
    }

private:
    Workload& inner_;
    FioReport& report_;
};

}  // namespace ssdtlm
