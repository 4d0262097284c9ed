// SPDX-License-Identifier: Apache-2.0
// The flash of a drive: a bus and its packages for each channel, and what the pages hold. Contents, wear and bad blocks
// are what a loss of power leaves.
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "common/tlm/agenda.h"
#include "nand/array/array_faults.h"
#include "nand/array/spare_area.h"
#include "nand/channel/onfi_bus.h"
#include "nand/package/nand_package.h"

namespace ssdtlm {

class NandFlash : public sc_core::sc_module {
public:
    /// `seed`: the faults of the dies are drawn from it.
    NandFlash(sc_core::sc_module_name name, Agenda& agenda, const NandConfig& config, const FaultConfig& faults,
              std::uint64_t seed);

    /// The socket to which the channel's controller is bound.
    OnfiTargetSocket& channel(std::uint32_t ch) { return buses[ch]->controller_target; }

    /// The power goes in the middle of the dies' operations.
    PowerLoss lose_power();
    /// Reads or writes the state of the faults. The contents of the pages are the controller's part, which lays them
    /// out.
    void state(Snapshot& s);

    const NandConfig config;
    SpareArea spare;
    std::unique_ptr<ArrayFaults> faults;                 ///< of all dies
    std::vector<std::unique_ptr<OnfiBus>> buses;         ///< by channel
    std::vector<std::unique_ptr<NandPackage>> packages;  ///< by channel, way
};

}  // namespace ssdtlm
