// SPDX-License-Identifier: Apache-2.0
// A host bus adapter with one port: the registers that all ports share, interrupts, and AhciPort. It needs no SystemC
// kernel. Source: AHCI 1.3.1, 3.1 and 10.7.2. There is one message for all interrupts. It is sent when a bit of IS
// becomes 1 while GHC.IE is set.
#pragma once

#include <cstdint>
#include <string>

#include "host_sata/ahci/ahci_port.h"
#include "host_sata/ahci/completion_coalescing.h"

namespace ssdtlm {

class AhciAdapter final : private PortEvents {
public:
    AhciAdapter(Agenda& agenda, const AhciConfig& config, AdapterMemory& memory, AdapterSerial& serial);

    /// Sets address and data of the interrupt message: the adapter's MSI capability, which firmware programs. No
    /// message is sent before.
    void set_message(std::uint64_t address, std::uint32_t data) {
        message_address_ = address;
        message_data_ = data;
    }
    /// Accesses a register of 32 bits; `offset` is a multiple of 4. A reserved register reads as 0 and ignores writes.
    std::uint32_t read(std::uint32_t offset) const;
    void write(std::uint32_t offset, std::uint32_t value);

    AhciPort& port() { return port_; }
    const AhciPort& port() const { return port_; }
    std::uint64_t interrupts() const { return interrupts_; }
    std::string dump() const { return port_.dump(); }
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const;

private:
    static constexpr std::uint32_t kPortBit = 1;
    static constexpr std::uint32_t kCapabilities = ahci::Cap::kS64a | ahci::Cap::kSncq | ahci::Cap::kSclo |
                                                   ahci::Cap::kSam | ahci::Cap::kCccs | 3u << ahci::Cap::kIssShift |
                                                   (ahci::kSlots - 1) << ahci::Cap::kNcsShift;

    void interrupts_changed() override;
    void commands_ended(std::uint32_t count) override { coalescing_.ended(count); }
    void outstanding_changed() override { coalescing_.outstanding(port_.has_outstanding()); }
    void raise(std::uint32_t bit);
    void message();

    AdapterMemory& memory_;
    std::uint64_t message_address_ = 0;
    std::uint32_t message_data_ = 0;
    std::uint32_t ghc_ = ahci::Ghc::kAe;
    std::uint32_t is_ = 0;
    std::uint64_t interrupts_ = 0;
    CompletionCoalescing coalescing_;
    AhciPort port_;
};

}  // namespace ssdtlm
