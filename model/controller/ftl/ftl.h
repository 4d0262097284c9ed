// SPDX-License-Identifier: Apache-2.0
// The core of a flash translation layer: where every logical unit lives, which page is written next, which superblock
// is collected next. It decides and keeps the books; it knows no time. When a program or an erase happens, how many run
// at once and what the firmware pays for it is the orchestrator's part, and the write buffer lies above. Units whose
// only copy cannot be read are lost. Writes are out of place, with a log for each group of planes (superblock.h). There
// are separate open superblocks for moved data and for the host's, which may keep its write streams apart
// (allocation/write_partitions.h). A mapping by blocks says itself where pages go (mapping/, ../map/blocks/). A map
// that is not all in memory (../map/cached) has its pages in superblocks of their own. After a loss of power all is
// found in out-of-band areas, journal and checkpoints (../mount/). Features add to this without being named here
// (feature.h).
//
// Life of a host page: allocate_host_pages -> map_unit for each unit (both when the program is issued) ->
// host_page_programmed. Life of a victim: select_victim -> next_valid_page, move_wanted, allocate_moved_page -> per
// page programmed: commit_move for each unit, gc_page_programmed -> when empty and erase_allowed, erased.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "common/address/geometry.h"
#include "common/report/error.h"
#include "controller/ftl/allocation/group_load.h"
#include "controller/ftl/allocation/host_partition.h"
#include "controller/ftl/allocation/set_traffic.h"
#include "controller/ftl/block_manager.h"
#include "controller/ftl/books.h"
#include "controller/ftl/events.h"
#include "controller/ftl/feature.h"
#include "controller/ftl/feature_kind.h"
#include "controller/ftl/ftl_config.h"
#include "controller/ftl/ftl_counters.h"
#include "controller/ftl/image.h"
#include "controller/ftl/mapping/block_placement.h"
#include "controller/ftl/mapping/mapping.h"
#include "controller/ftl/unit_notes.h"
#include "controller/ftl/victims/core_sources.h"
#include "controller/ftl/victims/open_room.h"
#include "controller/ftl/victims/victim_policy.h"
#include "controller/ftl/victims/victims.h"
#include "controller/ports/media_health.h"
#include "nand/array/spare_area.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class Ftl {
public:
    /// Throws UserError with all problems when the configuration does not fit the geometry (check_ftl).
    Ftl(const FtlConfig& config, const NandGeometry& geometry, SpareArea& spare, std::uint64_t seed);

    const FtlConfig& config() const { return config_; }
    const NandGeometry& geometry() const { return geometry_; }
    const SuperblockShape& shape() const { return shape_; }
    std::uint64_t seed() const { return seed_; }
    const SpareCodec& codec() const { return codec_; }
    const SpareArea& flash() const { return spare_; }
    SpareArea& flash_in_no_time() { return spare_; }  ///< for who changes it beside the dies

    // --- Mapping ---
    /// Units that the host can address.
    std::uint64_t logical_units() const { return logical_units_; }
    /// All units of the map: those of the host, and behind them those that a feature has (FeatureNeeds::units_per_own).
    std::uint64_t units() const { return logical_units_ + own_units_; }
    std::uint32_t own_units() const { return own_units_; }
    bool is_own(Lpa lpa) const { return idx(lpa) >= logical_units_; }  ///< not one of the host's
    Lpa own_unit(std::uint32_t n) const { return Lpa{static_cast<std::uint32_t>(logical_units_ + n)}; }
    /// Number of the own unit that speaks of this unit of the host; of an own unit: its own. Precondition: there are
    /// own units.
    std::uint32_t own_number(Lpa lpa) const {
        return is_own(lpa) ? static_cast<std::uint32_t>(idx(lpa) - logical_units_) : idx(lpa) / needs_.units_per_own;
    }
    std::uint64_t mapped_units() const { return books_.mapped_units(); }
    Ppa lookup(Lpa lpa) const { return books_.lookup(lpa); }
    [[gnu::always_inline]] void prefetch(Lpa lpa) const { books_.prefetch(lpa); }
    /// Prefetches what a write of the unit will invalidate. It pays when it is called for several units before the
    /// first of them is mapped.
    [[gnu::always_inline]] void prefetch_old_place(Lpa lpa) const { books_.prefetch_old_place(lpa); }

    // --- What goes into the out-of-band area ---
    /// The record of a page that takes its place now. Call it in the step that also changes the map (host data) or
    /// compares with it (moved data).
    PageRecord draw_record(const PageAddress& a, PageKind kind = PageKind::user) {
        const SuperblockId b = shape_.superblock_of(geometry_.block_of(a));
        SSDTLM_CHECK(!is_bad(b), "a page of a block that has failed");
        const std::uint64_t number = books_.draw_number();
        events_.page_drawn(a, b, number);
        return {number, kind, blocks_[b].stream, spare_.keeps_records() ? blocks_.erases(b) : 0};
    }

    // --- Host writes ---
    /// Where a unit may be written: a page of a partition for units of that partition only.
    const WritePartitions& partitions() const { return partitions_; }
    /// Hands out up to `most` pages of one row. They belong to the partition's next group in the configured order that
    /// may take host pages. Returns how many. 0: every group is at or below its hard threshold and has no open host
    /// superblock, so only GC helps.
    /// `left_over`: the pages are what a row in use had no room for. They complete another row in use if there is one;
    /// else they begin the next row.
    std::uint32_t allocate_host_pages(std::uint32_t most, PageAddress* out, bool left_over = false,
                                      std::uint32_t partition = 0) {
        GroupCursor& cursor = partitions_.cursor(partition);
        GroupId group{};
        if (!(left_over && cursor.next_ragged(group)) &&
            !(__builtin_expect(load_.by_group().empty(), 1) ? cursor.next(group)
                                                            : cursor.next_least(load_.by_group(), group)))
            return 0;
        return take_host_pages(group, most, out, partitions_.stream_of_partition(partition));
    }
    /// As allocate_host_pages(), in this group. Precondition: takes_host_pages(group, stream).
    std::uint32_t take_host_pages(GroupId group, std::uint32_t most, PageAddress* out, std::uint32_t stream = 0);
    bool allocate_host_page(PageAddress& out) { return allocate_host_pages(1, &out) != 0; }
    /// The group's superblocks have changed. This checks again whether the host may write to it.
    void update_able(GroupId group);
    /// While held, host pages pass this group over, except to fill an open row that is filled in part.
    void hold_host(GroupId group, bool held);
    /// Groups whose open row is filled in part, because a program had to go before the row was full.
    std::uint32_t ragged_groups() const { return partitions_.ragged_count(); }
    /// A page for the data of a failed program in this group, where GC or a merge writes. There is always room, because
    /// failed data need not be moved. From then on it counts as one of GC's programs, so it cannot overtake.
    PageAddress allocate_again(GroupId group) {
        return placement_ != nullptr ? placement_->take_again(group) : allocate_gc_page(group);
    }
    /// Called at program issue: the new copy is mapped and valid. Returns the old entry. The old copy must stay on the
    /// flash until the new one is programmed: see hold_copy().
    Ppa map_unit(Lpa lpa, Ppa to) {
        const Ppa old = books_.exchange(lpa, to);
        if (__builtin_expect(books_.entries().is_copy(old), 1))
            books_.invalidate(old);
        else if (old != kUnmapped)
            notes_->written_over(old);
        books_.validate(to);
        ++counters_.host_units;
        events_.unit_superseded(lpa);
        return old;
    }
    /// Keeps the superblock of the old copy from being erased until the newer copy is programmed. `old` is what
    /// map_unit() returned. A note in the journal is held already.
    void hold_copy(Ppa old) {
        if (books_.entries().is_copy(old)) books_.need(shape_.superblock_of(old));
    }
    /// The newer copy is programmed. Returns the superblock that this no longer keeps from being erased; kNoSuperblock:
    /// none.
    SuperblockId let_go_copy(Ppa old);
    /// Called in place of let_go_copy() for a unit that was deallocated before its newer copy was programmed. The old
    /// copy or note stays until the journal's page with the deallocation is in flash.
    SuperblockId hand_over_copy(Ppa old);
    /// The program has ended. The last one of a full block seals it.
    void host_page_programmed(const PageAddress& a);
    /// Deallocates the units and adds a note to the journal. Returns how many of them were mapped.
    std::uint32_t trim(Lpa first, std::uint32_t units = 1);

    /// Notes of what was deallocated or lost.
    UnitNotes& notes() { return *notes_; }
    const UnitNotes& notes() const { return *notes_; }

    // --- Garbage collection ---
    bool gc_soft(GroupId group) const { return blocks_.at_most_free(group, config_.gc_soft_free_blocks); }
    bool gc_hard(GroupId group) const { return blocks_.at_most_free(group, config_.gc_hard_free_blocks); }
    /// The host or the map waits for a free superblock. Otherwise the victim policy chooses no victim with less than
    /// gc_least_invalid.
    bool gc_forced(GroupId group) const {
        return gc_hard(group) || !takes_all_streams(group) || !takes_own_units(group);
    }
    /// Units of a feature's own may be written to this group.
    bool takes_own_units(GroupId group) const { return own_units_ == 0 || blocks_.takes_map_pages(group); }
    std::uint32_t free_blocks(GroupId group) const { return blocks_.free_blocks(group); }
    std::uint32_t free_blocks(PlaneId plane) const { return blocks_.free_blocks(shape_.group_of(plane)); }
    /// The stream may write to this group: it has an open superblock, or free ones above the hard threshold, or a
    /// partition of a feature takes its pages.
    bool takes_host_pages(GroupId group, std::uint32_t stream = 0) const {
        return blocks_.can_take_host_page(group, stream) ||
               (__builtin_expect(!host_partitions_.empty(), 0) && partition_for(group) != nullptr);
    }
    bool takes_all_streams(GroupId group) const;
    /// There is a reason to collect: few free blocks, a failed superblock that is not empty yet, or a wish of a source
    /// of victims. `idle`: the host asks for nothing. Always false for a read-only drive.
    bool wants_collection(GroupId group, bool idle = false) const {
        return ((gc_soft(group) || blocks_.any_failed()) && finds_reason(group)) || victims_.wanted(group, idle);
    }
    /// The group's next victim, from the sources in turn (victims/victims.h). It is no candidate any more. A group may
    /// have at most gc_hard_free_blocks victims at a time, or GC may run out of blocks. kNoSuperblock: no source has
    /// one, or there is no room for what is in it; in that case the drive is now read-only (victims/core_sources.h).
    SuperblockId select_victim(GroupId group, bool idle = false);
    /// `callback` is called when a source newly wants a superblock of the group collected.
    void on_victim_due(std::function<void(GroupId)> callback) { victims_.on_due(std::move(callback)); }
    /// Collection of this victim stops. It will be the group's next victim.
    void leave_victim(SuperblockId victim) { begun_.leave(shape_.group_of(victim), victim); }
    /// Why this victim was chosen.
    VictimReason victim_reason(SuperblockId victim) const { return victims_.reason(victim); }
    const Victims& victims() const { return victims_; }
    std::uint32_t erases(SuperblockId b) const { return blocks_.erases(b); }
    std::uint32_t count(GroupId group, BlockState state) const;  ///< superblocks; looks at all of them
    /// Moves `page` (superblock.h) on to the next page at or behind it that holds valid units, and sets a bit per valid
    /// slot. False: there is none.
    bool next_valid_page(SuperblockId victim, std::uint32_t& page, std::uint32_t& slot_mask) const {
        return books_.next_valid_page(victim, page, slot_mask);
    }
    /// A page for moved units of a stream. Panics when the group has no free block, which the thresholds rule out.
    PageAddress allocate_gc_page(GroupId group, std::uint32_t stream = 0);
    /// A page for units of the group's victim.
    PageAddress allocate_moved_page(GroupId group) {
        return __builtin_expect(victims_.moves_cold(group), 0) ? allocate_cold_page(group)
                                                               : allocate_gc_page(group, gc_stream_[idx(group)]);
    }
    /// Pages for moved units that the open row of the group still takes; a whole row when the next page begins one.
    std::uint32_t gc_row_left(GroupId group) const {
        return row_left(victims_.moves_cold(group)
                            ? blocks_.write_pointer(group, BlockState::open_cold)
                            : blocks_.write_pointer(group, BlockState::open_gc, gc_stream_[idx(group)]));
    }
    /// Called when a GC program takes its page. True: `from` is still the mapped copy; false: the unit is not copied.
    bool move_wanted(Lpa lpa, Ppa from) {
        if (__builtin_expect(books_.entry(lpa) == from, 1)) return true;
        ++counters_.gc_units_stale;
        return false;
    }
    /// Tells the listeners that these units move to this page. Call it after draw_record() of the page.
    /// `content`: gets what the flash keeps of them beside their bytes.
    void units_moving(const PageAddress& a, const Spare* units, const Ppa* from, std::uint32_t count,
                      PageContent& content) const {
        events_.units_moving(a, units, from, count, content);
    }
    /// Called at the end of the GC program. True: `from` was still the mapped copy, and now `to` is.
    bool commit_move(Lpa lpa, Ppa from, Ppa to);
    void gc_page_programmed(const PageAddress& a);  ///< after the commit_move of each of its units
    void superblock_erased(SuperblockId victim);    ///< all its blocks were: victim -> free

    // --- Superblocks of features (allocation/host_partition.h) ---
    /// The feature that owns the superblock. Null: the core owns it.
    HostPartition* owner(SuperblockId b) const {
        for (HostPartition* const p : host_partitions_)
            if (p->owns(b)) return p;
        return nullptr;
    }
    bool is_slc(const PageAddress& a) const { return slc_region_.holds(a); }
    const SlcRegion& slc_region() const { return slc_region_; }
    std::uint32_t units_of(SuperblockId b) const;  ///< for which the superblock has room

    /// Makes the drive read-only: nothing may be written from now on.
    void refuse_writes();

    // --- What fails (ftl_failures.cpp) ---
    const MediaHealth& media() const { return media_; }
    /// `callback` is called when the number of spares or the read-only state has changed.
    void on_media_change(std::function<void()> callback) { media_changed_ = std::move(callback); }
    /// Called in place of host_page_programmed() and gc_page_programmed(): the page holds nothing. Its superblock is
    /// closed, emptied and retired. A spare one takes its place, or the drive becomes read-only.
    void host_page_failed(const PageAddress& a);
    void gc_page_failed(const PageAddress& a);
    /// The program of a page has failed. unmap_failed() unmaps a unit that was mapped there at program issue.
    /// map_again() maps it again, as map_unit() does, but the unit is not counted twice.
    void unmap_failed(Lpa lpa, Ppa at);
    void map_again(Lpa lpa, Ppa to);
    /// Called in place of superblock_erased(): the erase of at least one of the victim's blocks failed. The superblock
    /// is retired.
    void superblock_not_erased(SuperblockId victim);
    /// A program in the superblock has failed. When it is empty, superblock_emptied() is called in place of an erase.
    bool is_bad(SuperblockId b) const { return blocks_[b].bad; }
    void superblock_emptied(SuperblockId victim);
    /// The unit cannot be read any more. Its place is kLost until it is written or trimmed.
    void lose(Lpa lpa);
    bool lose_copy(Ppa at);  ///< loses the unit that is mapped there; false: none is. The unit's number comes from the
                             ///< block's directory
    std::uint64_t lost_units() const { return books_.lost_units(); }
    BlockPlacement* placement() const { return placement_.get(); }  ///< null: pages are put anywhere
    const Mapping& mapping() const { return *mapping_; }

    // --- Programs ---
    /// The program of a page that was handed out has ended. The caller has already counted it in its class.
    void page_ended(const PageAddress& a, PageEnd end) {
        if (__builtin_expect(end == PageEnd::failed, 0)) close_failed(a);
        const SuperblockId b = shape_.superblock_of(geometry_.block_of(a));
        if (blocks_.page_programmed(b)) seal(b);
        events_.page_ended(a, end);
    }
    /// All programs of a full superblock have ended. It becomes a candidate for collection, or its owner takes it.
    void seal(SuperblockId b);

    // --- Reads in flight hold off the erase of their superblock, as hold_copy() does ---
    void read_started(BlockId block, std::uint32_t units = 1) { blocks_.read_started(block, units); }
    void read_finished(BlockId block, std::uint32_t units = 1) { blocks_.read_finished(block, units); }
    bool erase_allowed(SuperblockId victim) const {
        return blocks_.reads(victim) == 0 && blocks_[victim].superseded == 0;
    }

    // --- State at start, counters, books ---
    /// The tables as a whole, for recovery, snapshots, checkpoints and preconditioning.
    FtlImage image();
    /// What all features take of the flash.
    const FeatureNeeds& needs() const { return needs_; }
    /// Programs the pages that features owe to the flash. It is for preconditioning.
    void program_owed_at_once() {
        for (const auto& f : features_) f->program_at_once();
    }
    /// What all features have counted.
    FeatureCounters feature_counters() const;
    /// The feature of this type. Null: the configuration does not ask for it.
    template <class Feature>
    Feature* feature() const {
        for (const auto& f : features_)
            if (auto* const found = dynamic_cast<Feature*>(f.get())) return found;
        return nullptr;
    }
    const FtlCounters& counters() const { return counters_; }
    /// Goes on from the counts of the time before the power was off. SMART's figures are not among them: they are on
    /// the flash.
    void go_on_from(const FtlCounters& earlier, const std::vector<SetCounts>& sets, const MediaHealth& health);
    /// Counts by NVM Set. They only grow.
    const std::vector<SetCounts>& set_counts() const { return set_traffic_.counts(); }
    const BlockRecord& superblock(SuperblockId b) const { return blocks_[b]; }
    /// Throws CheckFailed with the first few discrepancies. It looks at every unit of the device.
    void verify_books() const;

