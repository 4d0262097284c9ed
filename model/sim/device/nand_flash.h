// SPDX-License-Identifier: Apache-2.0
// The flash of a drive: a bus and packages for each channel, and the contents of the pages. Contents, wear and bad
// blocks survive a loss of power.
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
    /// `seed`: seed of the random faults of the dies.
    NandFlash(sc_core::sc_module_name name, Agenda& agenda, const NandConfig& config, const FaultConfig& faults,
              std::uint64_t seed);

    /// The socket to which the channel's controller is bound.
    OnfiTargetSocket& channel(std::uint32_t ch) { return buses[ch]->controller_target; }

    /// The power is lost, in the middle of the dies' operations. Returns what was lost.
    PowerLoss lose_power();
    /// Reads or writes the state of the faults. The contents of the pages are part of the controller's state.
    void state(Snapshot& s);

    const NandConfig config;
    SpareArea spare;
    std::unique_ptr<ArrayFaults> faults;                 ///< of all dies
    std::vector<std::unique_ptr<OnfiBus>> buses;         ///< by channel
    std::vector<std::unique_ptr<NandPackage>> packages;  ///< by channel, way
};

}  // namespace ssdtlm
