// SPDX-License-Identifier: Apache-2.0
// The life of every superblock (superblock.h; a block of flash where planes are not joined): free, open for host or for
// GC pages, full with programs still running, sealed (a GC candidate), victim, and free again. Free ones are used
// first-in first-out per group, which spreads erases evenly over those in circulation, or by their erases.
//
// One in which a program fails is closed at once (failed), emptied as a victim when its last program has ended, and
// then, like one whose erase fails, never used again (retired). A spare one of its group takes its place among the free
// ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/address/geometry.h"
#include "common/report/error.h"
#include "controller/ftl/block_state.h"
#include "controller/ftl/reads_under_way.h"
#include "controller/ftl/superblock.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {

class BlockManager {
public:
    /// All free but the last `set_apart` of each group, which others look after, and the last `spare_blocks` in front
    /// of those. `hard_free_blocks`: host pages may open a superblock only while a group has more free ones; and one
    /// more for each that failed and has to be emptied, which gives no free one back. `by_wear`: free ones are used by
    /// their erases, fewest first for host pages, most first for GC; else first-in first-out. `streams`: of the host,
    /// with superblocks of their own, beside stream 0. `one_frontier`: what GC moves goes where the host writes. The
    /// host then takes no page at all of a group without a free one above those, so that it cannot take what a victim
    /// needs; and a free one counts as open while none is, as if it was opened with the last page of the one before.
    BlockManager(const SuperblockShape& shape, std::uint32_t hard_free_blocks, std::uint32_t spare_blocks = 0,
                 bool by_wear = false, std::uint32_t set_apart = 0, std::uint32_t streams = 0,
                 bool one_frontier = false);

    BlockRecord& operator[](SuperblockId b) { return blocks_[idx(b)]; }
    const BlockRecord& operator[](SuperblockId b) const { return blocks_[idx(b)]; }
    /// Units whose read is planned or under way; they hold off the erase.
    std::uint32_t reads(SuperblockId b) const {
        std::uint32_t n = 0;
        for (std::uint32_t i = 0; i < shape_.planes(); ++i) n += reads(shape_.block(b, i));
        return n;
    }
    std::uint32_t reads(BlockId b) const { return reads_.of(b); }
    void read_started(BlockId b, std::uint32_t units) { reads_.started(b, units); }
    void read_finished(BlockId b, std::uint32_t units) { reads_.finished(b, units); }
    /// Of each of its blocks, which are erased together: counted here, and after a loss of power what is known or
    /// supposed.
    std::uint32_t erases(SuperblockId b) const { return erases_[idx(b)]; }
    void found_erases(SuperblockId b, std::uint32_t erases) {
        erases_[idx(b)] = erases;
        erases_counted_ = false;
    }
    /// All since the drive was new.
    bool erases_counted() const { return erases_counted_; }
    [[gnu::always_inline]] void prefetch(SuperblockId b) const {  // a record may be on two lines
        const char* const at = reinterpret_cast<const char*>(blocks_.data() + idx(b));
        __builtin_prefetch(at, 1);
        __builtin_prefetch(at + sizeof(BlockRecord) - 1, 1);
    }

