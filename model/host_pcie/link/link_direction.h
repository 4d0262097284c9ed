// SPDX-License-Identifier: Apache-2.0
// One direction of a PCIe link, as a serial resource. Bursts of TLPs wait in the order of arrival, take their
// flow-control credits, and occupy the wire for their exact number of bytes. Bulk writes get the rest of the time, TLP
// by TLP. It models one virtual channel, but no replay and no link power states. Kernel-free.
#pragma once

#include <algorithm>
#include <array>
#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "common/units/units.h"
#include "host_pcie/link/bulk_writes.h"
#include "host_pcie/link/credit_stalls.h"
#include "host_pcie/link/credits.h"
#include "host_pcie/link/link_probe.h"
#include "protocol/tlp.h"

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
    bool account_every_credit = false;  ///< for tests: without closed forms, which gives the same result slower
};

struct LinkCounters {
    std::array<std::uint64_t, kTlpKinds> tlps{};
    std::array<std::uint64_t, kTlpKinds> overhead_bytes{};
    std::array<std::uint64_t, kTlpKinds> payload_bytes{};
    Ps busy{};  ///< wire time granted so far, even beyond now
    std::uint64_t wire_bytes() const;
};

/// Computes Rate::time_for() mostly without a division, because a link carries few different sizes.
class WireTimes {
public:
    explicit WireTimes(Rate rate) : rate_(rate) {}
    Ps time_for(std::uint64_t bytes) {
        Entry& e = entries_[(bytes / 4) % entries_.size()];
        if (__builtin_expect(e.bytes != bytes, 0)) e = Entry{bytes, rate_.time_for(bytes)};
        return e.time;
    }

private:
    struct Entry {
        std::uint64_t bytes = 0;
        Ps time{};
    };
    Rate rate_;
    std::array<Entry, 64> entries_{};
};

/// A delivery at the far end, in the order of the wire. It is a part of its owner's object.
struct LinkDelivery {
    SimTime at{};
    LinkDelivery* next = nullptr;
    void (*arrive)(LinkDelivery&) = nullptr;
};

/// TLPs that have got their place on the wire. All times are instants.
struct LinkGrant {
    LinkDelivery* burst;      ///< the burst
    std::uint32_t tlps;       ///< TLPs of this grant; fewer than offered only if a non-posted burst lacks credits
    SimTime start;            ///< first byte on the wire
    SimTime first_delivered;  ///< first TLP visible at the far end; only for non-posted bursts
    SimTime delivered;        ///< last TLP visible at the far end
};

/// The order is that of PCIe 5.0 §2.4.1: first come, first served, except that posted requests and completions pass
/// non-posted requests that lack credits. Nothing passes a posted request. Completions have infinite credits.
///
/// Bulk writes are outside that order, as if their owner had not handed them over yet. All bursts go before the next
/// TLP of a bulk write. Bulk writes are sent in the order of the times at which their data are there. If a burst is
/// offered at the instant at which a bulk TLP would begin, the burst goes first.
///
/// A bulk write needs an agenda entry for its arrival. A prompt one needs another for the start of its last TLP. When
/// the wire is requested, settle() computes which TLPs have begun. If a burst cuts in, the entry comes too early and is
/// posted again.
///
/// A burst that finds the wire idle is granted within offer(). A burst that finds it busy is granted when the wire is
/// free, or at once while the transmit buffer has room. This does not change its place or time on the wire. An agenda
/// entry is posted only when a burst must wait for its grant. Deliveries happen in the order of the wire; the owner
/// sets them by deliver().
class LinkDirection {
public:
    using GrantHandler = void (*)(const LinkGrant& grant);

    /// The most wire bytes of granted bursts that wait behind the burst on the wire (double-buffered). Assumed, like
    /// the transmit FIFO of a controller: 8 MRd, a CQE and an MSI-X message fit, but a data burst does not.
    static constexpr std::uint32_t kTransmitBufferBytes = 512;

    LinkDirection(Agenda& agenda, const LinkDirectionConfig& config, GrantHandler on_grant);

