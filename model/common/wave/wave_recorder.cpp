// SPDX-License-Identifier: Apache-2.0
#include "common/wave/wave_recorder.h"

#include <algorithm>

namespace ssdtlm {

WaveId WaveRecorder::add(const WaveSignal& signal) {
    SSDTLM_CHECK(stage_ == Stage::early && pending_.empty(), "a wave signal is declared after the first change");
    SSDTLM_CHECK(signal.width >= 1 && signal.width <= 64, "a wave signal has 1 to 64 bits: " + signal.name);
    signals_.push_back(signal);
    values_.push_back(signal.initial);
    next_.push_back(0);
    is_touched_.push_back(0);
    changed_.push_back(false);
    return static_cast<WaveId>(signals_.size() - 1);
}

void WaveRecorder::reset(const std::vector<WaveId>& signals, SimTime now) {
    std::vector<bool> over(signals_.size());
    for (const WaveId id : signals) over[id] = true;
    pending_.erase(
        std::remove_if(pending_.begin(), pending_.end(), [&](const Change& c) { return c.at > now && over[c.id]; }),
        pending_.end());
    for (const WaveId id : signals) change(id, now, signals_[id].initial);
}

/// Applies all changes before `now`. Changes at `now` stay, because more changes at that time may follow.
void WaveRecorder::sort(SimTime now) {
    SSDTLM_CHECK(now >= settled_, "wave time goes back");
    std::stable_sort(pending_.begin(), pending_.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
    SSDTLM_CHECK(pending_.empty() || pending_.front().at >= settled_, "a wave change is stamped in the past");
    const auto end =
        std::partition_point(pending_.begin(), pending_.end(), [now](const Change& c) { return c.at < now; });
    const auto count = static_cast<std::size_t>(end - pending_.begin());
    for (std::size_t first = 0; first < count;) {
        std::size_t limit = first + 1;
        while (limit < count && pending_[limit].at == pending_[first].at) ++limit;
        apply(first, limit);
        first = limit;
    }
    pending_.erase(pending_.begin(), end);
    settled_ = now;
    batch_ = std::max(kBatch, 2 * pending_.size());  // keeps changes of the far future from being sorted each time
}

/// Applies the changes of one time, which are [first, limit) of pending_.
void WaveRecorder::apply(std::size_t first, std::size_t limit) {
    const SimTime at = pending_[first].at;
    touched_.clear();
    for (std::size_t i = first; i < limit; ++i) {
        const Change& c = pending_[i];
        if (is_touched_[c.id] == 0) {
            is_touched_[c.id] = 1;
            touched_.push_back(c.id);
            next_[c.id] = values_[c.id];
        }
        next_[c.id] = c.relative ? next_[c.id] + c.value : c.value;
    }
    if (stage_ == Stage::early && at > window_.from) {
        if (window_.triggered) {
            base_ = values_;
            base_time_ = window_.from;
            stage_ = Stage::history;
        } else {
            begin(window_.from, values_);
        }
    }
    if (stage_ == Stage::open && at > to_) close(to_);
    if (stage_ == Stage::history && at > window_.to) close(window_.to);
    for (const WaveId id : touched_) {
        is_touched_[id] = 0;
        if (next_[id] == values_[id]) continue;
        values_[id] = next_[id];
        last_change_ = at;
        if (stage_ == Stage::open) {
            pass(at, id, values_[id]);
        } else if (stage_ == Stage::history) {
            remember({at, id, values_[id]});
        }
    }
    if (stage_ == Stage::history && at - SimTime{} > window_.before) forget_until(at - window_.before);
}

void WaveRecorder::pass(SimTime at, WaveId id, std::uint64_t value) {
    ++written_;
    changed_[id] = true;
    sink_.change(at, id, value);
}

void WaveRecorder::begin(SimTime at, const std::vector<std::uint64_t>& values) {
    stage_ = Stage::open;
    begun_ = true;
    begin_time_ = at;
    to_ = trigger_time_ == kNever || trigger_time_ > kNever - window_.after
              ? window_.to
              : std::min(window_.to, trigger_time_ + window_.after);
    sink_.begin(at, signals_, values);
}

void WaveRecorder::close(SimTime at) {
    if (stage_ == Stage::open) {
        end_time_ = at;
        sink_.end(at);
    }
    stage_ = Stage::closed;
    ring_ = {};
    ring_size_ = 0;
}

void WaveRecorder::remember(const Past& p) {
    if (ring_size_ == ring_.size()) {
        if (ring_.size() >= window_.history && ring_size_ != 0) {
            forget_until(ring_[ring_head_].at);
        } else {
            std::vector<Past> larger(
                std::min(std::max<std::size_t>(window_.history, 1), std::max<std::size_t>(1024, 2 * ring_.size())));
            for (std::size_t i = 0; i < ring_size_; ++i) larger[i] = ring_[(ring_head_ + i) % ring_.size()];
            ring_ = std::move(larger);
            ring_head_ = 0;
        }
    }
    std::size_t at = ring_head_ + ring_size_++;
    if (at >= ring_.size()) at -= ring_.size();
    ring_[at] = p;
}

/// Moves the start of the history to `t`, unless it is later already.
void WaveRecorder::forget_until(SimTime t) {
    while (ring_size_ != 0 && ring_[ring_head_].at <= t) {
        base_[ring_[ring_head_].id] = ring_[ring_head_].value;
        if (++ring_head_ == ring_.size()) ring_head_ = 0;
        --ring_size_;
    }
    base_time_ = std::max(base_time_, t);
}

bool WaveRecorder::may_trigger(SimTime at) const {
    return window_.triggered && trigger_time_ == kNever && stage_ != Stage::closed && at >= window_.from &&
           at <= window_.to;
}

bool WaveRecorder::trigger(SimTime now) {
    if (!may_trigger(now)) return false;
    sort(now);
    if (stage_ == Stage::closed) return false;
    open_around(now);
    return true;
}

bool WaveRecorder::trigger_at_last_change(SimTime now) {
    if (!window_.triggered || trigger_time_ != kNever || stage_ == Stage::closed) return false;
    sort(now + Ps{1});
    const SimTime at = stage_ == Stage::history ? last_change_ : now;
    if (!may_trigger(at)) return false;
    open_around(at);
    return true;
}

void WaveRecorder::open_around(SimTime at) {
    trigger_time_ = at;
    const SimTime from = at - std::min(window_.before, at - SimTime{});
    if (stage_ == Stage::early) return begin(std::max(window_.from, from), values_);  // no change has come yet
    forget_until(from);
    begin(base_time_, base_);
    for (std::size_t i = 0; i < ring_size_; ++i) {
        const Past& p = ring_[(ring_head_ + i) % ring_.size()];
        pass(p.at, p.id, p.value);
    }
    ring_ = {};
    ring_size_ = 0;
    base_ = {};
}

SimTime WaveRecorder::last_change(SimTime now) {
    if (stage_ != Stage::closed) sort(now + Ps{1});
    return last_change_;
}

void WaveRecorder::finish(SimTime now) {
    if (stage_ == Stage::closed) return;
    if (now != kNever) sort(now + Ps{1});  // applies the changes at `now` as well
    end(now, now);
}

void WaveRecorder::finish(SimTime now, SimTime ended) {
    if (stage_ != Stage::closed) sort(now + Ps{1});
    const SimTime run_end = std::min(now, ended);
    end(run_end, written_ != 0 ? std::max(last_change_, begin_time_) : run_end);
}

void WaveRecorder::end(SimTime run_end, SimTime window_end) {
    run_end_ = run_end;
    if (stage_ == Stage::closed) return;
    if (stage_ == Stage::early && !window_.triggered && run_end >= window_.from) begin(window_.from, values_);
    close(std::min(window_end, to_));
    pending_.clear();
}

}  // namespace ssdtlm
