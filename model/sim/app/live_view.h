// SPDX-License-Identifier: Apache-2.0
// `run --watch`: a viewer in Python (ssdtlm.watching) draws the run on the terminal. It gets a line of JSON a few times
// a second. The run never waits for the viewer, and goes on if the viewer ends.
#pragma once

#include <termios.h>

#include <memory>
#include <optional>
#include <string>

#include "sim/app/python_child.h"
#include "sim/interval_meter.h"
#include "sim/simulation.h"

namespace ssdtlm {

class LiveView {
public:
    /// Starts the viewer, which says that the device is being prepared. Throws UserError if it
    /// cannot be started.
    LiveView(const std::string& device, const std::string& workload, std::uint64_t seed);
    ~LiveView() { end(); }
    LiveView(const LiveView&) = delete;
    LiveView& operator=(const LiveView&) = delete;

    /// Call it before show(): names the objects whose figures the view shows.
    void attach(const SsdSystem& system, const LatencyStats& latency) { meter_.emplace(system, latency); }
    void show(const Simulation::Progress& progress);
    /// Ends the viewer and restores the terminal. A second call has no effect.
    void end();

private:
    void send(const std::string& line);

    int socket_ = -1;
    termios terminal_{};
    std::unique_ptr<PythonChild> viewer_;
    std::optional<IntervalMeter> meter_;
};

}  // namespace ssdtlm
