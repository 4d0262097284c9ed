// SPDX-License-Identifier: Apache-2.0
#include "sim/app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace ssdtlm {

namespace {
constexpr std::chrono::seconds kLineEvery{10};
}

ProgressDisplay::ProgressDisplay(bool quiet) : on_(!quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressDisplay::show(const Simulation::Progress& p) {
    if (!on_) return;
    const Clock::time_point now = Clock::now();
    if (!terminal_ && now - last_line_ < kLineEvery) return;
    last_line_ = now;
    const double rate = p.wall_seconds > 0 ? static_cast<double>(p.commands) / p.wall_seconds : 0;
    const double eta = p.fraction > 0 ? p.wall_seconds * (1 - p.fraction) / p.fraction : 0;
    const std::string line = fmt::format("{:.6f} s simulated  {:5.1f} %  {:.0f} commands/s  ETA {:.0f} s",
                                         to_seconds(p.simulated), p.fraction * 100, rate, eta);
    // Errors are ignored, because the run goes on even if the terminal is gone (SIGHUP).
    std::fputs((terminal_ ? "\r" + line + "\033[K" : line + "\n").c_str(), stderr);
    std::fflush(stderr);
    shown_ = terminal_;
}

void ProgressDisplay::clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
}

}  // namespace ssdtlm
