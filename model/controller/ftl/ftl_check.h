// SPDX-License-Identifier: Apache-2.0
// Whether an FTL configuration fits a flash geometry. Finds all problems at once; builds nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/address/geometry.h"
#include "common/report/error.h"
#include "controller/ftl/ftl_config.h"

namespace ssdtlm {

/// Of the flash: the map names pages of the journal by the numbers above those of the units.
inline constexpr std::uint64_t kMostUnits = 0xFFF00000u;

/// Mapping units that the host can address: the last one may be used in part.
std::uint64_t logical_units_of(const FtlConfig& config, const NandGeometry& geometry);
/// Entries of the map that one translation page, a mapping unit of flash, holds.
std::uint32_t entries_per_translation_page(const FtlConfig& config, const NandGeometry& geometry);
/// Translation pages of the map; 0 when it is all in memory.
std::uint64_t translation_pages_of(const FtlConfig& config, const NandGeometry& geometry);
/// Of these, how many may be dirty at a time (map.power_protected), and whether that is fewer than all.
std::uint32_t most_dirty_pages(const FtlConfig& config, const NandGeometry& geometry);
bool limits_dirty_pages(const FtlConfig& config);
/// Free blocks of each plane above which garbage collection can always get it: the soft threshold, or the hard one
/// where it leaves victims alone of which too little is invalid. And its key.
std::uint32_t threshold_reached(const FtlConfig& config);
const char* threshold_key(const FtlConfig& config);
/// The least gc.hard_free_blocks. Of one victim at a time the units fit into one free block; it takes 2 where others
/// than host and collection write.
std::uint32_t least_hard_free_blocks(const FtlConfig& config);
/// Sets the free blocks of gc.soft_used and gc.hard_used, where these are given.
void follow_used_shares(FtlConfig& config, const NandGeometry& geometry);
/// Blocks of each plane that no data of the host may fill.
std::uint32_t reserved_blocks(const FtlConfig& config, const NandGeometry& geometry);
/// Of each group with a mapping by blocks, as superblocks: what the journal may take.
std::uint32_t journal_blocks(const FtlConfig& config, const NandGeometry& geometry);
/// What the map's cache has room for: entries or translation pages.
std::uint64_t cached_map_slots_of(const FtlConfig& config, const NandGeometry& geometry);

/// Pages of the journal that each group has room for beside its share of the addresses, with static dimensions.
std::uint32_t most_journal_pages(const FtlConfig& config, const NandGeometry& geometry);

/// Largest number of logical units for which GC can always get above its soft threshold in every plane, when the data
/// is spread evenly. 0 when the blocks per plane are not enough for the thresholds themselves.
std::uint64_t most_logical_units(const FtlConfig& config, const NandGeometry& geometry);

/// Empty: an Ftl can be built and will never run out of blocks.
std::vector<Problem> check_ftl(const FtlConfig& config, const NandGeometry& geometry);

}  // namespace ssdtlm
