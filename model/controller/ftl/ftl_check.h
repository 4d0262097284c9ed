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

/// Names of the mapping policies, sorted.
std::vector<std::string> mapping_names();

/// Of the flash: the map names pages of the journal by the numbers above those of the units.
inline constexpr std::uint64_t kMostUnits = 0xFFF00000u;

/// Mapping units that the host can address: the last one may be used in part.
std::uint64_t logical_units_of(const FtlConfig& config, const NandGeometry& geometry);

/// Largest number of logical units for which GC can always get above its soft threshold in every plane, when the data
/// is spread evenly. 0 when the blocks per plane are not enough for the thresholds themselves.
std::uint64_t most_logical_units(const FtlConfig& config, const NandGeometry& geometry);

/// Empty: an Ftl can be built and will never run out of blocks.
std::vector<Problem> check_ftl(const FtlConfig& config, const NandGeometry& geometry);

}  // namespace ssdtlm
