// SPDX-License-Identifier: Apache-2.0
#include "controller/raw/raw_front_end.h"

#include <fmt/format.h>

#include <algorithm>

namespace ssdtlm {

namespace {

const RawExtension& more_of(const tlm::tlm_generic_payload& payload) {
    static const RawExtension kNothing;
    const auto* const more = payload.get_extension<RawExtension>();
    return more != nullptr ? *more : kNothing;
}

}  // namespace

RawFrontEnd::RawFrontEnd(const sc_core::sc_module_name& name, Agenda& agenda, const Config& config,
                         const DriveFacts& drive)
    : sc_module(name),
      target("target"),
      agenda_(agenda),
      door_(agenda, *this),
      config_(config),
      bytes_(drive.drive_bytes) {
    target.bind(door_);
}

// ---------------------------------------------------------------------------------------------------------------
// From the host.

tlm::tlm_sync_enum RawFrontEnd::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    const RawExtension& more = more_of(payload);
    ++requests_;
    const tlm::tlm_response_status refused = refusal(payload, more);
    if (refused != tlm::TLM_OK_RESPONSE) {
        ++refused_;
        payload.set_response_status(refused);
        return tlm::TLM_COMPLETED;
    }
    accept(payload, more);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

void RawFrontEnd::b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) {
    throw UserError(Problem{name(), "b_transport at a front end that speaks the non-blocking protocol only",
                            "nb_transport_fw", "bind an LtInitiatorAdapter (common/tlm/lt_adapter.h) in between"});
}

