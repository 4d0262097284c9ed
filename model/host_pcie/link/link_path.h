// SPDX-License-Identifier: Apache-2.0
// The requests of one side of the link: splits payloads into bursts of TLPs, holds tags, forwards each request at
// the far end when it arrives there, and brings completions back. Two of them make a link: MMIO and DMA.
// Models no ordering between completions of different tags beyond first come, first served.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <deque>
#include <string>
#include <tlm>
#include <vector>

#include "common/tlm/agenda.h"
#include "common/tlm/payload_pool.h"
#include "host_pcie/link/link_direction.h"
#include "host_pcie/protocol/link_extension.h"

namespace ssdtlm {

class PcieLink;

struct LinkPathConfig {
    std::uint32_t generation = 3;
    bool ecrc = false;
    std::uint64_t address_offset = 0;  ///< added to a payload's address to choose 3DW or 4DW headers
    std::uint32_t max_payload_bytes = 256;
    std::uint32_t max_read_request_bytes = 512;
    std::uint32_t completion_payload_bytes = 256;
    std::uint32_t read_tags = 32;
    std::uint32_t reads_per_burst = 8;  ///< MRd whose completions come as one burst; their tags free together
    Ps completer_latency{};             ///< read request visible at the far end -> forwarded there
};

class LinkPath {
public:
    /// Writes of at most this many bytes are copied and answered when the wire takes them.
    static constexpr std::uint32_t kInlineBytes = 64;

    LinkPath(Agenda& agenda, const LinkPathConfig& config, LinkDirection& requests, LinkDirection& completions,
             tlm_utils::simple_target_socket<PcieLink>& near, tlm_utils::simple_initiator_socket<PcieLink>& far);
    LinkPath(const LinkPath&) = delete;
    LinkPath& operator=(const LinkPath&) = delete;

    /// From the requester. Answers TLM_COMPLETED at once when the wire is idle for a posted write.
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay);
    /// From the completer.
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay);

    /// LinkDirection's grant handler for both directions.
    static void on_grant(const LinkGrant& grant);

    std::uint64_t posted_errors() const { return posted_errors_; }
    /// Time during which read requests waited for a tag.
    Ps tag_stall() const { return tag_stall_; }
    std::string dump(const char* name) const;

private:
    /// One payload of the requester.
    struct Transfer {
        tlm::tlm_generic_payload* payload;
        std::uint8_t* data;
        std::uint64_t address;
        std::uint32_t bytes;
        std::uint32_t issued;     // bytes whose read requests have been offered
        std::uint32_t completed;  // bytes whose completions have arrived
        tlm::tlm_response_status status;
        bool in_call;  // inside nb_transport_fw: answer by its return value
        bool answered;
    };
    /// Forwarded as one payload: a write, or consecutive read requests with one burst of completions.
    struct Part {
        LinkPath* path;
        Transfer* transfer;
        tlm::tlm_generic_payload* far;  // kept for the next part, unless the far end still holds it
        LinkExtension* extension;       // of a write's payload; may be null
        std::uint8_t* data;
        std::uint64_t address;
        std::uint32_t bytes;
        std::uint32_t tlps;
        bool write;
        bool keeps_transfer;  // the answer to the write depends on the far end
        bool returning;       // completions are on their way
        std::uint8_t inline_data[kInlineBytes];
    };
    struct FarLink : tlm::tlm_extension<FarLink> {
        Part* part = nullptr;
        tlm::tlm_extension_base* clone() const override { return new FarLink(*this); }
        void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const FarLink&>(other); }
    };

    void begin_write(Transfer& transfer);
    tlm::tlm_generic_payload& far_payload(Part& part);
    void issue_reads();
    void offer_reads(Transfer& transfer, std::uint32_t tlps, std::uint64_t bytes);
    void granted(Part& part, const LinkGrant& grant);
    void granted_write(Part& part, const LinkGrant& grant);
    void granted_read(Part& part, const LinkGrant& grant);
    void arrive(std::uint64_t part);
    void forward(Part& part);
    void far_end_answered(std::uint64_t part);
    void far_end_answers_after(Part& part, const sc_core::sc_time& delay);
    void far_request_accepted();
    void completions_arrive(std::uint64_t part);
    void answer(Transfer& transfer);
    void send_response(tlm::tlm_generic_payload& payload);
    Part& new_part(Transfer& transfer);
    std::uint32_t overhead(TlpKind kind, std::uint64_t address) const {
        return tlp_overhead_bytes(config_.generation, config_.ecrc, kind, address + config_.address_offset);
    }
    static std::uint64_t handle(Part& part) { return reinterpret_cast<std::uintptr_t>(&part); }
    static Part& part_of(std::uint64_t handle) { return *reinterpret_cast<Part*>(static_cast<std::uintptr_t>(handle)); }

    Agenda& agenda_;
    LinkPathConfig config_;
    LinkDirection& requests_;
    LinkDirection& completions_;
    tlm_utils::simple_target_socket<PcieLink>& near_;
    tlm_utils::simple_initiator_socket<PcieLink>& far_;

    std::deque<Transfer> transfers_;  // deque: stable addresses
    std::vector<Transfer*> free_transfers_;
    std::deque<Part> parts_;
    std::vector<Part*> free_parts_;
    PayloadPool<FarLink> far_payloads_;

    boost::circular_buffer<Transfer*> reads_;  // not completely issued, in order
    std::uint32_t free_tags_;
    SimTime tags_short_since_ = kNever;
    Ps tag_stall_{};
    std::uint64_t posted_errors_ = 0;

    // Base protocol: one request without END_REQ, one response without END_RESP at a time.
    tlm::tlm_generic_payload* request_open_ = nullptr;
    std::deque<Part*> requests_held_;
    bool response_open_ = false;
    std::deque<tlm::tlm_generic_payload*> responses_held_;
};

}  // namespace ssdtlm
