// SPDX-License-Identifier: Apache-2.0
// Frames that a port receives.
#include <algorithm>
#include <cstring>

#include "host_sata/ahci/ahci_port.h"

namespace ssdtlm {

using namespace ahci;
using sata::FisType;

namespace {
constexpr std::uint64_t kAll = ~std::uint64_t{0};
}

AhciPort::Answer AhciPort::receive(const std::uint8_t* fis, std::uint32_t bytes) {
    if (bytes == 0 || bytes % 4 != 0 || bytes > sata::kDataHeaderBytes + sata::kMostDataBytes) return Answer::refused;
    ++counters_.fises_received;
    if (!ready_ || holds_frame() || !can_take(fis)) {
        ++counters_.held;
        held_.assign(fis, fis + bytes);
        return Answer::later;
    }
    take(fis, bytes);
    advance();
    return Answer::taken;
}

void AhciPort::broken(const std::uint8_t* fis) {
    const bool data = fis[0] == static_cast<std::uint8_t>(FisType::data);
    if (data && started() && !halted_) return fail(PxIs::kIfs, Serr::kDiagC);
    serr_ |= Serr::kDiagC;
    set(PxIs::kInfs);
}

/// True if there is room for the frame. A frame after data waits until those are on their way. A new transfer waits
/// until the last one has ended.
bool AhciPort::can_take(const std::uint8_t* fis) const {
    if (pio_data_) return false;
    const bool moves = started() && !halted_;
    switch (static_cast<FisType>(fis[0])) {
        case FisType::data:
            return !moves || (mover_.has_room() && (transfer_begun_ || mover_.may_begin()));
        case FisType::dma_setup:
            return !moves || (mover_.may_begin() && sending_ != Sending::data);
        case FisType::dma_activate:
        case FisType::pio_setup:
            return !moves || transfer_begun_ || mover_.may_begin();
        default:
            return mover_.all_delivered();
    }
}

void AhciPort::take(const std::uint8_t* fis, std::uint32_t bytes) {
    if (sata::fis_problem(fis, bytes) != nullptr) {  // 6.1.4
        copy(ReceivedFis::kUnknown, fis, std::min(bytes, ReceivedFis::kMostUnknownBytes));
        serr_ |= Serr::kDiagF;
        return events_.interrupts_changed();
    }
    switch (static_cast<FisType>(fis[0])) {
        case FisType::register_d2h:
            copy(ReceivedFis::kRegister, fis, bytes);
            return take_register(fis);
        case FisType::set_device_bits:
            copy(ReceivedFis::kSetDeviceBits, fis, bytes);
            return take_device_bits(fis);
        case FisType::dma_setup:
            copy(ReceivedFis::kDmaSetup, fis, bytes);
            return take_dma_setup(fis);
        case FisType::pio_setup:
            copy(ReceivedFis::kPioSetup, fis, bytes);
            return take_pio_setup(fis);
        case FisType::dma_activate:
            return take_activate();
        case FisType::data:
            return take_data(fis + sata::kDataHeaderBytes, bytes - sata::kDataHeaderBytes);
        case FisType::register_h2d:
        case FisType::bist:
            break;
    }
    // The type is known, but no device of this model sends it.
    copy(ReceivedFis::kUnknown, fis, std::min(bytes, ReceivedFis::kMostUnknownBytes));
    serr_ |= Serr::kDiagF;
    events_.interrupts_changed();
}

void AhciPort::copy(std::uint32_t at, const std::uint8_t* fis, std::uint32_t bytes) {
    if ((cmd_ & PxCmd::kFre) != 0) memory_.post(fb_ + at, fis, bytes);
}

void AhciPort::take_register(const std::uint8_t* fis) {
    const sata::RegisterD2h f = sata::RegisterD2h::from(fis);
    set_status(f.status, f.error);
    if (std::exchange(takes_signature_, false))  // 3.3.9
        sig_ = static_cast<std::uint32_t>(f.lba & 0xFFFFFF) << 8 | (f.count & 0xFFu);
    if (!busy() && (f.status & Tfd::kErr) == 0) end_of_command(current_);
    if (f.interrupt) is_ |= PxIs::kDhrs;
    if ((f.status & Tfd::kErr) != 0 && started() && !halted_) return fail(PxIs::kTfes, 0);
    events_.interrupts_changed();
}

void AhciPort::take_device_bits(const std::uint8_t* fis) {
    const sata::SetDeviceBits f = sata::SetDeviceBits::from(fis);
    constexpr std::uint32_t kBits = 0x77;  // BSY and DRQ stay (Serial ATA 3.0, 10.3.6)
    set_status(static_cast<std::uint8_t>((tfd_ & ~kBits & 0xFF) | (f.status & kBits)), f.error);
    const std::uint32_t ended = f.active & sact_;
    sact_ &= ~ended;
    issued_ &= ~(ended & ~ci_);
    if (ended != 0) {
        events_.commands_ended(static_cast<std::uint32_t>(__builtin_popcount(ended)));
        events_.outstanding_changed();
    }
    if (f.interrupt) is_ |= PxIs::kSdbs;
    if ((f.status & Tfd::kErr) != 0 && started() && !halted_) return fail(PxIs::kTfes, 0);
    events_.interrupts_changed();
}

void AhciPort::take_dma_setup(const std::uint8_t* fis) {
    const sata::DmaSetup f = sata::DmaSetup::from(fis);
    if (f.interrupt) set(PxIs::kDss);
    if (!runs()) return;
    const std::uint32_t slot = f.tag & (kSlots - 1);
    if (f.tag >= kSlots || (issued_ & sact_ & bit(slot)) == 0) return fail(PxIs::kIfs, Serr::kErrP);
    transfer_begun_ = transfer_queued_ = true;
    mover_.begin(slots_[slot].table + kTableBytes, slots_[slot].prds(), f.buffer_offset, f.transfer_bytes, f.to_host);
    if (!f.to_host && f.auto_activate) mover_.activate();
}

/// Returns false if there is no command to which these data could belong.
bool AhciPort::begin_transfer_of_current(bool to_host) {
    if (transfer_begun_) return true;
    if (current_ == kNone || (ci_ & issued_ & bit(current_)) == 0) return false;
    transfer_begun_ = true;
    transfer_queued_ = false;
    mover_.begin(slots_[current_].table + kTableBytes, slots_[current_].prds(), 0, kAll, to_host);
    return true;
}

void AhciPort::take_activate() {
    if (!runs()) return;
    if (!begin_transfer_of_current(false)) return fail(PxIs::kIfs, Serr::kErrP);
    mover_.activate();
}

void AhciPort::take_pio_setup(const std::uint8_t* fis) {
    const sata::PioSetup f = sata::PioSetup::from(fis);
    set_status(f.status, f.error);
    if (!runs()) return;
    pio_end_status_ = f.end_status;
    pio_interrupt_ = f.interrupt;
    if (f.to_host) {
        pio_ = true;
        return;
    }
    if (!begin_transfer_of_current(false)) return fail(PxIs::kIfs, Serr::kErrP);
    pio_out_ = true;
    mover_.activate();
    if (f.interrupt) set(PxIs::kPss);
}

void AhciPort::take_data(const std::uint8_t* data, std::uint32_t bytes) {
    if (!runs()) return;
    if (!begin_transfer_of_current(true)) return fail(PxIs::kIfs, Serr::kErrP);
    counters_.bytes_to_host += bytes;
    mover_.receive(data, bytes);
    pio_data_ = pio_;
    data_moved();
}

/// 5.3.11.4, PIO:Update: the data have gone to memory.
void AhciPort::end_of_pio() {
    pio_ = pio_data_ = false;
    set_status(pio_end_status_, static_cast<std::uint8_t>(tfd_ >> 8));
    if (!busy()) end_of_command(current_);
    if (pio_interrupt_) set(PxIs::kPss);
}

void AhciPort::data_moved() {
    if (mover_.overflowed() && (is_ & PxIs::kOfs) == 0 && runs()) set(PxIs::kOfs);
    if (pio_data_ && mover_.all_delivered()) end_of_pio();
    advance();
}

}  // namespace ssdtlm
