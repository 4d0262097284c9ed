// SPDX-License-Identifier: Apache-2.0
// The AHCI driver's part of host memory: command list, area of received FISes, and a command table for each slot. It
// needs no SystemC kernel. Source: AHCI 1.3.1, 4.2; Linux drivers/ata/libahci.c ahci_port_start(), ahci_fill_sg().
#pragma once

#include <array>
#include <cstdint>

#include "host_pcie/driver/host_memory.h"
#include "protocol/ahci.h"
#include "protocol/sata.h"

namespace ssdtlm {

class AhciMemory {
public:
    /// `most_bytes` is the largest data size of a command. The data may begin anywhere in a page.
    AhciMemory(HostMemory& memory, std::uint32_t page_bytes, std::uint32_t most_bytes);

    std::uint64_t list() const { return list_; }
    std::uint64_t received() const { return received_; }
    /// Returns the last received FIS of a kind, which its place selects (ahci::ReceivedFis).
    const std::uint8_t* received_fis(std::uint32_t at) {
        return memory_.at(received_ + at, ahci::ReceivedFis::kBytes - at);
    }

    /// Writes header and table of a slot. Each page of the data has an entry, because pages may lie anywhere in a real
    /// host's memory.
    void fill(std::uint32_t slot, const sata::RegisterH2d& command, std::uint64_t data, std::uint32_t bytes,
              bool to_device);

private:
    HostMemory& memory_;
    const std::uint32_t page_bytes_;
    const std::uint32_t most_entries_;
    std::uint64_t list_;
    std::uint64_t received_;
    std::array<std::uint64_t, ahci::kSlots> tables_{};  // 0: not needed yet
};

}  // namespace ssdtlm
