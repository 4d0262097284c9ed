// SPDX-License-Identifier: Apache-2.0
// The bulk writes of one direction: posted writes that all other traffic may pass, TLP by TLP. One list has the writes
// with TLPs left, ordered by the times at which their data are there. The other list has writes on their way, whose
// owners are told when they arrive. LinkDirection gives them the rest of the wire's time. Kernel-free.
#pragma once

#include <boost/circular_buffer.hpp>
#include <cstdint>

#include "common/units/units.h"
#include "protocol/tlp.h"

namespace ssdtlm {

struct LinkDelivery;

/// TLPs of a bulk write that follow each other without a gap. Their ends are rounded from its beginning on.
struct BulkRun {
    SimTime start;
    std::uint32_t first;

    /// The begin of a TLP, from `first` on. For the number behind the last TLP it is the end of the last.
    SimTime begin_of(const TlpTrain& train, std::uint32_t tlp, const Rate& rate) const {
        return start + rate.time_for(train.wire_prefix(tlp) - train.wire_prefix(first));
    }
    /// The first TLP of the run that does not begin before `limit`. Precondition: the run begins before `limit`.
    std::uint32_t begun_before(SimTime limit, const TlpTrain& train, const Rate& rate) const {
        if (begin_of(train, train.count() - 1, rate) < limit) return train.count();
        __extension__ using Wide = unsigned __int128;
        // The number of bytes that take less than limit - start on the wire.
        const Wide ps = static_cast<Wide>((limit - start).count() - 1);
        const auto bytes = static_cast<std::uint64_t>(ps * rate.bytes_part() / rate.ps_part());
        return train.tlps_within(train.wire_prefix(first) + bytes) + 1;
    }
};

class BulkWrites {
public:
    struct Burst {
        TlpTrain train;
        SimTime ready;  ///< its data are there
        LinkDelivery* burst;
        bool prompt;             ///< its owner is told when its last TLP begins
        Ps to_last;              ///< from the begin of its first TLP to the begin of its last, if nothing cuts in
        Ps length;               ///< from there to the end of its last TLP, if nothing cuts in
        std::uint32_t next = 0;  ///< first TLP that has not begun
        SimTime start{};         ///< begin of its first TLP

        /// The begin of the last TLP, if nothing cuts in.
        SimTime last_tlp(const BulkRun& run, const Rate& rate) const {
            return run.first == 0 ? run.start + to_last : run.begin_of(train, train.count() - 1, rate);
        }
        SimTime end(const BulkRun& run, const Rate& rate) const {
            return run.first == 0 ? run.start + length : run.begin_of(train, train.count(), rate);
        }
    };
    /// A bulk write of which all TLPs have their place on the wire.
    struct Sent {
        LinkDelivery* burst;
        std::uint32_t tlps;
        SimTime start;
        SimTime delivered;
    };

    BulkWrites() : waiting_(16), sent_(16) {}

    /// True: TLPs are left.
    bool any() const { return !waiting_.empty(); }
    /// The time at which the data of the first bulk write are there; kNever: there is none.
    SimTime from() const { return from_; }
    /// Number of bulk writes whose owner must be told of their end.
    std::size_t prompts() const { return prompts_; }
    std::size_t waiting() const { return waiting_.size(); }
    Burst& front() { return waiting_.front(); }
    auto begin() const { return waiting_.begin(); }
    auto end() const { return waiting_.end(); }

    /// Adds a bulk write behind all writes whose data are there no later. Returns true if it is the last in the list.
    bool add(const Burst& burst) {
        if (__builtin_expect(waiting_.full(), 0)) waiting_.set_capacity(2 * waiting_.capacity());
        prompts_ += burst.prompt;
        auto at = waiting_.end();
        while (__builtin_expect(at != waiting_.begin() && (at - 1)->ready > burst.ready, 0)) --at;
        const bool is_last = at == waiting_.end();
        if (__builtin_expect(is_last, 1))
            waiting_.push_back(burst);
        else
            waiting_.insert(at, burst);
        from_ = waiting_.front().ready;
        return is_last;
    }
    /// The last TLP of the first bulk write has begun.
    void front_sent(SimTime delivered) {
        const Burst& b = waiting_.front();
        if (__builtin_expect(sent_.full(), 0)) sent_.set_capacity(2 * sent_.capacity());
        sent_.push_back(Sent{b.burst, b.train.count(), b.start, delivered});
        pop_front();
    }
    /// Like front_sent(), for a bulk write whose owner knows its end already and waits for its arrival.
    void pop_front() {
        prompts_ -= waiting_.front().prompt;
        waiting_.pop_front();
        from_ = waiting_.empty() ? kNever : waiting_.front().ready;
    }

    const boost::circular_buffer<Sent>& sent() const { return sent_; }
    /// The next bulk write on its way whose owner was not told about its place; null: all were told.
    const Sent* next_to_tell() { return told_ == sent_.size() ? nullptr : &sent_[told_++]; }
    /// The first bulk write on its way has arrived. Returns true if its owner was told about its place before.
    bool arrived() {
        sent_.pop_front();
        if (told_ == 0) return false;
        --told_;
        return true;
    }

private:
    boost::circular_buffer<Burst> waiting_;
    boost::circular_buffer<Sent> sent_;  // in the order of the wire
    SimTime from_ = kNever;
    std::size_t told_ = 0;     // number of the first writes in sent_ whose owners were told
    std::size_t prompts_ = 0;  // number of prompt writes in waiting_
};

}  // namespace ssdtlm
