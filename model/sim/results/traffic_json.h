// SPDX-License-Identifier: Apache-2.0
// The pages by purpose, if the map is on the flash: pages of user data and of the map, each written for the host or
// moved by garbage collection.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "controller/ftl/ftl_counters.h"

namespace ssdtlm {

nlohmann::ordered_json traffic_json(const FtlCounters& ftl, std::uint32_t units_per_page);

}  // namespace ssdtlm
