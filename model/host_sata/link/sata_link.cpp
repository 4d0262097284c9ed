// SPDX-License-Identifier: Apache-2.0
#include "host_sata/link/sata_link.h"

#include <fmt/format.h>

#include <vector>

#include "common/tlm/pooled_payload.h"

namespace ssdtlm {

namespace {

using Kind = SataExtension::Kind;

Kind kind_of(const tlm::tlm_generic_payload& p) {
    const auto* const more = p.get_extension<SataExtension>();
    return more == nullptr ? Kind::frame : more->kind;
}

}  // namespace

SataLink::SataLink(const sc_core::sc_module_name& name, Agenda& agenda, const SataLinkConfig& config)
    : sc_module(name),
      host_target("host_target"),
      host_initiator("host_initiator"),
      device_target("device_target"),
      device_initiator("device_initiator"),
      agenda_(agenda),
      config_(config),
      wire_(config),
      host_(*this, SataEnd::host),
      device_(*this, SataEnd::device) {
    host_target.bind(host_.in);
    host_initiator.bind(host_.out);
    device_target.bind(device_.in);
    device_initiator.bind(device_.out);
}

void SataLink::end_of_elaboration() {
    host_.sender = host_.in.towards(host_target.operator->());
    host_.receiver = host_.out.towards(host_initiator.operator->());
    device_.sender = device_.in.towards(device_target.operator->());
    device_.receiver = device_.out.towards(device_initiator.operator->());
}

void SataLink::start_of_simulation() {
    negotiate();
}

void SataLink::Port::b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) {
    throw UserError(Problem{link.name(), "b_transport at a Serial ATA link", "nb_transport_fw",
                            "send frames as protocol/sata_payload.h says"});
}

// ---------------------------------------------------------------------------------------------------------------
// Frames.

