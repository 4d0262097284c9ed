// SPDX-License-Identifier: Apache-2.0
// One size of DRAM for write buffer, read cache and map: whether they fit, and who gets what the others leave.
#pragma once

#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// With dram.rest the size of the part that it names is set to what is left; its origin says so. Returns what does not
/// fit.
std::vector<Problem> divide_dram(ResolvedConfig& resolved);
/// Bytes of write buffer, read cache and map together.
std::uint64_t dram_used(SsdConfig config);

}  // namespace ssdtlm