    std::uint32_t free_blocks(GroupId group) const { return groups_[idx(group)].free_count; }
    /// Free ones are at most so many. Where host and GC share a frontier, one of them counts as open while none is.
    bool at_most_free(GroupId group, std::uint32_t most) const {
        const Group& g = groups_[idx(group)];
        return g.free_count <= most ||
               (__builtin_expect(one_frontier_, 0) && g.free_count == most + 1 && g.open_host == kNoSuperblock);
    }
    /// `stream` of the host: of its pages, and of what GC moves.
    SuperblockId open_block(GroupId group, BlockState kind, std::uint32_t stream = 0) const {
        const Group& g = groups_[idx(group)];
        if (__builtin_expect(one_frontier_, 0) && kind == BlockState::open_gc &&
            (g.open_gc == kNoSuperblock || stream != 0))
            kind = BlockState::open_host;
        if (__builtin_expect(stream != 0, 0))
            return (kind == BlockState::open_host ? named_ : named_gc_)[idx(group) * streams_ + stream - 1];
        return kind == BlockState::open_host   ? g.open_host
               : kind == BlockState::open_gc   ? g.open_gc
               : kind == BlockState::open_cold ? g.open_cold
                                               : g.open_map;
    }
    /// Pages handed out of the open one; 0: the next page opens one.
    std::uint32_t write_pointer(GroupId group, BlockState kind, std::uint32_t stream = 0) const {
        const SuperblockId open = open_block(group, kind, stream);
        return open == kNoSuperblock ? 0 : blocks_[idx(open)].write_pointer;
    }
    bool can_take_host_page(GroupId group, std::uint32_t stream = 0) const {
        const Group& g = groups_[idx(group)];
        const bool any_open = open_block(group, BlockState::open_host, stream) != kNoSuperblock;
        if (__builtin_expect(one_frontier_ && keeps_reserve_, 0)) return g.free_count + any_open > g.reserve + 1;
        return any_open || g.free_count > g.reserve;
    }
    /// Hands out the next page of the group's open host superblock. Precondition: can_take_host_page(group, stream).
    PageAddress allocate_host(GroupId group, std::uint32_t stream = 0) {
        SuperblockId& open_block = opened_host(group, stream);
        if (open_block == kNoSuperblock) {
            SSDTLM_CHECK(groups_[idx(group)].free_count > groups_[idx(group)].reserve,
                         "host page from a group at its hard threshold");
            open_for_host(group, stream);
        }
        return hand_out(open_block);
    }
    /// Same for a GC page, which may use the last free block.
    PageAddress allocate_gc(GroupId group, std::uint32_t stream = 0) {
        if (__builtin_expect(one_frontier_, 0) && (stream != 0 || groups_[idx(group)].open_gc == kNoSuperblock)) {
            SuperblockId& shared = opened_host(group, stream);
            if (shared == kNoSuperblock) open_for_host(group, stream);
            return hand_out(shared);
        }
        SuperblockId& open_block = opened_gc(group, stream);
        if (open_block == kNoSuperblock) {
            open_block = open(group, BlockState::open_gc);
            if (stream != 0) blocks_[idx(open_block)].stream = static_cast<std::uint8_t>(kNamedGcStreams + stream - 1);
        }
        return hand_out(open_block);
    }
    PageAddress allocate_cold(GroupId group) {
        Group& g = groups_[idx(group)];
        if (g.open_cold == kNoSuperblock) g.open_cold = open(group, BlockState::open_cold);
        return hand_out(g.open_cold);
    }
    /// Precondition: takes_translation_pages(group).
    PageAddress allocate_map(GroupId group) {
        Group& g = groups_[idx(group)];
        if (g.open_map == kNoSuperblock) g.open_map = open(group, BlockState::open_map);
        return hand_out(g.open_map);
    }
    /// The group's next free one for the SLC cache. Precondition: there is one.
    SuperblockId open_slc(GroupId group) {
        const SuperblockId b = open(group, BlockState::open_slc);
        blocks_[idx(b)].stream = kSlcStream;
        return b;
    }
    /// Free ones of the group that the host may open; none while nothing is collected.
    std::uint32_t free_for_host(GroupId group) const {
        const Group& g = groups_[idx(group)];
        return keeps_reserve_ && g.free_count > g.reserve ? g.free_count - g.reserve : 0;
    }
    bool takes_translation_pages(GroupId group) const {
        const Group& g = groups_[idx(group)];
        return g.open_map != kNoSuperblock || g.free_count > g.reserve;
    }
    /// Pages for parity: handed out with the last page of their row, and due since take_parity_pages() was called last.
    bool owes_parity() const { return !owed_.empty(); }
    std::vector<PageAddress> take_parity_pages() { return std::exchange(owed_, {}); }
    /// A page handed out has been programmed. true: that was the last of its superblock, which is sealed now.
    bool page_programmed(SuperblockId b) {
        BlockRecord& r = blocks_[idx(b)];
        SSDTLM_CHECK(r.programs > 0,
                     "page programmed in superblock " + std::to_string(idx(b)) + ", where none was running");
        if (--r.programs != 0 || r.state != BlockState::full) return false;
        r.state = BlockState::sealed;
        return true;
    }
    void make_victim(SuperblockId b);  ///< sealed or failed -> victim
    /// Where GC writes now -> sealed, with pages that are not programmed. No program of it may be under way.
    void close_gc(GroupId group);
    /// The open one takes no more pages. True: it is sealed now; else when the last of its programs has ended.
    bool close(GroupId group, BlockState kind, std::uint32_t stream);
    /// And back, or one that was sealed as the power left it: GC's pages from its page `write_pointer` on.
    void reopen_for_gc(SuperblockId b, std::uint32_t write_pointer);
    void erased(SuperblockId b);  ///< victim -> free, behind the other free ones of its group
    /// The same without becoming free: its erase has left nothing in it.
    void emptied(SuperblockId b);

    // --- What fails ---
    /// One with a block that the factory has marked: it is never used, and a spare one of its group takes its place.
    /// Before anything is in use; those that are spare first. False: no spare one is left.
    bool leave_out(SuperblockId b);
    /// A program in it has failed: closes it. False: it had failed before.
    bool fail(SuperblockId b);
    bool any_failed() const { return any_failed_; }
    /// The first failed one of the group without programs under way; `of_gc`: of those that GC has written.
    /// kNoSuperblock: none.
    SuperblockId failed_of(GroupId group, bool of_gc = false) const;
    void retire(SuperblockId b);  ///< victim -> retired, when it is empty
    /// One of the group's spare ones becomes free, or set apart, or has taken its place before. False: none is left.
    bool add_spare(GroupId group, BlockState as = BlockState::free);
    std::uint32_t spares(GroupId group) const { return groups_[idx(group)].spares + groups_[idx(group)].surplus; }
    /// Of the spare ones of a group at the start, in per cent, where fewest are left. 100 if there were none anywhere.
    std::uint32_t spares_left() const;
    /// From now on host pages may open the last free ones: nothing is collected any more.
    void give_up_reserve() {
        keeps_reserve_ = false;
        for (Group& g : groups_) g.reserve = 0;
    }

