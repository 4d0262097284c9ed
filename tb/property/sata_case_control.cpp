// SPDX-License-Identifier: Apache-2.0
// Of the Serial ATA port: what it does by itself. Bring-up, recovery, resets, shutdown.
#include <algorithm>
#include <numeric>

#include "common/report/error.h"
#include "common/tlm/pooled_payload.h"
#include "property/sata_case_port.h"

namespace ssdtlm {

using namespace ata;

// ---------------------------------------------------------------------------------------------------------------
// Commands of its own.

void SataCasePort::own(sata::RegisterH2d command, const char* doing, std::size_t bytes, bool may_fail, Next next) {
    own_command_ = command;
    own_may_fail_ = may_fail;
    own_next_ = next;
    doing_ = doing;
    slots_[kOwn].data.resize(bytes);
    slots_[kOwn].bytes = bytes;
    slots_[kOwn].to_host = true;
    slots_[kOwn].opcode = command.command;
    repeat_own();
}

void SataCasePort::repeat_own() {
    slots_[kOwn].moved = 0;
    other_ = kOwn;
    const auto fis = own_command_.bytes();
    send(fis.data(), fis.size());
}

void SataCasePort::own_ended(std::uint8_t status, std::uint8_t error) {
    pio_ = false;
    const bool failed = (status & (kStatusErr | kStatusDf)) != 0;
    if (failed && (error & kErrorIcrc) != 0) return repeat_own();  // a frame was broken
    if (failed && !own_may_fail_)
        wrong("it ends with status " + std::to_string(status) + ", error " + std::to_string(error));
    if (failed && (status & kStatusDf) != 0) client_.flush_failed();
    if (!failed && slots_[kOwn].moved != slots_[kOwn].bytes) wrong("data are missing");
    (this->*std::exchange(own_next_, nullptr))();
}

// ---------------------------------------------------------------------------------------------------------------
// Bring-up.

void SataCasePort::start(Done started) {
    started_ = std::move(started);
    starting_ = true;
    doing_ = "wait for the signature";
    if (state_ == Link::ready && signature_came_) signature();
}

void SataCasePort::signature() {
    starting_ = signature_came_ = false;
    if (stopped_) std::exchange(stopped_, nullptr)();
    sata::RegisterH2d c;
    c.command = kIdentifyDevice;
    own(c, "IDENTIFY DEVICE", kPageBytes, false, &SataCasePort::identified);
}

void SataCasePort::identified() {
    const std::vector<std::uint8_t>& page = slots_[kOwn].data;
    const auto word = [&page](std::size_t w) { return static_cast<std::uint32_t>(page[2 * w] | page[2 * w + 1] << 8); };
    if (std::accumulate(page.begin(), page.end(), 0u) % 256 != 0) wrong("the page does not add up to 0");
    const std::uint32_t words = word(identify::kSectorWords) | word(identify::kSectorWords + 1) << 16;
    const bool large = (word(identify::kSectorSizes) >> 12 & 1) != 0;
    if ((large ? 2 * words : 512) != config_.lba_bytes) wrong("a sector has another size");
    facts_.blocks = 0;
    for (std::size_t i = 4; i-- > 0;) facts_.blocks = facts_.blocks << 16 | word(identify::kSectors48 + i);
    facts_.most_blocks = config_.max_transfer_bytes / config_.lba_bytes;
    if (facts_.slots == 0) facts_.slots = std::min(config_.depth, (word(identify::kQueueDepth) & 31) + 1);
    const bool has_cache = (word(identify::kSupported) >> 5 & 1) != 0;
    if (!config_.cache_off || !has_cache) return up();
    facts_.write_cache = false;
    sata::RegisterH2d c;
    c.command = kSetFeatures;
    c.features = kFeatureWriteCacheOff;
    own(c, "SET FEATURES", 0, false, &SataCasePort::up);
}

void SataCasePort::up() {
    doing_ = "at work";
    done_ ? std::exchange(done_, nullptr)() : std::exchange(started_, nullptr)();
}

// ---------------------------------------------------------------------------------------------------------------
// Errors of queued commands.

/// A command that is on its way gets an answer of its own first.
void SataCasePort::queue_failed() {
    halted_ = true;
    phase_ = kNobody;
    if (unreleased_ == kNobody) recover();
}

void SataCasePort::recover() {
    ++counts_.recoveries;
    clean_ = false;
    sata::RegisterH2d c;
    c.command = kReadLogExt;
    c.lba = kLogNcqError;
    c.count = 1;
    own(c, "READ LOG EXT 10h", kPageBytes, false, &SataCasePort::log_read);
}

void SataCasePort::log_read() {
    const std::vector<std::uint8_t>& page = slots_[kOwn].data;
    if (std::accumulate(page.begin(), page.end(), 0u) % 256 != 0) wrong("the log does not add up to 0");
    if (!clean_) wrong("no Set Device Bits has cleared the tags");
    const std::uint32_t tag = page[ncq_error::kTag] & 31u;
    if ((page[ncq_error::kTag] & ncq_error::kNotQueued) != 0 || (outstanding_ >> tag & 1) == 0)
        wrong("log 10h names a command that is not outstanding");
    const std::uint32_t all = std::exchange(outstanding_, 0);
    halted_ = false;
    doing_ = "at work";
    for (std::uint32_t t = 0; t < kOwn; ++t) {
        if ((all >> t & 1) == 0) continue;
        if (t == tag) {
            ended(t, page[ncq_error::kStatus], page[ncq_error::kError]);
        } else {
            slots_[t].under_way = false;
            client_.command_ended(t, CaseEnd::aborted, "an abort");
        }
    }
    when_idle();
    client_.room();
}

// ---------------------------------------------------------------------------------------------------------------
// Down, and resets.

void SataCasePort::when_idle() {
    if (reset_waits_ && idle()) begin_stop();
}

void SataCasePort::stop(Done done) {
    done_ = std::move(done);
    begin_stop();
}

/// What a drive that is read-only gives up it says here.
void SataCasePort::begin_stop() {
    sata::RegisterH2d c;
    c.command = kFlushCacheExt;
    own(c, "FLUSH CACHE EXT", 0, true, &SataCasePort::flushed);
}

void SataCasePort::flushed() {
    sata::RegisterH2d c;
    c.command = kStandbyImmediate;
    own(c, "STANDBY IMMEDIATE", 0, true, &SataCasePort::standing_by);
}

void SataCasePort::standing_by() {
    doing_ = "shut down";
    if (std::exchange(reset_waits_, false)) return reset_now();
    std::exchange(done_, nullptr)();
}

void SataCasePort::reset(std::uint32_t variant, Done stopped, Done done) {
    stopped_ = std::move(stopped);
    done_ = std::move(done);
    reset_variant_ = variant;
    reset_waits_ = variant % 2 != 0;
    if (!reset_waits_) return reset_now();
    doing_ = "wait for the end of commands";
    when_idle();
}

void SataCasePort::reset_now() {
    hear_no_more();
    starting_ = true;
    if (reset_variant_ < 2) {
        doing_ = "COMRESET";
        SataExtension* more = nullptr;
        tlm::tlm_generic_payload& p = payloads_.acquire(more);
        set_up(p, tlm::TLM_IGNORE_COMMAND, 0, nullptr, 0);
        more->kind = SataExtension::Kind::comreset;
        more->crc_error = false;
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time none;
        link_->nb_transport_fw(p, phase, none);
        p.release();
        return;
    }
    doing_ = "software reset";
    ++counts_.soft_resets;
    state_ = Link::soft_reset;
    sata::RegisterH2d r;
    r.command_update = false;
    r.control = kControlSrst;
    send(r.bytes().data(), r.bytes().size());
}

/// Stale when the power went in between.
void SataCasePort::end_srst(std::uint64_t attempt) {
    if (attempt != attempt_) return;
    sata::RegisterH2d r;
    r.command_update = false;
    send(r.bytes().data(), r.bytes().size());
}

/// Of what is under way. A frame that is at the link stays there.
void SataCasePort::hear_no_more() {
    ++attempt_;
    while (frames_.size() > (sent_ != nullptr ? 1 : 0)) frames_.pop_back();
    for (Slot& s : slots_) s.under_way = false;
    outstanding_ = 0;
    unreleased_ = other_ = phase_ = kNobody;
    pio_ = halted_ = clean_ = false;
    own_next_ = nullptr;
    reset_waits_ = false;
    state_ = Link::no_signature;
    signature_came_ = false;
}

void SataCasePort::drop() {}

void SataCasePort::power_lost() {
    in_.restart();
    out_.restart();
    if (sent_ != nullptr) sent_->release();  // nobody answers it
    sent_ = nullptr;
    hear_no_more();
    frames_.clear();
    started_ = done_ = stopped_ = nullptr;
    starting_ = false;
    doing_ = "without power";
}

}  // namespace ssdtlm
