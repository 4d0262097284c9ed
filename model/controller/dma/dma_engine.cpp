// SPDX-License-Identifier: Apache-2.0
#include "controller/dma/dma_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

namespace {
/// Stands at the socket when there is no host.
struct Nobody final : tlm::tlm_fw_transport_if<> {
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
        return tlm::TLM_ACCEPTED;
    }
    void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
};
Nobody nobody;

}  // namespace

/// Stands at the socket while the function is reset.
struct DmaEngine::Refuses final : tlm::tlm_fw_transport_if<> {
    explicit Refuses(const DmaEngine& e) : engine(e) {}
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase&, sc_core::sc_time& delay) override {
        p.set_response_status(p.is_write() ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
        if (p.is_write())
            static_cast<Payload&>(p).link->visible_at =
                std::max(engine.latest_, engine.agenda_.now() + to_sim_time(delay).time_since_epoch());
        return tlm::TLM_COMPLETED;
    }
    void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    const DmaEngine& engine;
};

DmaEngine::DmaEngine(sc_core::sc_module_name name, Agenda& agenda, std::uint64_t read_window_bytes)
    : sc_module(name),
      pcie_initiator("pcie_initiator"),
      agenda_(agenda),
      door_(agenda, *this),
      refuses_(std::make_unique<Refuses>(*this)),
      read_window_(read_window_bytes),
      work_(std::in_place) {
    pcie_initiator.bind(door_);
}

DmaEngine::~DmaEngine() = default;

void DmaEngine::host_is_gone() {
    door_.restart();
    link_ = &nobody;
    quiet_ = nullptr;
}

void DmaEngine::reconnect() {
    if (is_cut_off()) link_ = host_;
}

// Not by transport() from burst to burst: each would be answered within the answer of the one before.
void DmaEngine::end_waiting(std::function<void()> quiet) {
    quiet_ = std::move(quiet);
    std::deque<Payload*> writes, reads;
    writes.swap(work_->waiting_writes);
    reads.swap(work_->waiting_reads);
    for (Payload* const p : writes) {
        ++work_->writes_ahead;
        transport(*p, SimTime{});
    }
    for (Payload* const p : reads) {
        work_->reads_under_way += p->get_data_length();
        transport(*p, SimTime{});
    }
    look_if_quiet();
}

void DmaEngine::look_if_quiet() {
    if (work_->outstanding == 0) std::exchange(quiet_, nullptr)();
}

inline __attribute__((always_inline)) void DmaEngine::report(bool write, bool failed, std::uint32_t bytes, SimTime at,
                                                             const DmaThen& then) {
    --work_->outstanding;
    (write ? counters_.bytes_written : counters_.bytes_read) += bytes;
    if (__builtin_expect(failed, 0)) ++counters_.failed_reads;
    at = std::max(at, agenda_.now());
    latest_ = std::max(latest_, at);
    if (then) then(DmaEnd{at, failed});
}

inline __attribute__((always_inline)) void DmaEngine::answered(Payload& p) {
    if (__builtin_expect(p.request != nullptr, 0)) {
        answered_part(p);
        return;
    }
    const bool write = p.is_write();
    const DmaThen then = p.then;
    const std::uint32_t bytes = p.get_data_length();
    const SimTime at = p.link->visible_at;
    const bool failed = !write && !p.is_response_ok();
    const bool data = p.data;
    work_->payloads.release(p);
    if (data) data_burst_left(write, bytes);
    report(write, failed, bytes, at, then);
}

inline __attribute__((always_inline)) void DmaEngine::transport(Payload& payload, SimTime from) {
    const SimTime now = agenda_.now();
    payload.link->visible_at = now;  // stays when the response comes on arrival
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = from > now ? to_sc_time(from - now) : sc_core::SC_ZERO_TIME;
    if (link_->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED) answered(payload);
}

