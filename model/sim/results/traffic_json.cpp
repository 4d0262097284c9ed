// SPDX-License-Identifier: Apache-2.0
#include "sim/results/traffic_json.h"

#include <nlohmann/json.hpp>

namespace ssdtlm {

nlohmann::ordered_json traffic_json(const FtlCounters& ftl, std::uint32_t units_per_page) {
    return {{"user_pages", ftl.host_pages_allocated},
            {"mapping_pages", ftl.map_pages},
            {"gc_user_pages", ftl.gc_user_pages(units_per_page)},
            {"gc_mapping_pages", ftl.gc_mapping_pages(units_per_page)}};
}

}  // namespace ssdtlm
