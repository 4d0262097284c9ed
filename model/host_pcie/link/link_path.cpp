// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/link/link_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/tlm/sc_time_bridge.h"

namespace ssdtlm {

LinkPath::LinkPath(Agenda& agenda, const LinkPathConfig& config, LinkDirection& requests, LinkDirection& completions,
                   tlm_utils::simple_target_socket<PcieLink>& near, tlm_utils::simple_initiator_socket<PcieLink>& far)
    : agenda_(agenda),
      config_(config),
      requests_(requests),
      completions_(completions),
      near_(near),
      far_(far),
      reads_(64),
      free_tags_(config.read_tags) {}

tlm::tlm_sync_enum LinkPath::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                             sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) {
        response_open_ = false;
        while (!response_open_ && !responses_held_.empty()) {
            tlm::tlm_generic_payload* next = responses_held_.front();
            responses_held_.pop_front();
            send_response(*next);
        }
        return tlm::TLM_COMPLETED;
    }
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    SSDTLM_CHECK(delay == sc_core::SC_ZERO_TIME, "request with an annotated delay");
    if (payload.get_byte_enable_ptr() != nullptr || payload.get_data_length() == 0 ||
        payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
        payload.set_response_status(payload.get_byte_enable_ptr() != nullptr ? tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE
                                    : payload.get_data_length() == 0         ? tlm::TLM_BURST_ERROR_RESPONSE
                                                                             : tlm::TLM_COMMAND_ERROR_RESPONSE);
        return tlm::TLM_COMPLETED;
    }
    if (free_transfers_.empty()) {
        transfers_.emplace_back();
        free_transfers_.push_back(&transfers_.back());
    }
    Transfer& transfer = *free_transfers_.back();
    free_transfers_.pop_back();
    transfer = Transfer{&payload,
                        payload.get_data_ptr(),
                        payload.get_address(),
                        payload.get_data_length(),
                        0,
                        0,
                        tlm::TLM_OK_RESPONSE,
                        true,
                        false};
    if (payload.is_write()) {
        begin_write(transfer);
    } else {
        if (reads_.full()) reads_.set_capacity(2 * reads_.capacity());
        reads_.push_back(&transfer);
        issue_reads();
    }
    if (transfer.answered) {
        free_transfers_.push_back(&transfer);
        return tlm::TLM_COMPLETED;
    }
    transfer.in_call = false;
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

void LinkPath::begin_write(Transfer& transfer) {
    Part& part = new_part(transfer);
    part.write = true;
    part.address = transfer.address;
    part.bytes = transfer.bytes;
    part.data = transfer.data;
    const bool copied = transfer.bytes <= kInlineBytes;
    if (copied) {
        std::memcpy(part.inline_data, transfer.data, transfer.bytes);
        part.data = part.inline_data;
    }
    part.extension = transfer.payload->get_extension<LinkExtension>();
    part.keeps_transfer = !copied && part.extension == nullptr;
    const auto train =
        TlpTrain::data(part.address, part.bytes, config_.max_payload_bytes, overhead(TlpKind::mem_write, part.address));
    part.tlps = train.count();
    requests_.offer(TlpKind::mem_write, train, handle(part));
}

/// Offers read requests, oldest payload first, while tags last.
void LinkPath::issue_reads() {
    const std::uint32_t unit = config_.max_read_request_bytes;
    while (!reads_.empty() && free_tags_ > 0) {
        Transfer& t = *reads_.front();
        const std::uint64_t address = t.address + t.issued;
        const std::uint32_t left = t.bytes - t.issued;
        const std::uint32_t n = std::min({piece_count(address, left, unit), free_tags_, config_.reads_per_burst});
        const auto bytes = static_cast<std::uint32_t>(piece_prefix(address, left, unit, n));
        Part& part = new_part(t);
        part.write = false;
        part.address = address;
        part.bytes = bytes;
        part.data = t.data + t.issued;
        part.tlps = n;
        t.issued += bytes;
        free_tags_ -= n;
        if (t.issued == t.bytes) reads_.pop_front();
        requests_.offer(TlpKind::mem_read, TlpTrain::headers(n, overhead(TlpKind::mem_read, address)), handle(part));
    }
    if (!reads_.empty() && tags_short_since_ == kNever) tags_short_since_ = agenda_.now();
}

