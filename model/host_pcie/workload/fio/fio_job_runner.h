// SPDX-License-Identifier: Apache-2.0
// Runs a clone of a fio job over time: queue depth, rate, think time, ramp, run time, passes and flushes. It decides in
// the order of fio 3.33's do_io() and thread_main(). Its caller gives it the time, and it never waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/fio/fio_flow.h"
#include "host_pcie/workload/fio/fio_generator.h"
#include "host_pcie/workload/fio/fio_job.h"
#include "host_pcie/workload/fio/fio_job_amounts.h"
#include "host_pcie/workload/fio/fio_job_limits.h"
#include "host_pcie/workload/fio/fio_latency_target.h"
#include "host_pcie/workload/fio/fio_rate.h"
#include "host_pcie/workload/fio/fio_verify_history.h"

namespace ssdtlm {

class FioJobRunner {
public:
    /// `flow`: the flow of the job's flow_id, or null. Both arguments must outlive this object.
    explicit FioJobRunner(const FioJob& job, FioFlow* flow = nullptr);

    void start(SimTime now);
    /// Returns ready, wait or blocked as in Workload; done: the job has finished. Call start() first.
    Workload::State next(SimTime now, HostRequest& request, SimTime& when);
    void completed(const HostRequest& request, SimTime issued, SimTime now);
    /// Ends the job, because of another job (exitall) or a steady state. It issues no more I/O, but outstanding I/O
    /// completes.
    void terminate(SimTime now);
    /// Call it if the job will never start, so that its flow goes on without it.
    void abandon() { leave_flow(); }

    const FioJob& job() const { return job_; }
    bool started() const { return state_ != State::waiting; }
    bool finished() const { return state_ == State::finished; }
    /// The reason why the job ended with an error; empty if it did not.
    const std::string& failure() const { return failure_; }
    SimTime failed_at() const { return failed_at_; }
    /// True: the last next() issued nothing because the other jobs of the flow are behind.
    bool held_by_flow() const { return held_by_flow_; }
    /// The queue depth that the job uses now; latency_target changes it.
    std::uint32_t depth() const { return depth_; }
    /// The time at which latency_target began its final run, from which statistics count; kNever: it has not begun.
    SimTime final_run_at() const { return final_run_at_; }
    std::uint64_t done_ios() const { return amounts_.done_ios(); }
    std::uint64_t done_bytes() const { return amounts_.done_bytes(); }
    bool measuring(SimTime now) const { return started() && now >= started_at_ + job_.ramp_time; }
    double progress(SimTime now) const;
    SimTime started_at() const { return started_at_; }
    SimTime finished_at() const { return finished_at_; }
    /// The time by which fio divides a job's I/O. It lasts from the end of the ramp to the end of the job, and includes
    /// a sleep (rate, think time) at the end. It is empty while the job runs, or if it ended within the ramp.
    std::optional<Workload::JobTime> measured_time() const;
    std::uint32_t outstanding() const { return outstanding_; }
    std::uint32_t passes() const { return amounts_.passes(); }

private:
    enum class State : std::uint8_t {
        waiting,  ///< start() not called
        running,
        quiescing,  ///< waits for outstanding I/O before a sleep (rate, think time)
        sleeping,
        flushing,  ///< a flush is outstanding: nothing is issued
        draining,  ///< the pass has ended
        end_flush,
        verifying,  ///< what the pass has written is read back
        finished
    };

    bool running(SimTime now, HostRequest& request);
    bool verifying(SimTime now, HostRequest& request);
    bool backlog_is_due();
    bool emit_verify(HostRequest& request);
    bool held_back();
    void leave_flow();
    void watch(const HostRequest& request, Ps latency, SimTime now);
    void fail(std::string what, SimTime now);
    void restart_counts(SimTime now);
    bool deadline_is_over(SimTime now) const { return now >= deadline_ && (!ramping_ || terminated_); }
    bool flush_is_due() const;
    bool is_due(std::uint32_t each) const;
    void emit_flush(HostRequest& request, State state);
    HostOp turn_by_rate(HostOp op, SimTime now);
    void check_thinktime();
    void sleep_for(Ps duration, SimTime now);
    void end_of_pass(SimTime now);
    void begin_pass(SimTime now);
    void end_ramp();

    const FioJob& job_;
    FioGenerator generator_;
    FioRate rate_;
    FioJobAmounts amounts_;
    State state_ = State::waiting;
    SimTime started_at_{};
    SimTime finished_at_{};
    SimTime deadline_ = kNever;
    bool ramping_ = false;
    bool terminated_ = false;  // run time is over: no further pass

    std::uint32_t depth_;
    std::uint32_t limit_;  // outstanding I/Os up to which it issues: depth_, or refill_at after a full queue
    std::uint32_t outstanding_ = 0;
    bool last_was_write_ = false;
    bool flushed_to_verify_ = false;

    // Few jobs have these members. They cost one test per I/O, except the history.
    bool watched_ = false;
    std::optional<FioJobLimits> limits_;
    std::optional<FioLatencyTarget> target_;
    SimTime final_run_at_ = kNever;
    std::string failure_;
    SimTime failed_at_ = kNever;
    std::optional<FioVerifyHistory> history_;
    std::uint32_t batch_left_ = 0;  // of verify_backlog
    HostOp last_op_ = HostOp::write;
    FioFlow* flow_;
    std::uint64_t flow_issued_ = 0;
    bool held_by_flow_ = false;

    std::optional<HostOp> after_sleep_;  // direction whose turn comes after a rate sleep
    std::uint64_t last_think_ = 0;
    bool think_on_completion_ = false;  // the queue was full: decide when the first I/O returns
    bool thinking_ = false;             // the sleep is a think time that does not count for the rate
    Ps sleep_{0};
    SimTime wake_{};
};

}  // namespace ssdtlm