    /// After the power was off: which superblocks hold something, and which have failed. Those are sealed or failed,
    /// the others free or spare, as many as are needed free. False: a group has too few that have not failed.
    bool restart(const std::vector<bool>& used, const std::vector<bool>& failed);
    /// Instead of it, where the states are known: each superblock with the state, stream, pages handed out, `bad` and
    /// `cut` that are set in its record; `free`: of each group, in their order.
    void restore(const std::vector<std::vector<SuperblockId>>& free);
    /// The free ones of a group, the one that is used next first.
    template <class Visit>
    void for_each_free(GroupId group, Visit&& visit) const {
        for (SuperblockId b = groups_[idx(group)].free_first; b != kNoSuperblock; b = blocks_[idx(b)].next_free)
            visit(b);
    }
    /// Then: failed ones without valid units have nothing to be emptied of.
    void retire_empty();
    /// Same end as `pages` times allocate_host() and page_programmed() on a group of free blocks; valid counts are the
    /// caller's part.
    void fill_host(GroupId group, std::uint64_t pages);
    /// The group's next free one, as if it had been filled and all its pages programmed. Precondition: there is one.
    SuperblockId fill_free(GroupId group);
    /// Precondition (checked): no program or read is under way.
    void state(Snapshot& s);

private:
    struct Group {
        SuperblockId free_first = kNoSuperblock, free_last = kNoSuperblock;
        SuperblockId open_host = kNoSuperblock, open_gc = kNoSuperblock, open_cold = kNoSuperblock,
                     open_map = kNoSuperblock;
        std::uint32_t free_count = 0;
        std::uint32_t reserve = 0;  ///< free ones that the host does not get
        std::uint32_t spares = 0;
        std::uint32_t spares_at_first = 0;
        std::uint32_t surplus =
            0;  ///< in use beyond what is needed: nobody knew any more that one had failed and was replaced
    };
    SuperblockId& opened_gc(GroupId group, std::uint32_t stream) {
        return stream == 0 ? groups_[idx(group)].open_gc : named_gc_[idx(group) * streams_ + stream - 1];
    }
    SuperblockId& opened_host(GroupId group, std::uint32_t stream) {
        return stream == 0 ? groups_[idx(group)].open_host : named_[idx(group) * streams_ + stream - 1];
    }
    void open_for_host(GroupId group, std::uint32_t stream) {
        const SuperblockId b = opened_host(group, stream) = open(group, BlockState::open_host);
        if (stream != 0) blocks_[idx(b)].stream = static_cast<std::uint8_t>(kNamedHostStreams + stream - 1);
    }
    SuperblockId open(GroupId group, BlockState state);
    SuperblockId before_by_wear(const Group& g, bool most) const;
    SuperblockId take_behind(Group& g, SuperblockId before);
    void push_free(GroupId group, SuperblockId b);
    PageAddress hand_out(SuperblockId& open_block) {
        const SuperblockId b = open_block;
        BlockRecord& r = blocks_[idx(b)];
        const PageAddress page = shape_.page(b, r.write_pointer++);
        ++r.programs;
        if (__builtin_expect(shape_.parity_planes() != 0, 0))
            for (; shape_.plane_in_group(r.write_pointer) >= shape_.data_planes(); ++r.programs)
                owed_.push_back(shape_.page(b, r.write_pointer++));
        if (r.write_pointer == shape_.pages()) {
            r.state = BlockState::full;
            open_block = kNoSuperblock;
        }
        return page;
    }
    [[noreturn]] void refuse(SuperblockId b, const char* what) const;
    void check_read(Snapshot& s) const;

    const SuperblockShape shape_;
    const std::uint32_t hard_free_blocks_;
    const bool by_wear_;
    const std::uint32_t spare_blocks_, set_apart_, streams_;
    const bool one_frontier_;
    std::vector<BlockRecord> blocks_;
    ReadsUnderWay reads_;
    std::vector<std::uint32_t> erases_;  // by superblock
    bool erases_counted_ = true;
    std::vector<Group> groups_;
    std::vector<SuperblockId> named_, named_gc_;  // open superblocks of the named streams, by group: the host's, GC's
    bool any_failed_ = false, keeps_reserve_ = true;
    std::vector<SuperblockId> failed_;  // not yet victims, in order of their failure
    std::vector<PageAddress> owed_;
};

}  // namespace ssdtlm
