// SPDX-License-Identifier: Apache-2.0
// The tables of the possible limits of a run, with the parameters that raise them. There is a row for each resource,
// wait and kind of credit.
#pragma once

#include <string>
#include <vector>

#include "sim/limits/wait_kind.h"

namespace ssdtlm {

/// The share of the time from which on a wait counts as lasting most of the time. Assumed: below it, half of the load
/// sees no wait.
inline constexpr double kMostly = 0.5;
/// The least gain that doubling a limiting resource should bring. It is above the 2 % that count as a gain, as a margin
/// for effects outside the network of queues.
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

/// Waits for credits that keep a link idle. The link's work and these waits together fill the time.
struct CreditRow {
    const char* resource;
    WaitKind any, headers, data;  ///< shares of the time
    const char* who;
};
const std::vector<CreditRow>& credit_rows();

}  // namespace ssdtlm
