// SPDX-License-Identifier: Apache-2.0
// The jobs of a fio job file as one Workload. Jobs that can issue take turns; a job that waits for a completion or for
// a moment costs nothing meanwhile. Models fio's order of starting (startdelay, stonewall), not its start-up time.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "host_pcie/protocol/host_request.h"
#include "host_pcie/workload/fio_job_file.h"
#include "host_pcie/workload/fio_job_runner.h"

namespace ssdtlm {

class FioWorkload final : public Workload {
public:
    FioWorkload(std::vector<FioJob> jobs, const FioDevice& device);
    FioWorkload(const FioJobFile& file, const FioDevice& device) : FioWorkload(file.jobs, device) {}
    FioWorkload(const FioWorkload&) = delete;
    FioWorkload& operator=(const FioWorkload&) = delete;

    Next next(SimTime now) override;
    void completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) override;
    std::uint32_t jobs() const override { return static_cast<std::uint32_t>(jobs_.size()); }
    std::uint32_t depth(std::uint32_t job) const override { return jobs_[job].iodepth; }
    double progress(SimTime now) const override;
    bool measuring(const HostRequest& request, SimTime now) const override {
        return runners_[request.job].measuring(now);
    }

    std::optional<JobTime> job_time(std::uint32_t job) const override { return runners_[job].measured_time(); }

    const std::vector<FioJob>& job_list() const { return jobs_; }
    const FioJobRunner& runner(std::uint32_t job) const { return runners_[job]; }
    std::uint64_t failed() const { return failed_; }

private:
    struct Timer {
        SimTime at;
        std::uint32_t job;
    };
    static bool later(const Timer& a, const Timer& b) { return a.at > b.at || (a.at == b.at && a.job > b.job); }
    void admit(SimTime now);
    void make_ready(std::uint32_t job);

    const std::vector<FioJob> jobs_;
    std::deque<FioJobRunner> runners_;  // deque: a runner does not move
    std::vector<std::uint32_t> ready_;  // ring of jobs that may be able to issue
    std::size_t ready_first_ = 0;
    std::size_t ready_count_ = 0;
    std::vector<bool> in_ready_;
    std::vector<bool> timed_;                 // the job is in timers_
    std::vector<Timer> timers_;               // heap, earliest first
    std::vector<std::uint32_t> not_started_;  // in order of the file
    SimTime admit_at_ = kNever;               // next start delay
    std::uint32_t running_ = 0;
    std::uint64_t outstanding_ = 0;
    bool begun_ = false;
    SimTime genesis_{};  // first call of next(): start delays count from here
    std::uint64_t failed_ = 0;
};

}  // namespace ssdtlm
