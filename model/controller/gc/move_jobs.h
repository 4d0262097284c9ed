// SPDX-License-Identifier: Apache-2.0
// Flash work that moves units: reads of pages that hold them, and programs of the pages that they go to.
#pragma once

#include <array>
#include <cstdint>

#include "controller/ports/program_job.h"

namespace ssdtlm {

struct MoveRead : FlashJob {
    std::uint32_t dram_unit = 0;  ///< where the first unit is in the DRAM, in units; the others follow
};

struct MoveProgram : ProgramJob {
    std::array<Ppa, kMaxUnitsPerPage> from{};                 ///< old place of unit i
    std::array<std::uint32_t, kMaxUnitsPerPage> dram_unit{};  ///< where unit i is in the DRAM, in units
    PageContent content;  ///< what its translation pages say, if the flash keeps that
};

}  // namespace ssdtlm
