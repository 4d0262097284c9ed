// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio_job_runner.h"

#include <algorithm>
#include <cmath>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

Ps exact(std::uint64_t count, std::uint64_t per_second) {
    __extension__ using Wide = unsigned __int128;
    return Ps{static_cast<std::int64_t>(static_cast<Wide>(count) * 1'000'000'000'000u / per_second)};
}

}  // namespace

FioJobRunner::FioJobRunner(const FioJob& job, std::uint64_t capacity)
    : job_(job),
      generator_(job, capacity),
      poisson_(job.seed, 20),
      loops_left_(job.loops),
      rate_limited_(job.rate_limited()) {}

void FioJobRunner::start(SimTime now) {
    SSDTLM_CHECK(state_ == State::waiting, "fio job started twice");
    started_at_ = epoch_ = now;
    ramping_ = job_.ramp_time != Ps{0};
    if (job_.runtime != Ps{0}) deadline_ = now + job_.ramp_time + job_.runtime;
    rate_next_ = {now, now, now};
    --loops_left_;
    begin_pass();
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
                break;
            case State::draining:
                if (outstanding_ != 0) return Workload::State::blocked;
                if (job_.end_fsync && last_was_write_) {
                    emit_flush(request, State::end_flush);
                    return Workload::State::ready;
                }
                end_of_pass(now);
                break;
            case State::running:
                if (running(now, request)) return Workload::State::ready;
                if (state_ == State::running) return Workload::State::blocked;
                break;
        }
    }
}

/// True: `request` is filled. False in state running: the queue is full.
bool FioJobRunner::running(SimTime now, HostRequest& request) {
    if (think_on_completion_) return false;  // fio waits, then thinks, and only then looks whether it is done
    if (!ramping_ && now >= deadline_) {
        terminated_ = true;
        state_ = State::draining;
        return false;
    }
    if (pass_is_over()) {
        state_ = State::draining;
        return false;
    }
    if (outstanding_ >= job_.iodepth) return false;
    HostOp op;
    if (after_sleep_) {
        op = *after_sleep_;
        after_sleep_.reset();
    } else {
        if (flush_is_due()) {
            emit_flush(request, State::flushing);
            return true;
        }
        op = generator_.pick_direction();
        if (rate_limited_) {
            op = turn_by_rate(op, now);
            if (state_ != State::running) {
                after_sleep_ = op;
                return false;
            }
        }
    }
    if (!generator_.next(op, request.offset, request.bytes)) {
        region_done_ = true;
        state_ = State::draining;
        return false;
    }
    request.op = op;
    request.fua = job_.fua && op == HostOp::write;
    request.job = job_.index;
    generator_.issued(op);
    ++outstanding_;
    issued_bytes_[fio_index(op)] += request.bytes;
    pass_bytes_ += request.bytes;
    last_was_write_ = op == HostOp::write;
    if (rate_limited_) account_rate(op, request.bytes);
    if (job_.thinktime != Ps{0}) {
        if (outstanding_ >= job_.iodepth)
            think_on_completion_ = true;
        else
            check_thinktime();
    }
    return true;
}

bool FioJobRunner::pass_is_over() const {
    return !job_.time_based && (limits_reached() || pass_bytes_ >= pass_limit_);
}

/// io_size (or size) and number_ios, over all loops.
bool FioJobRunner::limits_reached() const {
    // fio counts reads and writes of a mix together; of a trimwrite only the writes.
    const std::uint64_t bytes = job_.mixed()  ? issued_bytes_[0] + issued_bytes_[1]
                                : job_.writes ? issued_bytes_[1]
                                : job_.reads  ? issued_bytes_[0]
                                              : issued_bytes_[2];
    if (bytes >= byte_limit() * job_.loops) return true;
    return job_.number_ios != 0 && done_ios_ + outstanding_ >= io_limit();
}

bool FioJobRunner::flush_is_due() const {
    if (!last_was_write_) return false;
    const std::uint64_t writes = generator_.issues(HostOp::write);
    return writes != 0 &&
           ((job_.fsync != 0 && writes % job_.fsync == 0) || (job_.fdatasync != 0 && writes % job_.fdatasync == 0));
}

void FioJobRunner::emit_flush(HostRequest& request, State state) {
    request = HostRequest{};
    request.op = HostOp::flush;
    request.job = job_.index;
    ++outstanding_;
    last_was_write_ = false;
    state_ = state;
}

