// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio_workload.h"

#include <algorithm>
#include <numeric>

#include "common/report/error.h"

namespace ssdtlm {

FioWorkload::FioWorkload(std::vector<FioJob> jobs, const FioDevice& device) : jobs_(std::move(jobs)) {
    for (const FioJob& job : jobs_) {
        SSDTLM_CHECK(job.index == runners_.size(), "fio jobs are not numbered densely");
        runners_.emplace_back(job, device.capacity);
    }
    ready_.resize(jobs_.size());
    in_ready_.resize(jobs_.size());
    timed_.resize(jobs_.size());
    timers_.reserve(jobs_.size());
    not_started_.resize(jobs_.size());
    std::iota(not_started_.begin(), not_started_.end(), 0u);
}

void FioWorkload::make_ready(std::uint32_t job) {
    if (in_ready_[job]) return;
    in_ready_[job] = true;
    std::size_t at = ready_first_ + ready_count_++;
    if (at >= ready_.size()) at -= ready_.size();
    ready_[at] = job;
}

/// fio's rule: in order of the file; a delayed job is passed over, a stonewalled one waits until nothing runs and
/// holds back all jobs after it.
void FioWorkload::admit(SimTime now) {
    admit_at_ = kNever;
    bool held = false;
    std::size_t kept = 0;
    for (const std::uint32_t job : not_started_) {
        const SimTime start = genesis_ + jobs_[job].start_delay;
        if (!held && start > now) admit_at_ = std::min(admit_at_, start);
        if (!held && start <= now && jobs_[job].stonewall && running_ != 0) held = true;
        if (held || start > now) {
            not_started_[kept++] = job;
            continue;
        }
        runners_[job].start(now);
        ++running_;
        make_ready(job);
    }
    not_started_.resize(kept);
}

Workload::Next FioWorkload::next(SimTime now) {
    if (!begun_) {
        begun_ = true;
        genesis_ = now;
        admit(now);
    } else if (admit_at_ <= now) {
        admit(now);
    }
    while (!timers_.empty() && timers_.front().at <= now) {
        const std::uint32_t job = timers_.front().job;
        std::pop_heap(timers_.begin(), timers_.end(), later);
        timers_.pop_back();
        timed_[job] = false;
        make_ready(job);
    }
    Next result;
    while (ready_count_ != 0) {
        const std::uint32_t job = ready_[ready_first_];
        if (++ready_first_ == ready_.size()) ready_first_ = 0;
        --ready_count_;
        in_ready_[job] = false;
        SimTime when{};
        result.state = runners_[job].next(now, result.request, when);
        switch (result.state) {
            case State::ready:
                ++outstanding_;
                make_ready(job);
                return result;
            case State::wait:
                if (!timed_[job]) {  // a sleep does not move once begun
                    timed_[job] = true;
                    timers_.push_back({when, job});
                    std::push_heap(timers_.begin(), timers_.end(), later);
                }
                break;
            case State::blocked:
                break;
            case State::done:
                --running_;
                if (!not_started_.empty()) admit(now);
                break;
        }
    }
    result.when = timers_.empty() ? admit_at_ : std::min(timers_.front().at, admit_at_);
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

void FioWorkload::completed(const HostRequest& request, SimTime, SimTime, SimTime now, bool ok) {
    --outstanding_;
    if (!ok) ++failed_;
    runners_[request.job].completed(request, now);
    make_ready(request.job);
}

double FioWorkload::progress(SimTime now) const {
    double sum = 0;
    for (const FioJobRunner& r : runners_) sum += r.progress(now);
    return sum / static_cast<double>(std::max<std::size_t>(runners_.size(), 1));
}

}  // namespace ssdtlm
