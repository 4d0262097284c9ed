// SPDX-License-Identifier: Apache-2.0
#include "controller/dma/dma_engine.h"

#include <fmt/format.h>

#include <algorithm>

namespace ssdtlm {

DmaEngine::DmaEngine(sc_core::sc_module_name name, Agenda& agenda)
    : sc_module(name), pcie_initiator("pcie_initiator"), agenda_(agenda) {
    pcie_initiator.register_nb_transport_bw(this, &DmaEngine::backward);
}

void DmaEngine::write_host(const HostSegment* segments, std::uint32_t count, const std::uint8_t* data,
                           DmaClient* client, std::uint64_t cookie) {
    // The generic payload has no pointer to const; a write only reads through it.
    start(true, segments, count, const_cast<std::uint8_t*>(data), client, cookie);
}

void DmaEngine::read_host(const HostSegment* segments, std::uint32_t count, std::uint8_t* data, DmaClient* client,
                          std::uint64_t cookie) {
    start(false, segments, count, data, client, cookie);
}

void DmaEngine::start(bool write, const HostSegment* segments, std::uint32_t count, std::uint8_t* data,
                      DmaClient* client, std::uint64_t cookie) {
    if (free_requests_.empty()) {
        requests_.emplace_back();
        free_requests_.push_back(&requests_.back());
    }
    Request& request = *free_requests_.back();
    free_requests_.pop_back();
    request = Request{client, cookie, agenda_.now(), 0, 1, write, false};
    ++(write ? counters_.writes : counters_.reads);
    for (std::uint32_t i = 0; i < count;) {
        const std::uint64_t address = segments[i].address;
        std::uint64_t bytes = segments[i].bytes;
        for (++i; i < count && segments[i].address == address + bytes; ++i) bytes += segments[i].bytes;
        for (std::uint64_t done = 0; done < bytes;) {
            const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes - done, kMaxPayloadBytes));
            send(request, address + done, data, n);
            data += n;
            done += n;
        }
    }
    SSDTLM_CHECK(request.bytes > 0, "DMA request without data");
    if (--request.outstanding == 0) finish(request);
}

void DmaEngine::send(Request& request, std::uint64_t address, std::uint8_t* data, std::uint32_t bytes) {
    Tag* tag = nullptr;
    tlm::tlm_generic_payload& p = payloads_.acquire(tag);
    tag->request = &request;
    tag->visible_at = agenda_.now();
    p.set_command(request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    p.set_address(address);
    p.set_data_ptr(data);
    p.set_data_length(bytes);
    p.set_streaming_width(bytes);
    p.set_byte_enable_ptr(nullptr);
    p.set_dmi_allowed(false);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    request.bytes += bytes;
    ++request.outstanding;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (pcie_initiator->nb_transport_fw(p, phase, delay) == tlm::TLM_COMPLETED) answered(p, *tag);
}

tlm::tlm_sync_enum DmaEngine::backward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
    if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    answered(p, *p.get_extension<Tag>());
    return tlm::TLM_COMPLETED;
}

void DmaEngine::answered(tlm::tlm_generic_payload& p, const Tag& tag) {
    Request& request = *tag.request;
    if (request.write)
        request.at = std::max(request.at, tag.visible_at);
    else if (!p.is_response_ok())
        request.failed = true;
    p.release();
    if (--request.outstanding == 0) finish(request);
}

void DmaEngine::finish(Request& request) {
    const Request r = request;
    free_requests_.push_back(&request);
    (r.write ? counters_.bytes_written : counters_.bytes_read) += r.bytes;
    if (r.failed) ++counters_.failed_reads;
    if (r.client == nullptr) return;
    if (r.failed)
        r.client->dma_failed(r.cookie);
    else
        r.client->dma_done(r.cookie, std::max(r.at, agenda_.now()));
}

std::string DmaEngine::dump() const {
    return fmt::format("DMA engine: {} requests outstanding, {} writes ({} B), {} reads ({} B), {} failed\n",
                       outstanding(), counters_.writes, counters_.bytes_written, counters_.reads, counters_.bytes_read,
                       counters_.failed_reads);
}

}  // namespace ssdtlm