private:
    /// Pages from a write pointer to the end of its row.
    std::uint32_t row_left(std::uint32_t write_pointer) const {
        return shape_.data_planes() - shape_.plane_in_group(write_pointer);
    }
    /// The first partition that takes the host's pages of the group; null: none does.
    HostPartition* partition_for(GroupId group) const {
        for (HostPartition* const p : host_partitions_)
            if (p->takes_pages(group)) return p;
        return nullptr;
    }
    std::uint32_t take_pages_of(HostPartition& partition, GroupId group, std::uint32_t most, PageAddress* out);
    bool finds_reason(GroupId group) const;
    PageAddress allocate_cold_page(GroupId group);
    PageAddress skip_programmed(const PageAddress& a);
    void become_read_only();
    void close_failed(const PageAddress& a);
    void replace(SuperblockId failed);
    void update_spare();
    void leave_out_marked();

    const FtlConfig config_;
    const NandGeometry geometry_;
    const FeatureNeeds needs_;  // of all features
    const std::unique_ptr<const Mapping> mapping_;
    const SuperblockShape shape_;
    SpareArea& spare_;
    const std::uint64_t seed_;
    const std::uint64_t logical_units_;
    const std::uint32_t own_units_;
    const SpareCodec codec_;
    BlockManager blocks_;
    std::unique_ptr<VictimPolicy> policy_;
    Books books_;
    FtlCounters counters_;
    FtlEvents events_;
    std::vector<HostPartition*> host_partitions_;
    SlcRegion slc_region_;
    const std::vector<PlaneId> rows_;  // the order of the planes, row by row
    WritePartitions partitions_;
    GroupLoad load_;  // counted where pages are not placed in turn
    Victims victims_;
    const FeatureSetup inside_{*this,    books_,  blocks_,   partitions_,      *policy_,
                               victims_, events_, counters_, host_partitions_, slc_region_};
    OpenRoom open_room_;
    BegunVictims begun_;
    FailedVictims failed_victims_;
    ScarceVictims scarce_victims_;
    PolicyVictims policy_victims_;
    std::vector<std::uint8_t> gc_stream_;  // by group: the host's stream that its victim is of
    const std::unique_ptr<UnitNotes> notes_;
    MediaHealth media_;
    std::unique_ptr<BlockPlacement> placement_;  // null: pages are put anywhere
    std::function<void()> media_changed_;
    SetTraffic set_traffic_;
    FtlFeatures features_;
};

}  // namespace ssdtlm
