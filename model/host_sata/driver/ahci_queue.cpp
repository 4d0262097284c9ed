// SPDX-License-Identifier: Apache-2.0
#include "host_sata/driver/ahci_queue.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "common/report/error.h"
#include "protocol/ata.h"

namespace ssdtlm {

namespace {
/// Number of entries of DATA SET MANAGEMENT in a block of data.
constexpr std::uint32_t kTrimEntries = ata::kPageBytes / ata::kTrimEntryBytes;
constexpr std::uint32_t kMostTrimBlocks = 0xFFFF;  // in an entry (ACS-3, 7.5.3)
constexpr std::uint16_t kTrim = 1;                 // features (7.5.3)
}  // namespace

AhciQueue::AhciQueue(HostMemory& memory, AhciMemory& commands, const HostConfig& host, const AhciDriverConfig& config,
                     MmioPort& mmio, CommandTracker* stages)
    : memory_(memory), commands_(commands), host_(host), config_(config), mmio_(mmio), stages_(stages) {}

void AhciQueue::take(const DriveInfo& info, const AtaDrive& drive) {
    SSDTLM_CHECK(depth_ == 0 || depth_ + 1 == info.queue_entries, "a drive that has another queue depth than before");
    const bool first = depth_ == 0;
    depth_ = info.queue_entries - 1;
    drive_ = drive;
    ncq_ = drive.ncq && config_.ncq;
    lba_shift_ = static_cast<unsigned>(__builtin_ctz(info.lba_bytes));
    if (first) forget(1);
}

void AhciQueue::forget(std::uint16_t) {
    free_.clear();
    for (std::uint32_t tag = depth_; tag-- != 0;) {
        slots_[tag].busy = false;
        free_.push_back(static_cast<std::uint16_t>(tag));
    }
    written_.clear();
    waiting_.clear();
    ended_.clear();
    active_ = 0;
}

// ---------------------------------------------------------------------------------------------------------------
// To the drive.

CommandQueues::Submitted AhciQueue::submit(std::uint16_t, const HostRequest& request) {
    const std::uint16_t tag = free_.back();
    free_.pop_back();
    Slot& slot = slots_[tag];
    slot.busy = true;
    slot.request = request;
    slot.order = next_order_++;
    slot.done = slot.doing = 0;
    slot.flushing = false;
    slot.tries = 0;
    if (request.op == HostOp::read || request.op == HostOp::write)
        slot.buffer.reserve(memory_, request.bytes, host_.page_bytes, host_.buffer_offset);
    else if (request.op == HostOp::trim)
        slot.buffer.reserve(memory_, drive_.most_trim_blocks * ata::kPageBytes, host_.page_bytes, host_.buffer_offset);
    written_.push_back(tag);
    return {tag, slot.buffer.data};
}

void AhciQueue::announce(std::uint16_t) {
    waiting_.insert(waiting_.end(), written_.begin(), written_.end());
    written_.clear();
    issue();
}

void AhciQueue::issue() {
    while (!held_ && !waiting_.empty()) {
        const std::uint16_t tag = waiting_.front();
        const bool queued = is_queued(slots_[tag]);
        if (active_ != 0 && !(queued && queued_)) return;  // ata_std_qc_defer()
        waiting_.pop_front();
        queued_ = queued;
        start(tag);
    }
}

void AhciQueue::start(std::uint16_t tag) {
    Slot& slot = slots_[tag];
    sata::RegisterH2d command;
    command.device = ata::kDeviceLba;
    if (slot.request.op == HostOp::flush || slot.flushing) {
        command.command = ata::kFlushCacheExt;
        commands_.fill(tag, command, 0, 0, false);
    } else if (slot.request.op == HostOp::trim) {
        start_trim(tag, command);
    } else {
        start_transfer(tag, command);
    }
    active_ |= bit(tag);
    if (is_queued(slot)) mmio_.write32(ahci::port_register(ahci::kPxSact), bit(tag));
    mmio_.write32(ahci::port_register(ahci::kPxCi), bit(tag));
}

void AhciQueue::start_transfer(std::uint16_t tag, sata::RegisterH2d& command) {
    const Slot& slot = slots_[tag];
    const HostRequest& r = slot.request;
    const bool write = r.op == HostOp::write;
    const auto blocks = static_cast<std::uint16_t>(r.bytes >> lba_shift_);  // 65,536 is 0 (ACS-3, 7.23)
    command.lba = r.offset >> lba_shift_;
    if (is_queued(slot)) {
        command.command = write ? ata::kWriteFpdmaQueued : ata::kReadFpdmaQueued;
        command.features = blocks;
        command.count = static_cast<std::uint16_t>(tag << 3);
        if (r.fua) command.device |= ata::kDeviceFua;
    } else {
        const std::uint8_t to_device = r.fua && drive_.forces_writes ? ata::kWriteDmaFuaExt : ata::kWriteDmaExt;
        command.command = write ? to_device : ata::kReadDmaExt;
        command.count = blocks;
    }
    commands_.fill(tag, command, slot.buffer.address, r.bytes, write);
}

void AhciQueue::start_trim(std::uint16_t tag, sata::RegisterH2d& command) {
    Slot& slot = slots_[tag];
    const std::uint64_t first = (slot.request.offset >> lba_shift_) + slot.done;
    const std::uint64_t left = (slot.request.bytes >> lba_shift_) - slot.done;
    const std::uint32_t most = drive_.most_trim_blocks * kTrimEntries;
    const auto entries =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(most, div_ceil(left, std::uint64_t{kMostTrimBlocks})));
    const std::uint32_t data_blocks = (entries + kTrimEntries - 1) / kTrimEntries;
    std::fill_n(slot.buffer.data, std::size_t{data_blocks} * ata::kPageBytes, std::uint8_t{0});
    slot.doing = 0;
    for (std::uint32_t i = 0; i < entries; ++i) {
        const std::uint64_t blocks = std::min<std::uint64_t>(left - slot.doing, kMostTrimBlocks);
        memory_.store<std::uint64_t>(slot.buffer.address + 8 * i, (first + slot.doing) | blocks << 48);
        slot.doing += blocks;
    }
    command.command = ata::kDataSetManagement;
    command.features = kTrim;
    command.count = static_cast<std::uint16_t>(data_blocks);
    commands_.fill(tag, command, slot.buffer.address, data_blocks * ata::kPageBytes, true);
}

