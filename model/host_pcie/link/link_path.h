// SPDX-License-Identifier: Apache-2.0
// Carries the requests of one side of the link. It splits payloads into bursts of TLPs, keeps tags, forwards each
// request when it arrives at the far end, and brings completions back. A link has two of them: MMIO and DMA.
// Completions of different tags come in the order of their requests.
#pragma once

#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/containers/pool.h"
#include "common/tlm/agenda.h"
#include "common/tlm/pooled_payload.h"
#include "common/tlm/tlm_guard.h"
#include "host_pcie/link/link_direction.h"
#include "protocol/link_extension.h"
#include "protocol/signature.h"
#include "protocol/signature_memory.h"

namespace ssdtlm {

struct LinkPathConfig {
    std::uint32_t generation = 3;
    bool ecrc = false;
    std::uint64_t address_offset = 0;  ///< added to a payload's address to choose 3DW or 4DW headers
    std::uint32_t max_payload_bytes = 256;
    std::uint32_t max_read_request_bytes = 512;
    std::uint32_t completion_payload_bytes = 256;
    std::uint32_t read_tags = 32;
    std::uint32_t reads_per_burst = 8;  ///< MRd whose completions come as one burst, which frees their tags together
    Ps completer_latency{};             ///< read request: from visible at the far end to forwarded
    bool reports_inline = true;         ///< short writes get LinkExtension::visible_at as well
    bool byte_enables = true;           ///< passed on to the far end, except for writes that are copied
};

/// Both ends of the path, behind the guards at its sockets. It is a target for the requester, and an initiator for the
/// completer.
class LinkPath final : public tlm::tlm_fw_transport_if<>, public tlm::tlm_bw_transport_if<> {
public:
    using Near = tlm::tlm_target_socket<>;
    using Far = tlm::tlm_initiator_socket<>;

    /// Writes of up to this many bytes are copied, and answered when the wire takes them.
    static constexpr std::uint32_t kInlineBytes = 64;

    LinkPath(Agenda& agenda, const LinkPathConfig& config, LinkDirection& requests, LinkDirection& completions,
             Near& near, Far& far);
    LinkPath(const LinkPath&) = delete;
    LinkPath& operator=(const LinkPath&) = delete;

    /// Binds the near and the far socket to this object. A path that replaces it must have the same address.
    void bind_sockets() {
        near_.bind(near_door_);
        far_.bind(far_door_);
    }
    /// The counts. A path that replaces this one continues them.
    struct Counts {
        std::uint64_t posted_errors = 0;
        Ps tag_stall{};
    };
    const Counts& counts() const { return counts_; }
    void go_on_from(const Counts& counts) { counts_ = counts; }
    /// True: a thread is in b_transport.
    bool blocks_threads() const { return !blocked_.empty(); }
    /// Call it when both sockets are bound.
    void bound();
    /// Called by the requester. The answer to a posted write is TLM_COMPLETED at once if the wire is idle.
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    /// Called by loosely-timed requesters, from a thread. Returns when the response is there.
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override { return far_->transport_dbg(payload); }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    /// Called by the completer.
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}  // no direct memory is passed on

    /// The grant handler of both directions. It is called for bursts that had to wait.
    static void on_grant(const LinkGrant& grant);

    std::uint64_t posted_errors() const { return counts_.posted_errors; }
    bool waits_for_tag() const { return tags_short_since_ != kNever; }
    /// The time in which read requests waited for a tag.
    Ps tag_stall() const { return counts_.tag_stall; }
    std::string dump(const char* name) const;
    /// Throws CheckFailed if a part is held back, or waits for a tag, and will never continue. Call it between two
    /// entries of the agenda.
    void check_waiters(const char* name) const;

private:
    /// A read that needs more than one part.
    struct Transfer {
        tlm::tlm_generic_payload* near;
        std::uint8_t* data;
        std::uint64_t address;
        std::uint32_t bytes;
        std::uint32_t issued;     // bytes whose read requests have been offered
        std::uint32_t completed;  // bytes whose completions have arrived
        tlm::tlm_response_status status;
    };
    /// The far end sees a part as one payload: a write, or consecutive read requests with one burst of completions.
    struct Part : tlm::tlm_generic_payload, LinkDelivery {
        enum class State : std::uint8_t { write, bulk, read, returning };