/// The direction that may go now; or starts a sleep until the earliest of them may.
HostOp FioJobRunner::turn_by_rate(HostOp op, SimTime now) {
    SimTime when = rate_next_[fio_index(op)];
    if (when <= now) return op;
    if (job_.mixed()) {
        const HostOp other = op == HostOp::read ? HostOp::write : HostOp::read;
        const std::uint32_t share = other == HostOp::read ? job_.rwmix_read : 100 - job_.rwmix_read;
        const SimTime other_when = rate_next_[fio_index(other)];
        if (share != 0 && other_when < when) {
            op = other;
            when = other_when;
        }
        generator_.override_direction(op);
        if (when <= now) return op;
    }
    sleep_for(when - now, now);
    return op;
}

void FioJobRunner::sleep_for(Ps duration, SimTime now) {
    sleep_ = duration;
    if (job_.submit_offload) {
        wake_ = std::min(now + duration, std::max(now, deadline_));
        state_ = State::sleeping;
    } else {
        state_ = State::quiescing;  // and only then sleeps: fio's inline mode
    }
}

void FioJobRunner::account_rate(HostOp op, std::uint32_t bytes) {
    const std::size_t d = fio_index(op);
    if (job_.rate[d] == 0 && job_.rate_iops[d] == 0) return;
    if (job_.rate_process == FioRateProcess::poisson) {
        const double ios = job_.rate_iops[d] != 0
                               ? static_cast<double>(job_.rate_iops[d])
                               : static_cast<double>(job_.rate[d]) / static_cast<double>(job_.bs_min[d]);
        rate_next_[d] += Ps{static_cast<std::int64_t>(-std::log1p(-poisson_.unit()) / ios * 1e12)};
        return;
    }
    const bool by_bytes = job_.rate[d] != 0;
    rate_count_[d] += by_bytes ? bytes : 1;
    rate_next_[d] = epoch_ + exact(rate_count_[d], by_bytes ? job_.rate[d] : job_.rate_iops[d]);
}

void FioJobRunner::check_thinktime() {
    const std::uint64_t blocks =
        job_.thinktime_on_issue
            ? generator_.issues(HostOp::read) + generator_.issues(HostOp::write) + generator_.issues(HostOp::trim)
            : done_ios_;
    if (blocks < last_think_ + job_.thinktime_blocks) return;
    last_think_ = blocks;
    sleep_ = job_.thinktime;
    state_ = State::quiescing;
}

void FioJobRunner::completed(const HostRequest& request, SimTime now) {
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
    ++done_ios_;
    done_bytes_ += request.bytes;
    if (think_on_completion_) {
        think_on_completion_ = false;
        if (state_ == State::running) check_thinktime();
    }
}

void FioJobRunner::begin_pass() {
    generator_.begin_pass();
    pass_bytes_ = 0;
    region_done_ = false;
    ++passes_;
    // fio lets these overwrite within one pass; everything else makes a pass per `size`.
    pass_limit_ = job_.size;
    if (job_.writes && (!job_.random || !job_.random_map)) pass_limit_ = std::max(pass_limit_, job_.io_size);
    if (job_.trimwrite()) pass_limit_ += byte_limit() * job_.loops;
    state_ = State::running;
}

void FioJobRunner::end_of_pass(SimTime now) {
    if (pass_bytes_ != 0 && another_pass()) {
        begin_pass();
        return;
    }
    state_ = State::finished;
    finished_at_ = now;
}

bool FioJobRunner::another_pass() {
    if (terminated_) return false;
    if (job_.time_based) return true;
    if (loops_left_ > 0) {
        --loops_left_;
        return true;
    }
    if (job_.number_ios != 0 && done_ios_ >= io_limit()) return false;
    const std::uint64_t limit = byte_limit();
    if (done_bytes_ >= limit || limit - done_bytes_ < job_.largest_block()) return false;
    return !(region_done_ && job_.io_size == 0);
}

void FioJobRunner::end_ramp() {
    ramping_ = false;
    epoch_ = started_at_ + job_.ramp_time;
    generator_.reset_counts();
    done_ios_ = 0;
    done_bytes_ = 0;
    last_think_ = 0;
    rate_count_ = {0, 0, 0};
    rate_next_ = {epoch_, epoch_, epoch_};
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
    if (!job_.time_based) {
        std::uint64_t bytes = 0;
        for (std::uint64_t b : issued_bytes_) bytes += b;
        const double all = static_cast<double>(byte_limit()) * job_.loops * (job_.trimwrite() ? 2 : 1);
        share = std::max(share, static_cast<double>(bytes) / all);
        if (job_.number_ios != 0)
            share = std::max(share, static_cast<double>(done_ios_) / static_cast<double>(io_limit()));
    }
    return std::min(share, 1.0);
}

}  // namespace ssdtlm
