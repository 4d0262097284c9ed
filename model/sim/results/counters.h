// SPDX-License-Identifier: Apache-2.0
// What result.json counts under names of its own, and the part of it that a window holds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ssdtlm {

using Counters = std::vector<std::pair<std::string, std::uint64_t>>;  ///< flat, in print order

/// What was counted between two looks at the same system. A counter that the first look did not have was 0. States and
/// maxima are left out, as their difference means nothing.
Counters counted_between(const Counters& begin, const Counters& end);

}  // namespace ssdtlm
