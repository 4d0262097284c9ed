// SPDX-License-Identifier: Apache-2.0
// Statistics of fio for one job clone, and their sums over clones under group_reporting. Counting is a few additions
// per I/O. Derived values (percentages, percentiles, rates) are computed when the report is written.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/stats/histogram.h"
#include "common/stats/sample_stat.h"
#include "common/units/units.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

/// HostRequest::tag of a flush that a fio job asks for: fio counts those of fsync, and measures but does not count
/// those of fdatasync; it does neither with what end_fsync and the verify phase wait for (io_queue_event() and
/// fio_io_sync() of fio 3.33).
enum FioFlush : std::uint64_t { kFsync = 0, kFdatasync = ~std::uint64_t{1}, kEndFsync = ~std::uint64_t{0} };

/// fio's ranges of the latency distribution: below 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, in ns, us and ms, and
/// for ms also below 2000 and the rest.
struct FioLatencyRanges {
    static constexpr std::array<std::uint32_t, 10> kBelow = {2, 4, 10, 20, 50, 100, 250, 500, 750, 1000};
    std::array<std::uint64_t, 10> ns{};
    std::array<std::uint64_t, 10> us{};
    std::array<std::uint64_t, 12> ms{};

    void count(std::uint64_t nanoseconds) {
        if (nanoseconds < 1'000) {
            ++ns[range(nanoseconds)];
        } else if (nanoseconds < 1'000'000) {
            ++us[range(nanoseconds / 1'000)];
        } else {
            const std::uint64_t m = nanoseconds / 1'000'000;
            ++ms[m < 1'000 ? range(m) : m < 2'000 ? 10 : 11];
        }
    }

private:
    static std::size_t range(std::uint64_t v) {  // v < 1000; counting comparisons compiles to straight-line code
        std::size_t i = 0;
        for (auto below : kBelow) i += v >= below ? 1u : 0u;
        return i;
    }
};

/// One direction: read, write or trim.
struct FioDirectionStats {
    std::uint64_t bytes = 0;
    std::uint64_t ios = 0;
    Histogram slat, clat, lat;  ///< ns: start to submission, submission to completion, start to completion
    SampleStat bw, iops;        ///< KiB/s and 1/s, one sample per window that had I/O
    std::uint64_t window_bytes = 0;
    std::uint64_t window_ios = 0;
    Ps runtime{0};  ///< of the job, if it has I/O of this direction; the longest clone's when added up

    void add(const FioDirectionStats& other);
};

struct FioJobStats {
    std::array<FioDirectionStats, 3> directions;
    std::uint64_t syncs = 0;
    Histogram sync;                        ///< ns, submission to completion
    std::array<std::uint64_t, 7> depth{};  ///< I/Os begun with 1, 2.., 4.., 8.., 16.., 32.., 64.. under way
    std::uint64_t submits = 0;             ///< one command each: the model rings for every command
    std::uint64_t completes = 0;
    FioLatencyRanges ranges;  ///< of clat
    std::uint64_t failed = 0;
    Ps total_runtime{0};  ///< measured; summed over clones

    void count_depth(std::uint32_t under_way) {
        const unsigned top = 31u - static_cast<unsigned>(__builtin_clz(under_way | 1u));
        ++depth[std::min(top, 6u)];
    }
    /// Adds another clone of the same group.
    void add(const FioJobStats& other);
};

}  // namespace ssdtlm
