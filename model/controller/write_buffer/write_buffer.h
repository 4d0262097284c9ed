// SPDX-License-Identifier: Apache-2.0
// The write buffer in DRAM, in mapping units: which units are dirty, which are being programmed, who waits for
// them. Plain C++ without time. Not modelled: a read cache (programmed units leave the buffer at once).
//
// Life of a unit: reserve() a slot -> insert() -> [merging: partial write waits for the old copy] -> dirty ->
// pop_dirty() -> flushing -> programmed(). A newer write of a dirty unit replaces it in place (coalescing); a newer
// write of a unit that is flushing, or that a command waits for, queues behind it and is programmed after it.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <vector>

#include "common/address/geometry.h"

namespace ssdtlm {

class WriteBuffer {
public:
    using Index = std::uint32_t;
    /// Up to so many entries check_waiters() walks through all of them: it may be asked after every event.
    static constexpr std::size_t kFew = 512;
    static constexpr Index kNone = 0xFFFFFFFFu;
    static constexpr std::uint32_t kNoWaiter = 0xFFFFFFFFu;

    enum class State : std::uint8_t { free, merging, dirty, flushing };
    struct Entry {
        Lpa lpa{};
        std::uint32_t version = 0;
        std::uint32_t waiter = kNoWaiter;  ///< command index that waits for durability
        std::uint32_t generation = 0;      ///< flush generation it belongs to
        Index newer = kNone;               ///< next write of the same unit
        Index fifo_next = kNone;
        Index fifo_prev = kNone;
        State state = State::free;
        bool queued = false;               ///< in the queue of units to program
        bool hurried = false;              ///< a newer write of the unit has a waiter
        bool dropped = false;              ///< deallocated while merging or flushing: its data no longer matters
    };

    explicit WriteBuffer(std::uint32_t capacity_units);

    std::uint32_t capacity() const { return capacity_; }
    std::uint32_t used() const { return used_; }  ///< reserved and occupied
    std::uint32_t dirty() const { return dirty_; }
    /// Dirty units that may be programmed now: the others wait for their older copy.
    std::uint32_t queued() const { return queued_; }
    bool empty() const { return map_.empty(); }
    /// Units that wait for the rest of their old copy.
    std::uint32_t merging() const { return merging_; }
    /// Units that are in the buffer; the others of used() are reserved for data on its way.
    std::uint32_t held() const { return static_cast<std::uint32_t>(entries_.size() - free_.size()); }
    /// Nobody waits for nothing: a dirty unit is in the queue, or behind an older write of the same unit that is; the
    /// counts of both are right. CheckFailed with a sentence. Looks at every unit, up to kFew of them: it is called often.
    void check_waiters() const;

    /// Takes n slots; false when they are not there.
    bool reserve(std::uint32_t n) {
        if (used_ + n > capacity_) return false;
        used_ += n;
        return true;
    }

    /// Gives n reserved slots back.
    void cancel(std::uint32_t n) { used_ -= n; }

    /// Puts a unit into one reserved slot. `merging`: not programmable until merged(). Returns its index.
    Index insert(Lpa lpa, std::uint32_t version, std::uint32_t waiter, bool merging);
    /// The rest of a partly written unit is there. It may be programmed, unless it was deallocated meanwhile: then it
    /// vanishes, and its waiter is returned.
    std::uint32_t merged(Index i);

    /// Newest buffered write of a unit, kNone when the buffer has none.
    Index find(Lpa lpa) const {
        if (map_.empty()) return kNone;
        const auto it = map_.find(idx(lpa));
        return it == map_.end() ? kNone : it->second.newest;
    }
    const Entry& entry(Index i) const { return entries_[i]; }

    /// Oldest dirty unit, which becomes `flushing`; kNone when there is none.
    Index pop_dirty();
    /// The unit is in flash: frees the slot. Returns its waiter.
    std::uint32_t programmed(Index i);
    /// Deallocates: dirty units of this lpa vanish, flushing and merging ones are marked dropped. Waiters of
    /// vanished units are appended to `released`.
    void drop(Lpa lpa, std::vector<std::uint32_t>& released);

    /// Starts a new flush generation; everything inserted so far belongs to `generation` or earlier.
    std::uint32_t begin_flush();
    /// True when nothing of `generation` or earlier is left.
    bool flush_done(std::uint32_t generation) const { return oldest_generation_ > generation; }
    /// True when a unit that must become durable (waiter, or under a flush) is queued: pages need not be full.
    bool demanded() const { return demanded_ > 0; }
    std::uint64_t coalesced() const { return coalesced_; }
    std::uint64_t inserted() const { return inserted_; }
    /// Units that were deallocated before they left for flash.
    std::uint64_t dropped_dirty() const { return dropped_dirty_; }

private:
    struct Chain {
        Index oldest;
        Index newest;
    };
    void enqueue(Index i);
    void dequeue(Index i);
    void make_dirty(Index i);
    bool is_demanded(const Entry& e) const {
        return e.waiter != kNoWaiter || e.hurried || e.generation < generation_;
    }
    void hurry(Index i);
    void unlink_oldest(Index i);
    void release(Index i);
    void retire_generations();

    std::uint32_t capacity_;
    std::uint32_t used_ = 0;
    std::uint32_t dirty_ = 0;
    std::uint32_t merging_ = 0;
    std::vector<Entry> entries_;
    std::vector<Index> free_;
    boost::unordered_flat_map<std::uint32_t, Chain> map_;
    Index fifo_head_ = kNone;
    Index fifo_tail_ = kNone;
    std::uint32_t generation_ = 0;
    std::uint32_t oldest_generation_ = 0;
    std::deque<std::uint32_t> per_generation_{0u};  ///< entries alive, from oldest_generation_ on
    std::uint32_t queued_ = 0;
    std::uint32_t demanded_ = 0;  ///< of those queued
    std::uint64_t coalesced_ = 0;
    std::uint64_t inserted_ = 0;
    std::uint64_t dropped_dirty_ = 0;
};

}  // namespace ssdtlm
