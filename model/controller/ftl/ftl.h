// SPDX-License-Identifier: Apache-2.0
// The core of a page-mapped flash translation layer: where every logical unit lives, which page is written next, which
// block is collected next. It decides and keeps the books; it knows no time. When a program or an erase happens, how
// many run at once and what the firmware pays for it is the orchestrator's part, and the write buffer lies above.
// Out-of-place writes with a log per plane, separate open blocks for host and for GC data; no hot/cold separation of
// host data, no SLC cache, no journal: the map survives in the spare area only as far as contents go.
//
// Life of a host page: allocate_host_page -> map_unit for each unit (both when the program is issued) ->
// host_page_programmed. Life of a victim: select_victim -> next_valid_page and allocate_gc_page, moving the units
// densely packed -> per page programmed: commit_move for each unit, then gc_page_programmed -> when empty and
// erase_allowed, the erase -> block_erased.
#pragma once

#include <cstdint>
#include <memory>

#include "common/address/geometry.h"
#include "common/report/error.h"
#include "controller/ftl/allocation/plane_order.h"
#include "controller/ftl/block_manager.h"
#include "controller/ftl/ftl_config.h"
#include "controller/ftl/ftl_counters.h"
#include "controller/ftl/gc/victim_policy.h"
#include "common/address/fast_divide.h"
#include "controller/ftl/mapping/page_map.h"
#include "controller/ftl/mapping/validity_map.h"
#include "nand/array/spare_area.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class Ftl {
public:
    /// UserError with all problems when the configuration does not fit the geometry (check_ftl).
    Ftl(const FtlConfig& config, const NandGeometry& geometry, SpareArea& spare, std::uint64_t seed);

    const FtlConfig& config() const { return config_; }
    const NandGeometry& geometry() const { return geometry_; }
    const SpareCodec& codec() const { return codec_; }

    // --- Mapping ---
    std::uint64_t logical_units() const { return logical_units_; }
    std::uint64_t mapped_units() const { return mapped_units_; }
    Ppa lookup(Lpa lpa) const { return map_.lookup(lpa); }
    void prefetch(Lpa lpa) const { map_.prefetch(lpa); }
    /// What a write of the unit will invalidate; worth calling for several units before the first of them is mapped.
    void prefetch_old_place(Lpa lpa) const {
        const Ppa old = map_.lookup(lpa);
        if (old == kUnmapped) return;
        valid_.prefetch(old);
        blocks_.prefetch(BlockId{block_of_(idx(old))});
    }

    // --- Host writes ---
    /// The next physical page in the configured order among the planes that may take a host page. false: every plane is
    /// at or below its hard threshold and has no open host block; only GC helps.
    bool allocate_host_page(PageAddress& out) {
        PlaneId plane{};
        if (!cursor_.next(plane)) return false;
        out = take_host_page(plane);
        return true;
    }
    /// Same in one plane (for multi-plane programs); the order of allocate_host_page does not move.
    bool allocate_host_page_in(PlaneId plane, PageAddress& out) {
        if (!blocks_.can_take_host_page(plane)) return false;
        out = take_host_page(plane);
        return true;
    }
    /// Page number in its block of the next host page of a plane (multi-plane programs want the same in all planes).
    std::uint32_t next_host_page_number(PlaneId plane) const {
        const BlockId open = blocks_.open_block(plane, BlockState::open_host);
        return open == kNoBlock ? 0 : blocks_[open].write_pointer;
    }
    /// At program issue: the old copy loses its validity, the new one is the mapped one.
    void map_unit(Lpa lpa, Ppa to) {
        const Ppa old = map_.exchange(lpa, to);
        if (old != kUnmapped) {
            invalidate(old);
        } else {
            ++mapped_units_;
        }
        validate(to);
        ++counters_.host_units;
    }
    /// The program is finished; the last one of a full block seals it.
    void host_page_programmed(const PageAddress& a) {
        ++counters_.host_pages;
        page_programmed(geometry_.block_of(a));
    }
    /// true if it was mapped.
    bool trim(Lpa lpa) {
        const Ppa old = map_.exchange(lpa, kUnmapped);
        if (old == kUnmapped) return false;
        invalidate(old);
        --mapped_units_;
        ++counters_.trims;
        return true;
    }

    // --- Garbage collection ---
    bool gc_soft(PlaneId plane) const { return blocks_.free_blocks(plane) <= config_.gc_soft_free_blocks; }
    bool gc_hard(PlaneId plane) const { return blocks_.free_blocks(plane) <= config_.gc_hard_free_blocks; }
    std::uint32_t free_blocks(PlaneId plane) const { return blocks_.free_blocks(plane); }
    /// kNoBlock when no sealed block of the plane has a page's worth of invalid units. The victim is no candidate any
    /// more. At most gc_hard_free_blocks victims of one plane at a time, or GC may run out of blocks.
    BlockId select_victim(PlaneId plane);
    /// Moves `page` on to the next page at or behind it that holds valid units, and says which slots. false: none left.
    bool next_valid_page(BlockId block, std::uint32_t& page, std::uint32_t& slot_mask) const;
    /// A page for moved units. Panics when the plane has no free block, which the thresholds rule out.
    PageAddress allocate_gc_page(PlaneId plane) {
        const PageAddress a = blocks_.allocate_gc(plane);
        if (a.page == 0) cursor_.set_able(plane, blocks_.can_take_host_page(plane));
        return a;
    }
    /// At the end of the GC program: true if `from` was still the mapped copy; `to` is now.
    bool commit_move(Lpa lpa, Ppa from, Ppa to) {
        if (map_.lookup(lpa) != from) {
            ++counters_.gc_units_stale;
            return false;
        }
        map_.exchange(lpa, to);
        invalidate(from);
        validate(to);
        ++counters_.gc_units_moved;
        return true;
    }
    /// After the commit_move of each of its units.
    void gc_page_programmed(const PageAddress& a) {
        ++counters_.gc_pages;
        page_programmed(geometry_.block_of(a));
    }
    /// The flash block was erased: victim -> free.
    void block_erased(BlockId block);

    // --- Reads in flight hold off the erase of their block ---
    void read_started(BlockId block) { blocks_.read_started(block); }
    void read_finished(BlockId block) { blocks_.read_finished(block); }
    bool erase_allowed(BlockId block) const { return blocks_.reads(block) == 0; }

    // --- State at start, counters, books ---
    /// Brings the fresh device into the configured initial state, in no time; see precondition.h.
    void precondition();
    const FtlCounters& counters() const { return counters_; }
    const BlockRecord& block(BlockId b) const { return blocks_[b]; }
    /// CheckFailed with the first few discrepancies. Looks at every unit of the device.
    void verify_books() const;

