// SPDX-License-Identifier: Apache-2.0
// What happened in each interval of simulated time, written as the run goes: one CSV row per interval, and one for a
// stretch of intervals in which nothing happened. Memory does not grow with the run.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <utility>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "sim/results/latency_stats.h"

namespace ssdtlm {

/// A row holds for [start_ms, start_ms + interval_ms); rows follow each other without gap. Rates and WAF follow from
/// the counts of their row:
///   read_iops = read_ios / interval, read_MBps = read_bytes / interval, likewise for writes;
///   waf = nand_bytes / write_bytes: what was programmed in the interval, of every class, by bytes of the writes that
///   ended in it. Empty without one.
/// host_units are mapping units that the host's data were put into, flash_units those that the pages given out in the
/// interval have room for, of all classes. Mean and longest total latency of the reads and writes that completed in the
/// row; empty without one. By Little's law, ios * mean / interval is the mean number outstanding. 99th percentile of
/// the measured ones among these (fio's buckets, at most 1.6 % wide). Of the map that is not all in memory, how often
/// what was asked for was at hand in the row, and how often not; empty of one that is. slc_free_blocks counts those
/// that the SLC cache may open at the end of the row, dynamic ones in free_blocks too; empty without one. free_blocks
/// counts blocks of all planes at the end of the row. phase is layout in rows in which files were laid out, ramp in
/// others in which a command ended that is not measured, else run; without a command, that of the row before. Where
/// nothing is left in the agenda until a later interval, none of those between is looked at.
class TimeSeries {
public:
    /// Writes the header. `out` must live until stop(). The agenda's entries are the only ones who change what
    /// `latency` and `ftl` count.
    TimeSeries(Agenda& agenda, Ps interval, LatencyStats& latency, const Ftl& ftl, std::ostream& out);

    struct Lookups {
        std::uint64_t hits = 0, misses = 0;
    };
    /// Of the map, where it is not all in memory.
    void count_lookups(std::function<Lookups()> lookups) { lookups_ = std::move(lookups); }
    /// To be called at the ends of intervals, with their number from 1. Those in which nothing happened may be left
    /// out.
    void on_interval(std::function<void(std::uint64_t)> look) { look_ = std::move(look); }

    /// The present instant is time zero of the series.
    void start();
    /// Writes the last row, which may be shorter, and stops. Without effect before start() and the second time.
    void stop();

private:
    struct Counts {
        std::uint64_t read_ios = 0, write_ios = 0, trim_ios = 0, flush_ios = 0;
        std::uint64_t layout_ios = 0, unmeasured_ios = 0;
        std::uint64_t read_bytes = 0, write_bytes = 0;
        Ps read_latency{}, write_latency{};
        std::uint64_t erased_blocks = 0;
        std::uint64_t host_units = 0;
        std::uint64_t flash_units = 0;
        std::uint64_t nand_bytes = 0;
        std::uint64_t moved_pages = 0;
        std::uint64_t free_blocks = 0, slc_free_blocks = 0;  ///< not sums: as they are
        Lookups lookups;
        bool operator==(const Counts& o) const;
    };
    Counts counts() const;
    void tick();
    void post_next_tick();
    /// Rows up to `end`: the interval that ends there began at `begin`, before it nothing happened.
    void close(SimTime begin, SimTime end);
    void row(SimTime begin, SimTime end, const Counts& before, const Counts& after);

    Agenda& agenda_;
    const Ps interval_;
    LatencyStats& latency_;
    const Ftl& ftl_;
    std::ostream& out_;
    SimTime epoch_{};
    SimTime written_{};                        // end of the last row
    Counts last_;                              // there, and since then if nothing has happened
    std::function<void(std::uint64_t)> look_;  // may be empty
    std::function<Lookups()> lookups_;         // may be empty
    const char* phase_ = "run";                // of the last row with a command
    bool running_ = false;
};

}  // namespace ssdtlm
