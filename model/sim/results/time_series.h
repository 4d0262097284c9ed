// SPDX-License-Identifier: Apache-2.0
// Counters sampled at a fixed interval of simulated time: throughput, erased blocks, moved pages, WAF per interval.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "sim/results/latency_stats.h"

namespace ssdtlm {

class TimeSeries {
public:
    struct Sample {
        SimTime at;                  ///< end of the interval, from the start of the workload
        std::uint64_t read_ios = 0, write_ios = 0;
        std::uint64_t read_bytes = 0, write_bytes = 0;
        std::uint64_t erased_blocks = 0;
        std::uint64_t moved_pages = 0;   ///< GC programs
        std::uint64_t host_pages = 0;    ///< host programs
        std::uint64_t host_units = 0;
        std::uint64_t free_blocks = 0;   ///< at the end of the interval, all planes
    };

    TimeSeries(Agenda& agenda, Ps interval, const LatencyStats& latency, const Ftl& ftl)
        : agenda_(agenda), interval_(interval), latency_(latency), ftl_(ftl) {}

    /// Starts sampling now; the present instant is time zero of the series.
    void start();
    /// Takes the last, possibly shorter interval and stops.
    void stop();
    const std::vector<Sample>& samples() const { return samples_; }
    /// CSV with a unit in every column's name.
    void write_csv(std::ostream& out) const;

private:
    void tick(std::uint64_t);
    void take();
    Sample totals() const;

    Agenda& agenda_;
    const Ps interval_;
    const LatencyStats& latency_;
    const Ftl& ftl_;
    SimTime epoch_{};
    Sample last_;
    bool running_ = false;
    std::vector<Sample> samples_;
};

}  // namespace ssdtlm
