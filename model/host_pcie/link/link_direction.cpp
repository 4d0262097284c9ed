// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/link/link_direction.h"

#include <fmt/format.h>

#include <algorithm>

namespace ssdtlm {

std::uint64_t LinkCounters::wire_bytes() const {
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < kTlpKinds; ++k) sum += overhead_bytes[k] + payload_bytes[k];
    return sum;
}

LinkDirection::LinkDirection(Agenda& agenda, const LinkDirectionConfig& config, GrantHandler on_grant)
    : agenda_(agenda),
      rate_(config.rate),
      latency_(config.latency),
      on_grant_(on_grant),
      closed_forms_(!config.account_every_credit),
      credits_{CreditAccount{config.posted_headers, config.posted_data, config.latency + config.credit_return_latency,
                             config.rate},
               CreditAccount{config.nonposted_headers, 0, config.latency + config.credit_return_latency, config.rate},
               CreditAccount{0, 0, config.latency + config.credit_return_latency, config.rate}},
      waiting_(64) {
    if (closed_forms_)
        for (std::size_t c = 0; c < kTlpClasses; ++c)
            credits_[c].lift_unreachable(config.min_overhead, c == static_cast<std::size_t>(TlpClass::posted) ? 4 : 0,
                                         config.max_payload);
}

void LinkDirection::offer(TlpKind kind, const TlpTrain& train, std::uint64_t cookie) {
    Burst burst{train, kind, cookie};
    if (waiting_.empty() && !pumping_) {
        const SimTime now = agenda_.now();
        if (accepts(train.wire_bytes(), now)) {
            const SimTime t = std::max(now, free_);
            const std::uint32_t n = sendable(burst, t);
            if (n == train.count()) {
                send(burst, n, t);
                return;
            }
            // Short of non-posted credits: the part that may go is taken again by pump(), which finds the same.
        }
    }
    if (waiting_.full()) waiting_.set_capacity(2 * waiting_.capacity());
    waiting_.push_back(burst);
    if (!pumping_) pump();
}

/// Idle wire, or room in the transmit buffer behind what is on the wire.
bool LinkDirection::accepts(std::uint64_t wire_bytes, SimTime now) {
    if (free_ <= now) return true;
    if (now >= buffer_start_) {
        buffer_start_ = free_;
        buffered_ = 0;
    }
    return buffered_ + wire_bytes <= kTransmitBufferBytes;
}

/// How many TLPs of the burst may be granted now for a start at t. Posted bursts wait for credits on the wire,
/// as nothing may pass them anyway.
std::uint32_t LinkDirection::sendable(const Burst& burst, SimTime t) {
    CreditAccount& a = account(burst.kind);
    if (tlp_class(burst.kind) != TlpClass::non_posted || a.infinite()) return burst.train.count();
    if (closed_forms_ && a.fits(burst.train, t)) return burst.train.count();
    return a.runnable(burst.train, t);
}

void LinkDirection::send(const Burst& burst, std::uint32_t tlps, SimTime t) {
    const TlpTrain& train = burst.train;
    CreditAccount& a = account(burst.kind);
    const bool non_posted = tlp_class(burst.kind) == TlpClass::non_posted;
    const std::uint64_t wire = train.wire_prefix(tlps);
    const Ps length = rate_.time_for(wire);
    SimTime start = t;
    SimTime end = t + length;
    if (!a.infinite()) {
        if (non_posted || (closed_forms_ && a.fits(train, t)))
            a.take(train, 0, tlps, t, end);
        else
            end = send_stalling(burst, t, start);
    }
    const SimTime first_end = non_posted && tlps > 1 ? t + rate_.time_for(train.wire_prefix(1)) : end;
    if (blocked_since_ < t) counters_.credit_stall += t - std::max(blocked_since_, free_);
    blocked_since_ = kNever;
    if (t == agenda_.now()) {  // onto the idle wire
        buffer_start_ = end;
        buffered_ = 0;
    } else {
        buffered_ += wire;
    }
    free_ = end;
    const auto k = static_cast<std::size_t>(burst.kind);
    counters_.tlps[k] += tlps;
    counters_.overhead_bytes[k] += std::uint64_t{tlps} * train.overhead();
    counters_.payload_bytes[k] += train.payload_bytes();
    counters_.busy += length;
    on_grant_(LinkGrant{burst.cookie, tlps, start, first_end + latency_, end + latency_});
}

