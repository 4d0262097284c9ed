// SPDX-License-Identifier: Apache-2.0
// Registers of a port, start and stop, the phy. Commands are in port_commands.cpp, frames in port_frames.cpp.
#include "host_sata/ahci/ahci_port.h"

#include <cstdio>

#include "common/report/error.h"

namespace ssdtlm {

using namespace ahci;

AhciPort::AhciPort(Agenda& agenda, const AhciConfig& config, AdapterMemory& memory, AdapterSerial& serial,
                   PortEvents& events)
    : agenda_(agenda),
      config_(config),
      memory_(memory),
      serial_(serial),
      events_(events),
      mover_(memory, config.fifo_frames, *this) {}

/// PxIS. Three of its bits follow PxSERR (3.3.5).
std::uint32_t AhciPort::status() const {
    return is_ | ((serr_ & Serr::kDiagF) != 0 ? PxIs::kUfs : 0) | ((serr_ & Serr::kDiagX) != 0 ? PxIs::kPcs : 0) |
           ((serr_ & Serr::kDiagN) != 0 ? PxIs::kPrcs : 0);
}

std::uint32_t AhciPort::read(std::uint32_t offset) const {
    switch (offset) {
        case kPxClb:
            return static_cast<std::uint32_t>(clb_);
        case kPxClbu:
            return static_cast<std::uint32_t>(clb_ >> 32);
        case kPxFb:
            return static_cast<std::uint32_t>(fb_);
        case kPxFbu:
            return static_cast<std::uint32_t>(fb_ >> 32);
        case kPxIs:
            return status();
        case kPxIe:
            return ie_;
        case kPxCmd: {
            std::uint32_t value = cmd_ | PxCmd::kSud | PxCmd::kPod;
            if ((cmd_ & PxCmd::kFre) != 0) value |= PxCmd::kFr;
            if (started() || draining_) value |= PxCmd::kCr;
            if (started() && current_ != kNone) value |= current_ << PxCmd::kCcsShift;
            return value;
        }
        case kPxTfd:
            return tfd_;
        case kPxSig:
            return sig_;
        case kPxSsts:
            return ready_ ? Phy::ready(generation_) : Phy::kDetNone;
        case kPxSctl:
            return sctl_;
        case kPxSerr:
            return serr_;
        case kPxSact:
            return sact_;
        case kPxCi:
            return ci_;
        default:
            return 0;
    }
}

void AhciPort::write(std::uint32_t offset, std::uint32_t value) {
    const auto low = [value](std::uint64_t of, std::uint32_t fixed) {
        return (of & ~std::uint64_t{0xFFFFFFFF}) | (value & ~(fixed - 1));
    };
    const auto high = [value](std::uint64_t of) { return (of & 0xFFFFFFFF) | std::uint64_t{value} << 32; };
    switch (offset) {
        case kPxClb:
            clb_ = low(clb_, kListAlignment);
            return;
        case kPxClbu:
            clb_ = high(clb_);
            return;
        case kPxFb:
            fb_ = low(fb_, ReceivedFis::kBytes);
            return;
        case kPxFbu:
            fb_ = high(fb_);
            return;
        case kPxIs:
            is_ &= ~value;
            return events_.interrupts_changed();
        case kPxIe:
            ie_ = value & PxIs::kAll;
            return events_.interrupts_changed();
        case kPxCmd:
            return write_cmd(value);
        case kPxSctl:
            return write_sctl(value);
        case kPxSerr:
            serr_ &= ~value;
            return events_.interrupts_changed();
        case kPxSact:  // 3.3.13: only while ST is set, and only to set bits
            if (started()) sact_ |= value;
            return events_.outstanding_changed();
        case kPxCi:  // 3.3.14: the rules of PxSACT
            if (!started()) return;
            ci_ |= value;
            events_.outstanding_changed();
            return advance();
        default:
            return;
    }
}

void AhciPort::set(std::uint32_t is_bits) {
    is_ |= is_bits;
    events_.interrupts_changed();
}

/// 6.2.2: the port stops until software clears ST.
void AhciPort::fail(std::uint32_t is_bits, std::uint32_t serr_bits) {
    ++counters_.errors;
    halted_ = true;
    serr_ |= serr_bits;
    mover_.abandon();
    set(is_bits);
}

// ---------------------------------------------------------------------------------------------------------------
// Start and stop.

void AhciPort::write_cmd(std::uint32_t value) {
    const bool was_started = started();
    cmd_ = value & (PxCmd::kSt | PxCmd::kFre);
    if ((value & PxCmd::kClo) != 0 && !was_started) tfd_ &= ~(Tfd::kBsy | Tfd::kDrq);  // 3.3.7
    if (was_started && !started()) stop();
    if (!was_started && started()) {
        last_slot_ = kSlots - 1;  // 5.3.2.3, P:StartComm: pSlotLoc begins before slot 0
        advance();
    }
}

/// 3.3.13 and 3.3.14: PxCI and PxSACT are cleared.
void AhciPort::stop() {
    ci_ = sact_ = issued_ = 0;
    current_ = kNone;
    halted_ = false;
    issue_ = Issue::none;
    agenda_.cancel(preparation_);
    transfer_begun_ = transfer_queued_ = pio_ = pio_data_ = pio_out_ = false;
    mover_.abandon();
    draining_ = !quiet();
    events_.outstanding_changed();
    advance();
}

void AhciPort::reset() {
    cmd_ &= ~PxCmd::kSt;
    stop();
    clb_ = fb_ = 0;
    is_ = ie_ = cmd_ = sctl_ = serr_ = 0;
    comreset();
    becomes_ready();
    events_.interrupts_changed();
}

// ---------------------------------------------------------------------------------------------------------------
// The phy.

void AhciPort::write_sctl(std::uint32_t value) {
    const std::uint32_t before = sctl_ & Phy::kDetMask;
    sctl_ = value & 0xFFF;  // DET, SPD, IPM (3.3.11)
    const std::uint32_t now = sctl_ & Phy::kDetMask;
    if (now == before) return;
    if (now == Phy::kDetReset) return comreset();
    if (now == Phy::kDetOffline) return drop_device();
    if (before == Phy::kDetReset) becomes_ready();
}

void AhciPort::comreset() {
    ++counters_.comresets;
    generation_ = 0;
    drop_device();
    serial_.comreset();
}

/// Call it when there is communication and the driver allows it.
void AhciPort::becomes_ready() {
    if (generation_ == 0 || (sctl_ & Phy::kDetMask) != Phy::kDetNone || ready_) return;
    ready_ = true;
    tfd_ = Tfd::kReset | Tfd::kBsy;
    takes_signature_ = true;
    serr_ |= Serr::kDiagX | Serr::kDiagN;
    events_.interrupts_changed();
    advance();
}

/// Drops everything on the wire. The commands in the list stay there until ST is 0.
void AhciPort::drop_device() {
    if (ready_) serr_ |= Serr::kDiagN;
    ready_ = false;
    tfd_ = Tfd::kReset;
    halted_ = halted_ || started();
    sending_ = Sending::none;
    held_.clear();
    issue_ = Issue::none;
    agenda_.cancel(preparation_);
    mover_.abandon();
    events_.interrupts_changed();
    advance();
}

void AhciPort::phy_up(std::uint32_t generation) {
    generation_ = generation;
    becomes_ready();
}

void AhciPort::phy_down() {
    generation_ = 0;
    drop_device();
}

// ---------------------------------------------------------------------------------------------------------------

std::string AhciPort::dump() const {
    char text[240];
    std::snprintf(
        text, sizeof text,
        "HBA port: CMD %08x, IS %08x, TFD %04x, SSTS %03x, SERR %08x, SACT %08x, CI %08x, issued %08x%s%s%s\n",
        read(kPxCmd), status(), tfd_, read(kPxSsts), serr_, sact_, ci_, issued_, halted_ ? ", halted" : "",
        sending_ != Sending::none ? ", a frame on the link" : "", holds_frame() ? ", a frame is held" : "");
    return text;
}

void AhciPort::check_waiters() const {
    if (draining_ && quiet()) throw CheckFailed("HBA port: it waits for the end of what has ended");
    if (holds_frame() && ready_ && can_take(held_.data()))
        throw CheckFailed("HBA port: a frame is held, and there is room for it");
    if (runs() && issue_ == Issue::none && (ci_ & ~issued_) != 0 && reads_ == 0)
        throw CheckFailed("HBA port: commands wait, and none is fetched");
    if (runs() && issue_ == Issue::ready && !busy() && !mover_.is_asked() && sending_ == Sending::none)
        throw CheckFailed("HBA port: a command is ready, the device too, and it is not sent");
}

}  // namespace ssdtlm
