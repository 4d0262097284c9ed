// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ssdtlm {

struct SchedulerConfig {
    std::string policy = "read_first";       ///< registered policy
    std::string implementation = "tlm";      ///< "tlm" (C++ policy)
    std::uint32_t starvation_limit = 64;     ///< grants on a die that may overtake a waiting class before it goes first; 0: unlimited
    bool multi_plane = true;                 ///< join waiting same-die, same-class, same-page-number work of other planes
};

}  // namespace ssdtlm
