// SPDX-License-Identifier: Apache-2.0
#include "property/sata_case_port.h"

#include <algorithm>

#include "common/report/error.h"
#include "common/tlm/pooled_payload.h"

namespace ssdtlm {

using namespace ata;

SataCasePort::SataCasePort(sc_core::sc_module_name name, Agenda& agenda, const Config& config, SataLink& link,
                           CasePortClient& client)
    : sc_module(name),
      initiator("initiator"),
      target("target"),
      agenda_(agenda),
      config_(config),
      link_object_(link),
      client_(client),
      in_(agenda, *this),
      out_(agenda, *this) {
    initiator.bind(out_);
    target.bind(in_);
}

void SataCasePort::end_of_elaboration() {
    link_ = out_.towards(initiator.operator->());
    in_.towards(target.operator->());
}

void SataCasePort::wrong(const std::string& what) const {
    throw CheckFailed("host: " + what + "; " + doing_);
}

bool SataCasePort::owns(const void* object) const {
    const auto* const begin = reinterpret_cast<const char*>(this);
    return object >= begin && object < begin + sizeof *this;
}

// ---------------------------------------------------------------------------------------------------------------
// Commands.

bool SataCasePort::has_room(const CaseCommand& c) const {
    if (state_ != Link::ready || halted_ || unreleased_ != kNobody || other_ != kNobody || own_next_ != nullptr)
        return false;
    const bool queued = !c.dma && c.kind != DriveOp::Kind::trim && c.kind != DriveOp::Kind::flush;
    return queued ? next_slot() != kNobody : outstanding_ == 0;
}

/// The tag that was not used for the longest time.
std::uint32_t SataCasePort::next_slot() const {
    for (std::uint32_t i = 1; i <= facts_.slots; ++i)
        if (const std::uint32_t at = (last_slot_ + i) % facts_.slots; !slots_[at].under_way) return at;
    return kNobody;
}

std::uint8_t* SataCasePort::buffer(std::uint32_t slot, std::uint32_t bytes) {
    slots_[slot].data.resize(bytes);
    return slots_[slot].data.data();
}

void SataCasePort::submit(std::uint32_t slot, const CaseCommand& c) {
    using Kind = DriveOp::Kind;
    Slot& s = slots_[slot];
    sata::RegisterH2d r;
    const bool writes = c.writes() || (c.kind == Kind::beyond && c.lba % 2 != 0);
    const auto sectors = static_cast<std::uint16_t>(c.blocks);  // 65,536 are 0
    s.queued = !c.dma && c.kind != Kind::trim && c.kind != Kind::flush;
    s.bytes = std::size_t{c.blocks} * config_.lba_bytes;
    r.lba = c.lba;
    if (c.kind == Kind::trim) {
        r.command = kDataSetManagement;
        r.features = 1;
        r.lba = 0;
        std::uint8_t* const page = buffer(slot, kPageBytes);
        std::fill_n(page, kPageBytes, 0);
        for (std::size_t i = 0; i < c.ranges.size(); ++i)
            for (unsigned b = 0; b < kTrimEntryBytes; ++b)
                page[i * kTrimEntryBytes + b] =
                    static_cast<std::uint8_t>((c.ranges[i].lba | std::uint64_t{c.ranges[i].blocks} << 48) >> (8 * b));
        s.bytes = kPageBytes;
        r.count = 1;
    } else if (c.kind == Kind::flush) {
        r.command = kFlushCacheExt;
        r.lba = 0;
    } else if (s.queued) {
        r.command = writes ? kWriteFpdmaQueued : kReadFpdmaQueued;
        r.features = sectors;
        r.count = static_cast<std::uint16_t>(slot << 3);
        if (c.is_forced()) r.device |= kDeviceFua;
    } else {
        r.command = !writes ? kReadDmaExt : c.is_forced() ? kWriteDmaFuaExt : kWriteDmaExt;
        r.count = sectors;
    }
    s.under_way = true;
    s.released = false;
    s.opcode = r.command;
    s.to_host = !writes && c.kind != Kind::trim;
    s.moved = 0;
    last_slot_ = slot;
    if (s.queued) {
        outstanding_ |= 1u << slot;
        unreleased_ = slot;
    } else {
        other_ = slot;
    }
    send(r.bytes().data(), r.bytes().size());
}

/// In the words of the registers.
void SataCasePort::ended(std::uint32_t slot, std::uint8_t status, std::uint8_t error) {
    Slot& s = slots_[slot];
    s.under_way = false;
    const bool good = (status & (kStatusErr | kStatusDf)) == 0;
    const CaseEnd end = good                                            ? CaseEnd::good
                        : (error & kErrorIcrc) != 0                     ? CaseEnd::transfer
                        : (error & kErrorUnc) != 0                      ? CaseEnd::unrecovered
                        : (error & kErrorIdnf) != 0                     ? CaseEnd::beyond
                        : (status & kStatusDf) != 0                     ? CaseEnd::write_fault
                        : error == kErrorAbrt && status == kStatusError ? CaseEnd::refused
                                                                        : CaseEnd::other;
    if (good && s.moved != s.bytes && s.opcode != kFlushCacheExt)
        wrong("slot " + std::to_string(slot) + " has ended with " + std::to_string(s.moved) + " of " +
              std::to_string(s.bytes) + " bytes");
    if (end != CaseEnd::transfer && end != CaseEnd::beyond) ++commands_;
    client_.command_ended(
        slot, end, good ? std::string() : "status " + std::to_string(status) + ", error " + std::to_string(error));
}

// ---------------------------------------------------------------------------------------------------------------
// Frames to the drive, one at a time.

void SataCasePort::send(const std::uint8_t* fis, std::size_t bytes) {
    frames_.emplace_back(fis, fis + bytes);
    next_frame();
}

void SataCasePort::next_frame() {
    if (sent_ != nullptr || frames_.empty()) return;
    SataExtension* more = nullptr;
    tlm::tlm_generic_payload& p = payloads_.acquire(more);
    more->kind = SataExtension::Kind::frame;
    more->crc_error = false;
    set_up(p, tlm::TLM_WRITE_COMMAND, 0, frames_.front().data(), static_cast<std::uint32_t>(frames_.front().size()));
    sent_ = &p;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time none;
    const tlm::tlm_sync_enum status = link_->nb_transport_fw(p, phase, none);
    if (status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) answered(p);
}

tlm::tlm_sync_enum SataCasePort::nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                 sc_core::sc_time&) {
    if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
    if (&p == sent_) answered(p);
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
}

