// SPDX-License-Identifier: Apache-2.0
#include "host_sata/ahci/ahci_adapter.h"

#include "common/report/error.h"

namespace ssdtlm {

using namespace ahci;

AhciAdapter::AhciAdapter(Agenda& agenda, const AhciConfig& config, AdapterMemory& memory, AdapterSerial& serial)
    : memory_(memory),
      coalescing_(agenda, [this] { raise(1u << CompletionCoalescing::kInterrupt); }),
      port_(agenda, config, memory, serial, *this) {}

std::uint32_t AhciAdapter::read(std::uint32_t offset) const {
    if (offset >= kPortBase) return offset < kAbarBytes ? port_.read(offset - kPortBase) : 0;
    switch (offset) {
        case kRegCap:
            return kCapabilities;
        case kRegGhc:
            return ghc_;
        case kRegIs:
            return is_;
        case kRegPi:
            return kPortBit;
        case kRegVs:
            return kVersion131;
        case kRegCccCtl:
            return coalescing_.control();
        case kRegCccPorts:
            return coalescing_.ports();
        default:
            return 0;
    }
}

void AhciAdapter::write(std::uint32_t offset, std::uint32_t value) {
    if (offset >= kPortBase) {
        if (offset < kAbarBytes) port_.write(offset - kPortBase, value);
        return;
    }
    switch (offset) {
        case kRegGhc:
            if ((value & Ghc::kHr) != 0) {  // 10.4.3; it takes no time: HR reads 0 again at once
                ghc_ = Ghc::kAe;
                is_ = 0;
                coalescing_.reset();
                return port_.reset();
            }
            ghc_ = Ghc::kAe | (value & Ghc::kIe);
            if ((ghc_ & Ghc::kIe) != 0 && is_ != 0) message();
            return;
        case kRegIs:
            is_ &= ~value;
            return interrupts_changed();  // a bit that PxIS still holds sets its bit again
        case kRegCccCtl:
            return coalescing_.write_control(value);
        case kRegCccPorts:
            return coalescing_.write_ports(value);
        default:
            return;
    }
}

void AhciAdapter::interrupts_changed() {
    if (port_.interrupts()) raise(kPortBit);
}

void AhciAdapter::raise(std::uint32_t bit) {
    if ((is_ & bit) != 0) return;
    is_ |= bit;
    if ((ghc_ & Ghc::kIe) != 0) message();
}

void AhciAdapter::message() {
    if (message_address_ == 0) return;
    ++interrupts_;
    memory_.post(message_address_, reinterpret_cast<const std::uint8_t*>(&message_data_), sizeof message_data_);
}

void AhciAdapter::check_waiters() const {
    port_.check_waiters();
    if (port_.interrupts() && (is_ & kPortBit) == 0)
        throw CheckFailed("HBA: the port has an interrupt that IS does not say");
    if (coalescing_.forgets()) throw CheckFailed("HBA: commands have ended, and no coalesced interrupt is to come");
}

}  // namespace ssdtlm
