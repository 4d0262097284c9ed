// SPDX-License-Identifier: Apache-2.0
// What happened in each interval of simulated time, written as the run goes. There is one CSV row per interval, and one
// for a stretch of intervals in which nothing happened. Memory does not grow with the run.
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
///   waf = nand_bytes / write_bytes: bytes programmed in the interval, of every class, for each byte of the writes that
///   ended in it. It is empty without such a write.
/// host_units counts the mapping units that the host's data were put into. flash_units counts those for which the pages
/// given out in the interval have room, of all classes.
/// Mean and longest latency are those of the reads and writes that completed in the row; they are empty without one. By
/// Little's law, ios * mean / interval is the mean number outstanding. The 99th percentile is that of the measured ones
/// among these (fio's buckets, at most 1.6 % wide).
/// If the map is not all in memory, its columns count how often an entry was at hand in the row, and how often not;
/// else they are empty. slc_free_blocks counts the blocks that the SLC cache may open at the end of the row, where
/// dynamic ones are in free_blocks too; it is empty without an SLC cache. free_blocks counts blocks of all planes at
/// the end of the row.
/// phase is `layout` in rows in which files were laid out, `ramp` in others in which a command ended that is not
/// measured, else `run`. A row without a command has the phase of the row before. Where nothing is left in the agenda
/// until a later interval, none of those between is looked at.
class TimeSeries {
public:
    /// Writes the header. `out` must live until stop(). Only entries of the agenda may change what `latency` and `ftl`
    /// count.
    TimeSeries(Agenda& agenda, Ps interval, LatencyStats& latency, const Ftl& ftl, std::ostream& out);

    struct Lookups {
        std::uint64_t hits = 0, misses = 0;
    };
    /// Sets the source of look-ups in the map, where the map is not all in memory.
    void count_lookups(std::function<Lookups()> lookups) { lookups_ = std::move(lookups); }
    /// `look` is called at the ends of intervals, with their number from 1. Intervals in which nothing happened may be
    /// left out.
    void on_interval(std::function<void(std::uint64_t)> look) { look_ = std::move(look); }

    /// The present instant is time zero of the series.
    void start();
    /// Writes the last row, which may be shorter, and stops. It has no effect before start() or when called again.
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
    /// Writes the rows up to `end`. The interval that ends there began at `begin`; before it nothing happened.
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
