// SPDX-License-Identifier: Apache-2.0
// Collects changes of signals and passes those of a window of time on in order. Kernel-free. A change may be stamped in
// the future (a bus sequence is known whole when it starts), so changes are sorted before they are passed on; the
// window may begin before the trigger that opens it, because a bounded history is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/report/error.h"
#include "common/wave/wave_signal.h"

namespace ssdtlm {

/// The times that are passed on: [from, to], or the part of it around the trigger.
struct WaveWindow {
    SimTime from{};
    SimTime to = kNever;
    bool triggered = false;                      ///< nothing before trigger() is called
    Ps before{};                                 ///< history before the trigger
    Ps after{};                                  ///< length after it
    std::size_t history = std::size_t{1} << 22;  ///< changes that are kept for `before`, at most
};

class WaveRecorder {
public:
    /// `sink` must outlive the recorder.
    WaveRecorder(WaveSink& sink, const WaveWindow& window) : sink_(sink), window_(window) {}
    WaveRecorder(const WaveRecorder&) = delete;
    WaveRecorder& operator=(const WaveRecorder&) = delete;

    /// Declares a signal. Declare all signals before the first change.
    WaveId add(const WaveSignal& signal);
    const std::vector<WaveSignal>& signals() const { return signals_; }

    /// The signal has this value from `at` on. If there are several changes for one time, the one made last counts.
    void change(WaveId id, SimTime at, std::uint64_t value) { pending_.push_back({at, id, false, value}); }
    /// The signal's value at `at` is greater by `delta` (modulo 2^64) than before.
    void step(WaveId id, SimTime at, std::int64_t delta) {
        pending_.push_back({at, id, true, static_cast<std::uint64_t>(delta)});
    }
    /// From `now` on these signals have their initial values. Changes that were stamped for a later time are dropped.
    /// It looks at all pending changes.
    void reset(const std::vector<WaveId>& signals, SimTime now);
    /// Promises that no change before `now` follows. Call often: it is cheap, and it bounds the memory.
    void settle(SimTime now) {
        if (__builtin_expect(pending_.size() >= batch_, 0)) sort(now);
    }
    /// Opens the window at `now`, unless it has been open or is closed for good. True: this call did it.
    bool trigger(SimTime now);
    /// As trigger(), at the last change up to `now`. So the window shows what led to a standstill, not the standstill.
    bool trigger_at_last_change(SimTime now);
    /// Ends the recording at `now`; changes stamped later are dropped. `trim`: the window ends with the last change.
    void finish(SimTime now, bool trim = false);

    /// True: changes were passed on, so the window has been entered.
    bool begun() const { return stage_ == Stage::open || (stage_ == Stage::closed && begun_); }
    /// True: nothing more will be passed on, and changes need not be made any more.
    bool closed() const { return stage_ == Stage::closed; }
    SimTime trigger_time() const { return trigger_time_; }  ///< kNever: not yet
    /// Start of what was passed on.
    SimTime begin_time() const { return begin_time_; }
    SimTime end_time() const { return end_time_; }  ///< when closed
    /// Number of changes passed on.
    std::uint64_t written() const { return written_; }
    /// True for each signal of which a change was passed on.
    const std::vector<bool>& changed() const { return changed_; }

private:
    static constexpr std::size_t kBatch = 1 << 13;
    enum class Stage : std::uint8_t { early, history, open, closed };
    struct Change {
        SimTime at;
        WaveId id;
        bool relative;
        std::uint64_t value;
    };
    struct Past {
        SimTime at;
        WaveId id;
        std::uint64_t value;
    };

    void sort(SimTime now);
    void apply(std::size_t first, std::size_t limit);
    void pass(SimTime at, WaveId id, std::uint64_t value);
    void begin(SimTime at, const std::vector<std::uint64_t>& values);
    bool may_trigger(SimTime at) const;
    void open_around(SimTime at);
    void close(SimTime at);
    void remember(const Past& p);
    void forget_until(SimTime t);

    WaveSink& sink_;
    const WaveWindow window_;
    std::vector<WaveSignal> signals_;
    std::vector<Change> pending_;
    std::size_t batch_ = kBatch;
    SimTime last_change_{};
    SimTime settled_{};  // everything before it has been applied

    std::vector<std::uint64_t> values_;  // after what has been applied
    std::vector<std::uint64_t> next_;    // of signals in touched_
    std::vector<std::uint8_t> is_touched_;
    std::vector<WaveId> touched_;  // by the time step at hand

    Stage stage_ = Stage::early;
    bool begun_ = false;
    SimTime to_ = kNever;
    SimTime begin_time_ = kNever;
    SimTime end_time_ = kNever;
    SimTime trigger_time_ = kNever;
    std::uint64_t written_ = 0;
    std::vector<bool> changed_;

    // The history: a ring of changes, and the values before the first of them.
    std::vector<Past> ring_;
    std::size_t ring_head_ = 0;
    std::size_t ring_size_ = 0;
    std::vector<std::uint64_t> base_;
    SimTime base_time_{};
};

}  // namespace ssdtlm
