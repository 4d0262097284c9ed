// SPDX-License-Identifier: Apache-2.0
#include "controller/map/cached/pages/translation_sizes.h"

#include <algorithm>
#include <cmath>

#include "controller/ftl/ftl_check.h"
#include "controller/ftl/mapping/mapping.h"

namespace ssdtlm {

std::uint32_t entries_per_translation_page(const FtlConfig& config, const NandGeometry& g) {
    return g.unit_bytes / config.map.entry_bytes;
}

std::uint64_t translation_pages_of(const FtlConfig& config, const NandGeometry& g) {
    if (!mapping_of(config, g)->is_on_flash()) return 0;
    const std::uint32_t entries = entries_per_translation_page(config, g);
    return (logical_units_of(config, g) + entries - 1) / entries;
}

std::uint64_t cached_map_slots_of(const FtlConfig& config, const NandGeometry& g) {
    // An entry by itself needs its number beside it.
    return config.map.cache_bytes /
           (config.map.granularity == MapGranularity::page ? g.unit_bytes : 2 * config.map.entry_bytes);
}

std::uint32_t most_dirty_pages(const FtlConfig& config, const NandGeometry& g) {
    const auto pages = static_cast<double>(translation_pages_of(config, g));
    return static_cast<std::uint32_t>(std::max(1.0, std::round(pages * config.map.power_protected)));
}

bool limits_dirty_pages(const FtlConfig& config) {
    return config.map.power_protected < 1.0 && mapping_of(config, {})->is_on_flash();
}

}  // namespace ssdtlm
