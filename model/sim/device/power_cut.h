// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/units/units.h"
#include "nand/die/die.h"

namespace ssdtlm {

/// One loss of power, and how the drive found its map again.
struct PowerCut {
    SimTime at{};                  ///< in results from the start of the workload
    PowerLoss loss;
    std::uint64_t scan_reads = 0;  ///< pages
    Ps scan_time{};                ///< 0: the power went again before its end
};

}  // namespace ssdtlm