    /// Queues a burst. A non-posted burst may be granted in several parts, in order; others in one.
    /// on_grant may offer further bursts.
    void offer(TlpKind kind, const TlpTrain& train, LinkDelivery& burst) {
        LinkGrant grant;
        if (offer_at_once(kind, train, grant)) {
            grant.burst = &burst;
            on_grant_(grant);
        } else {
            queue(kind, train, burst);
        }
    }
    /// offer_at_once() and queue() are the two halves of offer(). If the whole burst gets its grant at once,
    /// offer_at_once() returns true and the grant, without its `burst`. Else it changes nothing, and the burst must be
    /// queued.
    __attribute__((always_inline)) bool offer_at_once(TlpKind kind, const TlpTrain& train, LinkGrant& grant) {
        if (__builtin_expect(!waiting_.empty(), 0)) return false;
        const SimTime now = agenda_.now();
        if (__builtin_expect(bulk_.from() < now, 0)) settle(now);
        if (__builtin_expect(!accepts(train.wire_bytes(), now), 0)) return false;
        const SimTime t = std::max(now, free_);
        // The burst lacks non-posted credits. pump() finds the same, and sends the part that may go.
        if (__builtin_expect(sendable(kind, train, t) != train.count(), 0)) return false;
        grant = place(kind, train, train.count(), t);
        return true;
    }
    void queue(TlpKind kind, const TlpTrain& train, LinkDelivery& burst);
    /// Queues a posted write that others may pass. Its data are there from `ready` on, which is not in the past. A
    /// `prompt` write is granted as a whole when its last TLP begins. Any other is granted when it arrives, or before a
    /// prompt write behind it. arrive(burst) is called when it arrives.
    void offer_bulk(const TlpTrain& train, SimTime ready, bool prompt, LinkDelivery& burst,
                    void (*arrive)(LinkDelivery&));

    /// Calls arrive(d) at `at`, the LinkGrant::delivered of the grant just received. `d` belongs to the link until
    /// then.
    void deliver(SimTime at, LinkDelivery& d, void (*arrive)(LinkDelivery&)) {
        d.at = at;
        d.next = nullptr;
        d.arrive = arrive;
        LinkDelivery* const before = last_;
        last_ = &d;
        if (before != nullptr) {
            before->next = &d;
        } else {
            first_ = &d;
            agenda_.post(at, Then::to<&LinkDirection::deliver_next>(this));
        }
    }

