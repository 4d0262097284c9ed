// SPDX-License-Identifier: Apache-2.0
// Clean units in DRAM that a read may need again, and the choice of those that leave when there is no room. Plain C++
// without time.
//
// A unit enters when a read of all of it has come from the flash, or when it leaves the write buffer. A write or a
// deallocation removes it. A read that was under way then does not bring the old data in: the result of its
// begin_fill() is not valid any more.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "common/containers/key_table.h"
#include "common/snapshot/snapshot.h"
#include "controller/ports/quotas.h"
#include "controller/ports/read_cache_config.h"
#include "controller/shared_cache/shared_cache.h"
#include "nand/onfi/spare.h"
#include "nand/onfi/unit_bytes.h"

namespace ssdtlm {

class ReadCache {
public:
    struct Unit {
        Lpa lpa{};
        std::uint32_t version = 0;    ///< stands for the data
        std::uint32_t dram_unit = 0;  ///< where it is in the DRAM, in units
        UnitBytes bytes;              ///< empty: the version stands for them
    };
    struct Counters {
        std::uint64_t hits = 0, misses = 0;  ///< units of reads that are in flash
        std::uint64_t filled = 0;            ///< units that entered
        std::uint64_t evicted = 0;           ///< that left for others
        std::uint64_t turned_away = 0;       ///< that were read, and found no room without a program
        std::uint64_t ahead = 0;             ///< units read ahead of a sequential stream
        std::uint64_t ahead_hits = 0;        ///< of these, that a read wanted before they left, or while on their way
        std::uint64_t ahead_wasted = 0;      ///< that left, or did not enter, before any read wanted them
        Counters& operator+=(const Counters& o) {
            hits += o.hits;
            misses += o.misses;
            filled += o.filled;
            evicted += o.evicted;
            turned_away += o.turned_away;
            ahead += o.ahead;
            ahead_hits += o.ahead_hits;
            ahead_wasted += o.ahead_wasted;
            return *this;
        }
    };

    /// `room`: the room that it shares with the write buffer; it must outlive the cache. Null: the cache has its own.
    ReadCache(const ReadCacheConfig& config, std::uint32_t unit_bytes, SharedCache* room = nullptr);

    static constexpr std::uint32_t kNoFill = 0;

    /// A read wants this unit. Null: it is not in the cache.
    const Unit* look_up(Lpa lpa);
    /// As look_up(), without being counted as a read.
    const Unit* find(Lpa lpa) const {
        const auto found = index_.find(idx(lpa));
        return found == index_.end() ? nullptr : &slots_[found->second].unit;
    }
    bool filled_by_reads() const { return config_.fill != ReadCacheFill::writes; }
    bool filled_by_writes() const { return config_.fill != ReadCacheFill::reads; }
    /// A read of the whole unit from the flash begins. Returns the argument for end_fill(), never kNoFill.
    std::uint32_t begin_fill(Lpa lpa);
    /// That read has brought the unit, for this tenant. Nothing happens when the unit was written or deallocated
    /// meanwhile, or another read has brought it.
    void end_fill(std::uint32_t fill, const Unit& unit, std::uint16_t tenant = 0);
    /// That read has failed.
    void cancel_fill(std::uint32_t fill, Lpa lpa);
    /// True: the unit is being read, and the read counts. With `fill`: this read does.
    bool is_filling(Lpa lpa) const { return fills_.find(idx(lpa)) != nullptr; }
    bool is_filling(Lpa lpa, std::uint32_t fill) const {
        const Fill* const f = fills_.find(idx(lpa));
        return f != nullptr && f->number == fill;
    }
    // The following functions are for units that are read ahead. Call track_ahead() before the first of them. `wanted`:
    // a read wants the unit.
    void track_ahead() { tracks_ahead_ = true; }
    std::uint32_t begin_ahead(Lpa lpa) {
        ++counters_.ahead;
        return begin_fill(lpa);
    }
    void count_ahead_hit() { ++counters_.ahead_hits; }
    void end_ahead(std::uint32_t fill, const Unit& unit, bool wanted, std::uint16_t tenant);
    void cancel_ahead(std::uint32_t fill, Lpa lpa, bool wanted) {
        cancel_fill(fill, lpa);
        counters_.ahead_wasted += !wanted;
    }
    void insert(const Unit& unit, std::uint16_t tenant = 0);
    /// The unit leaves the write buffer, where it was `entry`, and no newer write of it is there.
    void keep(const Unit& unit, std::uint32_t entry, std::uint16_t tenant = 0);
    /// The unit is being written.
    void drop(Lpa lpa);
    /// The unit makes way for others.
    void evict(std::uint32_t slot);
    /// These units are being deallocated.
    void drop(Lpa first, std::uint32_t units);

    bool shares_room() const { return room_ != nullptr; }
    /// The units in it, in the order in which they would leave. Precondition (checked): tenants share it, and its room
    /// is its own.
    std::vector<Lpa> units() const;
    std::uint32_t capacity() const { return static_cast<std::uint32_t>(slots_.size()); }
    std::uint32_t used() const { return static_cast<std::uint32_t>(index_.size()); }
    std::size_t fills() const { return fills_.size(); }
    const Counters& counters() const { return counters_; }
    /// Precondition (checked): nothing is being filled. Bytes are not part of it: they are those of the flash.
    void state(Snapshot& s);
    /// Called after state() has read: gives each unit the bytes that bytes_of(unit) returns.
    template <class BytesOf>
    void take_bytes(BytesOf&& bytes_of) {
        for (const auto& [lpa, slot] : index_) slots_[slot].unit.bytes = bytes_of(slots_[slot].unit);
    }
    /// Calls visit(unit) for each unit in it, in no particular order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const auto& [lpa, slot] : index_) visit(slots_[slot].unit);
    }

private:
    struct Slot {
        Unit unit;
        std::uint32_t older = 0, newer = 0;  // neighbours in the order of replacement
        std::uint32_t part = 0;
        bool ahead = false;  // it was read ahead, and no read has wanted it yet
    };
    /// The part of the room that a tenant, or all others together, have.
    struct Part {
        std::uint32_t oldest, newest;
        std::uint64_t used = 0, units = 0;
    };
    struct Fill {
        std::uint32_t key = 0;     ///< the unit
        std::uint32_t number = 0;  ///< of the reads of it that began since it was last written
    };
    void check_slots(Snapshot& s) const;
    void check_orders(Snapshot& s) const;
    void link_newest(std::uint32_t slot);
    void unlink(std::uint32_t slot);
    void remove(std::uint32_t slot);
    std::uint32_t take_slot(std::uint32_t part);
    std::uint32_t put(const Unit& unit, std::uint16_t tenant);

    const ReadCacheConfig config_;
    bool tracks_ahead_ = false;
    SharedCache* const room_;  // null: the room and the order of replacement are its own
    std::vector<Slot> slots_;
    const Quotas quotas_;
    std::vector<std::uint32_t> free_;
    std::vector<Part> parts_;
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> index_;  // slot by unit
    KeyTable<Fill, 64> fills_;
    std::uint32_t last_fill_ = 0;
    Counters counters_;
};

}  // namespace ssdtlm