private:
    friend class Preconditioner;

    PageAddress take_host_page(PlaneId plane) {
        const PageAddress a = blocks_.allocate_host(plane);
        if (a.page + 1 == geometry_.pages_per_block) cursor_.set_able(plane, blocks_.can_take_host_page(plane));
        ++counters_.host_pages_allocated;
        return a;
    }
    void invalidate(Ppa p) {
        const BlockId b{block_of_(idx(p))};
        BlockRecord& r = blocks_[b];
        if (__builtin_expect(!valid_.clear(p) || r.valid == 0, 0)) refuse(p, "invalidated, but was not valid");
        --r.valid;
        if (r.state == BlockState::sealed) policy_->invalidated(b, r.valid);
    }
    void validate(Ppa p) {
        const BlockId b{block_of_(idx(p))};
        BlockRecord& r = blocks_[b];
        if (__builtin_expect(r.programs == 0 || valid_.set(p), 0)) refuse(p, "mapped, but is not being programmed");
        ++r.valid;
    }
    void page_programmed(BlockId b) {
        if (blocks_.page_programmed(b)) policy_->sealed(b, blocks_[b].valid, counters_.host_units);
    }
    [[noreturn]] void refuse(Ppa p, const char* what) const;

    const FtlConfig config_;
    const NandGeometry geometry_;
    SpareArea& spare_;
    const std::uint64_t seed_;
    const std::uint64_t logical_units_;
    const SpareCodec codec_;
    const FastDivide block_of_;
    PageMap map_;
    ValidityMap valid_;
    BlockManager blocks_;
    PlaneCursor cursor_;
    std::unique_ptr<VictimPolicy> policy_;
    std::uint64_t mapped_units_ = 0;
    FtlCounters counters_;
};

}  // namespace ssdtlm
