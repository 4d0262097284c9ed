// SPDX-License-Identifier: Apache-2.0
// Writes what happens in each interval of simulated time, during the run. There is one CSV row per interval, and one
// row for a stretch of intervals in which nothing happened. The memory does not grow with the run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <utility>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "sim/results/latency_stats.h"

namespace ssdtlm {

/// A row is for [start_ms, start_ms + interval_ms). Rows follow each other without gaps. Rates and WAF follow from the
/// counts of their row:
///   read_iops = read_ios / interval, read_MBps = read_bytes / interval, likewise for writes;
///   waf = nand_bytes / write_bytes: bytes programmed in the interval, of every class, for each byte of the writes that
///   ended in it. It is empty without such a write.
/// host_units counts the mapping units that took the host's data. flash_units counts the mapping units in all pages
/// that were allocated in the interval, of every class. Mean and longest latency are those of the reads and writes that
/// completed in the row; they are empty if there was none. By Little's law, ios * mean / interval is the mean number of
/// outstanding commands. The 99th percentile is that of the measured commands among them (fio's buckets, at most 1.6 %
/// wide). If the map is not completely in memory, its columns count hits and misses in the row; else they are empty.
/// slc_free_blocks counts the blocks that the SLC cache may open at the end of the row. Dynamic blocks are in
/// free_blocks as well. It is empty without an SLC cache. free_blocks counts blocks of all planes at the end of the
/// row, and is empty while nobody knows it. phase is `layout` in rows in which files were laid out. It is `ramp` in
/// other rows in which an unmeasured command ended, and else `run`. A row without a command has the phase of the row
/// before. Intervals in which the agenda has no entry are not looked at.
class TimeSeries {
public:
    /// Writes the header. `out` must live until stop(). Only entries of the agenda may change the counts in `latency`
    /// and `ftl`.
    TimeSeries(Agenda& agenda, Ps interval, LatencyStats& latency, const Ftl& ftl, std::ostream& out);

    struct Lookups {
        std::uint64_t hits = 0, misses = 0;
    };
    /// Sets the source of look-ups, if the map is not completely in memory.
    void count_lookups(std::function<Lookups()> lookups) { lookups_ = std::move(lookups); }
    /// Calls look(number) at the end of each interval; numbers begin with 1. It may leave out intervals in which
    /// nothing happened.
    void on_interval(std::function<void(std::uint64_t)> look) { look_ = std::move(look); }

    /// Sets the source of whether the FTL knows its blocks. It does not while power is off and while it looks for them.
    void ask_for_blocks(std::function<bool()> are_known) { are_known_ = std::move(are_known); }

    /// Makes the present instant time zero of the series.
    void start();
    /// Writes the last row, which may be shorter, and stops. It has no effect before start() or after stop().
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
        /// Present values, not sums. Empty: nobody knows.
        std::optional<std::uint64_t> free_blocks, slc_free_blocks;
        Lookups lookups;
        bool operator==(const Counts& o) const;
    };
    Counts counts() const;
    void count_free_blocks(Counts& counts) const;
    void tick();
    void post_next_tick();
    /// Writes the rows up to `end`. The last interval is [begin, end). Nothing happened between the last row and
    /// `begin`.
    void close(SimTime begin, SimTime end);
    void row(SimTime begin, SimTime end, const Counts& before, const Counts& after);

    Agenda& agenda_;
    const Ps interval_;
    LatencyStats& latency_;
    const Ftl& ftl_;
    std::ostream& out_;
    SimTime epoch_{};
    SimTime written_{};                        // end of the last row
    Counts last_;                              // counts at the end of the last row
    std::function<void(std::uint64_t)> look_;  // may be empty
    std::function<Lookups()> lookups_;         // may be empty
    std::function<bool()> are_known_;          // empty: blocks are always known
    const char* phase_ = "run";                // phase of the last row with a command
    bool running_ = false;
};

}  // namespace ssdtlm
