// SPDX-License-Identifier: Apache-2.0
#include "sim/app/run_limits.h"

#include <charconv>

#include "common/config/quantity.h"

namespace ssdtlm {

namespace {

struct Multiple {
    const char* suffix;
    std::uint64_t factor;
};
constexpr Multiple kMultiples[] = {{"", 1},
                                   {"k", 1'000},
                                   {"M", 1'000'000},
                                   {"G", 1'000'000'000},
                                   {"Ki", std::uint64_t{1} << 10},
                                   {"Mi", std::uint64_t{1} << 20},
                                   {"Gi", std::uint64_t{1} << 30}};

/// Returns the count, or 0 if the text is no count or too large.
std::uint64_t count_of(const std::string& text) {
    std::uint64_t digits = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, digits);
    if (error != std::errc()) return 0;
    std::uint64_t count = 0;
    for (const Multiple& m : kMultiples)
        if (std::string(rest, end) == m.suffix && !__builtin_mul_overflow(digits, m.factor, &count)) return count;
    return 0;
}

}  // namespace

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
        limits.requests = count_of(texts.commands);
        if (limits.requests == 0)
            problems.push_back({"command line", "--stop-after-commands '" + texts.commands + "' is no count",
                                "a whole number from 1 on, k, M, G for powers of 1000, Ki, Mi, Gi of 1024",
                                "for example 10k"});
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
