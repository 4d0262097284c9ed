// SPDX-License-Identifier: Apache-2.0
// The ends of commands: with success, with an error, by a reset, or by a loss of power.
#include <fmt/format.h>

#include <algorithm>

#include "controller/sata/device.h"

namespace ssdtlm {

using namespace ata;

// ---------------------------------------------------------------------------------------------------------------
// From the firmware, and behind the data.

void SataDevice::complete(Command& command) {
    auto& c = static_cast<SataCommand&>(command);
    if (!c.let_go) --in_firmware_;
    c.in_firmware = false;
    if (c.gone) {
        commands_.release(c);
        return settle();
    }
    // Its last data may be on their way, as its timeline says.
    agenda_.post(std::max(agenda_.now(), c.timeline->last()),
                 Then::to<&SataDevice::firmware_ended>(this, Pool<SataCommand>::handle_of(c).number()));
}

void SataDevice::let_go(Command& command) {
    auto& c = static_cast<SataCommand&>(command);
    if (!c.gone || c.let_go) return;
    c.let_go = true;
    --in_firmware_;
    // Only the flash still works for the command. Its tag may be used again before that work has ended.
    c.own = *c.timeline;
    c.timeline = &c.own;
    settle();
}

/// The handle is stale after a reset.
void SataDevice::firmware_ended(std::uint64_t command) {
    SataCommand* const found = commands_.find(Handle<SataCommand>::of(command));
    if (found == nullptr) return;
    SataCommand& c = *found;
    const AtaEnd end = c.failed ? kAtaInterface : ata_end(c.status);
    if (end.is_error()) {
        if (end.error == kErrorUnc || (end.status & kStatusDf) != 0) ++smart_counts_.media_errors;
        return c.is_queued() ? fail_queue(c, end, false) : end_other(c, end);
    }
    const bool data_for_host = c.protocol == SataProtocolKind::queued_in || c.protocol == SataProtocolKind::dma_in;
    if (!data_for_host) return end_well(c);
    c.has_phase = true;
    transport_.start_phase(c);
}

void SataDevice::phase_done(SataCommand& c) {
    data_are_there(c);
    fail_those_that_wait();
}

void SataDevice::data_are_there(SataCommand& c) {
    switch (c.protocol) {
        case SataProtocolKind::queued_in:
        case SataProtocolKind::dma_in:
            c.timeline->charge(Stage::host_transfer, agenda_.now());
            return end_well(c);
        case SataProtocolKind::pio_in:  // the PIO Setup has reported the end
            c.timeline->charge(Stage::host_transfer, agenda_.now());
            busy_ = false;
            other_ = nullptr;
            ++counts_.ended;
            return commands_.release(c);
        case SataProtocolKind::dma_out: {
            if (c.in_firmware || c.op != IoOp::deallocate || !c.ranges.empty()) return;
            c.timeline->charge(Stage::host_transfer, agenda_.now());
            const AtaEnd end = decoder_.parse_ranges(c);
            if (end.is_error()) return refuse(c, end);
            return c.ranges.empty() ? end_other(c, {}) : to_firmware(c);
        }
        case SataProtocolKind::queued_out:
        case SataProtocolKind::no_data:
            return;  // the firmware continues
    }
}

void SataDevice::phase_failed(SataCommand& c) {
    data_are_broken(c);
    fail_those_that_wait();
}

void SataDevice::data_are_broken(SataCommand& c) {
    if (!c.writes()) ++smart_counts_.crc_errors;
    if (c.in_firmware) {  // the firmware waits for data that will not come
        c.failed = true;
        return fail_later(c);
    }
    if (c.is_queued()) return fail_queue(c, kAtaInterface, false);
    end_other(c, kAtaInterface);
}

void SataDevice::end_well(SataCommand& c) {
    if (c.op == IoOp::write) smart_counts_.bytes_written += c.bytes;
    if (!c.is_queued()) {
        if (c.ends_work) shut_down_ = true;
        return end_other(c, {});
    }
    queued_[c.tag] = nullptr;
    const auto tag = static_cast<std::uint8_t>(c.tag);
    untold_ |= 1u << tag;
    commands_.release(c);
    transport_.end_tag(tag);
}

/// Ends a command that is not queued. Its registers contain the result.
void SataDevice::end_other(SataCommand& c, AtaEnd end) {
    transport_.give_up(c);
    sata::RegisterD2h fis;
    fis.status = end.status;
    fis.error = end.error;
    fis.lba = c.registers.lba;
    fis.device = c.registers.device;
    fis.count = c.registers.count;
    const bool drives = c.bytes != 0 || c.op == IoOp::deallocate || c.op == IoOp::flush;
    const bool carried_out = drives && !c.ends_work && c.timeline->number() != 0 && end.error != kAtaInterface.error;
    if (carried_out) {
        ++counts_.drive_commands;
        quiet_ |= std::uint64_t{1} << kOtherTag;
        flushed_last_ = c.op == IoOp::flush;
    }
    ++counts_.ended;
    other_ = nullptr;
    commands_.release(c);
    transport_.send_register(fis, Purpose::end);
}

/// Ends a command that is not carried out.
void SataDevice::refuse(SataCommand& c, AtaEnd end) {
    ++counts_.refused;
    end_other(c, end);
}

/// With `received` the command is being decoded, and BSY is set.
void SataDevice::fail_queue(SataCommand& c, AtaEnd end, bool received) {
    if (transport_.in_phase()) return failing_.push_back({Pool<SataCommand>::handle_of(c).number(), end, received});
    const bool queued = is_queued_command(c.registers.command);
    const sata::RegisterH2d& r = c.registers;
    failure_ = NcqFailure{queued, tag_of(r.count), end.status, end.error, r.lba, r.device, r.count};
    ++counts_.aborted_queues;
    halted_ = true;
    if (received) {
        other_ = nullptr;
    } else {
        queued_[c.tag] = nullptr;
        ++counts_.ended;
        if (end.error != kAtaInterface.error) {  // for an interface error the host tries the command again
            ++counts_.drive_commands;
            quiet_ |= std::uint64_t{1} << c.tag;
        }
        transport_.give_up(c);
        commands_.release(c);
    }
    if (received) transport_.send_ended_bits();
    SataCommand* const decoding = other_;
    other_ = nullptr;
    abort_all();
    other_ = decoding;  // it gets an answer of its own
    if (!received) return transport_.send_error_bits(end);
    c.tag = kOtherTag;
    other_ = &c;
    refuse(c, end);
}

/// Called when the data phase is over. The first error aborts the other commands. A command that is being decoded is
/// still answered.
void SataDevice::fail_those_that_wait() {
    std::vector<Failing> failing;
    failing.swap(failing_);
    for (const Failing& f : failing) {
        SataCommand* const c = commands_.find(Handle<SataCommand>::of(f.command));
        if (c == nullptr || c->gone) continue;
        if (!halted_)
            fail_queue(*c, f.end, f.received);
        else if (f.received && c == other_)
            refuse(*c, kAtaAborted);
    }
}

void SataDevice::bits_leave(std::uint32_t tags) {
    const auto count = static_cast<std::uint64_t>(__builtin_popcount(tags));
    counts_.ended += count;
    counts_.drive_commands += count;
    quiet_ |= tags;
    untold_ &= ~tags;
}

void SataDevice::bits_sent(std::uint32_t tags) {
    active_ &= ~tags;
}

void SataDevice::register_sent(Purpose purpose) {
    if (purpose == Purpose::signature) signature_due_ = signature_waits_ = false;
    busy_ = false;
}

// ---------------------------------------------------------------------------------------------------------------
// Resets.

/// Drops a command without telling the host.
void SataDevice::drop(SataCommand& c) {
    ++counts_.dropped;
    if (!c.in_firmware) return commands_.release(c);
    // Its timeline stays at its address, because the flash transactions under way refer to it. The next command with
    // its tag comes after all of them have ended or were let go.
    c.gone = true;
    if (host_gone_)
        c.pieces.clear();  // their data will never come
    else
        fail_later(c);
}

/// Drops the tags that have ended, because a reset prevents the report of their end.
void SataDevice::drop_untold() {
    counts_.dropped += static_cast<std::uint64_t>(__builtin_popcount(untold_));
    untold_ = 0;
}

void SataDevice::abort_all() {
    transport_.give_up_phases();
    log_waits_ = nullptr;
    for (SataCommand*& c : queued_) {
        if (c != nullptr) drop(*c);
        c = nullptr;
    }
    if (other_ != nullptr) drop(*other_);
    other_ = nullptr;
    active_ = 0;
    if (in_firmware_ == 0 || draining_) return;
    draining_ = true;
    firmware_->abort_waits(true);
    settle();
}

void SataDevice::reset() {
    ++resets_;
    failing_.clear();
    counts_.unheard_at_most += static_cast<std::uint64_t>(__builtin_popcountll(quiet_));
    quiet_ = 0;
    abort_all();
    halted_ = false;
    failure_.reset();
    busy_ = true;
    signature_due_ = true;
    signature_waits_ = false;
    try_signature();
}

/// Call it when aborted commands may have ended.
void SataDevice::settle() {
    if (!draining_ || in_firmware_ != 0) return;
    draining_ = false;
    firmware_->abort_waits(false);
    if (log_waits_ != nullptr) {
        SataCommand& c = *log_waits_;
        log_waits_ = nullptr;
        c.timeline->charge(Stage::arbitration, agenda_.now());
        return read_log(c);
    }
    try_signature();
}

void SataDevice::try_signature() {
    if (!signature_due_ || !transport_.is_up() || !serves_ || draining_ || srst_ || host_gone_) return;
    if (signature_waits_) return;
    signature_waits_ = true;
    sata::RegisterD2h fis;
    fis.interrupt = false;
    fis.status = kStatusGood;
    fis.error = kDiagnosticsPassed;
    fis.lba = kSignatureLba;
    fis.count = kSignatureCount;
    transport_.send_register(fis, Purpose::signature);
}

void SataDevice::drive_is_up() {
    serves_ = true;
    try_signature();
}

// ---------------------------------------------------------------------------------------------------------------
// Power.

/// The firmware continues its commands without the host.
void SataDevice::host_is_gone() {
    host_gone_ = true;
    failing_.clear();
    drop_untold();
    transport_.lose_power();
    for (SataCommand*& c : queued_) {
        if (c != nullptr) drop(*c);
        c = nullptr;
    }
    if (other_ != nullptr) drop(*other_);
    other_ = log_waits_ = nullptr;
    failed_pieces_.clear();
    active_ = 0;
    busy_ = halted_ = srst_ = false;
    signature_due_ = true;
    signature_waits_ = false;
    serves_ = false;
}

void SataDevice::lose_power(std::uint64_t host_commands) {
    host_is_gone();
    // Counts the commands whose end was sent but did not arrive.
    if (counts_.drive_commands > host_commands) {
        const std::uint64_t lost = counts_.drive_commands - host_commands;
        counts_.drive_commands -= lost;
        counts_.ended -= std::min(lost, counts_.ended);
        counts_.dropped += lost;
    }
    counts_.unheard_at_most = quiet_ = 0;
    flushed_last_ = false;
    commands_.release_all();
    in_firmware_ = 0;
    draining_ = host_gone_ = false;
    failure_.reset();
    write_cache_ = drive_.volatile_write_cache;
    smart_ = true;
    if (!shut_down_) ++smart_counts_.unsafe_shutdowns;
    ++smart_counts_.power_cycles;
    shut_down_ = false;
}

// ---------------------------------------------------------------------------------------------------------------

std::string SataDevice::dump() const {
    return fmt::format("sata: {} commands, {} in the firmware, tags {:08x}{}{}{}{}{}{}\n", counts_.commands,
                       in_firmware_, active_, busy_ ? ", BSY" : "", halted_ ? ", halted by an error" : "",
                       draining_ ? ", what was aborted ends" : "", signature_due_ ? ", no signature yet" : "",
                       serves_ ? "" : ", drive not up", srst_ ? ", SRST" : "") +
           transport_.dump();
}

/// Checks that all commands have ended, were dropped or are still here.
void SataDevice::check_books() const {
    auto here = static_cast<std::uint64_t>(__builtin_popcount(untold_));
    for (const SataCommand* c : queued_)
        if (c != nullptr) ++here;
    if (other_ != nullptr) ++here;
    if (counts_.commands != counts_.ended + counts_.dropped + here)
        throw CheckFailed(fmt::format("sata: {} commands, of which {} ended, {} were dropped, and {} are under way\n{}",
                                      counts_.commands, counts_.ended, counts_.dropped, here, dump()));
}

void SataDevice::check_waiters() const {
    transport_.check_waiters();
    if (draining_ && in_firmware_ == 0)
        throw CheckFailed("sata: a reset waits for commands to end, and there are none");
    if (signature_due_ && transport_.is_up() && !signature_waits_ && serves_ && !draining_ && !srst_ && !host_gone_)
        throw CheckFailed("sata: the signature is due, and nothing keeps it back\n" + dump());
    if (log_waits_ != nullptr && !draining_) throw CheckFailed("sata: READ LOG EXT waits for nothing");
}

}  // namespace ssdtlm
