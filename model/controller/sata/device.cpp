// SPDX-License-Identifier: Apache-2.0
#include "controller/sata/device.h"

#include <fmt/format.h>

#include <algorithm>

namespace ssdtlm {

using namespace ata;

namespace {

const SataConfig& checked(const SataConfig& c, const DriveFacts& drive) {
    SSDTLM_CHECK(c.lba_bytes == 512 || c.lba_bytes == 4096, "LBA size is neither 512 nor 4096");
    SSDTLM_CHECK(c.queue_depth >= 1 && c.queue_depth <= 32, "queue depth outside 1..32");
    SSDTLM_CHECK(c.generation >= 1 && c.generation <= 3, "a generation of Serial ATA outside 1..3");
    SSDTLM_CHECK(drive.drive_bytes != 0 && drive.drive_bytes % c.lba_bytes == 0,
                 "the drive is not a whole number of logical blocks");
    return c;
}

// SET FEATURES, transfer mode (ACS-3, 7.45.4): PIO default and flow control, multiword DMA 0 to 2, Ultra DMA 0 to 6.
bool is_transfer_mode(std::uint16_t mode) {
    const unsigned kind = mode >> 3 & 31u, number = mode & 7u;
    return mode < 256 && (kind == 0   ? number <= 1
                          : kind == 1 ? number <= 4
                          : kind == 4 ? number <= 2
                                      : kind == 8 && number <= 6);
}

}  // namespace

SataDevice::SataDevice(Agenda& agenda, SataFramePort& port, CommandTracker& tracker, const SataConfig& config,
                       const DriveFacts& drive)
    : agenda_(agenda),
      tracker_(tracker),
      config_(checked(config, drive)),
      drive_(drive),
      decoder_(config, drive.drive_bytes),
      transport_(port, *this, config.auto_activate),
      write_cache_(drive.volatile_write_cache) {
    smart_counts_.power_cycles = 1;
}

// ---------------------------------------------------------------------------------------------------------------
// From the link.

bool SataDevice::received(const std::uint8_t* fis, std::uint32_t bytes, bool crc_error) {
    if (sata::fis_problem(fis, bytes) != nullptr) return false;
    switch (static_cast<sata::FisType>(fis[0])) {
        case sata::FisType::data:
            if (crc_error) ++smart_counts_.crc_errors;
            return transport_.data(fis, bytes, crc_error);
        case sata::FisType::register_h2d: {
            if (crc_error) return false;  // the host repeats it
            const sata::RegisterH2d r = sata::RegisterH2d::from(fis);
            r.command_update ? accept(r) : control(r);
            return true;
        }
        default:
            return false;  // only drives send those
    }
}

void SataDevice::control(const sata::RegisterH2d& fis) {
    const bool reset_bit = (fis.control & kControlSrst) != 0;
    if (reset_bit && !srst_) {
        srst_ = true;
        drop_untold();
        transport_.forget();
        reset();
    } else if (!reset_bit && srst_) {
        srst_ = false;
        try_signature();
    }
}

void SataDevice::comreset() {
    srst_ = false;
    drop_untold();
    transport_.phy(false);
    reset();
}

void SataDevice::phy_up(std::uint8_t generation) {
    generation_ = generation;
    signature_due_ = true;
    signature_waits_ = false;
    transport_.phy(true);
    try_signature();
}

void SataDevice::accept(const sata::RegisterH2d& fis) {
    if (busy_ || signature_due_ || srst_) {
        ++counts_.busy;
        return;
    }
    ++counts_.commands;
    busy_ = true;
    SataCommand& c = commands_.acquire();
    c.index = Pool<SataCommand>::index_of(c);
    c.op = IoOp::read;
    c.fua = c.ends_work = false;
    c.status = CommandStatus::success;
    c.queue = kQueue;
    c.slba = c.bytes = c.result = 0;
    c.blocks = 0;
    c.ranges.clear();
    c.registers = fis;
    c.protocol = SataProtocolKind::no_data;
    c.in_firmware = c.gone = c.let_go = c.failed = c.has_phase = false;
    c.wanted = c.received = 0;
    c.pieces.clear();
    // The command uses its own timeline until it is known that the tag is free.
    c.tag = kOtherTag;
    c.timeline = &c.own;
    c.own.begin(agenda_.now());
    c.whose = WorkTag{0, 0, 0, kNever, agenda_.now()};
    other_ = &c;
    agenda_.post(agenda_.now() + config_.decode_time,
                 Then::to<&SataDevice::decoded>(this, Pool<SataCommand>::handle_of(c).number()));
}

/// The handle is stale after a reset.
void SataDevice::decoded(std::uint64_t command) {
    SataCommand* const found = commands_.find(Handle<SataCommand>::of(command));
    if (found == nullptr || found != other_) return;
    SataCommand& c = *found;
    c.timeline->charge(Stage::fetch, agenda_.now());
    const bool queued = is_queued_command(c.registers.command);
    const DecodedCommand what = decoder_.decode(c);
    if (halted_) {
        const bool reads_error = c.registers.command == kReadLogExt && (c.registers.lba & 0xFF) == kLogNcqError &&
                                 what.action == AtaAction::read_log;
        if (!reads_error) return refuse(c, kAtaAborted);
        c.timeline = &(tracker_.at(kQueue, kOtherTag) = c.own);
        if (draining_)
            log_waits_ = &c;
        else
            execute(c, what);
        return;
    }
    if (queued) {
        c.tag = tag_of(c.registers.count);
        if ((active_ >> c.tag & 1) != 0) return fail_queue(c, kAtaAborted, true);  // the tag is in use already
    } else if (active_ != 0) {
        return fail_queue(c, kAtaAborted, true);
    }
    c.timeline = &(tracker_.at(kQueue, c.tag) = c.own);
    execute(c, what);
}

// ---------------------------------------------------------------------------------------------------------------
// Commands.

void SataDevice::execute(SataCommand& c, const DecodedCommand& what) {
    switch (what.action) {
        case AtaAction::refuse:
            return c.is_queued() ? fail_queue(c, what.end, true) : refuse(c, what.end);
        case AtaAction::to_firmware:
            return to_firmware(c);
        case AtaAction::fetch_ranges:
            c.buffer.resize(std::max<std::size_t>(c.buffer.size(), c.wanted));
            c.has_phase = true;
            return transport_.start_phase(c);
        case AtaAction::identify:
            return page_for_host(c, identify());
        case AtaAction::smart_data:
            return smart_ ? page_for_host(c, smart()) : refuse(c, kAtaAborted);
        case AtaAction::read_log:
            return read_log(c);
        case AtaAction::smart_status: {
            if (!smart_) return refuse(c, kAtaAborted);
            const bool fails = health_ && smart_exceeds_threshold(health_());
            c.registers.lba = std::uint64_t{fails ? kSmartFailing : kSmartKey} << 8;
            return end_other(c, {});
        }
        case AtaAction::power_mode:  // ACS-3, 7.3: FFh active or idle, 00h standby
            c.registers.count = shut_down_ ? 0x00 : 0xFF;
            return end_other(c, {});
        case AtaAction::set_features:
            return set_features(c);
        case AtaAction::smart_enable:
            return smart_enable(c);
    }
}

void SataDevice::to_firmware(SataCommand& c) {
    shut_down_ = false;
    if (c.op == IoOp::read || c.op == IoOp::write) c.buffer.resize(std::max<std::size_t>(c.buffer.size(), c.bytes));
    if (c.op == IoOp::write && !write_cache_ && drive_.volatile_write_cache) c.fua = true;
    c.timeline->set_number(++handed_over_);
    quiet_ &= ~(std::uint64_t{1} << c.tag);
    if (c.ends_work && flushed_last_) --counts_.drive_commands;
    flushed_last_ = false;
    c.in_firmware = true;
    ++in_firmware_;
    if (c.is_queued()) {
        other_ = nullptr;
        queued_[c.tag] = &c;
        active_ |= 1u << c.tag;
        sata::RegisterD2h release;
        release.interrupt = false;
        release.status = kStatusGood;
        release.device = c.registers.device;
        release.count = static_cast<std::uint16_t>(c.tag << 3);
        transport_.send_register(release, Purpose::release);
    }
    firmware_->submit(c);
}

AtaBlock SataDevice::identify() const {
    SataFacts f;
    f.lba_bytes = config_.lba_bytes;
    f.queue_depth = config_.queue_depth;
    f.generation = config_.generation;
    f.link_generation = generation_;
    f.auto_activate = config_.auto_activate;
    f.write_cache_enabled = write_cache_;
    f.smart_enabled = smart_;
    return identify_device(drive_, f);
}

AtaBlock SataDevice::smart() const {
    SmartCounts counts = smart_counts_;
    counts.power_on_seconds = static_cast<std::uint64_t>(agenda_.now().time_since_epoch() / 1s);
    return smart_data(counts, health_ ? health_() : DeviceHealth{});
}

bool SataDevice::log_page(std::uint8_t log, std::uint32_t page, AtaBlock& out) const {
    if (log == kLogIdentify) return page < 256 && identify_log(static_cast<std::uint8_t>(page), identify(), out);
    if (page != 0) return false;
    if (log == kLogDirectory) {
        out = log_directory();
    } else if (log == kLogNcqError) {
        NcqFailure none;
        none.queued = false;
        out = ncq_error_log(failure_.value_or(none));
    } else {
        return false;
    }
    return true;
}

void SataDevice::page_for_host(SataCommand& c, const AtaBlock& page) {
    c.buffer.assign(page.begin(), page.end());
    c.wanted = page.size();
    c.has_phase = true;
    transport_.start_phase(c);
}

void SataDevice::read_log(SataCommand& c) {
    const sata::RegisterH2d& r = c.registers;
    const auto log = static_cast<std::uint8_t>(r.lba);
    const auto first = static_cast<std::uint32_t>((r.lba >> 8 & 0xFF) | (r.lba >> 32 & 0xFF) << 8);
    c.buffer.clear();
    for (std::uint32_t page = first; page < first + r.count; ++page) {
        AtaBlock block;
        if (!log_page(log, page, block)) return refuse(c, kAtaAborted);
        c.buffer.insert(c.buffer.end(), block.begin(), block.end());
    }
    if (c.buffer.empty()) return refuse(c, kAtaAborted);  // count 0
    if (halted_) {
        halted_ = false;
        transport_.send_clean_bits();
    }
    c.wanted = c.buffer.size();
    c.has_phase = true;
    transport_.start_phase(c);
}

void SataDevice::set_features(SataCommand& c) {
    switch (static_cast<std::uint8_t>(c.registers.features)) {
        case kFeatureWriteCacheOn:
        case kFeatureWriteCacheOff:
            if (!drive_.volatile_write_cache) return refuse(c, kAtaAborted);
            write_cache_ = c.registers.features == kFeatureWriteCacheOn;
            return end_other(c, {});
        case kFeatureTransferMode:
            return is_transfer_mode(c.registers.count) ? end_other(c, {}) : refuse(c, kAtaAborted);
        default:
            return refuse(c, kAtaAborted);
    }
}

void SataDevice::smart_enable(SataCommand& c) {
    smart_ = static_cast<std::uint8_t>(c.registers.features) == kSmartEnable;
    end_other(c, {});
}

// ---------------------------------------------------------------------------------------------------------------
// Data.

void SataDevice::to_host(Command& command, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                         const DmaThen& then, ByteEnables content, const DmaTerms& terms) {
    auto& c = static_cast<SataCommand&>(command);
    if (!c.gone) copy_content(c.buffer.data() + offset, data, bytes, content);
    then({std::max(agenda_.now(), terms.from)});
}

void SataDevice::from_host(Command& command, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data,
                           const DmaThen& then, ByteEnables content) {
    if (host_gone_) return;  // the data will never come
    auto& c = static_cast<SataCommand&>(command);
    c.pieces.push_back({offset, bytes, data, then, content});
    if (c.gone || c.failed) return fail_later(c);
    if (!c.has_phase) {
        c.has_phase = true;
        transport_.start_phase(c);
    }
    serve_pieces(c);
}

void SataDevice::serve_pieces(SataCommand& c) {
    for (std::size_t i = 0; i < c.pieces.size();) {
        const SataCommand::Piece p = c.pieces[i];
        if (p.offset + p.bytes > c.received) {
            ++i;
            continue;
        }
        c.pieces.erase(c.pieces.begin() + static_cast<std::ptrdiff_t>(i));
        copy_content(p.data, c.buffer.data() + p.offset, p.bytes, p.content);
        p.then({agenda_.now()});
        i = 0;  // the firmware may have asked for more
    }
}

/// Fails the command in a later entry of the agenda, because the firmware may be giving room to waiting commands now.
void SataDevice::fail_later(SataCommand& c) {
    if (c.pieces.empty()) return;
    if (failed_pieces_.empty()) agenda_.post(agenda_.now(), Then::to<&SataDevice::fail_pieces>(this));
    failed_pieces_.insert(failed_pieces_.end(), c.pieces.begin(), c.pieces.end());
    c.pieces.clear();
}

void SataDevice::fail_pieces() {
    std::vector<SataCommand::Piece> failed;
    failed.swap(failed_pieces_);
    for (const SataCommand::Piece& p : failed) p.then({agenda_.now(), true});
}

}  // namespace ssdtlm
