// SPDX-License-Identifier: Apache-2.0
#include "controller/sata/sata_front_end.h"

#include "common/tlm/pooled_payload.h"

namespace ssdtlm {

using Kind = SataExtension::Kind;

SataFrontEnd::SataFrontEnd(const sc_core::sc_module_name& name, Agenda& agenda, CommandTracker& tracker,
                           const SataConfig& config, const DriveFacts& drive)
    : sc_module(name),
      link_target("link_target"),
      link_initiator("link_initiator"),
      in_(agenda, *this),
      out_(agenda, *this),
      config_(config),
      device_(agenda, *this, tracker, config, drive) {
    link_target.bind(in_);
    link_initiator.bind(out_);
}

void SataFrontEnd::end_of_elaboration() {
    in_.towards(link_target.operator->());
    link_ = out_.towards(link_initiator.operator->());
}

void SataFrontEnd::b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) {
    throw UserError(Problem{name(), "b_transport at a Serial ATA port", "nb_transport_fw",
                            "send frames as protocol/sata_payload.h says"});
}

tlm::tlm_sync_enum SataFrontEnd::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                 sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    const auto* const more = p.get_extension<SataExtension>();
    const Kind kind = more == nullptr ? Kind::frame : more->kind;
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    switch (kind) {
        case Kind::frame:
            if (!device_.received(p.get_data_ptr(), p.get_data_length(), more != nullptr && more->crc_error))
                p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
            break;
        case Kind::comreset:
            device_.comreset();
            break;
        case Kind::phy_up:
            device_.phy_up(more->generation);
            break;
        case Kind::phy_down:
        case Kind::cominit:
            break;  // not meant for a drive
    }
    return tlm::TLM_COMPLETED;
}

void SataFrontEnd::send(const std::uint8_t* fis, std::uint32_t bytes) {
    SataExtension* more = nullptr;
    tlm::tlm_generic_payload& p = payloads_.acquire(more);
    set_up(p, tlm::TLM_WRITE_COMMAND, 0, const_cast<std::uint8_t*>(fis), bytes);
    more->kind = Kind::frame;
    sent_ = &p;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time none;
    const tlm::tlm_sync_enum status = link_->nb_transport_fw(p, phase, none);
    if (status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) answered(p);
}

tlm::tlm_sync_enum SataFrontEnd::nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                 sc_core::sc_time&) {
    if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    if (&p == sent_) answered(p);
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
}

void SataFrontEnd::answered(tlm::tlm_generic_payload& p) {
    const tlm::tlm_response_status status = p.get_response_status();
    sent_ = nullptr;
    p.release();
    device_.sent(status == tlm::TLM_OK_RESPONSE           ? SataTransport::Answer::ok
                 : status == tlm::TLM_INCOMPLETE_RESPONSE ? SataTransport::Answer::cut
                                                          : SataTransport::Answer::error);
}

// ---------------------------------------------------------------------------------------------------------------
// Power.

void SataFrontEnd::host_is_gone() {
    in_.restart();
    out_.restart();
    if (sent_ != nullptr) sent_->release();  // nobody will answer it
    sent_ = nullptr;
    without_power_ = true;
    device_.host_is_gone();
}

void SataFrontEnd::lose_power(std::uint64_t host_commands) {
    host_is_gone();
    device_.lose_power(host_commands);
}

void SataFrontEnd::drive_is_up() {
    device_.drive_is_up();
    if (!without_power_) return;
    without_power_ = false;
    SataExtension* more = nullptr;
    tlm::tlm_generic_payload& p = payloads_.acquire(more);
    set_up(p, tlm::TLM_IGNORE_COMMAND, 0, nullptr, 0);
    more->kind = Kind::cominit;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time none;
    link_->nb_transport_fw(p, phase, none);
    p.release();
}

bool SataFrontEnd::owns(const void* object) const {
    const auto* const begin = reinterpret_cast<const char*>(this);
    return object >= begin && object < begin + sizeof *this;
}

// ---------------------------------------------------------------------------------------------------------------

FrontEndCounts SataFrontEnd::counts() const {
    FrontEndCounts c;
    c.ended = device_.counts().drive_commands;
    c.unheard_at_most = device_.counts().unheard_at_most;
    c.bytes_written = device_.smart_counts().bytes_written;
    c.media_errors = device_.smart_counts().media_errors;
    c.resets = device_.resets();
    c.unsafe_shutdowns = device_.smart_counts().unsafe_shutdowns;
    return c;
}

std::vector<std::pair<const char*, std::uint64_t>> SataFrontEnd::figures() const {
    const SataDevice::Counts& d = device_.counts();
    const SataTransport::Counts& t = device_.transport().counts();
    return {{"sata_commands", d.commands},
            {"sata_commands_refused", d.refused},
            {"sata_commands_dropped", d.dropped},
            {"sata_queue_aborts", d.aborted_queues},
            {"sata_frames_sent", t.frames_sent},
            {"sata_frames_repeated", t.repeated},
            {"sata_set_device_bits", t.bits},
            {"sata_frames_ignored", t.ignored + d.busy},
            {"sata_data_frame_errors", t.data_errors}};
}

void SataFrontEnd::check_waiters() const {
    in_.check_waiters(name());
    out_.check_waiters(name());
    device_.check_waiters();
}

}  // namespace ssdtlm
