// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/media/media_work.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ssdtlm {

void MediaWork::start(std::unique_ptr<MediaJob> job) {
    Running r;
    r.begins_after = job->waits_for_host() ? commands_->last_number() : 0;
    r.job = std::move(job);
    r.number = ++started_;
    jobs_.push_back(std::move(r));
}

void MediaWork::cut_short(const MediaJob& job) {
    for (Running& r : jobs_) {
        if (r.job.get() != &job) continue;
        r.exhausted = true;
        r.again.clear();
    }
}

// A job that is done may start another one, so each position in jobs_ is looked up again.
void MediaWork::pump_jobs() {
    if (pumping_) return;
    pumping_ = true;
    for (std::size_t i = 0; i < jobs_.size();) {
        Running& r = jobs_[i];
        if (!r.begun && !r.exhausted && !commands_->have_ended(r.begins_after)) {
            ++i;
            continue;
        }
        r.begun = true;
        while (state_.running() && r.under_way < r.job->depth() && give_next(r)) {
        }
        if (r.exhausted && r.under_way == 0) {
            const std::unique_ptr<MediaJob> ended = std::move(r.job);
            jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
            ended->done();
        } else {
            ++i;
        }
    }
    pumping_ = false;
}

bool MediaWork::give_next(Running& r) {
    if (r.exhausted && r.again.empty()) return false;
    NvmeCommand& c = commands_->begin_own(*this);
    c.special.token = r.number;
    if (!r.again.empty()) {
        Running::Again& a = r.again.back();
        c.op = a.op;
        c.slba = a.slba;
        c.blocks = a.blocks;
        c.bytes = a.bytes;
        c.ranges = std::move(a.ranges);
        c.special = std::move(a.special);
        r.again.pop_back();
    } else if (!r.job->next(c)) {
        r.exhausted = true;
        commands_->give_back(c);
        return false;
    }
    ++r.under_way;
    commands_->submit_own(c);
    return true;
}

void MediaWork::own_ended(NvmeCommand& c) {
    for (Running& r : jobs_) {
        if (r.number != c.special.token) continue;
        --r.under_way;
        if (c.status == CommandStatus::aborted && !r.exhausted)
            r.again.push_back({c.op, c.slba, c.blocks, c.bytes, c.ranges, std::move(c.special)});
        else
            r.job->ended(c);
        break;
    }
}

void MediaWork::check_waiters() const {
    for (const Running& r : jobs_)
        if (r.begun && r.under_way == 0 && state_.running())
            throw CheckFailed(std::string("nvme: the ") + r.job->name() + " rests, and nothing wakes it");
}

}  // namespace ssdtlm
