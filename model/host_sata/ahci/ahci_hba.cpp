// SPDX-License-Identifier: Apache-2.0
#include "host_sata/ahci/ahci_hba.h"

#include <cstring>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

AhciHba::AhciHba(sc_core::sc_module_name name, Agenda& agenda, const AhciConfig& config)
    : sc_module(name),
      mmio_target("mmio_target"),
      dma_initiator("dma_initiator"),
      sata_initiator("sata_initiator"),
      sata_target("sata_target"),
      agenda_(agenda),
      config_(config),
      registers_door_(agenda, *this),
      memory_door_(agenda, *this),
      serial_(*this),
      out_door_(agenda, serial_),
      in_door_(agenda, serial_),
      adapter_(agenda, config, *this, *this) {
    mmio_target.bind(registers_door_);
    dma_initiator.bind(memory_door_);
    sata_initiator.bind(out_door_);
    sata_target.bind(in_door_);
}

void AhciHba::end_of_elaboration() {
    software_ = registers_door_.towards(mmio_target.operator->());
    memory_ = memory_door_.towards(dma_initiator.operator->());
    link_ = out_door_.towards(sata_initiator.operator->());
    device_ = in_door_.towards(sata_target.operator->());
}

// ---------------------------------------------------------------------------------------------------------------
// Registers.

namespace {
/// Returns OK if the access is one that registers support.
tlm::tlm_response_status refusal(const tlm::tlm_generic_payload& p) {
    if (p.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    if (p.get_data_length() != 4 || p.get_streaming_width() < 4 || p.get_address() % 4 != 0)
        return tlm::TLM_BURST_ERROR_RESPONSE;
    if (!p.is_read() && !p.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
    return p.get_address() < ahci::kAbarBytes ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}
}  // namespace

tlm::tlm_sync_enum AhciHba::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                            sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    payload.set_response_status(refusal(payload));
    if (!payload.is_response_ok()) return tlm::TLM_COMPLETED;
    Access& a = accesses_.acquire();
    a.offset = static_cast<std::uint32_t>(payload.get_address());
    a.read = payload.is_read() ? &payload : nullptr;
    if (payload.is_write()) std::memcpy(&a.value, payload.get_data_ptr(), sizeof a.value);
    agenda_.post(agenda_.now() + config_.access_time,
                 Then::to<&AhciHba::access>(this, Pool<Access>::handle_of(a).number()));
    if (payload.is_write()) return tlm::TLM_COMPLETED;
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

void AhciHba::access(std::uint64_t number) {
    Access& pooled = accesses_.at(number);
    const Access a = pooled;
    accesses_.release(pooled);
    if (a.read == nullptr) return adapter_.write(a.offset, a.value);
    const std::uint32_t value = adapter_.read(a.offset);
    std::memcpy(a.read->get_data_ptr(), &value, sizeof value);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time none;
    software_->nb_transport_bw(*a.read, phase, none);
}

void AhciHba::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(refusal(payload));
    if (!payload.is_response_ok()) return;
    sc_core::wait(to_sc_time(config_.access_time));
    agenda_.in_step();
    const auto offset = static_cast<std::uint32_t>(payload.get_address());
    std::uint32_t value = 0;
    if (payload.is_write()) {
        std::memcpy(&value, payload.get_data_ptr(), sizeof value);
        adapter_.write(offset, value);
    } else {
        value = adapter_.read(offset);
        std::memcpy(payload.get_data_ptr(), &value, sizeof value);
    }
}

// ---------------------------------------------------------------------------------------------------------------
// Host memory. Whoever asks hears of the end in an event of its own, however the far end answers.

void AhciHba::begin(Transaction& t) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time none;
    if (memory_->nb_transport_fw(t, phase, none) != tlm::TLM_COMPLETED) return;
    if (t.client == nullptr) return transactions_.release(t);
    agenda_.post(agenda_.now(), Then::to<&AhciHba::end_at_once>(this, transactions_.handle_of(t).number()));
}

void AhciHba::end(Transaction& t) {
    MemoryClient* const client = t.client;
    const std::uint32_t cookie = t.cookie;
    const bool read = t.is_read(), ok = t.is_response_ok();
    transactions_.release(t);
    if (client == nullptr) return;
    if (read)
        client->memory_read(cookie, ok);
    else
        client->memory_written(cookie);
}

tlm::tlm_sync_enum AhciHba::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                            sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    end(static_cast<Transaction&>(payload));
    return tlm::TLM_COMPLETED;
}

void AhciHba::read(std::uint64_t address, std::uint8_t* to, std::uint32_t bytes, MemoryClient& client,
                   std::uint32_t cookie) {
    Transaction& t = transactions_.acquire();
    t.client = &client;
    t.cookie = cookie;
    set_up(t, tlm::TLM_READ_COMMAND, address, to, bytes);
    begin(t);
}

