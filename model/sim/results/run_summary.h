// SPDX-License-Identifier: Apache-2.0
// All results of a finished run, as plain values. The writers print it, and tests compare it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/ftl/ftl_counters.h"
#include "sim/device/capacitors.h"
#include "sim/device/power_cut.h"
#include "sim/limits/verdict.h"
#include "sim/results/block_figures.h"
#include "sim/results/counters.h"
#include "sim/results/drive_start.h"
#include "sim/results/flow_stats.h"
#include "sim/results/latency_stats.h"
#include "sim/results/steady_state.h"
#include "sim/results/written_bytes.h"

namespace ssdtlm {

/// How busy one kind of resource was in the measured window.
struct ResourceUse {
    std::string name;  ///< "channel bus", "die", "link to host", "core 0", ...
    std::uint32_t members = 1;
    double mean = 0;           ///< busy share, mean over the members
    double max = 0;            ///< busy share of the busiest member
    std::string busiest;       ///< its name
    std::vector<double> busy;  ///< busy share of each member
};

/// How often each block of one die was erased since the device was new, preconditioning included.
struct DieWear {
    std::uint32_t least = 0;
    double mean = 0;
    std::uint32_t most = 0;
};

/// Flash transactions that waited for one die.
struct DieQueue {
    double mean = 0;
    std::uint32_t most = 0;
};

/// Two numbers that must be equal at the end of a run.
struct BookLine {
    std::string name;
    std::uint64_t left = 0;
    std::uint64_t right = 0;
    bool balances() const { return left == right; }
};

/// The reason why a run failed.
struct RunFailure {
    std::string kind;   ///< "stalled", "check failed", "internal error", "results not written", ...
    int exit_code = 0;  ///< exit code of the program
    std::string reason;
    std::string state;  ///< state of every organ, in lines; may be empty
};

struct RunSummary {
    std::string device;
    std::string workload;
    std::string workload_digest;  ///< WorkloadSource::digest
    std::string version;
    std::uint64_t seed = 0;
    bool interrupted = false;
    std::string ended_by = "workload";  ///< what ended the workload: itself, "interrupt", an option, or "failure"
    std::optional<RunFailure> failure;  ///< numbers are then those up to the failure

    /// Simulated time, from the start of the workload.
    Ps simulated{};
    Ps measured{};  ///< first issue to last completion of measured commands
    Ps bring_up{};
    std::uint64_t commands = 0;           ///< completed, measured
    std::uint64_t commands_all = 0;       ///< completed
    std::uint64_t integrity_checked = 0;  ///< logical blocks compared; 0 when the check is off
    std::uint64_t error_status = 0;

    std::optional<DriveStart> start;           ///< none: there was no drive
    std::vector<ResourceUse> resources;        ///< over the whole workload, not the drain after it
    std::vector<ResourceUse> resources_limit;  ///< the part while the workload had more requests, which `limit` judges
    std::vector<WaitUse> waits;                ///< in the same time
    double flash_work = 0;                     ///< share of the dies (or independent planes) that had work
    LimitVerdict limit;
    std::optional<SteadyVerdict> steady;  ///< none: nothing was measured
    FtlCounters ftl;                      ///< of the workload (preconditioning excluded)
    WrittenBytes written;                 ///< of the measured window
    std::uint32_t units_per_page = 1;
    std::uint32_t page_bytes = 0;
    std::uint32_t slc_blocks = 0;  ///< of a plane's SLC cache, at most
    struct NvmSetFigures {
        std::string name;
        std::uint64_t first_byte = 0, bytes = 0;
        std::uint64_t host_units = 0;  ///< mapped by writes of the host
        std::uint64_t pages = 0;       ///< programmed, of any class
        /// Empty without a write.
        std::optional<double> unit_write_amplification(std::uint32_t units_per_page) const {
            if (host_units == 0) return std::nullopt;
            return static_cast<double>(pages) * units_per_page / static_cast<double>(host_units);
        }
    };
    std::vector<NvmSetFigures> nvm_sets;  ///< empty: none
    bool log_blocks = false;              ///< the mapping is by blocks
    bool map_on_flash = false;            ///< the map has translation pages
    Counters counters;            ///< of the measured window; those that are states or maxima are only in the next one
    Counters counters_whole_run;  ///< bring-up, ramp, and what followed the workload included
    std::vector<DieWear> wear;    ///< by die, at the end
    std::vector<std::pair<std::uint32_t, std::uint64_t>>
        blocks_by_erases;  ///< (erases, blocks of the device), ascending
    std::vector<DieQueue>
        queues;  ///< by die, by die, from samples at the ends of the time series' intervals; empty: no sample
    std::uint64_t queue_looks = 0;  ///< number of these samples
    std::vector<PowerCut> power_cuts;
    Capacitors capacitors;
    std::vector<BookLine> books;
    std::vector<std::string> notes;  ///< of the workload importer
    std::vector<LatencyStats::Row> latency;
    std::vector<LatencyStats::BinRow> latency_bins;
    std::vector<LatencyStats::JobRow> by_job;
    std::vector<LatencyStats::JobRow> by_tenant;  ///< empty: host.tenants = "one"
    std::vector<LatencyStats::JobRow> by_stream;  ///< of writes; empty: host.streams is off
    struct MapUse {
        std::uint32_t tenant = 0;  ///< 0: all others
        std::uint64_t hits = 0, misses = 0;
    };
    std::vector<MapUse> map_by_tenant;     ///< of a map on the flash; empty: host.tenants = "one"
    std::vector<std::string> job_names;    ///< by job; may be empty
    std::vector<std::string> flow_names;   ///< by tenant, from 0 on; may be empty
    std::vector<FlowFigures> flows;        ///< empty: there is one
    std::vector<FlowFigures> flows_alone;  ///< the same, each in a run without the others; empty: not asked for
    std::vector<FlowFigures> flows_base;   ///< the same in the run that throughput is compared with; empty: none
    std::vector<FlowWait> flow_waits;
    std::optional<BlockFigures> block;         ///< none: block.scheduler = "off"
    std::vector<std::uint32_t> tenant_of_job;  ///< empty: host.tenants = "one"
    struct Direction {
        std::uint64_t ios = 0;
        std::uint64_t bytes = 0;
        Ps active{};  ///< while a job with I/O of this direction ran: what the rates are divided by
        double iops = 0;
        double mb_per_s = 0;
    };
    Direction read, write, trim, flush;

    // These depend on the machine, so they are written to wall_clock.json only.
    std::vector<std::string> command;  ///< the command line
    std::string directory;             ///< where it was given
    std::vector<std::string> files;    ///< logs of fio in the run's folder
    double wall_seconds = 0;           ///< from the end of bring-up
    double cpu_seconds = 0;            ///< of this process, from the end of bring-up
    double start_up_seconds = 0;       ///< building, preconditioning, bring-up
    std::uint64_t agenda_events = 0;
    std::uint64_t peak_memory_bytes = 0;
    std::uint64_t raw_bytes = 0, user_bytes = 0;  ///< of flash, and of it what the host may use
    double over_provisioning = 0;                 ///< the rest as a share of the latter
    std::uint64_t logical_units = 0;
};

}  // namespace ssdtlm
