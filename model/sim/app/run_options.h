// SPDX-License-Identifier: Apache-2.0
// The options of `ssdtlm run`, except for the device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host_pcie/workload/fio/fio_job_file.h"
#include "host_pcie/workload/trace/trace_reader.h"
#include "host_pcie/workload/trace/trace_workload.h"
#include "host_vfio/guest_service.h"
#include "sim/app/run_limits.h"
#include "sim/wave/wave_options.h"

namespace ssdtlm {

/// One workload, and how it is read.
struct WorkloadOptions {
    enum class WorkloadKind : std::uint8_t { fio, trace, generated };
    std::string named_by = "command line";           ///< where `workload` was given
    std::string workload;                            ///< path, name, "-" for standard input, or empty: only fio options
    WorkloadKind workload_kind = WorkloadKind::fio;  ///< recognise_workload()
    FioJobText fio;                                  ///< arguments and sections; path and text by recognise_workload()
    std::vector<std::string> trace_options;          ///< given options that only a block trace has
    TraceOptions trace;  ///< path and format set; LBA size and device size are left to the run
    TraceReplayOptions replay;
};

struct RunOptions : WorkloadOptions {    ///< also the only workload, if `flows` is empty
    std::vector<std::string> workloads;  ///< those of -w, in order
    std::vector<WorkloadOptions> flows;  ///< several workloads, by recognise_workload()
    std::string only;                    ///< the flow that runs without the others; empty: all
    bool alone = false;                  ///< each flow also runs without the others
    std::string base;                    ///< folder of the run whose throughput is 1; empty: none
    std::string output_directory;        ///< made when device and workload are found to be right
    std::string output_option;           ///< the option to name when it cannot be written
    std::string save_drive;              ///< the drive is saved in this file at the end; empty: it is not
    std::vector<std::string> command;    ///< the words of the command line, for wall_clock.json
    std::string resolved_config;         ///< TOML text of the effective configuration, for result.json
    std::string config_digest;
    std::vector<std::string> notes;  ///< about options without effect
    RunLimitTexts limit_texts;
    LimitedWorkload::Limits limits;  ///< values of `limit_texts`
    bool check_pins = false;         ///< checks the pins of all channels against the rules of the ONFI bus
    WaveOptions wave;
    TimelineOptions timeline;
    std::optional<std::string> report;           ///< report in this file; empty: in the folder of the results
    bool watch = false;                          ///< the run is drawn on the terminal
    bool quiet = false;                          ///< no progress, no summary (unless the results cannot be written)
    bool json = false;                           ///< result.json on standard output in place of the summary
    std::optional<GuestServiceOptions> service;  ///< a guest uses the drive, in place of a workload
};

}  // namespace ssdtlm
