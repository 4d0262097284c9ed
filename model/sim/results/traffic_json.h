// SPDX-License-Identifier: Apache-2.0
// Pages by purpose, with a map on the flash: those of user data and those of the map, each written for the host or
// moved by garbage collection.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "controller/ftl/ftl_counters.h"

namespace ssdtlm {

nlohmann::ordered_json traffic_json(const FtlCounters& ftl, std::uint32_t units_per_page);

}  // namespace ssdtlm
