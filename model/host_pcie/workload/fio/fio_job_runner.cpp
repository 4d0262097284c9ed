// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_job_runner.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"
#include "host_pcie/workload/report/fio_job_stats.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kVerifyTag = ~std::uint64_t{0};  // HostRequest::tag of a read of the verify phase

}  // namespace

FioJobRunner::FioJobRunner(const FioJob& job, FioFlow* flow)
    : job_(job), generator_(job), rate_(job), amounts_(job), depth_(job.iodepth), limit_(job.iodepth), flow_(flow) {
    if (FioJobLimits::any(job)) limits_.emplace(job);
    if (job.verify && job.writes) history_.emplace(job.random && job.random_map);
    watched_ = limits_ || job.latency_target != Ps{0};
}

void FioJobRunner::start(SimTime now) {
    SSDTLM_CHECK(state_ == State::waiting, "fio job started twice");
    started_at_ = now;
    ramping_ = job_.ramp_time != Ps{0};
    if (job_.runtime != Ps{0}) deadline_ = now + job_.ramp_time + job_.runtime;
    rate_.restart(now);
    if (job_.create_only) {
        leave_flow();
        state_ = State::finished;
        finished_at_ = now;
        return;
    }
    if (job_.latency_target != Ps{0} && !ramping_) {
        target_.emplace(job_, now);
        depth_ = limit_ = target_->depth();
    }
    amounts_.start();
    begin_pass(now);
}

void FioJobRunner::terminate(SimTime now) {
    terminated_ = true;
    deadline_ = std::min(deadline_, now);
    wake_ = std::min(wake_, now);
}

void FioJobRunner::fail(std::string what, SimTime now) {
    if (failed_at_ != kNever) return;
    failure_ = std::move(what);
    failed_at_ = now;
    terminate(now);
}

Workload::State FioJobRunner::next(SimTime now, HostRequest& request, SimTime& when) {
    if (ramping_ && now >= started_at_ + job_.ramp_time) end_ramp();
    for (;;) {
        switch (state_) {
            case State::waiting:
                panic("FioJobRunner::next", "job not started");
            case State::finished:
                return Workload::State::done;
            case State::flushing:
            case State::end_flush:
                return Workload::State::blocked;
            case State::quiescing:
                if (outstanding_ != 0) return Workload::State::blocked;
                wake_ = std::min(now + sleep_, std::max(now, deadline_));
                state_ = State::sleeping;
                break;
            case State::sleeping:
                if (now < wake_) {
                    when = wake_;
                    return Workload::State::wait;
                }
                state_ = State::running;
                if (thinking_) rate_.thought(last_op_, sleep_);
                thinking_ = false;
                break;
            case State::draining:
                if (outstanding_ != 0) return Workload::State::blocked;
                if (job_.end_fsync && last_was_write_) {
                    emit_flush(request, State::end_flush);
                    return Workload::State::ready;
                }
                if (history_ && history_->size() != 0 && !terminated_) {
                    if (flushed_to_verify_) {
                        state_ = State::verifying;
                        break;
                    }
                    flushed_to_verify_ = true;
                    emit_flush(request, State::end_flush);
                    return Workload::State::ready;
                }
                end_of_pass(now);
                break;
            case State::verifying:
                if (verifying(now, request)) return Workload::State::ready;
                if (state_ == State::verifying) return Workload::State::blocked;
                break;
            case State::running:
                if (running(now, request)) return Workload::State::ready;
                if (state_ != State::running) break;
                if (!held_by_flow_ || deadline_ == kNever) return Workload::State::blocked;
                when = deadline_;
                return Workload::State::wait;
        }
    }
}

