// SPDX-License-Identifier: Apache-2.0
// One direction of a PCIe link as a serial resource: bursts of TLPs wait in arrival order, take their flow-control
// credits, and occupy the wire for their exact number of bytes. Models one virtual channel; no replay, no TLP
// interleaving inside a burst, no link power states. Kernel-free.
#pragma once

#include <array>
#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <string>

#include "common/tlm/agenda.h"
#include "common/units/units.h"
#include "host_pcie/link/credits.h"
#include "host_pcie/protocol/tlp.h"

namespace ssdtlm {

struct LinkDirectionConfig {
    Rate rate;
    Ps latency{};                      ///< end of serialisation -> visible at the far end
    Ps credit_return_latency{};        ///< visible at the far end -> credits usable again here
    std::uint32_t posted_headers = 0;  ///< 0: infinite
    std::uint32_t posted_data = 0;
    std::uint32_t nonposted_headers = 0;
    std::uint32_t min_overhead = 12;    ///< smallest overhead of any TLP that will be sent
    std::uint32_t max_payload = 4096;   ///< largest payload of any TLP that will be sent
    bool account_every_credit = false;  ///< no closed forms: same result, slower (tests)
};

struct LinkCounters {
    std::array<std::uint64_t, kTlpKinds> tlps{};
    std::array<std::uint64_t, kTlpKinds> overhead_bytes{};
    std::array<std::uint64_t, kTlpKinds> payload_bytes{};
    Ps busy{};          ///< wire time granted so far, also beyond now
    Ps credit_stall{};  ///< wire idle while a burst waits for credits
    std::uint64_t wire_bytes() const;
};

/// TLPs that have got their place on the wire. Instants, not durations.
struct LinkGrant {
    std::uint64_t cookie;
    std::uint32_t tlps;       ///< of this grant; fewer than offered only for non-posted bursts short of credits
    SimTime start;            ///< first byte on the wire
    SimTime first_delivered;  ///< first TLP visible at the far end; of non-posted bursts only
    SimTime delivered;        ///< last TLP visible at the far end
};

/// Order (PCIe 5.0 §2.4.1): first come, first served, except that posted requests and completions pass non-posted
/// requests that lack credits. Nothing passes a posted request. Completions have infinite credits.
///
/// A burst that finds the wire idle is granted within offer(). One that finds it busy is granted when the wire gets
/// free, or at once while the transmit buffer has room; neither changes its place or time on the wire. An agenda
/// entry is posted only when a burst must wait for its grant. Deliveries are the owner's to post.
class LinkDirection {
public:
    /// The cookie leads to the owner of the burst.
    using GrantHandler = void (*)(const LinkGrant& grant);

    /// Wire bytes of granted bursts that may wait behind the burst on the wire (double-buffered). assumed: of the
    /// order of a controller's transmit FIFO; 8 MRd, a CQE and an MSI-X fit, a data burst does not.
    static constexpr std::uint32_t kTransmitBufferBytes = 512;

    LinkDirection(Agenda& agenda, const LinkDirectionConfig& config, GrantHandler on_grant);

    /// Queues a burst. A non-posted burst may be granted in several parts, in order; others in one.
    /// on_grant may offer further bursts.
    void offer(TlpKind kind, const TlpTrain& train, std::uint64_t cookie);

    const LinkCounters& counters() const { return counters_; }
    /// Wire time used up to now (exact unless the burst on the wire is waiting for credits).
    Ps busy(SimTime now) const { return free_ > now ? counters_.busy - (free_ - now) : counters_.busy; }
    std::size_t waiting() const { return waiting_.size(); }
    std::string dump(const char* name) const;

private:
    struct Burst {
        TlpTrain train;
        TlpKind kind;
        std::uint64_t cookie;
    };
    static constexpr std::size_t kNone = ~std::size_t{0};

    bool accepts(std::uint64_t wire_bytes, SimTime now);
    std::uint32_t sendable(const Burst& burst, SimTime t);
    void send(const Burst& burst, std::uint32_t tlps, SimTime t);
    SimTime send_stalling(const Burst& burst, SimTime t, SimTime& start);
    void pump();
    bool grant_one(SimTime now);
    void wake_at(SimTime t);
    void wake(std::uint64_t generation);
    CreditAccount& account(TlpKind kind) { return credits_[static_cast<std::size_t>(tlp_class(kind))]; }

    Agenda& agenda_;
    Rate rate_;
    Ps latency_;
    GrantHandler on_grant_;
    bool closed_forms_;
    std::array<CreditAccount, kTlpClasses> credits_;
    boost::circular_buffer<Burst> waiting_;
    SimTime free_{};          // end of everything granted
    SimTime buffer_start_{};  // when the bursts counted in buffered_ begin to leave the transmit buffer
    std::uint64_t buffered_ = 0;
    SimTime wake_time_ = kNever;
    std::uint64_t wake_generation_ = 0;
    SimTime blocked_since_ = kNever;  // first waiting burst lacks credits while the wire is idle
    bool pumping_ = false;
    LinkCounters counters_;
};

}  // namespace ssdtlm
