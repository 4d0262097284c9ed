// SPDX-License-Identifier: Apache-2.0
// Carries out a run: bring-up, workload, shutdown, drain, and the check of the books. There is only one per process,
// because SystemC has one global context.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "sim/limits/limit_sampler.h"
#include "sim/results/block_log.h"
#include "sim/results/die_queues.h"
#include "sim/results/flow_stats.h"
#include "sim/results/gc_log.h"
#include "sim/results/latency_stats.h"
#include "sim/results/read_spread.h"
#include "sim/results/run_summary.h"
#include "sim/results/slowest_commands.h"
#include "sim/results/time_series.h"
#include "sim/ssd_system.h"
#include "sim/watchdog.h"

namespace ssdtlm {

/// Thrown when a signal has interrupted the run and the work under way does not end soon.
class CutOff : public std::runtime_error {
public:
    CutOff() : std::runtime_error("the run was interrupted, and what was under way did not end soon") {}
};

/// Thrown when the watchdog gives the run up (watchdog.h), or when work is pending but nothing can happen any more. The
/// exit code is 3.
class Stalled : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Simulation final : private CompletionObserver {
public:
    struct Progress {
        Ps simulated{};
        double fraction = 0;
        std::uint64_t commands = 0;
        double wall_seconds = 0;
    };
    struct Options {
        std::string workload_name;
        std::string workload_digest;
        std::vector<std::string> flow_names;            ///< by tenant; may be empty
        CompletionObserver* observer = nullptr;         ///< also told of every completion (fio report)
        std::function<void(const Progress&)> progress;  ///< called a few times per wall second; may be empty
        std::ostream* series = nullptr;          ///< gets the rows of timeseries.csv as the run goes; may be null
        std::ostream* gc_log = nullptr;          ///< gets the rows of gc.csv as the run goes; may be null
        std::ostream* block_log = nullptr;       ///< gets the rows of block.csv as the run goes; may be null
        std::vector<std::string> context_names;  ///< contexts of the block layer; may be empty
        Workload* before = nullptr;              ///< played first, without time: precondition.workload
        SsdTaps* taps = nullptr;                 ///< observers in the netlist; may be null
        HostMaker host;                          ///< empty: the host of frontend.kind
    };

    Simulation(const SsdConfig& config, Workload& workload, Options options);

    /// Runs to the end. Throws Stalled, CutOff, CheckFailed or Panic. After an exception, state_dump() returns the
    /// state of the model, and so_far() the results.
    RunSummary run();
    /// Call it from a signal handler. The run submits no more commands and ends in order; if that takes long, it throws
    /// CutOff.
    void interrupt() { system_->process.call_soon(); }
    /// Returns all results so far, for a run that failed or was cut off. It has no books, because they need not balance
    /// in the middle of a run. It closes the time series.
    RunSummary so_far();

    /// When the host had shut the drive down. A run that has failed ends now.
    SimTime ended() const { return shut_down_ ? shut_down_at_ : system_->agenda.now(); }

    SsdSystem& system() { return *system_; }
    const SsdSystem& system() const { return *system_; }
    const DriveStart& start() const { return start_; }
    const LatencyStats& latency() const { return latency_; }
    /// The text of slowest.json; empty when no command was to be kept.
    std::string slowest() const;
    std::string state_dump() const { return system_->dump(); }

private:
    void on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now,
                     const Timeline& timeline, bool measured) override;
    void ready();
    void look_for_window(bool measured);
    void finished(SimTime at);
    void begin_measurement();
    void end_measurement();
    void judge(RunSummary& r) const;
    Watchdog::Limits watchdog_limits() const;
    Watchdog::Sight sight() const;
    std::string where_work_lies() const;
    void watch();
    void poll();
    void interrupted();
    /// The time in which jobs with measured commands of this kind ran. Time in which several ran counts once.
    Ps active_time(HostOp op) const;
    /// The time in which jobs ran for which `counts` is true.
    Ps time_with(const std::function<bool(std::uint32_t job)>& counts) const;
    void summarise_flows(RunSummary& r) const;
    BlockFigures summarise_block(const BlockLayer& block) const;
    RunSummary summarise();

    Workload& workload_;
    Options options_;
    std::chrono::steady_clock::time_point wall_start_;
    std::chrono::steady_clock::time_point wall_ready_;
    std::chrono::steady_clock::time_point wall_report_;
    double cpu_ready_ = 0;
    LatencyStats latency_;
    std::unique_ptr<SsdSystem> system_;
    std::optional<GcLog> gc_log_;         // none: not asked for
    std::optional<BlockLog> block_log_;   // none: not asked for
    std::unique_ptr<TimeSeries> series_;  // null: not asked for
    std::optional<DieQueues> die_queues_;
    std::optional<SlowestCommands> slowest_;
    std::unique_ptr<FlowStats> flow_stats_;  // null: there is one flow
    const Occupancy* occupancy_ = nullptr;
    std::optional<LimitSampler> limits_;
    DriveStart start_;
    FtlCounters ftl_start_;  // counters with which the books of the run begin
    /// All counts at an edge of the measured window.
    struct Edge {
        SsdSystem::BusySnapshot busy;
        FtlCounters ftl;
        std::vector<SetCounts> sets;
        std::uint64_t written = 0;  // bytes of write commands that ended
        CachedMap::Counters map;
        Counters counters;
        FlowWaitTotals flow_waits;
        std::vector<ContextUse> block;  // by context
    };
    Edge edge() const;
    SteadyCounts steady_counts() const;
    KeptByDrive kept_by_drive() const;
    SteadyHistory history_;
    std::optional<ReadSpread> read_spread_;  // only if the drive has a read cache
    Edge begin_, end_;
    enum class Window : std::uint8_t { unknown, ramp, open } window_ = Window::unknown;
    SimTime workload_end_{};
    std::uint64_t completions_ = 0;
    std::optional<Watchdog> watchdog_;
    bool finished_ = false;
    bool shut_down_ = false;
    SimTime shut_down_at_{};
    bool interrupted_ = false;
    std::uint64_t entries_since_ = 0;  // entries of the agenda since the interrupt
    double give_up_at_ = 0;            // processor time at which an interrupted run is cut off
};

}  // namespace ssdtlm
