// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ssdtlm {

struct ReadAheadConfig {
    std::uint64_t bytes = 0;    ///< that are read behind the newest read of a sequential stream; 0: none
    std::uint32_t trigger = 2;  ///< reads, each of which begins where the one before ended, that make a stream
};

}  // namespace ssdtlm
