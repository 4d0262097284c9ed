// SPDX-License-Identifier: Apache-2.0
// The sender's flow-control credits of one class on one direction. Each TLP takes one header credit and
// ceil(payload/16) data credits at its start. They come back a fixed time after its last byte has left. UpdateFC
// packets are not modelled: their bytes are in LinkConfig::data_link_efficiency, and their delay is in
// credit_return_latency. Source: PCI Express Base Specification 5.0 §2.6.1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/units/units.h"
#include "protocol/tlp.h"

namespace ssdtlm {

/// A TLP could begin at `since`, but lacked header credits until `headers` and data credits until `data`. Both are
/// `since` if it had them.
struct CreditWait {
    SimTime since{}, headers{}, data{};
    SimTime until() const { return std::max(headers, data); }
    bool any() const { return until() != since; }
    /// The part of the wait that lies before `at`.
    CreditWait cut(SimTime at) const {
        return {since, std::min(headers, std::max(at, since)), std::min(data, std::max(at, since))};
    }
};

/// Counts the credits. Start times in its calls must never decrease, as the TLPs of one class start in order.
class CreditAccount {
public:
    /// `loop`: time from the end of a TLP's serialisation until its credits are usable again, at least 1 ps. A limit of
    /// 0 means infinite credits.
    CreditAccount(std::uint32_t headers, std::uint32_t data, Ps loop, Rate rate);

    /// Lifts the limits that no sequence of TLPs with at least `min_overhead` bytes of overhead and `min_payload` to
    /// `max_payload` bytes of payload can reach at this rate, so that they cost nothing.
    void lift_unreachable(std::uint32_t min_overhead, std::uint32_t min_payload, std::uint32_t max_payload);

    bool infinite() const { return infinite_; }

    /// True: the whole train may start at t without waiting for a credit. False may only mean that credits return while
    /// the train is on the wire.
    bool fits(const TlpTrain& train, SimTime t) { return room_at(t, train.count(), train.data_credits()); }
    /// Calls take() for the whole train, which ends at `end`, if it fits.
    bool take_if_fits(const TlpTrain& train, SimTime t, SimTime end) {
        const std::uint64_t data = train.data_credits();
        if (!room_at(t, train.count(), data)) return false;
        push(train, 0, 0, train.count(), data, t, end);
        return true;
    }
    /// Does the same for TLPs first..limit-1. They follow TLP `base`, which began at `base_start`, without a gap. t:
    /// start of TLP `first`.
    bool take_if_fits(const TlpTrain& train, std::uint32_t base, std::uint32_t first, std::uint32_t limit,
                      SimTime base_start, SimTime t, SimTime end) {
        const std::uint64_t data = train.data_credits(first, limit);
        if (!room_at(t, limit - first, data)) return false;
        push(train, base, first, limit, data, base_start, end);
        return true;
    }
    /// True: a TLP with this many data credits finds its credits, even if none come back any more.
    bool room_for(std::uint32_t data) const { return room(1, data); }
    /// The wait from t to the earliest time at which TLP i could start if nothing else starts before.
    CreditWait would_start(const TlpTrain& train, std::uint32_t i, SimTime t) const;
    /// The wait from t to the earliest time at which TLP i may start. The TLP must then be taken.
    CreditWait earliest(const TlpTrain& train, std::uint32_t i, SimTime t);
    /// The number of TLPs of a train without payload that may start one after the other from t on without waiting. If
    /// there are any, they must then be taken.
    std::uint32_t runnable(const TlpTrain& train, SimTime t);
    /// The time at which the next credit comes back. Precondition: some credit is out.
    SimTime next_return() const;

    /// Takes the credits of TLPs first..limit-1, back to back from `start` to `end`.
    void take(const TlpTrain& train, std::uint32_t first, std::uint32_t limit, SimTime start, SimTime end) {
        take(train, first, first, limit, start, end);
    }
    /// Takes the credits of TLPs first..limit-1, which follow TLP `base` without a gap. It began at `base_start`.
    void take(const TlpTrain& train, std::uint32_t base, std::uint32_t first, std::uint32_t limit, SimTime base_start,
              SimTime end) {
        push(train, base, first, limit, train.data_credits(first, limit), base_start, end);
    }
    /// Takes the credits of the TLP that follows the last one taken without a gap.
    void take_next();

private:
    static constexpr std::uint64_t kInfinite = ~std::uint64_t{0} >> 1;

    /// TLPs sent back to back: TLP i ends at start + rate.time_for(wire bytes of TLPs base..i).
    struct Span {
        TlpTrain train;
        SimTime start;        // start of TLP `base`
        std::uint32_t base;   // TLP from which on the train's TLPs have followed each other
        std::uint32_t next;   // first TLP whose credits are still out
        std::uint32_t limit;  // one past the last
        std::uint64_t data;   // data credits of next..limit-1
        SimTime last_return;
    };
    SimTime return_of(const Span& s, std::uint32_t i) const {
        return s.start + rate_.time_for(s.train.wire_prefix(i + 1) - s.train.wire_prefix(s.base)) + loop_;
    }
    bool room(std::uint64_t headers, std::uint64_t data) const {
        return headers_out_ + headers <= header_limit_ && data_out_ + data <= data_limit_;
    }
    bool room_at(SimTime t, std::uint64_t headers, std::uint64_t data) {
        retire_spans(t);
        if (__builtin_expect(room(headers, data), 1)) return true;
        retire_tlps(t);
        return room(headers, data);
    }
    Span& front() { return ring_[head_]; }
    const Span& front() const { return ring_[head_]; }
    Span& back() { return ring_[(head_ + size_ - 1) & (ring_.size() - 1)]; }
    void pop_front() {
        head_ = (head_ + 1) & (ring_.size() - 1);
        --size_;
    }
    void push(const TlpTrain& train, std::uint32_t base, std::uint32_t first, std::uint32_t limit, std::uint64_t data,
              SimTime start, SimTime end) {
        if (__builtin_expect(size_ == ring_.size(), 0)) grow();
        ++size_;
        Span& s = back();
        s.train = train;
        s.start = start;
        s.base = base;
        s.next = first;
        s.limit = limit;
        s.data = data;
        s.last_return = last_return_ = end + loop_;
        headers_out_ += limit - first;
        data_out_ += data;
    }
    void grow();
    void retire_spans(SimTime t) {
        if (size_ == 0) return;
        if (last_return_ <= t) {
            size_ = 0;
            headers_out_ = 0;
            data_out_ = 0;
        } else {
            retire_old_spans(t);
        }
    }
    void retire_old_spans(SimTime t);
    void retire_tlps(SimTime t);
    void retire_one();

    std::uint64_t header_limit_;
    std::uint64_t data_limit_;
    bool infinite_;  // both limits are infinite
    Ps loop_;
    Rate rate_;
    std::uint64_t headers_out_ = 0;
    std::uint64_t data_out_ = 0;
    SimTime last_return_{};   // last return of the youngest span
    std::vector<Span> ring_;  // size: a power of two
    std::size_t head_ = 0;
    std::size_t size_ = 0;
};

}  // namespace ssdtlm
