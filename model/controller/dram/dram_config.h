// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

/// One DRAM port, serial, first come first served.
struct DramConfig {
    std::uint64_t bytes_per_second = 12'800'000'000;  ///< sustained
    Ps access_latency{50'000};                        ///< added to each access, pipelined
};

}  // namespace ssdtlm