// ---------------------------------------------------------------------------------------------------------------
// And back.

/// One command of the request has ended. Returns true if another must follow.
bool AhciQueue::goes_on(Slot& slot) {
    if (slot.request.op == HostOp::trim) {
        slot.done += std::exchange(slot.doing, 0);
        return slot.done < slot.request.bytes >> lba_shift_;
    }
    if (slot.request.op != HostOp::write || !slot.request.fua || is_queued(slot) || drive_.forces_writes) return false;
    return !std::exchange(slot.flushing, true);
}

std::optional<std::uint16_t> AhciQueue::tag_in_host(std::uint16_t, std::uint16_t tag) const {
    if (tag != kNotQueued) return tag;
    if (active_ == 0 || queued_) return std::nullopt;  // a command of the driver itself
    return static_cast<std::uint16_t>(__builtin_ctz(active_));
}

bool AhciQueue::still_active(std::uint32_t slots) {
    const std::uint32_t ended = active_ & ~slots;
    active_ &= slots;
    for (std::uint32_t rest = ended; rest != 0; rest &= rest - 1) {
        const auto tag = static_cast<std::uint16_t>(__builtin_ctz(rest));
        if (goes_on(slots_[tag])) {
            waiting_.push_front(tag);
            continue;
        }
        if (!is_queued(slots_[tag]) && stages_ != nullptr) stages_->at(1, tag) = stages_->at(1, kNotQueued);
        ended_.push_back({tag, DriveStatus::ok, 0});
    }
    issue();
    return !ended_.empty();
}

DriveStatus AhciQueue::status_of(const Slot& slot, std::uint8_t status, std::uint8_t error) const {
    // The drive reads the rest of a unit before it writes a part of it.
    if ((error & ata::kErrorUnc) != 0) return DriveStatus::unrecovered_read;
    if (slot.request.op == HostOp::read) return DriveStatus::other;
    if ((status & ata::kStatusDf) != 0) return DriveStatus::write_fault;
    // ATA has no status for a drive that has become read-only: it aborts commands that would write. No other command of
    // this driver is aborted.
    const bool writes = slot.request.op == HostOp::write || slot.request.op == HostOp::trim;
    return writes && error == ata::kErrorAbrt ? DriveStatus::read_only : DriveStatus::other;
}

void AhciQueue::fail(std::uint32_t tag, std::uint8_t status, std::uint8_t error) {
    SSDTLM_CHECK(tag < ahci::kSlots && (active_ & bit(tag)) != 0,
                 "the drive reports the failure of a tag that is not in it");
    // libata-eh.c, ata_eh_worth_retry(): an error of the interface is tried again, and one of the medium is not.
    if ((error & ata::kErrorIcrc) != 0 && ++slots_[tag].tries < kMostTries) return;
    end_badly(static_cast<std::uint16_t>(tag), status, error);
}

void AhciQueue::end_badly(std::uint16_t tag, std::uint8_t status, std::uint8_t error) {
    active_ &= ~bit(tag);
    if (!is_queued(slots_[tag]) && stages_ != nullptr) stages_->at(1, tag) = stages_->at(1, kNotQueued);
    ended_.push_back({tag, status_of(slots_[tag], status, error), std::uint32_t{error} << 8 | status});
}

/// Takes the commands back in the order of their submission.
void AhciQueue::take_back_all(bool tried) {
    std::vector<std::uint16_t> tags;
    for (std::uint32_t rest = active_; rest != 0; rest &= rest - 1) {
        const auto tag = static_cast<std::uint16_t>(__builtin_ctz(rest));
        if (tried && ++slots_[tag].tries == kMostTries)
            end_badly(tag, ata::kStatusError, ata::kErrorIcrc);
        else
            tags.push_back(tag);
    }
    std::sort(tags.begin(), tags.end(),
              [this](std::uint16_t a, std::uint16_t b) { return slots_[a].order < slots_[b].order; });
    waiting_.insert(waiting_.begin(), tags.begin(), tags.end());
    submitted_again_ += tags.size();
    active_ = 0;
}

CommandQueues::Ended AhciQueue::take_ended(std::uint16_t) {
    const Ended e = ended_.front();
    ended_.pop_front();
    slots_[e.tag].busy = false;
    free_.push_back(e.tag);
    return e;
}

std::string AhciQueue::status_text(std::uint32_t code) const {
    char text[64];
    std::snprintf(text, sizeof text, "ATA status %02xh, error %02xh", code & 0xFF, code >> 8 & 0xFF);
    return text;
}

std::string AhciQueue::dump(std::uint16_t) const {
    char text[96];
    std::snprintf(text, sizeof text, ", slots in the drive %08x%s, %zu behind them", active_,
                  queued_ ? "" : " (not queued)", waiting_.size());
    return text;
}

}  // namespace ssdtlm
