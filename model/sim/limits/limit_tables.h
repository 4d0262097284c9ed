// SPDX-License-Identifier: Apache-2.0
// The possible limits of a run, and the parameters that lift them: a row for each resource, wait and kind of credit.
#pragma once

#include <string>
#include <vector>

#include "sim/limits/wait_kind.h"

namespace ssdtlm {

/// Share of the time from which on a wait counts as there most of it. Assumed: below it, half of the load sees no wait
/// at all.
inline constexpr double kMostly = 0.5;
/// Least gain that a limiting resource should bring. It is more than the 2 % that count as a gain, with a margin for
/// effects outside the network of queues.
inline constexpr double kSureGain = 0.03;

struct ResourceParameters {
    const char* resource;
    std::vector<std::string> parameters;
};
const std::vector<ResourceParameters>& parameters_of_resources();

struct WaitRow {
    WaitKind kind;
    const char* name;
    std::vector<std::string> parameters;
    const char* says;
    double enough = kMostly;  ///< share of the time from which on it limits
};
/// The rows in the order of WaitKind.
const std::vector<WaitRow>& wait_rows();

/// Waits that keep a resource from its work; together they fill the time. A link is idle while it lacks credits.
struct CreditRow {
    const char* resource;
    WaitKind any, headers, data;  ///< shares of the time
    const char* who;
};
const std::vector<CreditRow>& credit_rows();

}  // namespace ssdtlm
