// SPDX-License-Identifier: Apache-2.0
// Shortens the pauses of a trace. Simulated time ends after 106 days, and a drive that is idle for a month does the
// same as in a day. The user may shorten pauses (--replay-gap). If the trace would last longer than 100 days, they are
// shortened anyway.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/units/age.h"
#include "host_pcie/workload/trace/trace_record.h"

namespace ssdtlm {

inline constexpr Age kLongestReplay = Age::days(100);

/// What was done to the pauses. Times are those of the trace, which may reach beyond the longest age.
struct TraceGaps {
    std::uint64_t shortened = 0;
    Age kept;            ///< length of a shortened pause
    Age longest;         ///< longest pause before
    Age left_out;        ///< time left out in all
    bool asked = false;  ///< the user has given `kept`; else it is as long as possible

    /// A sentence for the user: "2 pauses of up to 300d last 1d each, 412d are left out". Empty: all pauses are as they
    /// were.
    std::string sentence() const;
};

/// `records` ascend, and their times are ticks of `tick_ns` nanoseconds from the first one on. Afterwards no pause is
/// longer than `most`, and the last record is not behind kLongestReplay.
TraceGaps shorten_gaps(std::vector<TraceRecord>& records, std::int64_t tick_ns, Age most);

}  // namespace ssdtlm