tlm::tlm_sync_enum SataLink::from_end(SataEnd from, tlm::tlm_generic_payload& p, tlm::tlm_phase& phase) {
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    if (const Kind kind = kind_of(p); kind != Kind::frame) {
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        signal_from(from, kind);
        return tlm::TLM_COMPLETED;
    }
    const std::uint32_t bytes = p.get_data_length();
    if (p.get_command() != tlm::TLM_WRITE_COMMAND || p.get_data_ptr() == nullptr || bytes == 0 || bytes % 4 != 0 ||
        bytes > sata::kDataHeaderBytes + sata::kMostDataBytes) {
        p.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return tlm::TLM_COMPLETED;
    }
    if (!up_) {
        p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        return tlm::TLM_COMPLETED;
    }
    if (p.has_mm()) p.acquire();
    Sent& sent = sent_.acquire();
    sent.payload = &p;
    const bool data = p.get_data_ptr()[0] == static_cast<std::uint8_t>(sata::FisType::data);
    wire_.ask(from, Pool<Sent>::handle_of(sent).number(), bytes, agenda_.now(), data);
    next_frame();
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

void SataLink::next_frame() {
    const SataWire::Frame* const f = wire_.grant(agenda_.now());
    if (f == nullptr) return;
    agenda_.post(f->arrives, Then::to<&SataLink::arrive>(this, f->number));
    for (SataProbe* const probe : probes_)
        probe->frame_begins(f->begins, f->from, sent_.at(f->token).payload->get_data_ptr(), f->bytes, f->ends);
}

/// The number is stale if the host gave way, or if the frame was cut off.
void SataLink::arrive(std::uint64_t number) {
    const SataWire::Frame* const f = wire_.carried();
    if (f == nullptr || f->number != number) return;
    const bool broken = !broken_.empty() && broken_.erase(arrived_ + 1) != 0;
    ++arrived_;
    tlm::tlm_generic_payload& from = *sent_.at(f->token).payload;
    SataExtension* more = nullptr;
    tlm::tlm_generic_payload& p = payloads_.acquire(more);
    set_up(p, tlm::TLM_WRITE_COMMAND, 0, from.get_data_ptr(), f->bytes);
    more->kind = Kind::frame;
    more->crc_error = broken;
    delivered_ = &p;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time none;
    const tlm::tlm_sync_enum status = port(other_end(f->from)).receiver->nb_transport_fw(p, phase, none);
    if (status != tlm::TLM_COMPLETED && !(status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) return;
    if (delivered_ == &p) answered(p.is_response_ok());  // false: a signal of that end has cut it off
}

tlm::tlm_sync_enum SataLink::answer_from(SataEnd, tlm::tlm_generic_payload& p, tlm::tlm_phase& phase) {
    if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    if (&p == delivered_) answered(p.is_response_ok());
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
}

void SataLink::answered(bool ok) {
    const SataWire::Frame& f = *wire_.carried();
    arrived_ok_ = ok && !delivered_->get_extension<SataExtension>()->crc_error;
    const std::uint8_t* const fis = delivered_->get_data_ptr();
    if (arrived_ok_ && checks_)
        checker_.frame(agenda_.now(), f.from, fis, f.bytes);
    else if (fis[0] == static_cast<std::uint8_t>(sata::FisType::data))
        checker_.data_lost();
    forget_delivery();
    agenda_.post(wire_.answered(agenda_.now()), Then::to<&SataLink::end>(this, f.number));
}

void SataLink::forget_delivery() {
    if (delivered_ == nullptr) return;
    delivered_->release();
    delivered_ = nullptr;
}

void SataLink::end(std::uint64_t number) {
    const SataWire::Frame* const f = wire_.carried();
    if (f == nullptr || f->number != number) return;
    const SataEnd from = f->from;
    Sent& sent = sent_.at(f->token);
    tlm::tlm_generic_payload& p = *sent.payload;
    sent_.release(sent);
    const bool ok = arrived_ok_;
    wire_.release(agenda_.now(), ok);
    for (SataProbe* const probe : probes_) probe->frame_ends(agenda_.now(), ok);
    answer(p, from, ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
    next_frame();
}

void SataLink::answer(tlm::tlm_generic_payload& p, SataEnd to, tlm::tlm_response_status status) {
    p.set_response_status(status);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time none;
    port(to).sender->nb_transport_bw(p, phase, none);
    if (p.has_mm()) p.release();
}

// ---------------------------------------------------------------------------------------------------------------
// The phy.

void SataLink::signal(SataEnd to, Kind kind) {
    SataExtension* more = nullptr;
    tlm::tlm_generic_payload& p = payloads_.acquire(more);
    set_up(p, tlm::TLM_IGNORE_COMMAND, 0, nullptr, 0);
    more->kind = kind;
    more->crc_error = false;
    more->generation = kind == Kind::phy_up ? config_.generation() : std::uint8_t{0};
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time none;
    port(to).receiver->nb_transport_fw(p, phase, none);
    p.release();
}

void SataLink::signal_from(SataEnd from, Kind kind) {
    if (from == SataEnd::host && kind == Kind::comreset) {
        go_down();
        signal(SataEnd::host, Kind::phy_down);
        if (!powered_) return;
        signal(SataEnd::device, Kind::comreset);
        return negotiate();
    }
    if (from == SataEnd::device && kind == Kind::cominit) {
        powered_ = true;
        const bool was_up = up_;
        go_down();
        if (was_up) signal(SataEnd::host, Kind::phy_down);
        return negotiate();
    }
    throw UserError(Problem{
        name(), fmt::format("signal {} from the {}", static_cast<int>(kind), from == SataEnd::host ? "host" : "drive"),
        "COMRESET from the host, COMINIT from the drive", ""});
}

/// Tells the senders that their frames are gone.
void SataLink::go_down() {
    const bool was_up = up_;
    up_ = false;
    ++attempt_;
    checker_.reset();
    for (SataProbe* const probe : probes_) {
        if (wire_.carried() != nullptr) probe->frame_ends(agenda_.now(), false);
        if (was_up) probe->phy(agenda_.now(), false);
    }
    forget_delivery();
    std::vector<SataWire::Frame> gone;
    wire_.cut(agenda_.now(), [&gone](const SataWire::Frame& f) { gone.push_back(f); });
    for (const SataWire::Frame& f : gone) {
        Sent& sent = sent_.at(f.token);
        tlm::tlm_generic_payload& p = *sent.payload;
        sent_.release(sent);
        answer(p, f.from, tlm::TLM_INCOMPLETE_RESPONSE);
    }
}

void SataLink::negotiate() {
    agenda_.post(agenda_.now() + config_.reset_time, Then::to<&SataLink::come_up>(this, ++attempt_));
}

void SataLink::come_up(std::uint64_t attempt) {
    if (attempt != attempt_) return;
    up_ = true;
    for (SataProbe* const probe : probes_) probe->phy(agenda_.now(), true);
    signal(SataEnd::host, Kind::phy_up);
    if (up_) signal(SataEnd::device, Kind::phy_up);
}

void SataLink::restart() {
    const bool was_up = up_;
    up_ = powered_ = false;
    ++attempt_;
    checker_.reset();
    for (SataProbe* const probe : probes_) {
        if (wire_.carried() != nullptr) probe->frame_ends(agenda_.now(), false);
        if (was_up) probe->phy(agenda_.now(), false);
    }
    host_.in.restart();
    host_.out.restart();
    device_.in.restart();
    device_.out.restart();
    forget_delivery();
    wire_.cut(agenda_.now(), [this](const SataWire::Frame& f) {
        Sent& sent = sent_.at(f.token);
        if (sent.payload->has_mm()) sent.payload->release();
        sent_.release(sent);
    });
    signal(SataEnd::host, Kind::phy_down);
}

bool SataLink::owns(const void* object) const {
    const auto* const begin = reinterpret_cast<const char*>(this);
    return object >= begin && object < begin + sizeof *this;
}

std::string SataLink::dump() const {
    return fmt::format("sata link: phy {}{}\n", up_ ? "up" : "down", powered_ ? "" : ", the drive has no power") +
           wire_.dump() + checker_.dump();
}

void SataLink::check_waiters() const {
    wire_.check_waiters();
    host_.in.check_waiters(name());
    host_.out.check_waiters(name());
    device_.in.check_waiters(name());
    device_.out.check_waiters(name());
}

}  // namespace ssdtlm
