// SPDX-License-Identifier: Apache-2.0
// One fio job clone in time: queue depth, rate, think time, ramp, run time, passes and flushes, in the order in which
// fio 3.33's do_io() and thread_main() take these decisions. Told the time, never waits.
#pragma once

#include <cstdint>
#include <optional>

#include "host_pcie/protocol/host_request.h"
#include "host_pcie/workload/fio_generator.h"
#include "host_pcie/workload/fio_job.h"

namespace ssdtlm {

class FioJobRunner {
public:
    FioJobRunner(const FioJob& job, std::uint64_t capacity);

    void start(SimTime now);
    /// ready, wait or blocked as in Workload; done: the job has finished. Call start() first.
    Workload::State next(SimTime now, HostRequest& request, SimTime& when);
    void completed(const HostRequest& request, SimTime now);

    const FioJob& job() const { return job_; }
    bool started() const { return state_ != State::waiting; }
    bool finished() const { return state_ == State::finished; }
    bool measuring(SimTime now) const { return started() && now >= started_at_ + job_.ramp_time; }
    double progress(SimTime now) const;
    SimTime started_at() const { return started_at_; }
    SimTime finished_at() const { return finished_at_; }
    /// What fio divides a job's I/O by: from the end of the ramp to the end of the job, with the sleep (rate, think time)
    /// in which it may end. Empty while it runs, or if it ended within the ramp.
    std::optional<Workload::JobTime> measured_time() const;
    std::uint32_t outstanding() const { return outstanding_; }
    std::uint32_t passes() const { return passes_; }

private:
    enum class State : std::uint8_t {
        waiting,  ///< start() not called
        running,
        quiescing,  ///< waits for outstanding I/O before a sleep (rate, think time)
        sleeping,
        flushing,  ///< a flush is outstanding: nothing is issued
        draining,  ///< the pass has ended
        end_flush,
        finished
    };

    bool running(SimTime now, HostRequest& request);
    bool pass_is_over() const;
    bool limits_reached() const;
    bool flush_is_due() const;
    void emit_flush(HostRequest& request, State state);
    HostOp turn_by_rate(HostOp op, SimTime now);
    void account_rate(HostOp op, std::uint32_t bytes);
    void check_thinktime();
    void sleep_for(Ps duration, SimTime now);
    void end_of_pass(SimTime now);
    bool another_pass();
    void begin_pass();
    void end_ramp();
    std::uint64_t byte_limit() const { return job_.io_size != 0 ? job_.io_size : job_.size; }
    std::uint64_t io_limit() const { return job_.number_ios * (job_.trimwrite() ? 2 : 1) * job_.loops; }

    const FioJob& job_;
    FioGenerator generator_;
    Random poisson_;
    State state_ = State::waiting;
    SimTime started_at_{};
    SimTime finished_at_{};
    SimTime epoch_{};  // start, then end of the ramp: rates and run time count from here
    SimTime deadline_ = kNever;
    bool ramping_ = false;
    bool terminated_ = false;  // run time is over: no further pass

    std::uint32_t outstanding_ = 0;
    PerDirection<std::uint64_t> issued_bytes_{};  // over all passes
    std::uint64_t pass_bytes_ = 0;
    std::uint64_t pass_limit_ = 0;
    std::uint64_t done_ios_ = 0;  // since the ramp
    std::uint64_t done_bytes_ = 0;
    std::uint32_t loops_left_;
    std::uint32_t passes_ = 0;
    bool region_done_ = false;  // this pass ended because no offset was left
    bool last_was_write_ = false;

    bool rate_limited_;
    PerDirection<std::uint64_t> rate_count_{};  // bytes, or I/Os for rate_iops, since the epoch
    PerDirection<SimTime> rate_next_{};
    std::optional<HostOp> after_sleep_;  // direction whose turn comes after a rate sleep
    std::uint64_t last_think_ = 0;
    bool think_on_completion_ = false;  // the queue was full: decide when the first I/O returns
    Ps sleep_{0};
    SimTime wake_{};
};

}  // namespace ssdtlm
