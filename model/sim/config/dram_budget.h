// SPDX-License-Identifier: Apache-2.0
// Divides the DRAM among write buffer, read cache and map. It checks whether they fit, and may give the rest to one of
// them.
#pragma once

#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// The part that dram.rest names gets the size that is left, and its origin says so. Returns the problems if the parts
/// do not fit.
std::vector<Problem> divide_dram(ResolvedConfig& resolved);
/// Bytes of write buffer, read cache and map together.
std::uint64_t dram_used(SsdConfig config);

}  // namespace ssdtlm
