// SPDX-License-Identifier: Apache-2.0
#include "sim/app/run_limits.h"

#include <fmt/format.h>

#include "common/config/quantity.h"
#include "sim/app/number_texts.h"

namespace ssdtlm {

LimitedWorkload::Limits parse_run_limits(const RunLimitTexts& texts, std::vector<Problem>& problems) {
    LimitedWorkload::Limits limits;
    if (!texts.time.empty()) {
        const QuantityResult q = parse_quantity(texts.time, Dimension::time);
        if (!q.ok || q.value == 0)
            problems.push_back({"command line",
                                "--stop-after-time '" + texts.time + "': " + (q.ok ? "no time at all" : q.found),
                                describe(Dimension::time) + " above 0", q.ok ? "" : q.repair});
        limits.until = SimTime{Ps{q.value}};
    }
    if (!texts.commands.empty()) {
        limits.requests = parse_count(texts.commands).value_or(0);
        if (limits.requests == 0)
            problems.push_back({"command line", "--stop-after-commands '" + texts.commands + "' is no count",
                                fmt::format("a whole number from 1 on, {}", kCountWords), "for example 10k"});
    }
    return limits;
}

std::string ended_by(LimitedWorkload::Reached reached, const RunLimitTexts& texts) {
    switch (reached) {
        case LimitedWorkload::Reached::none:
            break;
        case LimitedWorkload::Reached::time:
            return "--stop-after-time " + texts.time;
        case LimitedWorkload::Reached::requests:
            return "--stop-after-commands " + texts.commands;
    }
    return "workload";
}

}  // namespace ssdtlm