void LinkPath::on_grant(const LinkGrant& grant) {
    Part& part = part_of(grant.cookie);
    part.path->granted(part, grant);
}

void LinkPath::granted(Part& part, const LinkGrant& grant) {
    if (part.returning)
        agenda_.post<&LinkPath::completions_arrive>(grant.delivered, this, handle(part));
    else if (part.write)
        granted_write(part, grant);
    else
        granted_read(part, grant);
}

void LinkPath::granted_write(Part& part, const LinkGrant& grant) {
    agenda_.post<&LinkPath::arrive>(grant.delivered, this, handle(part));
    Transfer& t = *part.transfer;
    if (part.keeps_transfer) return;
    if (part.extension != nullptr) part.extension->visible_at = grant.delivered;
    part.transfer = nullptr;
    answer(t);
}

/// Completions begin when the first request has arrived and been looked up. Those of the following requests of the
/// burst are ready before they can be sent, as a completion is never shorter than a request on the wire.
void LinkPath::granted_read(Part& part, const LinkGrant& grant) {
    Part* head = &part;
    if (grant.tlps < part.tlps) {
        head = &new_part(*part.transfer);
        const auto bytes = static_cast<std::uint32_t>(
            piece_prefix(part.address, part.bytes, config_.max_read_request_bytes, grant.tlps));
        head->write = false;
        head->address = part.address;
        head->bytes = bytes;
        head->data = part.data;
        head->tlps = grant.tlps;
        part.address += bytes;
        part.data += bytes;
        part.bytes -= bytes;
        part.tlps -= grant.tlps;
    }
    agenda_.post<&LinkPath::arrive>(grant.first_delivered + config_.completer_latency, this, handle(*head));
}

void LinkPath::arrive(std::uint64_t part) {
    if (request_open_ != nullptr)
        requests_held_.push_back(&part_of(part));
    else
        forward(part_of(part));
}

/// The part's own payload: taken from the pool once, or again when the far end kept the last one beyond its answer.
tlm::tlm_generic_payload& LinkPath::far_payload(Part& part) {
    if (part.far != nullptr) {
        if (part.far->get_ref_count() == 1) return *part.far;
        part.far->release();
    }
    FarLink* link = nullptr;
    part.far = &far_payloads_.acquire(link);
    link->part = &part;
    return *part.far;
}

void LinkPath::forward(Part& part) {
    tlm::tlm_generic_payload& far = far_payload(part);
    far.set_command(part.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    far.set_address(part.address);
    far.set_data_ptr(part.data);
    far.set_data_length(part.bytes);
    far.set_streaming_width(part.bytes);
    far.set_byte_enable_ptr(nullptr);
    far.set_dmi_allowed(false);
    far.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    request_open_ = &far;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum status = far_->nb_transport_fw(far, phase, delay);
    if (status == tlm::TLM_COMPLETED) {
        request_open_ = nullptr;
        far_end_answers_after(part, delay);
    } else if (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
        tlm::tlm_phase end = tlm::END_RESP;
        sc_core::sc_time zero = sc_core::SC_ZERO_TIME;
        far_->nb_transport_fw(far, end, zero);
        request_open_ = nullptr;
        far_end_answers_after(part, delay);
    } else if (status == tlm::TLM_UPDATED && request_open_ == &far) {
        request_open_ = nullptr;  // END_REQ
    }
    // TLM_ACCEPTED: END_REQ or BEGIN_RESP follows on the backward path.
}

tlm::tlm_sync_enum LinkPath::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                             sc_core::sc_time& delay) {
    if (phase == tlm::END_REQ) {
        far_request_accepted();
        return tlm::TLM_ACCEPTED;
    }
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    Part& part = *payload.get_extension<FarLink>()->part;
    const bool implies_end_req = request_open_ == &payload;
    far_end_answers_after(part, delay);
    if (implies_end_req) far_request_accepted();
    return tlm::TLM_COMPLETED;
}