/// Slow path of a posted burst: TLP by TLP, each waiting for its credits. Returns the end of the last.
SimTime LinkDirection::send_stalling(const Burst& burst, SimTime t, SimTime& start) {
    const TlpTrain& train = burst.train;
    CreditAccount& a = account(burst.kind);
    start = a.earliest(train, 0, t);
    counters_.credit_stall += start - t;
    SimTime base = start;
    SimTime end = start + rate_.time_for(train.wire_prefix(1));
    std::uint32_t first = 0;
    a.take(train, 0, 1, start, end);
    for (std::uint32_t i = 1; i < train.count(); ++i) {
        const SimTime at = a.earliest(train, i, end);
        const bool gap = at != end;
        if (gap) {
            counters_.credit_stall += at - end;
            base = at;
            first = i;
        }
        end = base + rate_.time_for(train.wire_prefix(i + 1) - train.wire_prefix(first));
        if (gap)
            a.take(train, i, i + 1, at, end);
        else
            a.take_next();
    }
    return end;
}

void LinkDirection::pump() {
    pumping_ = true;
    const SimTime now = agenda_.now();
    while (!waiting_.empty() && grant_one(now)) {
    }
    pumping_ = false;
}

/// Grants the burst whose turn it is, or arranges to try again. True if something was granted.
bool LinkDirection::grant_one(SimTime now) {
    const SimTime t = std::max(now, free_);
    std::size_t i = 0;
    std::uint32_t n = 0;
    SimTime credit_time = kNever;
    for (; i < waiting_.size(); ++i) {
        const Burst& b = waiting_[i];
        if (credit_time != kNever && tlp_class(b.kind) == TlpClass::non_posted) continue;  // behind a blocked one
        if (!accepts(b.train.wire_bytes(), now)) {
            wake_at(b.train.wire_bytes() <= kTransmitBufferBytes ? buffer_start_ : free_);
            return false;
        }
        n = sendable(b, t);
        if (n > 0) break;
        credit_time = account(b.kind).next_return();
        if (blocked_since_ == kNever) blocked_since_ = t;
    }
    if (i == waiting_.size()) {
        wake_at(std::max(credit_time, t));
        return false;
    }
    const Burst b = waiting_[i];
    if (n < b.train.count())
        waiting_[i].train = b.train.without_first(n);
    else if (i == 0)
        waiting_.pop_front();
    else
        waiting_.rerase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));  // moves the few before it
    const SimTime blocked = i > 0 ? blocked_since_ : kNever;
    send(b, n, t);
    if (blocked != kNever) blocked_since_ = free_;  // the head still lacks credits when this one has left
    return true;
}

void LinkDirection::wake_at(SimTime t) {
    if (wake_time_ <= t) return;
    wake_time_ = t;
    agenda_.post<&LinkDirection::wake>(t, this, ++wake_generation_);
}

void LinkDirection::wake(std::uint64_t generation) {
    if (generation != wake_generation_) return;
    wake_time_ = kNever;
    pump();
}

std::string LinkDirection::dump(const char* name) const {
    std::string s = fmt::format("{}: {} bursts waiting, wire free at {} ps\n", name, waiting_.size(),
                                free_.time_since_epoch().count());
    constexpr const char* kinds[] = {"MWr", "MRd", "CplD", "Cpl"};
    for (const auto& b : waiting_)
        s += fmt::format("  {} x{} {} bytes\n", kinds[static_cast<std::size_t>(b.kind)], b.train.count(),
                         b.train.wire_bytes());
    return s;
}

}  // namespace ssdtlm
