// SPDX-License-Identifier: Apache-2.0
// Collects fio's statistics of a simulated run per job clone. It writes fio.json in the format of fio 3.33
// (--output-format=json or json+), and fio's log files. Times are simulated. CPU use, context switches and page faults
// of fio's own process do not exist here and are 0. Samples of bw_* and iops_* are taken per window of simulated time.
// A job that is shorter than one window gives one sample, where fio gives none.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/report/fio_job_stats.h"
#include "host_pcie/workload/report/fio_log.h"
#include "host_pcie/workload/report/fio_report_job.h"
#include "host_pcie/workload/report/fio_steady_state.h"

namespace ssdtlm {

struct FioReportOptions {
    bool json_plus = false;  ///< adds "bins"
    std::int64_t wall_clock_ms =
        0;  ///< Unix time of the run for timestamp, timestamp_ms and time; 0 keeps reruns equal
    std::string log_directory = ".";  ///< relative log prefixes begin here
    std::string disk_name = "ssdtlm0";
    FioOptionTexts global_options;
};

class FioReport {
public:
    /// `jobs` is in the order of HostRequest::job. Creates the log files that they ask for; throws UserError if it
    /// cannot.
    FioReport(FioReportOptions options, std::vector<FioReportJob> jobs);
    ~FioReport();

    /// Called when the workload has handed out `request`. `measured`: Workload::measuring().
    void on_issue(const HostRequest& request, SimTime now, bool measured);
    /// Called in the completion handler, with issued <= submitted <= completed.
    void on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime completed, bool measured,
                     bool ok);
    /// The measured time of a job when the workload knows it better than "first issue to last completion"
    /// (time_based, rate). Call after the run, before finish().
    void set_runtime(std::uint32_t job, Ps runtime);
    /// The statistics of the job start again (latency_target has found its depth). Its logs continue.
    void reset(std::uint32_t job);
    /// The depth that latency_target has found.
    void set_latency_depth(std::uint32_t job, std::uint32_t depth);
    /// Sets the result of steadystate. `job` is the last of a reporting group.
    void set_steady_state(std::uint32_t job, const FioSteadyState& state);
    /// Closes windows and logs. Call once, after the last completion.
    void finish(SimTime end);

    /// Call it after finish().
    nlohmann::ordered_json json() const;
    /// json() laid out as fio prints it: two blanks of indentation, `"key" : value`, six decimals.
    std::string text() const;
    /// Files that logs are written into, as they were named.
    std::vector<std::string> log_files() const;

private:
    struct Job;
    struct Entry;
    static void begin_measuring(Job& job, SimTime now);
    void close_windows(Job& job, SimTime now);
    void record(Job& job, const HostRequest& r, SimTime issued, SimTime submitted, SimTime completed);
    void write_logs(Job& job, const HostRequest& r, SimTime now, std::uint64_t slat, std::uint64_t clat,
                    std::uint64_t lat);
    std::vector<Entry> entries() const;
    nlohmann::ordered_json disk_util() const;

    FioReportOptions options_;
    std::vector<Job> jobs_;
    // Figures of the device as in /proc/diskstats of the host.
    std::uint64_t disk_ios_[4] = {};
    Ps disk_ticks_[4] = {};
    std::uint32_t under_way_ = 0;
    SimTime busy_since_{};
    Ps busy_{0};
    SimTime end_{};
};

}  // namespace ssdtlm
