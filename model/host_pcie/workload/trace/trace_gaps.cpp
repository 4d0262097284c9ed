// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/trace/trace_gaps.h"

#include <algorithm>

#include "common/config/quantity.h"

namespace ssdtlm {

namespace {
/// Length of the trace if no pause is above `most` ticks.
std::uint64_t length(const std::vector<TraceRecord>& records, std::int64_t most) {
    std::uint64_t ticks = 0;
    for (std::size_t i = 1; i < records.size(); ++i)
        ticks += static_cast<std::uint64_t>(std::min(records[i].t.count() - records[i - 1].t.count(), most));
    return ticks;
}

std::string text(Age age) {
    return format_quantity(age.count(), Dimension::age);
}
}  // namespace

TraceGaps shorten_gaps(std::vector<TraceRecord>& records, std::int64_t tick_ns, Age most) {
    TraceGaps gaps;
    if (records.empty()) return gaps;
    const Age tick = Age::nanoseconds(tick_ns);
    const auto longest = static_cast<std::uint64_t>(kLongestReplay / tick);
    const std::int64_t asked = std::max<std::int64_t>(most / tick, 1);
    gaps.asked = most != Age::longest();
    std::int64_t kept = gaps.asked ? asked : records.back().t.count();
    if (static_cast<std::uint64_t>(records.back().t.count()) > longest && length(records, kept) > longest) {
        // Finds the longest pause with which the trace fits.
        gaps.asked = false;
        std::int64_t fits = 0, too_long = kept;
        while (too_long - fits > 1) {
            const std::int64_t middle = fits + (too_long - fits) / 2;
            (length(records, middle) <= longest ? fits : too_long) = middle;
        }
        kept = fits;
    }
    std::int64_t before = records[0].t.count(), now = before, left_out = 0, longest_gap = 0;
    for (TraceRecord& r : records) {
        const std::int64_t gap = r.t.count() - before;
        before = r.t.count();
        now += std::min(gap, kept);
        r.t = Ps{now};
        if (gap <= kept) continue;
        ++gaps.shortened;
        left_out += gap - kept;
        longest_gap = std::max(longest_gap, gap);
    }
    gaps.kept = tick * kept;
    gaps.longest = tick * longest_gap;
    gaps.left_out = tick * left_out;
    return gaps;
}

std::string TraceGaps::sentence() const {
    if (shortened == 0) return "";
    const std::string many = std::to_string(shortened);
    return (shortened == 1 ? "1 pause of " + text(longest) + " lasts " + text(kept)
                           : many + " pauses of up to " + text(longest) + " last " + text(kept) + " each") +
           ", " + text(left_out) + " are left out" +
           (asked ? "" : ", because a replay lasts 100d at most (--replay-gap makes pauses shorter)");
}

}  // namespace ssdtlm
