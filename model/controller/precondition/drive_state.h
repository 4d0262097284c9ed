// SPDX-License-Identifier: Apache-2.0
// The state of a drive between two commands, from the records of its superblocks: how full it is, how many are free,
// and how many of their units are valid.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

struct DriveState {
    static constexpr std::size_t kTenths = 10;
    std::uint64_t logical_units = 0;
    std::uint64_t mapped_units = 0;
    std::uint32_t groups = 0;
    std::uint32_t least_free = 0, most_free = 0;  ///< superblocks of a group
    double mean_free = 0;
    std::uint64_t full = 0;  ///< superblocks that take no more pages and are not being emptied
    /// The full superblocks by the share of their units that is valid: below 10 %, below 20 %, ..., below 100 %, and
    /// exactly 100 %.
    std::array<std::uint64_t, kTenths + 1> full_by_valid{};
};
/// Looks at each superblock's record once.
DriveState drive_state(const Ftl& ftl);

}  // namespace ssdtlm
