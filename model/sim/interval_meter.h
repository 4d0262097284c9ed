// SPDX-License-Identifier: Apache-2.0
// Computes the figures of a run since the last call, for live displays. It only reads, so a watched run has the same
// results as other runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/results/latency_stats.h"
#include "sim/results/run_summary.h"
#include "sim/ssd_system.h"

namespace ssdtlm {

/// Figures of one interval of simulated time, which ends at `simulated`.
struct IntervalFigures {
    Ps simulated{};  ///< from the start of the workload
    Ps length{};
    struct Operation {
        std::uint64_t ios = 0;  ///< completed, measured or not
        std::uint64_t bytes = 0;
        double mean_us = 0;            ///< mean total latency
        std::optional<double> p99_us;  ///< of measured commands; none in a ramp_time
    };
    std::array<Operation, LatencyStats::kOps> operations;  ///< by HostOp
    std::vector<ResourceUse> resources;
    std::uint64_t outstanding = 0;  ///< commands of the driver at the end of the interval
    std::uint64_t moved_pages = 0;
    std::uint64_t erased_blocks = 0;
    std::optional<std::uint64_t>
        free_blocks;            ///< in all planes, at the end of the interval; none: SsdSystem::knows_blocks()
    std::optional<double> waf;  ///< write amplification in bytes; none without a completed write
};

class IntervalMeter {
public:
    /// Both arguments must outlive it. The first interval begins with the workload.
    IntervalMeter(const SsdSystem& system, const LatencyStats& latency);
    /// Returns the figures since the last call. It looks at all dies, planes and buckets, so it is for a few calls a
    /// second.
    IntervalFigures take();

private:
    struct Counts {
        std::uint64_t ios = 0, bytes = 0;
        Ps latency{};
        std::array<std::uint64_t, BucketCounts::kBuckets> bucket{};
    };
    IntervalFigures::Operation take(HostOp op);

    const SsdSystem& system_;
    const LatencyStats& latency_;
    std::array<Counts, LatencyStats::kOps> last_;
    SsdSystem::BusySnapshot busy_;
    FtlCounters ftl_;
};

}  // namespace ssdtlm