/// Takes a step of a running job. Returns true if it has filled `request`. If it returns false in state running, the
/// queue is full.
bool FioJobRunner::running(SimTime now, HostRequest& request) {
    if (think_on_completion_) return false;  // fio waits, then thinks, and only then checks whether it is done
    if (deadline_is_over(now)) {
        terminated_ = true;
        state_ = State::draining;
        return false;
    }
    if (amounts_.pass_is_over(outstanding_)) {
        state_ = State::draining;
        return false;
    }
    held_by_flow_ = false;
    if (outstanding_ >= limit_) {
        if (job_.refill_at + 1 < depth_) limit_ = job_.refill_at + 1;
        return false;
    }
    limit_ = depth_;
    if (flow_ != nullptr && held_back()) return false;
    HostOp op;
    if (after_sleep_) {
        op = *after_sleep_;
        after_sleep_.reset();
    } else {
        if (flush_is_due()) {
            emit_flush(request, State::flushing);
            return true;
        }
        if (job_.verify_backlog != 0 && history_ && backlog_is_due() && emit_verify(request)) {
            --batch_left_;
            return true;
        }
        op = generator_.pick_direction();
        if (rate_.limited()) {
            op = turn_by_rate(op, now);
            if (state_ != State::running) {
                after_sleep_ = op;
                return false;
            }
        }
    }
    if (!generator_.next(op, request.offset, request.bytes)) {
        amounts_.region_is_done();
        state_ = State::draining;
        return false;
    }
    request.op = op;
    request.fua = job_.fua && op == HostOp::write;
    request.stream = op == HostOp::write ? job_.stream : std::uint16_t{0};
    request.job = job_.index;
    request.tag = history_ && op == HostOp::write ? history_->add(request.offset, request.bytes) : 0;
    last_op_ = op;
    generator_.issued(op);
    ++outstanding_;
    amounts_.issued(op, request.bytes);
    last_was_write_ = op == HostOp::write;
    if (rate_.limited()) rate_.issued(op, request.bytes);
    if (job_.thinktime != Ps{0}) {
        if (outstanding_ >= depth_)
            think_on_completion_ = true;
        else
            check_thinktime();
    }
    return true;
}

bool FioJobRunner::flush_is_due() const {
    if (!last_was_write_) return false;
    return is_due(job_.fsync) || is_due(job_.fdatasync);
}

bool FioJobRunner::is_due(std::uint32_t each) const {
    const std::uint64_t writes = generator_.issues(HostOp::write);
    return each != 0 && writes != 0 && writes % each == 0;
}

void FioJobRunner::emit_flush(HostRequest& request, State state) {
    request = HostRequest{};
    request.op = HostOp::flush;
    request.job = job_.index;
    request.offset = state == State::end_flush ? job_.files.front().begin : generator_.next_sync();
    ++outstanding_;
    request.tag = state == State::end_flush ? kEndFsync : is_due(job_.fsync) ? kFsync : kFdatasync;
    last_was_write_ = false;
    state_ = state;
}

/// Returns the direction that may go now. If none may, it starts a sleep until the earliest of them may.
HostOp FioJobRunner::turn_by_rate(HostOp op, SimTime now) {
    const FioRate::Turn turn = rate_.turn(op, now, generator_);
    if (turn.when > now) sleep_for(turn.when - now, now);
    return turn.op;
}

void FioJobRunner::sleep_for(Ps duration, SimTime now) {
    sleep_ = duration;
    if (job_.submit_offload) {
        wake_ = std::min(now + duration, std::max(now, deadline_));
        state_ = State::sleeping;
    } else {
        state_ = State::quiescing;  // the sleep begins after that: fio's inline mode
    }
}

void FioJobRunner::check_thinktime() {
    const std::uint64_t blocks =
        job_.thinktime_on_issue
            ? generator_.issues(HostOp::read) + generator_.issues(HostOp::write) + generator_.issues(HostOp::trim)
            : amounts_.done_ios();
    if (blocks < last_think_ + job_.thinktime_blocks) return;
    last_think_ = blocks;
    sleep_ = job_.thinktime;
    thinking_ = job_.rate_ignores_think;
    state_ = State::quiescing;
}

void FioJobRunner::completed(const HostRequest& request, SimTime issued, SimTime now) {
    SSDTLM_CHECK(outstanding_ > 0, "completion for an idle fio job");
    if (ramping_ && now >= started_at_ + job_.ramp_time) end_ramp();
    --outstanding_;
    if (request.op == HostOp::flush) {
        if (state_ == State::flushing)
            state_ = State::running;
        else if (state_ == State::end_flush)
            state_ = State::draining;
        return;
    }
    amounts_.completed(request.bytes);  // as in fio, this includes reads of the verify phase
    if (request.tag != 0 && request.tag != kVerifyTag) history_->completed(request.tag, request.offset);
    if (watched_) watch(request, now - issued, now);
    if (think_on_completion_) {
        think_on_completion_ = false;
        if (state_ == State::running) check_thinktime();
    }
}

