// SPDX-License-Identifier: Apache-2.0
// Commands of a port, from PxCI to the link.
#include <algorithm>
#include <cstring>

#include "host_sata/ahci/ahci_port.h"

namespace ssdtlm {

using namespace ahci;

/// Continues all work that can continue. Called when something has changed.
void AhciPort::advance() {
    if (draining_ && quiet()) draining_ = false;
    while (holds_frame() && ready_ && can_take(held_.data())) {
        const std::vector<std::uint8_t> frame = std::move(held_);
        held_.clear();
        take(frame.data(), static_cast<std::uint32_t>(frame.size()));
        serial_.answer(true);
    }
    if (!runs()) return;
    fetch_next();
    if (sending_ != Sending::none) return;
    if (mover_.is_asked()) {  // the device waits for data, and for nothing else
        if (!mover_.frame_ready()) return;
        sending_ = Sending::data;
        counters_.bytes_to_device += mover_.frame_bytes() - sata::kDataHeaderBytes;
        return serial_.send(mover_.frame(), mover_.frame_bytes());
    }
    if (issue_ == Issue::ready && !busy()) send_command();
}

void AhciPort::fetch_next() {
    const std::uint32_t waiting = ci_ & ~issued_;
    if (issue_ != Issue::none || waiting == 0 || reads_ != 0) return;
    std::uint32_t slot = last_slot_;
    do slot = (slot + 1) % kSlots;
    while ((waiting & bit(slot)) == 0);
    last_slot_ = issuing_ = slot;
    issue_ = Issue::header;
    ++reads_;
    memory_.read(clb_ + std::uint64_t{slot} * kHeaderBytes, header_.data(), kHeaderBytes, *this, kHeader);
}

void AhciPort::memory_read(std::uint32_t cookie, bool ok) {
    --reads_;
    const bool wanted = runs() && issue_ == (cookie == kHeader ? Issue::header : Issue::table);
    if (!wanted) {  // the port was stopped meanwhile
        if (issue_ == Issue::header || issue_ == Issue::table) issue_ = Issue::none;
        return advance();
    }
    if (!ok) {
        issue_ = Issue::none;
        return fail(PxIs::kHbfs, Serr::kErrE);
    }
    if (cookie == kHeader) {
        Slot& slot = slots_[issuing_];
        std::memcpy(&slot.flags, header_.data(), sizeof slot.flags);
        std::memcpy(&slot.table, header_.data() + Header::kCtba, sizeof slot.table);
        slot.table &= ~std::uint64_t{kTableAlignment - 1};
        issue_ = Issue::table;
        ++reads_;
        return memory_.read(slot.table, table_.data(), kTableBytes, *this, kTable);
    }
    issue_ = Issue::preparing;
    preparation_ = agenda_.post_cancellable(agenda_.now() + config_.issue_time, Then::to<&AhciPort::prepared>(this));
}

void AhciPort::prepared() {
    const std::uint32_t dwords = slots_[issuing_].flags & Header::kCflMask;
    if (dwords < 2 || dwords > 16) {  // 4.2.2: CFL is 2 to 16
        issue_ = Issue::none;
        return fail(PxIs::kIfs, Serr::kErrP);
    }
    issue_ = Issue::ready;
    advance();
}

void AhciPort::send_command() {
    const std::uint32_t bytes = 4 * (slots_[issuing_].flags & Header::kCflMask);
    std::copy_n(table_.begin(), bytes, command_fis_.begin());
    issue_ = Issue::none;
    current_ = issuing_;
    issued_ |= bit(current_);
    // No data of the new command have been transferred yet if it is not queued.
    if ((sact_ & bit(current_)) == 0) transfer_begun_ = transfer_queued_ = pio_ = pio_data_ = pio_out_ = false;
    tfd_ |= Tfd::kBsy;  // 5.3.8.1, CFIS:Xmit
    sending_ = Sending::command;
    serial_.send(command_fis_.data(), bytes);
    fetch_next();
}

void AhciPort::frame_sent(Sent how) {
    const Sending what = std::exchange(sending_, Sending::none);
    if (what == Sending::none || how == Sent::cut) return advance();
    if (what == Sending::data) {
        if (mover_.is_asked()) mover_.frame_left();
        if (std::exchange(pio_out_, false)) set_status(pio_end_status_, 0);
        if (how == Sent::refused && !halted_) fail(PxIs::kIfs, Serr::kDiagH);  // 6.1.2: no retry of data
        return advance();
    }
    if (how == Sent::refused) {  // 6.1.2: it is sent again
        serr_ |= Serr::kDiagH;
        set(PxIs::kInfs);
        if (!runs()) return advance();
        sending_ = Sending::command;
        return serial_.send(command_fis_.data(), 4 * (slots_[current_].flags & Header::kCflMask));
    }
    ++counters_.commands;
    if (current_ != kNone && (slots_[current_].flags & Header::kClearBusy) != 0) {  // 4.2.2: for software resets
        tfd_ &= ~Tfd::kBsy;
        end_of_command(current_);
    }
    if (current_ != kNone && (slots_[current_].flags & Header::kReset) != 0) takes_signature_ = true;
    advance();
}

/// Ends the command of a slot that is not queued, or of a queued one that the device has taken.
void AhciPort::end_of_command(std::uint32_t slot) {
    if (slot == kNone || (ci_ & issued_ & bit(slot)) == 0) return;
    ci_ &= ~bit(slot);
    if ((sact_ & bit(slot)) != 0) return;
    issued_ &= ~bit(slot);
    if (transfer_begun_ && !transfer_queued_) {  // 4.2.2: PRDBC
        const auto moved = static_cast<std::uint32_t>(mover_.moved());
        memory_.post(clb_ + std::uint64_t{slot} * kHeaderBytes + Header::kPrdbc,
                     reinterpret_cast<const std::uint8_t*>(&moved), sizeof moved);
    }
    events_.commands_ended(1);
    events_.outstanding_changed();
}

}  // namespace ssdtlm