tlm::tlm_response_status RawFrontEnd::refusal(const tlm::tlm_generic_payload& p, const RawExtension& more) const {
    using Op = RawExtension::Op;
    const bool transfers = p.is_read() || p.is_write();
    if (transfers != (more.op == Op::transfer)) return tlm::TLM_COMMAND_ERROR_RESPONSE;
    if (more.op == Op::flush || more.op == Op::shutdown) return tlm::TLM_OK_RESPONSE;
    const std::uint64_t length = p.get_data_length();
    if (transfers && p.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    if (length == 0 || (p.get_address() | length) % config_.block_bytes != 0) return tlm::TLM_BURST_ERROR_RESPONSE;
    if (transfers && (p.get_data_ptr() == nullptr || p.get_streaming_width() < length))
        return tlm::TLM_BURST_ERROR_RESPONSE;
    return length > bytes_ || p.get_address() > bytes_ - length ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                                : tlm::TLM_OK_RESPONSE;
}

void RawFrontEnd::accept(tlm::tlm_generic_payload& p, const RawExtension& more) {
    using Op = RawExtension::Op;
    shut_down_ = false;
    RawCommand& c = commands_.acquire();
    c.index = Pool<RawCommand>::index_of(c);
    c.queue = more.queue != 0 ? more.queue : std::uint16_t{1};
    c.tag = more.queue != 0 ? more.tag : static_cast<std::uint16_t>(c.index);
    c.op = more.op == Op::trim       ? IoOp::deallocate
           : more.op != Op::transfer ? IoOp::flush
           : p.is_read()             ? IoOp::read
                                     : IoOp::write;
    c.fua = more.fua;
    c.ends_work = more.op == Op::shutdown;
    c.status = CommandStatus::success;
    c.result = 0;
    c.bytes = c.op == IoOp::flush ? 0 : p.get_data_length();
    c.slba = c.op == IoOp::flush ? 0 : p.get_address() / config_.block_bytes;
    c.blocks = static_cast<std::uint32_t>(c.bytes / config_.block_bytes);
    c.ranges.clear();
    if (c.op == IoOp::deallocate) c.ranges.push_back({c.slba, c.blocks});
    c.whose = WorkTag{more.tenant, more.priority, more.stream, kNever};
    c.timeline = more.timeline != nullptr ? more.timeline : &c.own;
    c.timeline->begin(agenda_.now());
    c.payload = &p;
    if (p.has_mm()) p.acquire();
    if (serves_ && waiting_.empty() && in_firmware_ < config_.commands) return submit(c);
    waiting_.push_back(&c);
}

void RawFrontEnd::submit(RawCommand& c) {
    c.timeline->charge(Stage::arbitration, agenda_.now());
    c.timeline->set_number(++handed_over_);
    ++in_firmware_;
    firmware_->submit(c);
}

void RawFrontEnd::submit_waiting() {
    while (serves_ && !waiting_.empty() && in_firmware_ < config_.commands) {
        RawCommand& c = *waiting_.front();
        waiting_.pop_front();
        submit(c);
    }
}

// ---------------------------------------------------------------------------------------------------------------
// Data, and the answer.

void RawFrontEnd::to_host(Command& command, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                          const DmaThen& then, ByteEnables content, const DmaTerms& terms) {
    const auto& c = static_cast<const RawCommand&>(command);
    if (c.payload != nullptr) copy_content(c.payload->get_data_ptr() + offset, data, bytes, content);
    then({std::max(agenda_.now(), terms.from)});
}

void RawFrontEnd::from_host(Command& command, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data,
                            const DmaThen& then, ByteEnables content) {
    const auto& c = static_cast<const RawCommand&>(command);
    if (c.payload == nullptr) return;  // they never come
    copy_content(data, c.payload->get_data_ptr() + offset, bytes, content);
    then({agenda_.now()});
}

/// Its last data may be on their way, by its timeline.
void RawFrontEnd::complete(Command& command) {
    auto& c = static_cast<RawCommand&>(command);
    agenda_.post(std::max(agenda_.now(), c.timeline->last()),
                 Then::to<&RawFrontEnd::answer>(this, Pool<RawCommand>::handle_of(c).number()));
}

void RawFrontEnd::answer(std::uint64_t command) {
    RawCommand& c = commands_.at(command);
    tlm::tlm_generic_payload* const p = c.payload;
    --in_firmware_;
    if (p != nullptr) {
        c.timeline->charge(Stage::completion, agenda_.now());
        const bool ok = c.status == CommandStatus::success;
        ++(c.ends_work ? shutdowns_ : counts_.ended);  // as in other protocols, it is none of the host's commands
        if (c.op == IoOp::write && ok) counts_.bytes_written += c.bytes;
        if (c.status == CommandStatus::unrecovered_read || c.status == CommandStatus::write_fault)
            ++counts_.media_errors;
        shut_down_ = c.ends_work;
        p->set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
        if (auto* const more = p->get_extension<RawExtension>()) {
            more->status = c.status;
            more->result = c.result;
        }
    }
    commands_.release(c);
    if (p != nullptr) {
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time none;
        host_->nb_transport_bw(*p, phase, none);
        if (p->has_mm()) p->release();
    }
    submit_waiting();
}

// ---------------------------------------------------------------------------------------------------------------
// Power.

void RawFrontEnd::drive_is_up() {
    serves_ = true;
    submit_waiting();
}

/// The firmware continues its commands without the host.
void RawFrontEnd::host_is_gone() {
    serves_ = false;
    door_.restart();
    waiting_.clear();
    commands_.for_each([this](const RawCommand& c) {
        if (c.payload == nullptr) return;
        ++forgotten_;
        if (c.payload->has_mm()) c.payload->release();
        c.payload = nullptr;
    });
}

void RawFrontEnd::lose_power(std::uint64_t host_commands) {
    host_is_gone();
    SSDTLM_CHECK(host_commands <= counts_.ended, "the host has more answers than the drive gave");
    commands_.release_all();
    in_firmware_ = 0;
    if (!shut_down_) ++counts_.unsafe_shutdowns;
    shut_down_ = false;
}

bool RawFrontEnd::owns(const void* object) const {
    const auto* const begin = reinterpret_cast<const char*>(this);
    return object >= begin && object < begin + sizeof *this;
}

// ---------------------------------------------------------------------------------------------------------------

std::vector<std::pair<const char*, std::uint64_t>> RawFrontEnd::figures() const {
    return {{"raw_requests", requests_}, {"raw_requests_refused", refused_}, {"raw_requests_forgotten", forgotten_}};
}

void RawFrontEnd::check_books() const {
    if (requests_ != counts_.ended + shutdowns_ + refused_ + forgotten_ + pending())
        throw CheckFailed(fmt::format(
            "raw: {} requests, of which {} ended, {} were shutdowns, {} were refused, {} forgotten, and {} are "
            "under way",
            requests_, counts_.ended, shutdowns_, refused_, forgotten_, pending()));
}

void RawFrontEnd::check_waiters() const {
    door_.check_waiters(name());
    if (serves_ && !waiting_.empty() && in_firmware_ < config_.commands)
        throw CheckFailed(fmt::format("raw: {} requests wait, and the firmware has {} of {}", waiting_.size(),
                                      in_firmware_, config_.commands));
}

std::string RawFrontEnd::dump() const {
    return fmt::format("raw: {} requests, {} in the firmware, {} waiting{}\n", requests_, in_firmware_, waiting_.size(),
                       serves_ ? "" : ", drive not up");
}

}  // namespace ssdtlm
