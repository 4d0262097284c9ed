// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "common/config/policy_registry.h"
#include "common/units/units.h"

namespace ssdtlm {

struct DramConfig {
    std::string model = "rate";
    std::uint64_t bytes_per_second = 12'800'000'000;  ///< of the data bus
    Ps access_latency{50'000};                        ///< added to each access, pipelined
    PolicyTable policies;                             ///< parameters of the models
};

}  // namespace ssdtlm