// Data bursts wait here for their turn, first come, first served; control traffic does not, and bulk writes wait at the
// link.
inline __attribute__((always_inline)) void DmaEngine::admit(Payload& p, const DmaTerms& terms) {
    p.link->bulk = terms.bulk;
    p.link->prompt = terms.prompt;
    if (p.data) {
        if (p.is_write()) {
            if (work_->writes_ahead >= kWritesAhead && !is_cut_off()) {
                latest_ = std::max(latest_, terms.from);
                work_->waiting_writes.push_back(&p);
                return;
            }
            ++work_->writes_ahead;
        } else {
            if (work_->reads_under_way != 0 && work_->reads_under_way + p.get_data_length() > read_window_ &&
                !is_cut_off()) {
                work_->waiting_reads.push_back(&p);
                return;
            }
            work_->reads_under_way += p.get_data_length();
        }
    }
    transport(p, terms.from);
}

// The link has taken a write (it has its place on the wire) or answered a read.
void DmaEngine::data_burst_left(bool write, std::uint32_t bytes) {
    if (write) {
        --work_->writes_ahead;
        while (work_->writes_ahead < kWritesAhead && !work_->waiting_writes.empty()) {
            Payload& next = *work_->waiting_writes.front();
            work_->waiting_writes.pop_front();
            ++work_->writes_ahead;
            transport(next, SimTime{});
        }
        return;
    }
    work_->reads_under_way -= bytes;
    while (!work_->waiting_reads.empty() &&
           (work_->reads_under_way == 0 ||
            work_->reads_under_way + work_->waiting_reads.front()->get_data_length() <= read_window_)) {
        Payload& next = *work_->waiting_reads.front();
        work_->waiting_reads.pop_front();
        work_->reads_under_way += next.get_data_length();
        transport(next, SimTime{});
    }
}

template <bool Write>
inline __attribute__((always_inline)) void DmaEngine::start(const HostSegment* segments, std::uint32_t count,
                                                            std::uint8_t* data, const DmaThen& then,
                                                            ByteEnables content, const DmaTerms& terms) {
    ++work_->outstanding;
    ++(Write ? counters_.writes : counters_.reads);
    if (__builtin_expect(count != 1 || segments->bytes > (terms.bulk ? kMaxBulkBytes : kMaxPayloadBytes), 0)) {
        start_many(Write, segments, count, data, then, content, terms);
        return;
    }
    SSDTLM_CHECK(segments->bytes > 0, "DMA request without data");
    Payload& p = work_->payloads.acquire();
    p.request = nullptr;
    p.then = then;
    p.data = !terms.bulk && is_data(Write, segments->bytes);
    set_up(p, Write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, segments->address, data, segments->bytes);
    if (content.pattern != nullptr) enable(p, content);
    admit(p, terms);
}

inline void DmaEngine::enable(Payload& payload, ByteEnables content) {
    // The generic payload has no pointer to const; a target only reads the enables.
    payload.set_byte_enable_ptr(const_cast<std::uint8_t*>(content.pattern));
    payload.set_byte_enable_length(content.bytes);
}

void DmaEngine::write_host(const HostSegment* segments, std::uint32_t count, const std::uint8_t* data,
                           const DmaThen& then, ByteEnables content, const DmaTerms& terms) {
    // The generic payload has no pointer to const; a write only reads through it.
    start<true>(segments, count, const_cast<std::uint8_t*>(data), then, content, terms);
}

void DmaEngine::post_host(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes) {
    SSDTLM_CHECK(bytes > 0 && bytes <= kDmaInlineBytes, "DMA write of this length needs somebody who waits for it");
    ++counters_.writes;
    Payload& p = work_->payloads.acquire();
    p.request = nullptr;
    p.then = {};
    p.data = false;
    p.link->bulk = false;  // `prompt` says something of bulk writes alone; of visible_at nobody hears here
    set_up(p, tlm::TLM_WRITE_COMMAND, address, const_cast<std::uint8_t*>(data), bytes);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    if (__builtin_expect(link_->nb_transport_fw(p, phase, delay) == tlm::TLM_COMPLETED, 1)) {
        counters_.bytes_written += bytes;
        work_->payloads.release(p);
    } else {
        ++work_->outstanding;
    }
}

void DmaEngine::read_host(const HostSegment* segments, std::uint32_t count, std::uint8_t* data, const DmaThen& then,
                          ByteEnables content) {
    start<false>(segments, count, data, then, content, kPlainTerms);
}

