// SPDX-License-Identifier: Apache-2.0
// How a victim policy chooses, as far as a formula can say it. The state by formula (precondition.state = "analytic")
// computes from this law what the policy would leave behind.
#pragma once

#include <cstdint>

namespace ssdtlm {

/// How a policy chooses its victims.
struct ChoiceLaw {
    enum class Kind : std::uint8_t {
        other,    ///< no formula is known here
        best_of,  ///< the least valid of some that are drawn at random
        oldest    ///< the one that was sealed first
    };
    static constexpr std::uint32_t kAll = 0xFFFFFFFFu;
    Kind kind = Kind::other;
    std::uint32_t drawn = 1;       ///< best_of; kAll: the least valid of all
    std::uint32_t most_valid = 0;  ///< best_of: blocks with more are not drawn
};

}  // namespace ssdtlm