void SataCasePort::answered(tlm::tlm_generic_payload& p) {
    const tlm::tlm_response_status status = p.get_response_status();
    sent_ = nullptr;
    p.release();
    const std::vector<std::uint8_t> fis = std::move(frames_.front());
    frames_.pop_front();
    if (status == tlm::TLM_INCOMPLETE_RESPONSE) return next_frame();  // a reset has cut it off
    const bool is_data = fis[0] == static_cast<std::uint8_t>(sata::FisType::data);
    if (status != tlm::TLM_OK_RESPONSE && is_data) {
        ++counts_.data_frames_lost;  // the drive ends the command
        phase_ = kNobody;
    } else if (status != tlm::TLM_OK_RESPONSE) {
        frames_.push_front(fis);
    } else if (state_ == Link::soft_reset && !is_data) {
        const sata::RegisterH2d r = sata::RegisterH2d::from(fis.data());
        if (!r.command_update && (r.control & kControlSrst) != 0)
            agenda_.post(agenda_.now() + kSrst, Then::to<&SataCasePort::end_srst>(this, attempt_));
        else if (!r.command_update)
            state_ = Link::no_signature;
    }
    next_frame();
}

// ---------------------------------------------------------------------------------------------------------------
// Frames of the drive.

tlm::tlm_sync_enum SataCasePort::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase&, sc_core::sc_time&) {
    const auto& more = *p.get_extension<SataExtension>();
    p.set_response_status(more.crc_error ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
    if (more.kind == SataExtension::Kind::frame && !more.crc_error) received(p.get_data_ptr(), p.get_data_length());
    return tlm::TLM_COMPLETED;
}

void SataCasePort::received(const std::uint8_t* fis, std::uint32_t bytes) {
    const auto type = static_cast<sata::FisType>(fis[0]);
    if (state_ == Link::soft_reset) return;  // it was on its way
    if (state_ == Link::no_signature) {
        if (type != sata::FisType::register_d2h) return;
        const sata::RegisterD2h r = sata::RegisterD2h::from(fis);
        if (r.lba != kSignatureLba || r.count != kSignatureCount || r.error != kDiagnosticsPassed ||
            r.status != kStatusGood)
            wrong("no signature comes after a reset");
        state_ = Link::ready;
        signature_came_ = true;
        if (starting_) signature();
        return;
    }
    switch (type) {
        case sata::FisType::register_d2h:
            return register_frame(sata::RegisterD2h::from(fis));
        case sata::FisType::set_device_bits:
            return device_bits(sata::SetDeviceBits::from(fis));
        case sata::FisType::dma_setup:
            return dma_setup(sata::DmaSetup::from(fis));
        case sata::FisType::dma_activate:
            return send_data();
        case sata::FisType::data:
            return data(fis + sata::kDataHeaderBytes, bytes - sata::kDataHeaderBytes);
        case sata::FisType::pio_setup:
            if (other_ != kOwn) wrong("PIO Setup for no command");
            pio_ = true;
            pio_end_ = sata::PioSetup::from(fis).end_status;
            return;
        case sata::FisType::register_h2d:
        case sata::FisType::bist:
            wrong("a frame that no drive sends");
    }
}

void SataCasePort::register_frame(const sata::RegisterD2h& r) {
    const bool failed = (r.status & kStatusErr) != 0;
    if (unreleased_ != kNobody) {
        const std::uint32_t tag = std::exchange(unreleased_, kNobody);
        slots_[tag].released = true;
        if (!failed && !halted_) return client_.room();
        if (failed) return queue_failed();
        wrong("the drive releases a command, but a queued one has failed");
    }
    if (other_ == kNobody) wrong("a Register frame answers no command");
    const std::uint32_t slot = std::exchange(other_, kNobody);
    if (slot == kOwn) return own_ended(r.status, r.error);
    ended(slot, r.status, r.error);
    when_idle();
    client_.room();
}

void SataCasePort::device_bits(const sata::SetDeviceBits& s) {
    if ((s.status & kStatusErr) != 0) return queue_failed();
    if (halted_) {
        if (s.active != ~0u) wrong("Set Device Bits of some tags after an error");
        clean_ = true;
        return;
    }
    for (std::uint32_t tag = 0; tag < kOwn; ++tag) {
        if ((s.active >> tag & 1) == 0) continue;
        if ((outstanding_ >> tag & 1) == 0 || !slots_[tag].released)
            wrong("Set Device Bits for tag " + std::to_string(tag) + ", which is not outstanding");
        if (phase_ == tag) wrong("Set Device Bits inside the data phase of its tag");
        outstanding_ &= ~(1u << tag);
        ended(tag, s.status, s.error);
    }
    when_idle();
    client_.room();
}

void SataCasePort::dma_setup(const sata::DmaSetup& s) {
    if ((outstanding_ >> s.tag & 1) == 0 || !slots_[s.tag].released) wrong("DMA Setup for no command");
    Slot& slot = slots_[s.tag];
    if (phase_ != kNobody || s.to_host != slot.to_host || s.transfer_bytes != slot.bytes || slot.moved != 0)
        wrong("DMA Setup does not fit the command of tag " + std::to_string(s.tag));
    phase_ = s.tag;
    if (s.auto_activate) send_data();
}

SataCasePort::Slot& SataCasePort::slot_of_data() {
    if (phase_ == kNobody && other_ == kNobody) wrong("data for no command");
    return slots_[phase_ != kNobody ? phase_ : other_];
}

void SataCasePort::send_data() {
    Slot& s = slot_of_data();
    const std::size_t n = std::min<std::size_t>(s.bytes - s.moved, sata::kMostDataBytes);
    if (s.to_host || n == 0) wrong("the drive asks for data that it does not get");
    const auto header = sata::data_header();
    std::vector<std::uint8_t> fis(header.begin(), header.end());
    fis.insert(fis.end(), s.data.data() + s.moved, s.data.data() + s.moved + n);
    s.moved += n;
    if (s.moved == s.bytes) phase_ = kNobody;
    send(fis.data(), fis.size());
}

void SataCasePort::data(const std::uint8_t* bytes, std::uint32_t count) {
    Slot& s = slot_of_data();
    if (!s.to_host || count > s.bytes - s.moved) wrong("data that no command waits for");
    std::copy_n(bytes, count, s.data.data() + s.moved);
    s.moved += count;
    if (s.moved == s.bytes) phase_ = kNobody;
    if (!pio_) return;
    pio_ = false;
    if ((pio_end_ & (kStatusBsy | kStatusDrq)) != 0) return;
    other_ = kNobody;
    own_ended(pio_end_, 0);
}

}  // namespace ssdtlm
