// SPDX-License-Identifier: Apache-2.0
// The books of an FTL: where every logical unit lives, which units of the flash are in use, and how many a superblock
// holds. Every change of a map entry goes through here, so that counts and map agree. It knows no journal, no pages to
// come, and no time.
#pragma once

#include <cstdint>

#include "common/address/geometry.h"
#include "common/report/error.h"
#include "controller/ftl/block_manager.h"
#include "controller/ftl/mapping/map_entry.h"
#include "controller/ftl/mapping/page_map.h"
#include "controller/ftl/mapping/validity_map.h"
#include "controller/ftl/victims/victim_policy.h"

namespace ssdtlm {

class Books {
public:
    /// `host_units`: units that the host can address, the first of all `units` of the map. The other arguments must
    /// outlive the books. `policy` is told when a candidate loses a unit.
    Books(const NandGeometry& geometry, const SuperblockShape& shape, std::uint64_t host_units, std::uint64_t units,
          BlockManager& blocks, VictimPolicy& policy)
        : geometry_(geometry),
          shape_(shape),
          host_units_(host_units),
          entries_(geometry.units()),
          map_(units, geometry),
          valid_(geometry.units()),
          blocks_(blocks),
          policy_(policy) {}

    // --- The map ---
    const MapEntries& entries() const { return entries_; }
    Ppa entry(Lpa lpa) const { return map_.lookup(lpa); }
    /// The place of a unit, kLost or kUnmapped.
    Ppa lookup(Lpa lpa) const { return entries_.seen(map_.lookup(lpa)); }
    [[gnu::always_inline]] void prefetch(Lpa lpa) const { map_.prefetch(lpa); }
    /// Prefetches what a write of the unit will invalidate. It pays when it is called for several units before the
    /// first of them is mapped.
    [[gnu::always_inline]] void prefetch_old_place(Lpa lpa) const {
        const Ppa old = map_.lookup(lpa);
        if (!entries_.is_copy(old)) return;
        valid_.prefetch(old);
        blocks_.prefetch(shape_.superblock_of(old));
    }
    /// Sets the entry and returns the old one. The caller updates validity.
    Ppa exchange(Lpa lpa, Ppa to) {
        const Ppa old = map_.exchange(lpa, to);
        if (__builtin_expect(!entries_.is_copy(old) || !entries_.is_copy(to), 0)) count(lpa, old, to);
        return old;
    }
    /// Mapped and lost units of the host. Lost units count as mapped too.
    std::uint64_t mapped_units() const { return mapped_units_; }
    std::uint64_t lost_units() const { return lost_units_; }

    // --- Units in use ---
    bool is_valid(Ppa p) const { return valid_.test(p); }
    std::uint32_t count_valid(std::uint32_t first, std::uint32_t end) const { return valid_.count(first, end); }
    void invalidate(Ppa p) {
        const SuperblockId b = shape_.superblock_of(p);
        BlockRecord& r = blocks_[b];
        if (__builtin_expect(!valid_.clear(p) || r.valid == 0, 0)) refuse(p, "invalidated, but was not valid");
        --r.valid;
        if (r.state == BlockState::sealed) policy_.invalidated(b, r.valid);
    }
    void validate(Ppa p) {
        const SuperblockId b = shape_.superblock_of(p);
        BlockRecord& r = blocks_[b];
        if (__builtin_expect(r.programs == 0 || valid_.set(p), 0)) refuse(p, "mapped, but is not being programmed");
        ++r.valid;
    }
    /// Moves `page` (superblock.h) on to the next page at or behind it that holds valid units, and sets a bit per valid
    /// slot. False: there is none.
    bool next_valid_page(SuperblockId victim, std::uint32_t& page, std::uint32_t& slot_mask) const;
    [[noreturn]] void refuse(Ppa p, const char* what) const;

    // --- What must stay on the flash until something else is there ---
    void need(SuperblockId b) { ++blocks_[b].superseded; }
    /// Returns the superblock if nobody needs it any more; else kNoSuperblock.
    SuperblockId let_go(SuperblockId b);

    /// The number for a page that takes its place now, or for an entry of the journal.
    std::uint64_t draw_number() { return ++last_number_; }

    /// The tables as a whole, for recovery, snapshots, checkpoints and preconditioning.
    struct Image {
        const MapEntries& entries;
        PageMap& map;
        ValidityMap& valid;
        BlockManager& blocks;
        std::uint64_t& mapped_units;
        std::uint64_t& lost_units;
        std::uint64_t& last_number;
    };
    Image image() { return {entries_, map_, valid_, blocks_, mapped_units_, lost_units_, last_number_}; }

private:
    void count(Lpa lpa, Ppa old, Ppa to);

    const NandGeometry& geometry_;
    const SuperblockShape& shape_;
    const std::uint64_t host_units_;
    const MapEntries entries_;
    PageMap map_;
    ValidityMap valid_;
    BlockManager& blocks_;
    VictimPolicy& policy_;
    std::uint64_t mapped_units_ = 0, lost_units_ = 0;
    std::uint64_t last_number_ = 0;
};

}  // namespace ssdtlm
