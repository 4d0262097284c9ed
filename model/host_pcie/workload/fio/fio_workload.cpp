// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_workload.h"

#include <algorithm>
#include <numeric>

#include "common/report/error.h"

namespace ssdtlm {

namespace {

// The writes of a file system's writeback while fio lays out a file: assumed.
constexpr std::uint64_t kFillBytes = 131072;
constexpr std::uint32_t kFillDepth = 32;
constexpr Ps kSecond = std::chrono::seconds(1);

}  // namespace

FioWorkload::FioWorkload(const FioJobFile& file, std::optional<std::uint32_t> only)
    : jobs_(file.jobs), fills_(file.fills) {
    for (const FioFill& fill : fills_) fill_bytes_ += fill.bytes;
    for (const FioJob& job : jobs_) {
        SSDTLM_CHECK(job.index == runners_.size(), "fio jobs are not numbered densely");
        FioFlow* flow = job.flow != 0 ? &flows_[job.flow_id] : nullptr;
        if (flow != nullptr) flow->weight += job.flow;
        runners_.emplace_back(job, flow);
        exitall_ = exitall_ || job.exitall;
    }
    ready_.resize(jobs_.size());
    in_ready_.resize(jobs_.size());
    timer_at_.resize(jobs_.size(), kNever);
    ended_.resize(jobs_.size());
    timers_.reserve(jobs_.size());
    not_started_.resize(jobs_.size());
    std::iota(not_started_.begin(), not_started_.end(), 0u);
    for (const FioJob& job : jobs_)
        if (job.section != only.value_or(job.section)) terminate(job.index, SimTime{});
    form_steady_states();
}

void FioWorkload::make_ready(std::uint32_t job) {
    if (in_ready_[job]) return;
    in_ready_[job] = true;
    std::size_t at = ready_first_ + ready_count_++;
    if (at >= ready_.size()) at -= ready_.size();
    ready_[at] = job;
}

/// Starts jobs in the order of the file, as fio does. It skips a delayed job. A stonewalled job waits until no job
/// runs, and holds back all jobs after it.
void FioWorkload::admit(SimTime now) {
    admit_at_ = kNever;
    bool held = false;
    std::size_t kept = 0;
    for (const std::uint32_t job : not_started_) {
        const SimTime start = genesis_ + jobs_[job].start_delay;
        if (!held && start > now) admit_at_ = std::min(admit_at_, start);
        if (!held && start <= now && jobs_[job].stonewall && running_ != 0) held = true;
        if (held || start > now || waits_for_another(jobs_[job])) {
            not_started_[kept++] = job;
            continue;
        }
        runners_[job].start(now);
        ++running_;
        make_ready(job);
    }
    not_started_.resize(kept);
}

bool FioWorkload::waits_for_another(const FioJob& job) const {
    if (job.wait_for.empty()) return false;
    for (const FioJob& other : jobs_)
        if (other.report.name == job.wait_for && !ended_[other.index]) return true;
    return false;
}

Workload::Next FioWorkload::next(SimTime now) {
    if (!begun_) {
        if (fill_ != fills_.size() || outstanding_ != 0) return next_fill();
        begun_ = true;
        genesis_ = now;
        if (!steady_.empty()) steady_at_ = now + kSecond;
        admit(now);
    } else if (admit_at_ <= now) {
        admit(now);
    }
    while (steady_at_ <= now) check_steady_states(now);  // seconds without power have passed without being asked
    while (!timers_.empty() && timers_.front().at <= now) {
        const Timer timer = timers_.front();
        std::pop_heap(timers_.begin(), timers_.end(), later);
        timers_.pop_back();
        if (timer_at_[timer.job] == timer.at) timer_at_[timer.job] = kNever;
        make_ready(timer.job);
    }
    return next_io(now);
}

/// Writes one file after the other, as fio's create_serialize does.
Workload::Next FioWorkload::next_fill() {
    Next result;
    result.state = State::blocked;
    if (outstanding_ == kFillDepth || fill_ == fills_.size() || flushing_fill_) return result;
    const FioFill& fill = fills_[fill_];
    if (fill_done_ == fill.bytes && outstanding_ != 0) return result;
    result.state = State::ready;
    result.request.preparation = true;
    result.request.job = fill.job;
    ++outstanding_;
    if (fill_done_ == fill.bytes) {  // fio's create_fsync
        result.request.op = HostOp::flush;
        result.request.offset = fill.offset;
        flushing_fill_ = true;
        ++fill_;
        fill_done_ = 0;
        return result;
    }
    const std::uint64_t bytes = std::min(kFillBytes, fill.bytes - fill_done_);
    result.request.op = HostOp::write;
    result.request.offset = fill.offset + fill_done_;
    result.request.bytes = static_cast<std::uint32_t>(bytes);
    fill_done_ += bytes;
    return result;
}

Workload::Next FioWorkload::next_io(SimTime now) {
    Next result;
    while (ready_count_ != 0) {
        const std::uint32_t job = ready_[ready_first_];
        if (++ready_first_ == ready_.size()) ready_first_ = 0;
        --ready_count_;
        in_ready_[job] = false;
        if (ended_[job]) continue;
        SimTime when{};
        result.state = runners_[job].next(now, result.request, when);
        switch (result.state) {
            case State::ready:
                ++outstanding_;
                make_ready(job);
                if (jobs_[job].flow != 0) wake_flow(jobs_[job]);
                return result;
            case State::wait:
                if (timer_at_[job] > when) {  // an earlier timer will ask the job again
                    timer_at_[job] = when;
                    timers_.push_back({when, job});
                    std::push_heap(timers_.begin(), timers_.end(), later);
                }
                break;
            case State::blocked:
                break;
            case State::done:
                ended(job, now);
                if (!not_started_.empty()) admit(now);
                break;
        }
    }
    result.when = timers_.empty() ? admit_at_ : std::min(timers_.front().at, admit_at_);
    if (running_ != 0) result.when = std::min(result.when, steady_at_);
    if (result.when != kNever) {
        result.state = State::wait;
    } else if (running_ != 0) {
        SSDTLM_CHECK(outstanding_ != 0, "fio jobs wait for nothing");
        result.state = State::blocked;
    } else {
        SSDTLM_CHECK(not_started_.empty(), "fio jobs never started");
        result.state = State::done;
    }
    return result;
}

void FioWorkload::ended(std::uint32_t job, SimTime now) {
    --running_;
    ended_[job] = true;
    const FioJob& j = jobs_[job];
    if (j.flow != 0) wake_flow(j);
    if (exitall_ || (j.exitall_on_error && !runners_[job].failure().empty())) terminate(j, now);
}

void FioWorkload::terminate(const FioJob& by, SimTime now) {
    for (const FioJob& job : jobs_) {
        const bool meant = by.exit_what == FioExit::all ||
                           (by.exit_what == FioExit::group && job.report.group == by.report.group) ||
                           (by.exit_what == FioExit::stonewall && runners_[job.index].started());
        if (meant) terminate(job.index, now);
    }
}

/// Ends a job. A job that has not started never will.
void FioWorkload::terminate(std::uint32_t job, SimTime now) {
    if (ended_[job]) return;
    if (runners_[job].started()) {
        runners_[job].terminate(now);
        make_ready(job);
    } else {
        ended_[job] = true;
        runners_[job].abandon();
        if (jobs_[job].flow != 0) wake_flow(jobs_[job]);
        not_started_.erase(std::remove(not_started_.begin(), not_started_.end(), job), not_started_.end());
    }
}

/// The flow of `mover` has changed: jobs that it held back may go on.
void FioWorkload::wake_flow(const FioJob& mover) {
    for (const FioJob& job : jobs_)
        if (job.flow != 0 && job.flow_id == mover.flow_id && runners_[job.index].held_by_flow()) make_ready(job.index);
}

/// fio keeps the data of a reporting group at its last job.
void FioWorkload::form_steady_states() {
    for (const FioJob& job : jobs_) {
        if (job.steady.seconds == 0) continue;
        const bool same_group = !steady_.empty() && job.report.group_reporting &&
                                jobs_[steady_.back().jobs.back()].report.group_reporting &&
                                jobs_[steady_.back().jobs.back()].report.group == job.report.group;
        if (!same_group) steady_.push_back({FioSteadyState(job.steady), {}, {}, {}, kNever});
        Steady& s = steady_.back();
        s.jobs.push_back(job.index);
        s.ios.push_back(0);
        s.bytes.push_back(0);
    }
}

void FioWorkload::check_steady_states(SimTime now) {
    steady_at_ += kSecond;
    for (Steady& s : steady_) {
        if (s.state.attained()) continue;
        std::uint64_t ios = 0;
        std::uint64_t bytes = 0;
        bool watching = false;
        for (std::size_t i = 0; i < s.jobs.size(); ++i) {
            const FioJobRunner& r = runners_[s.jobs[i]];
            if (!r.started() || r.finished()) continue;
            const std::uint64_t done_ios = r.done_ios();
            const std::uint64_t done_bytes = r.done_bytes();
            // As in fio, it watches from one second after the steady state's own ramp.
            const Ps ramp = s.state.criterion().ramp;
            if (now >= r.started_at() + ramp + (ramp != Ps{0} ? kSecond : Ps{0})) {
                watching = true;
                // The job's ramp_time begins its counts anew.
                ios += done_ios - std::min(s.ios[i], done_ios);
                bytes += done_bytes - std::min(s.bytes[i], done_bytes);
            }
            s.ios[i] = done_ios;
            s.bytes[i] = done_bytes;
        }
        if (!watching || !s.state.add(ios, bytes)) continue;
        s.attained_at = now;
        for (const std::uint32_t job : s.jobs) terminate(job, now);
    }
}

void FioWorkload::completed(const HostRequest& request, SimTime issued, SimTime, SimTime now, bool ok) {
    --outstanding_;
    if (!ok) ++failed_;
    if (request.preparation) {
        filled_ += request.bytes;
        flushing_fill_ = false;
        return;
    }
    FioJobRunner& runner = runners_[request.job];
    const SimTime final_run = runner.final_run_at();
    runner.completed(request, issued, now);
    if (runner.final_run_at() != final_run && statistics_reset_) statistics_reset_(request.job);
    make_ready(request.job);
}

std::uint32_t FioWorkload::depth(std::uint32_t job) const {
    const bool fills = std::any_of(fills_.begin(), fills_.end(), [job](const FioFill& f) { return f.job == job; });
    return fills ? std::max<std::uint32_t>(jobs_[job].iodepth, kFillDepth) : jobs_[job].iodepth;
}

std::vector<std::string> FioWorkload::failures() const {
    std::vector<std::string> out;
    for (const FioJobRunner& r : runners_)
        if (!r.failure().empty())
            out.push_back("fio job '" + r.job().report.name + "' ended at " +
                          std::to_string(to_seconds(r.failed_at().time_since_epoch())) + " s: " + r.failure());
    return out;
}

std::vector<std::string> FioWorkload::outcomes() const {
    std::vector<std::string> out;
    for (const Steady& s : steady_) {
        const std::string job = "job '" + jobs_[s.jobs.front()].report.name + "': steadystate ";
        out.push_back(job + s.state.criterion().text +
                      (s.state.attained()
                           ? " attained at " + std::to_string(to_seconds(s.attained_at.time_since_epoch())) + " s"
                           : " not attained, " + std::to_string(s.state.iops().size()) + " of " +
                                 std::to_string(s.state.criterion().seconds) + " seconds in its window"));
    }
    for (const FioJobRunner& r : runners_) {
        const std::string& name = r.job().report.name;
        if (r.finished() && r.job().ramp_time != Ps{0} && !r.measured_time())
            out.push_back("job '" + name + "' ended within its ramp_time of " +
                          std::to_string(to_seconds(r.job().ramp_time)) +
                          " s, so nothing of it was measured; shorten ramp_time, or give the job more to do");
        if (r.job().latency_target == Ps{0}) continue;
        out.push_back("job '" + r.job().report.name + "': latency_target met at queue depth " +
                      std::to_string(r.depth()) +
                      (r.final_run_at() != kNever || r.job().latency_run ? "" : "; the search had not ended"));
    }
    return out;
}

const FioSteadyState* FioWorkload::steady_state(std::uint32_t job) const {
    for (const Steady& s : steady_)
        if (s.jobs.back() == job) return &s.state;
    return nullptr;
}

double FioWorkload::progress(SimTime now) const {
    double sum = 0;
    for (const FioJobRunner& r : runners_) sum += r.progress(now);
    double share = sum / static_cast<double>(std::max<std::size_t>(runners_.size(), 1));
    if (fill_bytes_ == 0) return share;
    double bytes = static_cast<double>(fill_bytes_);
    for (const FioJob& j : jobs_) bytes += static_cast<double>(j.size);
    const double fill = static_cast<double>(fill_bytes_) / bytes;
    share = share * (1 - fill) + fill * static_cast<double>(filled_) / static_cast<double>(fill_bytes_);
    return share;
}

}  // namespace ssdtlm
