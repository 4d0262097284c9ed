// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/link/link_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

LinkPath::LinkPath(Agenda& agenda, const LinkPathConfig& config, LinkDirection& requests, LinkDirection& completions,
                   Near& near, Far& far)
    : agenda_(agenda),
      config_(config),
      framing_bytes_(tlp_framing_bytes(config.generation, config.ecrc)),
      requests_(requests),
      completions_(completions),
      near_(near),
      far_(far),
      near_door_(agenda, *this, true),
      far_door_(agenda, *this),
      reads_(64),
      free_tags_(config.read_tags) {}

void LinkPath::bound() {
    requester_ = near_door_.towards(near_.operator->());
    completer_ = far_door_.towards(far_.operator->());
    auto* const guard = dynamic_cast<TargetGuard<>*>(far_.operator->());
    takes_signatures_ = dynamic_cast<SignatureMemory*>(guard != nullptr ? &guard->module() : completer_) != nullptr;
}

// ---------------------------------------------------------------------------------------------------------------
// From the requester.

tlm::tlm_sync_enum LinkPath::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                             sc_core::sc_time& delay) {
    const std::uint32_t bytes = payload.get_data_length();
    // Most traffic here is posted writes, so everything else is handled in no_write().
    if (__builtin_expect(phase != tlm::BEGIN_REQ || !payload.is_write() || bytes == 0, 0))
        return no_write(payload, phase, delay);
    const bool copied = bytes <= kInlineBytes;
    auto* const extension = !copied || config_.reports_inline ? payload.get_extension<LinkExtension>() : nullptr;
    if (__builtin_expect(extension != nullptr && extension->bulk, 0))
        return bulk_write(payload, phase, delay, *extension);
    if (__builtin_expect(delay.value() != 0, 0)) return near_door_.later(payload, phase, delay);
    unsigned char* const enables = payload.get_byte_enable_ptr();
    if (__builtin_expect(enables != nullptr, 0) && is_refused(payload)) return refuse(payload);

    const std::uint64_t address = payload.get_address();
    Part& part = new_part(Part::State::write);
    std::uint8_t* data = payload.get_data_ptr();
    if (copied) {
        copy_bytes(part.inline_data, data, bytes);
        data = part.inline_data;
    }
    set_up(part, tlm::TLM_WRITE_COMMAND, address, data, bytes);
    part.set_byte_enable_ptr(enables);
    part.set_byte_enable_length(payload.get_byte_enable_length());
    part.extension = extension;
    part.answer_on_grant = copied || part.extension != nullptr;
    const auto train = TlpTrain::data(address, bytes, config_.max_payload_bytes, overhead(TlpKind::mem_write, address));
    LinkGrant grant;
    if (__builtin_expect(requests_.offer_at_once(TlpKind::mem_write, train, grant), 1)) {
        requests_.deliver(grant.delivered, part, &LinkPath::write_arrives);
        if (__builtin_expect(part.answer_on_grant, 1)) {
            if (part.extension != nullptr) part.extension->visible_at = grant.delivered;
            part.near = nullptr;
            payload.set_response_status(tlm::TLM_OK_RESPONSE);
            return tlm::TLM_COMPLETED;
        }
        part.near = &payload;
    } else {
        part.near = &payload;
        part.in_call = true;
        requests_.queue(TlpKind::mem_write, train, part);
        part.in_call = false;
        if (part.near == nullptr) {
            payload.set_response_status(tlm::TLM_OK_RESPONSE);
            return tlm::TLM_COMPLETED;
        }
    }
    ++open_;
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

/// Queues a bulk write. It is sent when its data are there and no other burst needs the wire.
__attribute__((noinline)) tlm::tlm_sync_enum LinkPath::bulk_write(tlm::tlm_generic_payload& payload,
                                                                  tlm::tlm_phase& phase, sc_core::sc_time& delay,
                                                                  LinkExtension& extension) {
    if (payload.get_byte_enable_ptr() != nullptr && is_refused(payload)) return refuse(payload);
    const std::uint64_t address = payload.get_address();
    const std::uint32_t bytes = payload.get_data_length();
    Part& part = new_part(Part::State::bulk);
    set_up(part, tlm::TLM_WRITE_COMMAND, address, payload.get_data_ptr(), bytes);
    part.set_byte_enable_ptr(payload.get_byte_enable_ptr());
    part.set_byte_enable_length(payload.get_byte_enable_length());
    part.extension = &extension;
    part.answer_on_grant = true;
    part.near = &payload;
    ++open_;
    const auto train = TlpTrain::data(address, bytes, config_.max_payload_bytes, overhead(TlpKind::mem_write, address));
    requests_.offer_bulk(train, agenda_.now() + to_sim_time(delay).time_since_epoch(), extension.prompt, part,
                         &LinkPath::write_arrives);
    delay = sc_core::SC_ZERO_TIME;
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

__attribute__((noinline)) tlm::tlm_sync_enum LinkPath::no_write(tlm::tlm_generic_payload& payload,
                                                                tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    if (__builtin_expect(delay.value() != 0, 0)) return near_door_.later(payload, phase, delay);
    if (!payload.is_read() || payload.get_data_length() == 0 ||
        (payload.get_byte_enable_ptr() != nullptr && is_refused(payload)))
        return refuse(payload);
    read(payload);
    ++open_;
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

__attribute__((noinline, cold)) tlm::tlm_sync_enum LinkPath::refuse(tlm::tlm_generic_payload& payload) {
    if (payload.get_byte_enable_ptr() == kSignatureOnly.data() && hands_on_enables(payload))
        throw UserError(Problem{
            "run.data", std::string("signatures, but ") + far_.name() + " is bound to host memory of another make",
            "signatures only with the model's own host (RootComplex)", "set run.data = \"bytes\""});
    payload.set_response_status(payload.get_byte_enable_ptr() != nullptr ? tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE
                                : payload.get_data_length() == 0         ? tlm::TLM_BURST_ERROR_RESPONSE
                                                                         : tlm::TLM_COMMAND_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
}

void LinkPath::read(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    const std::uint32_t bytes = payload.get_data_length();
    const std::uint32_t n = piece_count(address, bytes, config_.max_read_request_bytes);
    if (__builtin_expect(!reads_.empty() || n > free_tags_ || n > config_.reads_per_burst, 0)) {
        read_in_parts(payload);
        return;
    }
    Part& part = new_read(address, payload.get_data_ptr(), bytes, n);
    part.take_enables(payload, 0);
    part.near = &payload;
    part.transfer = nullptr;
    free_tags_ -= n;
    offer_read(part);
}

__attribute__((noinline)) void LinkPath::read_in_parts(tlm::tlm_generic_payload& payload) {
    Transfer& transfer = transfers_.acquire();
    transfer = {&payload, payload.get_data_ptr(), payload.get_address(), payload.get_data_length(), 0,
                0,        tlm::TLM_OK_RESPONSE};
    if (reads_.full()) reads_.set_capacity(2 * reads_.capacity());
    reads_.push_back(&transfer);
    issue_reads();
}

/// Offers read requests, those of the oldest payload first, while there are free tags.
void LinkPath::issue_reads() {
    const std::uint32_t unit = config_.max_read_request_bytes;
    while (!reads_.empty() && free_tags_ > 0) {
        Transfer& t = *reads_.front();
        const std::uint64_t address = t.address + t.issued;
        const std::uint32_t left = t.bytes - t.issued;
        const std::uint32_t n = std::min({piece_count(address, left, unit), free_tags_, config_.reads_per_burst});
        const auto bytes = static_cast<std::uint32_t>(piece_prefix(address, left, unit, n));
        Part& part = new_read(address, t.data + t.issued, bytes, n);
        part.take_enables(*t.near, t.issued);
        part.transfer = &t;
        t.issued += bytes;
        free_tags_ -= n;
        if (t.issued == t.bytes) reads_.pop_front();
        offer_read(part);
    }
    if (!reads_.empty() && tags_short_since_ == kNever) tags_short_since_ = agenda_.now();
}

LinkPath::Part& LinkPath::new_read(std::uint64_t address, std::uint8_t* data, std::uint32_t bytes, std::uint32_t tlps) {
    Part& part = new_part(Part::State::read);
    set_up(part, tlm::TLM_READ_COMMAND, address, data, bytes);
    part.tlps = tlps;
    return part;
}

inline void LinkPath::Part::take_enables(const tlm::tlm_generic_payload& from, std::uint64_t offset) {
    unsigned char* const pattern = from.get_byte_enable_ptr();
    if (pattern == nullptr || offset % from.get_byte_enable_length() != 0) return;
    set_byte_enable_ptr(pattern);
    set_byte_enable_length(from.get_byte_enable_length());
}

void LinkPath::offer_read(Part& part) {
    const auto train = TlpTrain::headers(part.tlps, overhead(TlpKind::mem_read, part.get_address()));
    LinkGrant grant;
    if (__builtin_expect(requests_.offer_at_once(TlpKind::mem_read, train, grant), 1))
        granted_read(part, grant);
    else
        requests_.queue(TlpKind::mem_read, train, part);
}

void LinkPath::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    Blocked blocked{&payload, {}};
    blocked_.push_back(&blocked);
    const bool answered = nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED;
    if (!answered) sc_core::wait(blocked.done);
    blocked_.erase(std::find(blocked_.begin(), blocked_.end(), &blocked));
}

// ---------------------------------------------------------------------------------------------------------------
// On the wire.

void LinkPath::on_grant(const LinkGrant& grant) {
    Part& part = static_cast<Part&>(*grant.burst);
    LinkPath& path = *part.path;
    switch (part.state) {
        case Part::State::write:
        case Part::State::bulk:
            path.granted_write(part, grant);
            break;
        case Part::State::read:
            path.granted_read(part, grant);
            break;
        case Part::State::returning:
            path.completions_.deliver(grant.delivered, part, &LinkPath::completions_arrive);
            break;
    }
}

/// Handles the grant of a write that had to wait for the wire. The direction itself delivers bulk writes.
void LinkPath::granted_write(Part& part, const LinkGrant& grant) {
    if (part.state == Part::State::write) requests_.deliver(grant.delivered, part, &LinkPath::write_arrives);
    if (!part.answer_on_grant) return;
    if (part.extension != nullptr) part.extension->visible_at = grant.delivered;
    tlm::tlm_generic_payload& near = *part.near;
    part.near = nullptr;
    if (!part.in_call) answer(near, tlm::TLM_OK_RESPONSE);
}

/// Completions begin when the first request has arrived and the completer latency has passed. The completions of the
/// other requests are then ready in time, as a completion is never shorter on the wire than a request.
void LinkPath::granted_read(Part& part, const LinkGrant& grant) {
    Part& head = __builtin_expect(grant.tlps == part.tlps, 1) ? part : split(part, grant.tlps);
    agenda_.post(grant.first_delivered + config_.completer_latency,
                 Then::to<&LinkPath::read_arrives>(this, parts_.handle_of(head).number()));
}

/// Splits the first requests off a part that lacks credits for all of them.
LinkPath::Part& LinkPath::split(Part& part, std::uint32_t tlps) {
    const std::uint64_t address = part.get_address();
    const std::uint32_t all = part.get_data_length();
    if (part.transfer == nullptr) {
        part.transfer = &transfers_.acquire();
        *part.transfer = {part.near, part.get_data_ptr(), address, all, all, 0, tlm::TLM_OK_RESPONSE};
    }
    const auto bytes = static_cast<std::uint32_t>(piece_prefix(address, all, config_.max_read_request_bytes, tlps));
    Part& head = new_read(address, part.get_data_ptr(), bytes, tlps);
    const Transfer& t = *part.transfer;
    head.transfer = part.transfer;
    head.take_enables(*t.near, address - t.address);
    set_up(part, tlm::TLM_READ_COMMAND, address + bytes, part.get_data_ptr() + bytes, all - bytes);
    part.take_enables(*t.near, address + bytes - t.address);
    part.tlps -= tlps;
    return head;
}

// ---------------------------------------------------------------------------------------------------------------
// At the far end.

void LinkPath::write_arrives(LinkDelivery& delivery) {
    Part& part = static_cast<Part&>(delivery);
    part.path->forward_write(part);
}

inline void LinkPath::forward_write(Part& part) {
    if (__builtin_expect(completed_by_far_end(part), 1)) write_answered(part);
}

void LinkPath::read_arrives(std::uint64_t number) {
    Part& part = parts_.at(number);
    if (__builtin_expect(completed_by_far_end(part), 1)) read_answered(part);
}

/// Forwards the part to the completer. Returns false if the response comes by nb_transport_bw(), or has come already.
inline __attribute__((always_inline)) bool LinkPath::completed_by_far_end(Part& part) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    return completer_->nb_transport_fw(part, phase, delay) == tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum LinkPath::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                             sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    Part& part = static_cast<Part&>(payload);
    if (part.state == Part::State::read)
        read_answered(part);
    else
        write_answered(part);
    return tlm::TLM_COMPLETED;
}

inline void LinkPath::write_answered(Part& part) {
    const tlm::tlm_response_status status = part.get_response_status();
    tlm::tlm_generic_payload* const near = part.near;
    parts_.release(part);
    if (__builtin_expect(status != tlm::TLM_OK_RESPONSE, 0)) ++counts_.posted_errors;
    if (__builtin_expect(near != nullptr, 0)) answer(*near, status);
}

void LinkPath::read_answered(Part& part) {
    const tlm::tlm_response_status status = part.get_response_status();
    const bool good = status == tlm::TLM_OK_RESPONSE;
    part.state = Part::State::returning;
    if (!good && part.transfer != nullptr) part.transfer->status = status;
    const std::uint64_t address = part.get_address();
    const TlpKind kind = good ? TlpKind::completion_data : TlpKind::completion;
    const auto train = good ? TlpTrain::data(address, part.get_data_length(), config_.completion_payload_bytes,
                                             overhead(kind, address))
                            : TlpTrain::headers(part.tlps, overhead(kind, address));
    LinkGrant grant;
    if (__builtin_expect(completions_.offer_at_once(kind, train, grant), 1))
        completions_.deliver(grant.delivered, part, &LinkPath::completions_arrive);
    else
        completions_.queue(kind, train, part);
}

// ---------------------------------------------------------------------------------------------------------------
// Back at the requester.

void LinkPath::completions_arrive(LinkDelivery& delivery) {
    Part& part = static_cast<Part&>(delivery);
    part.path->read_completed(part);
}

inline void LinkPath::read_completed(Part& part) {
    Transfer* const t = part.transfer;
    tlm::tlm_generic_payload* const near = t == nullptr ? part.near : t->near;
    const tlm::tlm_response_status status = part.get_response_status();
    if (t != nullptr) t->completed += part.get_data_length();
    free_tags_ += part.tlps;
    parts_.release(part);
    if (__builtin_expect(tags_short_since_ != kNever, 0)) {
        counts_.tag_stall += agenda_.now() - tags_short_since_;
        tags_short_since_ = kNever;
        issue_reads();
    }
    if (t == nullptr) {
        answer(*near, status);
    } else if (t->completed == t->bytes) {
        const tlm::tlm_response_status all = t->status;
        transfers_.release(*t);
        answer(*near, all);
    }
}

void LinkPath::answer(tlm::tlm_generic_payload& payload, tlm::tlm_response_status status) {
    --open_;
    payload.set_response_status(status);
    if (__builtin_expect(!blocked_.empty(), 0) && wake_thread(payload)) return;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    requester_->nb_transport_bw(payload, phase, delay);
}

bool LinkPath::wake_thread(tlm::tlm_generic_payload& payload) {
    for (Blocked* b : blocked_) {
        if (b->payload != &payload) continue;
        b->done.notify(sc_core::SC_ZERO_TIME);
        return true;
    }
    return false;
}

void LinkPath::check_waiters(const char* name) const {
    const std::string where = fmt::format("{} path of the link", name);
    near_door_.check_waiters(where);
    far_door_.check_waiters(where);
    if (!reads_.empty() && (free_tags_ != 0 || tags_short_since_ == kNever))
        throw CheckFailed(fmt::format("{}: {} reads wait for a tag, and tags are free or nobody will look when one is",
                                      where, reads_.size()));
}

std::string LinkPath::dump(const char* name) const {
    return fmt::format(
        "{}: {} payloads open, {} parts in flight, {} payloads wait for tags, {} tags free, {} requests and "
        "{} responses held back\n",
        name, open_, parts_.in_use(), reads_.size(), free_tags_, far_door_.held(), near_door_.held());
}

}  // namespace ssdtlm