__attribute__((noinline)) void DmaEngine::start_many(bool write, const HostSegment* segments, std::uint32_t count,
                                                     std::uint8_t* data, const DmaThen& then, ByteEnables content,
                                                     const DmaTerms& terms) {
    Request& request = work_->requests.acquire();
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < count; ++i) total += segments[i].bytes;
    const bool bulk = terms.bulk || (write && total > kMaxPayloadBytes);
    request = Request{then, agenda_.now(), 0, 1, write, false, !bulk && is_data(write, total)};
    for (std::uint32_t i = 0; i < count;) {
        const std::uint64_t address = segments[i].address;
        std::uint64_t bytes = segments[i].bytes;
        for (++i; i < count && segments[i].address == address + bytes; ++i) bytes += segments[i].bytes;
        for (std::uint64_t done = 0; done < bytes;) {
            const auto n = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(bytes - done, bulk ? kMaxBulkBytes : kMaxPayloadBytes));
            // A piece that begins inside the pattern moves all its bytes, and so does one that is so short that the
            // link copies it.
            const bool aligned =
                content.pattern != nullptr && request.bytes % content.bytes == 0 && (!write || n > kDmaInlineBytes);
            const bool last = request.bytes + n == total;  // with it, all are answered
            send(request, address + done, data, n, aligned ? content : ByteEnables{},
                 {terms.from, terms.prompt && last, bulk});
            data += n;
            done += n;
        }
    }
    SSDTLM_CHECK(request.bytes > 0, "DMA request without data");
    if (--request.outstanding == 0) finish(request);
}

void DmaEngine::send(Request& request, std::uint64_t address, std::uint8_t* data, std::uint32_t bytes,
                     ByteEnables content, const DmaTerms& terms) {
    Payload& p = work_->payloads.acquire();
    p.request = &request;
    p.data = request.data;  // a short piece of a long request keeps its place
    set_up(p, request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, data, bytes);
    if (content.pattern != nullptr) enable(p, content);
    request.bytes += bytes;
    ++request.outstanding;
    admit(p, terms);
}

tlm::tlm_sync_enum DmaEngine::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    answered(static_cast<Payload&>(payload));
    if (__builtin_expect(static_cast<bool>(quiet_), 0)) look_if_quiet();
    return tlm::TLM_COMPLETED;
}

__attribute__((noinline)) void DmaEngine::answered_part(Payload& p) {
    Request& request = *p.request;
    if (request.write)
        request.at = std::max(request.at, p.link->visible_at);
    else if (!p.is_response_ok())
        request.failed = true;
    const bool data = p.data;
    const std::uint32_t bytes = p.get_data_length();
    work_->payloads.release(p);
    if (data) data_burst_left(request.write, bytes);
    if (--request.outstanding == 0) finish(request);
}

void DmaEngine::finish(Request& request) {
    const Request r = request;
    work_->requests.release(request);
    report(r.write, r.failed, r.bytes, r.at, r.then);
}

void DmaEngine::check_waiters() const {
    door_.check_waiters("DMA engine");
    if (!work_->waiting_writes.empty() && work_->writes_ahead == 0)
        throw CheckFailed(
            fmt::format("DMA engine: {} writes wait, and none is at the link", work_->waiting_writes.size()));
    if (!work_->waiting_reads.empty() && work_->reads_under_way == 0)
        throw CheckFailed(
            fmt::format("DMA engine: {} reads wait, and none is at the link", work_->waiting_reads.size()));
    if (work_->outstanding == 0 && (work_->writes_ahead != 0 || work_->reads_under_way != 0))
        throw CheckFailed(
            fmt::format("DMA engine: {} writes and {} bytes of reads are counted at the link, but no request is "
                        "outstanding",
                        work_->writes_ahead, work_->reads_under_way));
}

std::string DmaEngine::dump() const {
    return fmt::format(
        "DMA engine: {} requests outstanding, {} writes ({} B), {} reads ({} B), {} failed; data bursts waiting: {} "
        "writes, {} reads\n",
        outstanding(), counters_.writes, counters_.bytes_written, counters_.reads, counters_.bytes_read,
        counters_.failed_reads, work_->waiting_writes.size(), work_->waiting_reads.size());
}

}  // namespace ssdtlm
