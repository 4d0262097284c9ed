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

/// Most units of a flash. The map names pages of the journal by the numbers above those of the units.
inline constexpr std::uint64_t kMostUnits = 0xFFF00000u;

/// Mapping units that the host can address. The last one may be used in part.
std::uint64_t logical_units_of(const FtlConfig& config, const NandGeometry& geometry);
/// Garbage collection can always get more free blocks than this in each plane: the soft threshold, or the hard one
/// where it leaves victims alone of which too little is invalid. threshold_key() is the parameter's name.
std::uint32_t threshold_reached(const FtlConfig& config);
const char* threshold_key(const FtlConfig& config);
/// The least value of gc.hard_free_blocks. The units of one victim fit into one free block; 2 are needed where others
/// than host and collection write.
std::uint32_t least_hard_free_blocks(const FtlConfig& config);
/// Sets the free blocks of gc.soft_used and gc.hard_used, where these are given.
void follow_used_shares(FtlConfig& config, const NandGeometry& geometry);
/// Blocks of each plane that no data of the host may fill.
std::uint32_t reserved_blocks(const FtlConfig& config, const NandGeometry& geometry);
/// Superblocks that the journal may take of each group, with a mapping by blocks.
std::uint32_t journal_blocks(const FtlConfig& config, const NandGeometry& geometry);
/// Pages of the journal that each group has room for beside its share of the addresses, with static dimensions.
std::uint32_t most_journal_pages(const FtlConfig& config, const NandGeometry& geometry);

/// Largest number of logical units for which GC can always get above its soft threshold in every plane, when the data
/// are spread evenly. 0 when the blocks per plane are not enough for the thresholds themselves.
std::uint64_t most_logical_units(const FtlConfig& config, const NandGeometry& geometry);

/// Superblocks at the end of each group that are set apart for a feature, which alone uses them
/// (../features/features.cpp).
std::uint32_t set_apart_blocks(const FtlConfig& config, const NandGeometry& geometry);

/// Adds a problem where parts of a memory (`size`) for tenants leave nothing for one of them. `units`: room in it.
void check_quotas(std::vector<Problem>& out, const char* key, const char* size,
                  const std::vector<std::uint32_t>& percents, std::uint64_t units);

/// Returns all problems. If there are none, an Ftl can be built and will never run out of blocks.
std::vector<Problem> check_ftl(const FtlConfig& config, const NandGeometry& geometry);

}  // namespace ssdtlm
