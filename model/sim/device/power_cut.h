// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/units/units.h"
#include "controller/mount/map_rebuild.h"
#include "nand/die/die.h"

namespace ssdtlm {

/// A loss of power, and how the drive found its map again.
struct PowerCut {
    SimTime at{};        ///< when the supply failed; in results from the start of the workload
    Ps on_capacitors{};  ///< time from then until the protected data were in flash
    PowerLoss loss;
    std::uint64_t scan_reads = 0;         ///< pages read in the search for the map
    std::uint64_t checkpoint_reads = 0;   ///< part of these: root records and a checkpoint
    std::uint64_t translation_reads = 0;  ///< part of these: translation pages in use
    std::uint64_t dirty_entries = 0;      ///< entries of the map that were not in these pages
    std::uint64_t entries = 0;  ///< mapping units and entries of the journal that were put in order, and entries of
                                ///< translation pages compared
    std::uint32_t erases_supposed = 0;  ///< superblocks whose erase count was not known, but assumed
    MapSource source = MapSource::all_pages;
    bool after_shutdown = false;  ///< CC.SHN had been answered by CSTS.SHST
    Ps scan_time{};               ///< 0: the power was lost again before its end
};

}  // namespace ssdtlm