void LinkPath::far_request_accepted() {
    request_open_ = nullptr;
    while (request_open_ == nullptr && !requests_held_.empty()) {
        Part* next = requests_held_.front();
        requests_held_.pop_front();
        forward(*next);
    }
}

void LinkPath::far_end_answers_after(Part& part, const sc_core::sc_time& delay) {
    if (__builtin_expect(delay == sc_core::SC_ZERO_TIME, 1))
        far_end_answered(handle(part));
    else
        agenda_.post<&LinkPath::far_end_answered>(agenda_.now() + to_sim_time(delay).time_since_epoch(), this,
                                                  handle(part));
}

void LinkPath::far_end_answered(std::uint64_t which) {
    Part& part = part_of(which);
    const tlm::tlm_response_status status = part.far->get_response_status();
    Transfer* t = part.transfer;
    if (part.write) {
        free_parts_.push_back(&part);
        if (status != tlm::TLM_OK_RESPONSE) ++posted_errors_;
        if (t == nullptr) return;
        t->status = status;
        answer(*t);
        return;
    }
    part.returning = true;
    if (status == tlm::TLM_OK_RESPONSE) {
        completions_.offer(TlpKind::completion_data,
                           TlpTrain::data(part.address, part.bytes, config_.completion_payload_bytes,
                                          overhead(TlpKind::completion_data, part.address)),
                           which);
    } else {
        t->status = status;
        completions_.offer(TlpKind::completion,
                           TlpTrain::headers(part.tlps, overhead(TlpKind::completion, part.address)), which);
    }
}

void LinkPath::completions_arrive(std::uint64_t which) {
    Part& part = part_of(which);
    Transfer& t = *part.transfer;
    t.completed += part.bytes;
    free_tags_ += part.tlps;
    free_parts_.push_back(&part);
    if (tags_short_since_ != kNever) {
        tag_stall_ += agenda_.now() - tags_short_since_;
        tags_short_since_ = kNever;
        issue_reads();
    }
    if (t.completed == t.bytes) answer(t);
}

void LinkPath::answer(Transfer& transfer) {
    transfer.payload->set_response_status(transfer.status);
    transfer.answered = true;
    if (transfer.in_call) return;  // nb_transport_fw returns TLM_COMPLETED
    tlm::tlm_generic_payload& payload = *transfer.payload;
    free_transfers_.push_back(&transfer);
    if (response_open_)
        responses_held_.push_back(&payload);
    else
        send_response(payload);
}

void LinkPath::send_response(tlm::tlm_generic_payload& payload) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    response_open_ = true;
    const tlm::tlm_sync_enum status = near_->nb_transport_bw(payload, phase, delay);
    if (status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::END_RESP)) response_open_ = false;
}

LinkPath::Part& LinkPath::new_part(Transfer& transfer) {
    if (free_parts_.empty()) {
        parts_.emplace_back();
        parts_.back().far = nullptr;
        free_parts_.push_back(&parts_.back());
    }
    Part& part = *free_parts_.back();
    free_parts_.pop_back();
    part.path = this;
    part.transfer = &transfer;
    part.returning = false;
    part.keeps_transfer = false;
    return part;
}

std::string LinkPath::dump(const char* name) const {
    return fmt::format("{}: {} payloads open, {} parts in flight, {} payloads wait for tags, {} tags free\n", name,
                       transfers_.size() - free_transfers_.size(), parts_.size() - free_parts_.size(), reads_.size(),
                       free_tags_);
}

}  // namespace ssdtlm
