// SPDX-License-Identifier: Apache-2.0
// What fio's output says about a job, except for its figures: names, option texts, percentiles and logs. There is one
// for each job clone. A fio job file fills it. A trace fills it as well, because fio.json shows a trace as one job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host_pcie/workload/report/fio_steady_state.h"

namespace ssdtlm {

/// Option texts in the order in which the user gave them.
using FioOptionTexts = std::vector<std::pair<std::string, std::string>>;

/// unified_rw_reporting: reads, writes and trims are reported apart, added up, or both.
enum class FioUnified : std::uint8_t { none, mixed, both };

struct FioReportJob {
    std::string name = "job";
    std::string description;       ///< printed as "desc" when not empty
    std::uint32_t group = 0;       ///< reporting group (stonewall and new_group begin one)
    bool group_reporting = false;  ///< one jobs[] entry for all neighbours of the same group
    FioOptionTexts options;        ///< of the section itself, without [global]
    /// Resolved values for fio-plot, which needs these four even when they are defaults.
    std::string rw = "read";
    std::string bs = "4k";
    std::uint32_t iodepth = 1;
    std::uint32_t numjobs = 1;

    std::vector<double> percentiles = {1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99};
    bool clat_percentiles = true;
    bool lat_percentiles = false;
    bool slat_percentiles = false;

    std::string bw_log;  ///< prefix of <prefix>_bw.<n>.log; empty: none
    std::string iops_log;
    std::string lat_log;                         ///< slat, clat and lat
    std::uint32_t log_avg_msec = 0;              ///< 0: one line per I/O
    bool log_offset = false;                     ///< adds the offset column
    std::optional<std::uint32_t> latency_depth;  ///< what latency_target has found
    std::uint64_t latency_target_ns = 0;
    double latency_percentile = 100;
    std::uint64_t latency_window_us = 0;
    std::optional<FioSteadyState> steady;  ///< what steadystate has seen

    FioUnified unified = FioUnified::none;
    Ps ramp{};                        ///< ramp_time: the logs count from its end
    std::uint32_t bw_avg_msec = 500;  ///< fio's bwavgtime; iopsavgtime follows it
};

}  // namespace ssdtlm
