// SPDX-License-Identifier: Apache-2.0
// What a configuration says about the translation pages of a map on the flash, and about its cache.
#pragma once

#include <cstdint>

#include "common/address/geometry.h"
#include "controller/ftl/ftl_config.h"

namespace ssdtlm {

/// Entries of the map that one translation page, a mapping unit of flash, holds.
std::uint32_t entries_per_translation_page(const FtlConfig& config, const NandGeometry& geometry);
/// Translation pages of the map; 0 when it is all in memory.
std::uint64_t translation_pages_of(const FtlConfig& config, const NandGeometry& geometry);
/// most_dirty_pages(): how many translation pages may be dirty at a time (map.power_protected). limits_dirty_pages():
/// whether that is fewer than all.
std::uint32_t most_dirty_pages(const FtlConfig& config, const NandGeometry& geometry);
bool limits_dirty_pages(const FtlConfig& config);
/// Entries or translation pages that the map's cache has room for.
std::uint64_t cached_map_slots_of(const FtlConfig& config, const NandGeometry& geometry);

}  // namespace ssdtlm