void AhciHba::write(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes, MemoryClient& client,
                    std::uint32_t cookie) {
    Transaction& t = transactions_.acquire();
    t.client = &client;
    t.cookie = cookie;
    // The generic payload has no pointer to const. A write only reads through it.
    set_up(t, tlm::TLM_WRITE_COMMAND, address, const_cast<std::uint8_t*>(from), bytes);
    begin(t);
}

void AhciHba::post(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes) {
    SSDTLM_CHECK(bytes <= kMostPosted, "a posted write of that length needs a client");
    Transaction& t = transactions_.acquire();
    t.client = nullptr;
    std::memcpy(t.copied, from, bytes);
    set_up(t, tlm::TLM_WRITE_COMMAND, address, t.copied, bytes);
    begin(t);
}

// ---------------------------------------------------------------------------------------------------------------
// The link.

void AhciHba::send(const std::uint8_t* fis, std::uint32_t bytes) {
    Frame& frame = frames_.acquire();
    sent_ = &frame;
    set_up(frame, tlm::TLM_WRITE_COMMAND, 0, const_cast<std::uint8_t*>(fis), bytes);
    frame.get_extension<SataExtension>()->kind = SataExtension::Kind::frame;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time none;
    if (link_->nb_transport_fw(frame, phase, none) == tlm::TLM_COMPLETED)
        agenda_.post(agenda_.now(), Then::to<&AhciHba::end_of_frame_at_once>(this, frames_.handle_of(frame).number()));
}

tlm::tlm_sync_enum AhciHba::frame_answered(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase) {
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    end_of_frame(static_cast<Frame&>(payload));
    return tlm::TLM_COMPLETED;
}

void AhciHba::end_of_frame(Frame& frame) {
    const bool current = sent_ == &frame;  // false: a reset of the link has cut it off
    const tlm::tlm_response_status status = frame.get_response_status();
    frames_.release(frame);
    if (!current) return;
    sent_ = nullptr;
    adapter_.port().frame_sent(status == tlm::TLM_OK_RESPONSE           ? AhciPort::Sent::taken
                               : status == tlm::TLM_INCOMPLETE_RESPONSE ? AhciPort::Sent::cut
                                                                        : AhciPort::Sent::refused);
}

void AhciHba::comreset() {
    sent_ = nullptr;
    held_ = nullptr;
    set_up(signal_, tlm::TLM_IGNORE_COMMAND, 0, nullptr, 0);
    signal_.get_extension<SataExtension>()->kind = SataExtension::Kind::comreset;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time none;
    link_->nb_transport_fw(signal_, phase, none);
}

tlm::tlm_sync_enum AhciHba::frame_comes(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase) {
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    const auto* const extension = payload.get_extension<SataExtension>();
    const SataExtension::Kind kind = extension != nullptr ? extension->kind : SataExtension::Kind::frame;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    switch (kind) {
        case SataExtension::Kind::phy_up:
            adapter_.port().phy_up(extension->generation);
            return tlm::TLM_COMPLETED;
        case SataExtension::Kind::phy_down:
            sent_ = nullptr;
            held_ = nullptr;
            adapter_.port().phy_down();
            return tlm::TLM_COMPLETED;
        case SataExtension::Kind::comreset:
        case SataExtension::Kind::cominit:
            throw CheckFailed("HBA: a signal that is not for the host");
        case SataExtension::Kind::frame:
            break;
    }
    if (extension != nullptr && extension->crc_error) {
        adapter_.port().broken(payload.get_data_ptr());
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
        return tlm::TLM_COMPLETED;
    }
    switch (adapter_.port().receive(payload.get_data_ptr(), payload.get_data_length())) {
        case AhciPort::Answer::later:
            held_ = &payload;
            payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            phase = tlm::END_REQ;
            return tlm::TLM_UPDATED;
        case AhciPort::Answer::refused:
            payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
            return tlm::TLM_COMPLETED;
        case AhciPort::Answer::taken:
            break;
    }
    return tlm::TLM_COMPLETED;
}

void AhciHba::answer(bool ok) {
    tlm::tlm_generic_payload& payload = *std::exchange(held_, nullptr);
    payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time none;
    device_->nb_transport_bw(payload, phase, none);
}

void AhciHba::check_waiters() const {
    registers_door_.check_waiters(std::string(name()) + ".mmio_target");
    memory_door_.check_waiters(std::string(name()) + ".dma_initiator");
    out_door_.check_waiters(std::string(name()) + ".sata_initiator");
    in_door_.check_waiters(std::string(name()) + ".sata_target");
    adapter_.check_waiters();
}

}  // namespace ssdtlm
