// SPDX-License-Identifier: Apache-2.0
// host.regions: which addresses each workload of a run has.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/sim_config.h"

namespace ssdtlm {

struct FlowRegion {
    std::uint64_t first_byte = 0;
    std::uint64_t bytes = 0;
};

/// Returns the region of each workload. Edges in per cent are rounded down to logical units. Throws UserError with all
/// problems.
std::vector<FlowRegion> flow_regions(const SsdConfig& config, std::uint64_t namespace_bytes);

}  // namespace ssdtlm