    /// Counts the TLPs that have begun by now.
    void catch_up() {
        if (std::max(free_, bulk_.from()) < agenda_.now()) settle(agenda_.now());
    }
    const LinkCounters& counters() const { return counters_; }
    /// Continues the counts of the direction that it replaces, up to now. TLPs that had not left by then do not count.
    void go_on_from(LinkCounters counters, Ps busy, const CreditStalls& stalls) {
        counters_ = counters;
        counters_.busy = busy;
        stalls_.go_on_from(stalls);
    }
    /// The wire time that was used up to now.
    Ps busy(SimTime now) const {
        if (free_ <= now) return counters_.busy;
        return counters_.busy - (free_ - now - stalls_.gaps_after(now));
    }
    CreditStalls stalls(SimTime now) const { return stalls_.until(now); }
    /// True: nothing is on the wire.
    bool is_idle(SimTime now) const { return free_ <= now; }
    std::size_t waiting() const { return waiting_.size() + bulk_.waiting(); }
    void set_probe(LinkProbe* probe) { probe_ = probe; }
    LinkProbe* probe() const { return probe_; }
    std::string dump(const char* name) const;
    /// Throws CheckFailed if a burst waits that will not be tried again. Call it between two entries of the agenda.
    void check_waiters(const char* name) const;

private:
    struct Burst {
        TlpTrain train;
        TlpKind kind;
        LinkDelivery* burst;
    };
    void deliver_next();
    /// True: the wire is idle, or the transmit buffer has room behind what is on the wire.
    bool accepts(std::uint64_t wire_bytes, SimTime now) {
        if (free_ <= now) return true;
        if (now >= buffer_start_) {
            buffer_start_ = free_;
            buffered_ = 0;
        }
        return buffered_ + wire_bytes <= kTransmitBufferBytes;
    }
    /// Number of TLPs of the burst that may be granted now for a start at t. Posted bursts wait for credits on the
    /// wire, because nothing may pass them anyway.
    std::uint32_t sendable(TlpKind kind, const TlpTrain& train, SimTime t) {
        if (tlp_class(kind) != TlpClass::non_posted || account(kind).infinite()) return train.count();
        return sendable_with_credits(train, t);
    }
    std::uint32_t sendable_with_credits(const TlpTrain& train, SimTime t);
    inline __attribute__((always_inline)) LinkGrant place(TlpKind kind, const TlpTrain& train, std::uint32_t tlps,
                                                          SimTime t) {
        const std::uint64_t wire = tlps == train.count() ? train.wire_bytes() : train.wire_prefix(tlps);
        const Ps length = times_.time_for(wire);
        SimTime start = t;
        SimTime end = t + length;
        CreditAccount& credits = account(kind);
        const bool usual = kind == TlpKind::mem_write && closed_forms_;
        Ps used = length;
        if (!credits.infinite() && !(usual && credits.take_if_fits(train, t, end))) {
            const Ps stalled = stalls_.posted();
            end = take_credits(kind, train, tlps, t, end, start);
            used = end - t - (stalls_.posted() - stalled);
        }
        const bool non_posted = tlp_class(kind) == TlpClass::non_posted;
        const SimTime first_end = non_posted && tlps > 1 ? t + times_.time_for(train.wire_prefix(1)) : end;
        stalls_.begins(t);
        if (t == agenda_.now()) {  // the burst goes to the idle wire
            buffer_start_ = end;
            buffered_ = 0;
        } else {
            buffered_ += wire;
        }
        free_ = end;
        const auto k = static_cast<std::size_t>(kind);
        counters_.tlps[k] += tlps;
        counters_.overhead_bytes[k] += std::uint64_t{tlps} * train.overhead();
        counters_.payload_bytes[k] += train.payload_bytes();
        counters_.busy += used;
        if (__builtin_expect(probe_ != nullptr, 0)) report(kind, train, tlps, start, end);
        return LinkGrant{nullptr, tlps, start, first_end + latency_, end + latency_};
    }
    SimTime take_credits(TlpKind kind, const TlpTrain& train, std::uint32_t tlps, SimTime t, SimTime end,
                         SimTime& start);
    SimTime send_stalling(CreditAccount& a, const TlpTrain& train, SimTime t, SimTime& start);
    void report(TlpKind kind, const TlpTrain& train, std::uint32_t tlps, SimTime start, SimTime end) const;
    enum class Settle : std::uint8_t { all, whole_writes };
    void settle(SimTime limit, Settle what = Settle::all);
    bool send_whole(BulkWrites::Burst& b, SimTime start);
    bool send(BulkWrites::Burst& b, SimTime limit);
    void sent_until(BulkWrites::Burst& b, const BulkRun& run, std::uint32_t limit, SimTime start, SimTime end);
    BulkRun run_of_front();
    SimTime last_tlp_of_prompt();
    void place_prompt(SimTime now);
    void tell();
    void ask_for_arrival();
    void ask_for_prompt();
    void bulk_arrives();
    void prompt_begins();
    void pump();
    bool grant_one(SimTime now);
    void wake_at(SimTime t);
    void wake();
    CreditAccount& account(TlpKind kind) { return credits_[static_cast<std::size_t>(tlp_class(kind))]; }

    Agenda& agenda_;
    Rate rate_;
    WireTimes times_;
    Ps latency_;
    Ps credit_loop_;
    GrantHandler on_grant_;
    LinkProbe* probe_ = nullptr;
    bool closed_forms_;
    std::array<CreditAccount, kTlpClasses> credits_;
    boost::circular_buffer<Burst> waiting_;
    LinkDelivery* first_ = nullptr;  // first delivery under way; the agenda has an entry for it
    LinkDelivery* last_ = nullptr;
    SimTime free_{};          // end of everything granted
    SimTime buffer_start_{};  // when the bursts in buffered_ begin to leave the transmit buffer
    std::uint64_t buffered_ = 0;
    BulkWrites bulk_;
    BulkRun run_{};                // last run of the first bulk write
    SimTime run_end_ = kNever;     // end of run_; if it is free_, the run may go on
    SimTime arrival_at_ = kNever;  // time of the entry for the next arrival of a bulk write
    SimTime prompt_at_ = kNever;   // time of the entry for the last TLP of the next prompt write
    SimTime wake_time_ = kNever;
    Agenda::Entry wake_;  // at wake_time_
    CreditStallMeter stalls_;
    bool pumping_ = false;
    LinkCounters counters_;
};

}  // namespace ssdtlm