        /// Takes the byte enables of `from` for a part that begins `offset` bytes into its data. If this is inside the
        /// pattern, the part moves all of its bytes.
        void take_enables(const tlm::tlm_generic_payload& from, std::uint64_t offset);

        LinkPath* path = nullptr;
        tlm::tlm_generic_payload* near = nullptr;  // answered when this part is done; null: see transfer
        Transfer* transfer = nullptr;              // the read that this part belongs to; null: see near
        LinkExtension* extension = nullptr;        // that of a write's payload; may be null
        std::uint32_t tlps = 0;
        State state = State::write;
        bool answer_on_grant = false;
        bool in_call = false;  // a write within its nb_transport_fw, which the return value answers
        std::uint8_t inline_data[kInlineBytes];
    };
    /// A thread that is in b_transport.
    struct Blocked {
        tlm::tlm_generic_payload* payload;
        sc_core::sc_event done;
    };

    tlm::tlm_sync_enum refuse(tlm::tlm_generic_payload& payload);
    tlm::tlm_sync_enum no_write(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    tlm::tlm_sync_enum bulk_write(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay,
                                  LinkExtension& extension);
    void read(tlm::tlm_generic_payload& payload);
    void read_in_parts(tlm::tlm_generic_payload& payload);
    void issue_reads();
    bool hands_on_enables(const tlm::tlm_generic_payload& payload) const {
        return config_.byte_enables && payload.get_byte_enable_length() != 0 &&
               (payload.is_read() || payload.get_data_length() > kInlineBytes);
    }
    bool is_refused(const tlm::tlm_generic_payload& payload) const {
        return !hands_on_enables(payload) ||
               (!takes_signatures_ && payload.get_byte_enable_ptr() == kSignatureOnly.data());
    }
    Part& new_part(Part::State state) {
        Part& part = parts_.acquire();
        part.path = this;
        part.state = state;
        return part;
    }
    Part& new_read(std::uint64_t address, std::uint8_t* data, std::uint32_t bytes, std::uint32_t tlps);
    void offer_read(Part& part);
    void granted_write(Part& part, const LinkGrant& grant);
    void granted_read(Part& part, const LinkGrant& grant);
    Part& split(Part& part, std::uint32_t tlps);
    static void write_arrives(LinkDelivery& delivery);
    void forward_write(Part& part);
    void read_arrives(std::uint64_t number);
    bool completed_by_far_end(Part& part);
    void write_answered(Part& part);
    void read_answered(Part& part);
    static void completions_arrive(LinkDelivery& delivery);
    void read_completed(Part& part);
    void answer(tlm::tlm_generic_payload& payload, tlm::tlm_response_status status);
    bool wake_thread(tlm::tlm_generic_payload& payload);
    std::uint32_t overhead(TlpKind kind, std::uint64_t address) const {
        return framing_bytes_ + tlp_header_bytes(kind, address + config_.address_offset);
    }

    Agenda& agenda_;
    LinkPathConfig config_;
    std::uint32_t framing_bytes_;
    LinkDirection& requests_;
    LinkDirection& completions_;
    Near& near_;
    Far& far_;
    TargetGuard<> near_door_;
    InitiatorGuard<> far_door_;
    tlm::tlm_bw_transport_if<>* requester_ = nullptr;  // what the sockets are bound to
    tlm::tlm_fw_transport_if<>* completer_ = nullptr;
    bool takes_signatures_ = false;  // the completer takes signatures

    PooledPayloads<Part> parts_;
    Pool<Transfer> transfers_;
    std::uint64_t open_ = 0;  // payloads that are accepted, but not answered

    boost::circular_buffer<Transfer*> reads_;  // reads with requests that are not issued yet, in order
    std::uint32_t free_tags_;
    SimTime tags_short_since_ = kNever;
    Counts counts_;
    std::vector<Blocked*> blocked_;
};

}  // namespace ssdtlm
