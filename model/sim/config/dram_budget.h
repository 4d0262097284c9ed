// SPDX-License-Identifier: Apache-2.0
// One size of DRAM for write buffer, read cache and map. It checks whether they fit, and gives the rest to one of them.
#pragma once

#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// With dram.rest, the part that it names gets the size that is left; its origin says so. Returns the problems if the
/// parts do not fit.
std::vector<Problem> divide_dram(ResolvedConfig& resolved);
/// Bytes of write buffer, read cache and map together.
std::uint64_t dram_used(SsdConfig config);

}  // namespace ssdtlm
