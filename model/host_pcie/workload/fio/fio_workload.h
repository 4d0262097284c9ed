// SPDX-License-Identifier: Apache-2.0
// The jobs of a fio job file as one Workload. First it lays out the files, one after the other. Then jobs that can
// issue I/O take turns. A job that waits for a completion or for a time costs nothing meanwhile. It models the order in
// which fio starts and ends jobs (startdelay, stonewall, wait_for, exitall, steadystate), but not fio's start-up time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/fio/fio_job_file.h"
#include "host_pcie/workload/fio/fio_job_runner.h"
#include "host_pcie/workload/report/fio_steady_state.h"

namespace ssdtlm {

class FioWorkload final : public Workload {
public:
    /// `only`: jobs of other sections never start.
    explicit FioWorkload(const FioJobFile& file, std::optional<std::uint32_t> only = std::nullopt);
    FioWorkload(const FioWorkload&) = delete;
    FioWorkload& operator=(const FioWorkload&) = delete;

    Next next(SimTime now) override;
    void completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) override;
    std::uint32_t jobs() const override { return static_cast<std::uint32_t>(jobs_.size()); }
    /// The job's section, because clones of a job work together.
    std::uint32_t tenant(std::uint32_t job) const override { return jobs_[job].section; }
    IoPriority priority(std::uint32_t job) const override { return jobs_[job].priority; }
    std::uint32_t depth(std::uint32_t job) const override;
    double progress(SimTime now) const override;
    bool measuring(const HostRequest& request, SimTime now) const override {
        return runners_[request.job].measuring(now);
    }

    std::optional<JobTime> job_time(std::uint32_t job) const override { return runners_[job].measured_time(); }

    const std::vector<FioJob>& job_list() const { return jobs_; }
    const FioJobRunner& runner(std::uint32_t job) const { return runners_[job]; }
    std::uint64_t failed() const { return failed_; }
    /// One sentence for each job that missed its limit (rate_min, max_latency, latency_target).
    std::vector<std::string> failures() const;
    /// One sentence on the result of each steadystate and latency_target.
    std::vector<std::string> outcomes() const;
    /// The job's own steady state; nullptr: it has none (in a reporting group the last job has it).
    const FioSteadyState* steady_state(std::uint32_t job) const;
    /// Called when a job's statistics begin anew: latency_target has found its depth.
    void on_statistics_reset(std::function<void(std::uint32_t job)> call) { statistics_reset_ = std::move(call); }

private:
    /// The jobs that one steadystate watches: one job, or all of a reporting group.
    struct Steady {
        FioSteadyState state;
        std::vector<std::uint32_t> jobs;
        std::vector<std::uint64_t> ios;  // at the last second, of each job
        std::vector<std::uint64_t> bytes;
        SimTime attained_at = kNever;
    };
    struct Timer {
        SimTime at;
        std::uint32_t job;
    };
    static bool later(const Timer& a, const Timer& b) { return a.at > b.at || (a.at == b.at && a.job > b.job); }
    void admit(SimTime now);
    void make_ready(std::uint32_t job);
    Next next_fill();
    Next next_io(SimTime now);
    void ended(std::uint32_t job, SimTime now);
    void terminate(const FioJob& by, SimTime now);
    void terminate(std::uint32_t job, SimTime now);
    bool waits_for_another(const FioJob& job) const;
    void wake_flow(const FioJob& mover);
    void form_steady_states();
    void check_steady_states(SimTime now);

    const std::vector<FioJob> jobs_;
    const std::vector<FioFill> fills_;
    std::size_t fill_ = 0;          // index in fills_ of the file that is being written
    std::uint64_t fill_done_ = 0;   // bytes of it that are issued
    std::uint64_t filled_ = 0;      // bytes that are on the drive, over all
    std::uint64_t fill_bytes_ = 0;  // bytes of all
    bool flushing_fill_ = false;
    std::map<std::uint32_t, FioFlow> flows_;
    std::deque<FioJobRunner> runners_;  // deque: a runner does not move
    std::vector<std::uint32_t> ready_;  // ring of jobs that may be able to issue
    std::size_t ready_first_ = 0;
    std::size_t ready_count_ = 0;
    std::vector<bool> in_ready_;
    std::vector<SimTime> timer_at_;  // earliest moment of the job in timers_
    std::vector<bool> ended_;
    std::vector<Steady> steady_;
    SimTime steady_at_ = kNever;  // next second to look at steady_
    bool exitall_ = false;        // one job with exitall is enough, as in fio
    std::function<void(std::uint32_t)> statistics_reset_;
    std::vector<Timer> timers_;               // heap, earliest first
    std::vector<std::uint32_t> not_started_;  // in order of the file
    SimTime admit_at_ = kNever;               // next start delay
    std::uint32_t running_ = 0;
    std::uint64_t outstanding_ = 0;
    bool begun_ = false;
    SimTime genesis_{};  // when all files are laid out: start delays count from here
    std::uint64_t failed_ = 0;
};

}  // namespace ssdtlm