/// Checks limits and latency target, except during the ramp.
void FioJobRunner::watch(const HostRequest& request, Ps latency, SimTime now) {
    if (ramping_) return;
    if (limits_) {
        if (auto what = limits_->completed(request, latency, now)) return fail(std::move(*what), now);
    }
    if (job_.latency_target == Ps{0}) return;
    if (!target_) target_.emplace(job_, now);  // the ramp is over
    switch (target_->completed(latency, now)) {
        case FioLatencyTarget::Step::none:
            return;
        case FioLatencyTarget::Step::done:
            terminate(now);
            return;
        case FioLatencyTarget::Step::impossible:
            return fail("a latency above latency_target at depth 1", now);
        case FioLatencyTarget::Step::final_run:
            final_run_at_ = now;
            restart_counts(now);
            [[fallthrough]];
        case FioLatencyTarget::Step::lowered:
            if (state_ == State::running) {
                sleep_ = Ps{0};
                state_ = State::quiescing;
            }
            break;
        case FioLatencyTarget::Step::changed:
            break;
    }
    depth_ = limit_ = target_->depth();
}

/// Reads back one piece. If it returns false in state verifying, the queue is full, or the next piece is still being
/// written.
bool FioJobRunner::verifying(SimTime now, HostRequest& request) {
    if (deadline_is_over(now)) {
        terminated_ = true;
        history_->clear();
    }
    if (history_->size() == 0) {
        state_ = State::draining;
        return false;
    }
    return outstanding_ < depth_ && emit_verify(request);
}

bool FioJobRunner::emit_verify(HostRequest& request) {
    HostRequest read;
    if (!history_->take(read.offset, read.bytes)) return false;
    read.op = HostOp::read;
    read.job = job_.index;
    read.tag = kVerifyTag;
    request = read;
    ++outstanding_;
    last_op_ = HostOp::read;
    return true;
}

/// True: verify_backlog writes have come, so a batch of them must be read back between the job's own I/O.
bool FioJobRunner::backlog_is_due() {
    if (history_->size() == 0) return false;
    if (batch_left_ != 0) return true;
    if (history_->size() % job_.verify_backlog != 0 || last_op_ == HostOp::read) return false;
    batch_left_ = job_.verify_batch != 0 ? job_.verify_batch : job_.verify_backlog;
    return true;
}

/// Counts the I/O that is about to be issued, or holds the job back. With flow_sleep it holds the job for that time,
/// else until another job of the flow has issued an I/O.
bool FioJobRunner::held_back() {
    held_by_flow_ = flow_->ahead(flow_issued_, job_.flow);
    if (!held_by_flow_) {
        ++flow_->issued;
        ++flow_issued_;
        return false;
    }
    if (job_.flow_sleep != Ps{0}) {
        held_by_flow_ = false;
        sleep_ = job_.flow_sleep;
        state_ = State::quiescing;
    }
    return true;
}

void FioJobRunner::leave_flow() {
    if (flow_ == nullptr) return;
    flow_->issued -= flow_issued_;
    flow_->weight -= job_.flow;
    flow_ = nullptr;
}

void FioJobRunner::begin_pass(SimTime now) {
    generator_.begin_pass();
    amounts_.begin_pass();
    flushed_to_verify_ = false;
    if (limits_) limits_->begin_pass(now);
    state_ = State::running;
}

void FioJobRunner::end_of_pass(SimTime now) {
    if (amounts_.pass_did_something() && !terminated_ && amounts_.another_pass()) {
        begin_pass(now);
        return;
    }
    leave_flow();
    state_ = State::finished;
    finished_at_ = now;
}

void FioJobRunner::end_ramp() {
    ramping_ = false;
    restart_counts(started_at_ + job_.ramp_time);
}

/// Makes amounts, rates and run time count from here on, as fio's reset_all_stats() does.
void FioJobRunner::restart_counts(SimTime now) {
    if (job_.runtime != Ps{0} && !terminated_) deadline_ = now + job_.runtime;
    generator_.reset_counts();
    amounts_.restart_counts();
    last_think_ = 0;
    rate_.restart(now);
}

std::optional<Workload::JobTime> FioJobRunner::measured_time() const {
    const SimTime begin = started_at_ + job_.ramp_time;
    if (!finished() || finished_at_ <= begin) return std::nullopt;
    return Workload::JobTime{begin, finished_at_};
}

double FioJobRunner::progress(SimTime now) const {
    if (!started()) return 0;
    if (finished()) return 1;
    double share = 0;
    if (deadline_ != kNever) share = to_seconds(now - started_at_) / to_seconds(deadline_ - started_at_);
    share = std::max(share, amounts_.share());
    return std::min(share, 1.0);
}

}  // namespace ssdtlm
