// SPDX-License-Identifier: Apache-2.0
// Collects changes of signals, and passes the changes in a window of time on in order. Kernel-free. A change may have a
// time in the future, because a whole bus sequence is known when it starts. So changes are sorted before they are
// passed on. The window may begin before the trigger that opens it, because the recorder keeps a bounded history.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/report/error.h"
#include "common/wave/wave_signal.h"

namespace ssdtlm {

/// The window of time that is passed on: [from, to], or the part of it around the trigger.
struct WaveWindow {
    SimTime from{};
    SimTime to = kNever;
    bool triggered = false;                      ///< trigger() opens the window; else it opens at `from`
    Ps before{};                                 ///< length of the window before the trigger
    Ps after{};                                  ///< length of the window after the trigger
    std::size_t history = std::size_t{1} << 22;  ///< most changes that are kept for `before`
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

    /// The signal has this value from `at` on. If there are several changes at one time, the last call counts.
    void change(WaveId id, SimTime at, std::uint64_t value) { pending_.push_back({at, id, false, value}); }
    /// The signal's value at `at` is greater by `delta` (modulo 2^64) than before.
    void step(WaveId id, SimTime at, std::int64_t delta) {
        pending_.push_back({at, id, true, static_cast<std::uint64_t>(delta)});
    }
    /// Gives these signals their initial values from `now` on, and drops their changes with later times. It looks at
    /// all pending changes.
    void reset(const std::vector<WaveId>& signals, SimTime now);
    /// Promises that no change before `now` follows. Call it often: it is cheap, and it bounds the memory.
    void settle(SimTime now) {
        if (__builtin_expect(pending_.size() >= batch_, 0)) sort(now);
    }
    /// Opens the window around `now`, unless a trigger came before or `now` is outside [from, to]. Returns true if this
    /// call opened it.
    bool trigger(SimTime now);
    /// Triggers at the last change up to `now` instead of at `now`. So the window shows what led to a standstill, not
    /// the standstill.
    bool trigger_at_last_change(SimTime now);
    /// Ends the recording at `now`, and drops later changes.
    void finish(SimTime now);
    /// Ends the recording of a run that has ended at `ended`. Until `now` only its watchdog went on. The window ends
    /// with the last change in it, or with the run if it has none.
    void finish(SimTime now, SimTime ended);
    /// The time of the last change up to `now`, if any has come. Promises what settle(now) does.
    SimTime last_change(SimTime now);
    /// When the run ended, behind finish().
    SimTime run_end() const { return run_end_; }

    /// True: the window has begun.
    bool begun() const { return stage_ == Stage::open || (stage_ == Stage::closed && begun_); }
    /// True: the recorder passes nothing more on, so callers need not report changes.
    bool closed() const { return stage_ == Stage::closed; }
    SimTime trigger_time() const { return trigger_time_; }  ///< kNever: there was no trigger yet
    /// The beginning of the window.
    SimTime begin_time() const { return begin_time_; }
    SimTime end_time() const { return end_time_; }  ///< valid once closed()
    /// Number of changes that were passed on.
    std::uint64_t written() const { return written_; }
    /// By signal: true if one of its changes was passed on.
    const std::vector<bool>& changed() const { return changed_; }

private:
    static constexpr std::size_t kBatch = 1 << 13;
    void end(SimTime run_end, SimTime window_end);
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
    SimTime settled_{};  // all changes before it have been applied

    std::vector<std::uint64_t> values_;  // values after all applied changes
    std::vector<std::uint64_t> next_;    // values of the signals in touched_
    std::vector<std::uint8_t> is_touched_;
    std::vector<WaveId> touched_;  // signals that change in the current time step

    Stage stage_ = Stage::early;
    bool begun_ = false;
    SimTime to_ = kNever;
    SimTime begin_time_ = kNever;
    SimTime end_time_ = kNever;
    SimTime run_end_{};
    SimTime trigger_time_ = kNever;
    std::uint64_t written_ = 0;
    std::vector<bool> changed_;

    // The history is a ring of changes, and the values before the first of them.
    std::vector<Past> ring_;
    std::size_t ring_head_ = 0;
    std::size_t ring_size_ = 0;
    std::vector<std::uint64_t> base_;
    SimTime base_time_{};
};

}  // namespace ssdtlm
