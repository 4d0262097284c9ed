// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/units/units.h"
#include "controller/mount/map_rebuild.h"
#include "nand/die/die.h"

namespace ssdtlm {

/// One loss of power, and how the drive found its map again.
struct PowerCut {
    SimTime at{};        ///< when the supply failed; in results from the start of the workload
    Ps on_capacitors{};  ///< from then on, until what they protect was in flash
    PowerLoss loss;
    std::uint64_t scan_reads = 0;         ///< pages
    std::uint64_t checkpoint_reads = 0;   ///< of those, the ones of root records and a checkpoint
    std::uint64_t translation_reads = 0;  ///< and of translation pages in use
    std::uint64_t dirty_entries = 0;      ///< of the map, that these did not say
    std::uint64_t entries = 0;  ///< mapping units and entries of the journal that were put in order, and entries of
                                ///< translation pages compared
    std::uint32_t erases_supposed = 0;  ///< superblocks of which nothing said how often they were erased
    MapSource source = MapSource::all_pages;
    bool after_shutdown = false;  ///< CC.SHN had been answered by CSTS.SHST
    Ps scan_time{};               ///< 0: the power went again before its end
};

}  // namespace ssdtlm
