// SPDX-License-Identifier: Apache-2.0
// Shows on standard error how far a run is. A terminal gets one line that is rewritten in place; else there is a new
// line every 10 s.
#pragma once

#include <chrono>

#include "sim/simulation.h"

namespace ssdtlm {

class ProgressDisplay {
public:
    explicit ProgressDisplay(bool quiet);
    ~ProgressDisplay() { clear(); }
    ProgressDisplay(const ProgressDisplay&) = delete;
    ProgressDisplay& operator=(const ProgressDisplay&) = delete;

    bool on() const { return on_; }
    /// Call it a few times a second.
    void show(const Simulation::Progress& progress);
    /// Call it before anything else is printed.
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    const bool on_;
    const bool terminal_;
    bool shown_ = false;
    Clock::time_point last_line_ = Clock::now();
};

}  // namespace ssdtlm
