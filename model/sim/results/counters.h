// SPDX-License-Identifier: Apache-2.0
// The counters of result.json with their names, and their differences over a window.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ssdtlm {

using Counters = std::vector<std::pair<std::string, std::uint64_t>>;  ///< flat, in print order

/// Differences of the counters between two snapshots of the same system. A counter that the first one did not have was
/// 0. States and maxima are left out, because their difference means nothing.
Counters counted_between(const Counters& begin, const Counters& end);

}  // namespace ssdtlm
