// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "common/config/policy_registry.h"
#include "common/units/units.h"

namespace ssdtlm {

enum class DramRest : std::uint8_t { none, buffer, read_cache, map };

struct DramConfig {
    std::uint64_t bytes = 0;  ///< 0: as much as is needed
    DramRest rest =
        DramRest::none;  ///< the part that takes what others leave: its size is set when a configuration is loaded
    std::string model = "rate";
    std::uint64_t bytes_per_second = 12'800'000'000;  ///< of the data bus
    Ps access_latency{50'000};                        ///< added to each access, pipelined
    PolicyTable policies;                             ///< parameters of the models
};

}  // namespace ssdtlm
