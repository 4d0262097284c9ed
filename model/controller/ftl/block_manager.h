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
    /// Each superblock starts free, except the last `set_apart` of each group, which others manage, and the
    /// `spare_blocks` before them.
    /// `hard_free_blocks`: host pages may open a superblock only while a group has more free ones than this. Each
    /// failed superblock that has to be emptied raises it by one, because it gives no free one back.
    /// `by_wear`: free superblocks are chosen by their erases, fewest first for host pages, most first for GC; else
    /// first-in first-out.
    /// `streams`: write streams of the host with superblocks of their own, beside stream 0.
    /// `one_frontier`: GC moves pages to where the host writes. The host then takes no page of a group without a free
    /// superblock above the threshold, so that it cannot take what a victim needs. While no superblock is open, a free
    /// one counts as open, as if it had been opened with the last page of the one before.
    BlockManager(const SuperblockShape& shape, std::uint32_t hard_free_blocks, std::uint32_t spare_blocks = 0,
                 bool by_wear = false, std::uint32_t set_apart = 0, std::uint32_t streams = 0,
                 bool one_frontier = false);

    BlockRecord& operator[](SuperblockId b) { return blocks_[idx(b)]; }
    const BlockRecord& operator[](SuperblockId b) const { return blocks_[idx(b)]; }
    /// Units whose read is planned or under way. They hold off the erase.
    std::uint32_t reads(SuperblockId b) const {
        std::uint32_t n = 0;
        for (std::uint32_t i = 0; i < shape_.planes(); ++i) n += reads(shape_.block(b, i));
        return n;
    }
    std::uint32_t reads(BlockId b) const { return reads_.of(b); }
    void read_started(BlockId b, std::uint32_t units) { reads_.started(b, units); }
    void read_finished(BlockId b, std::uint32_t units) { reads_.finished(b, units); }
    /// Erases of each block of the superblock; its blocks are erased together. They are counted here. After a loss of
    /// power this is what the flash tells, or an estimate.
    std::uint32_t erases(SuperblockId b) const { return erases_[idx(b)]; }
    void found_erases(SuperblockId b, std::uint32_t erases) {
        erases_[idx(b)] = erases;
        erases_counted_ = false;
    }
    /// True: all erases since the drive was new are counted.
    bool erases_counted() const { return erases_counted_; }
    [[gnu::always_inline]] void prefetch(SuperblockId b) const {  // a record may be on two lines
        const char* const at = reinterpret_cast<const char*>(blocks_.data() + idx(b));
        __builtin_prefetch(at, 1);
        __builtin_prefetch(at + sizeof(BlockRecord) - 1, 1);
    }

    std::uint32_t free_blocks(GroupId group) const { return groups_[idx(group)].free_count; }
    /// The group has at most `most` free superblocks. Where host and GC share a frontier, one free superblock counts as
    /// open while none is.
    bool at_most_free(GroupId group, std::uint32_t most) const {
        const Group& g = groups_[idx(group)];
        return g.free_count <= most ||
               (__builtin_expect(one_frontier_, 0) && g.free_count == most + 1 && g.open_host == kNoSuperblock);
    }
    /// The superblock that takes pages of this kind. `stream`: the host's stream whose pages the host writes or GC
    /// moves.
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
    /// Pages handed out of the open superblock; 0: the next page opens one.
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
    /// As allocate_host(), for a GC page. It may use the last free block.
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
    /// Precondition: takes_map_pages(group).
    PageAddress allocate_map(GroupId group) {
        Group& g = groups_[idx(group)];
        if (g.open_map == kNoSuperblock) g.open_map = open(group, BlockState::open_map);
        return hand_out(g.open_map);
    }
    /// Opens the group's next free superblock for a feature's partition. Precondition: there is one.
    SuperblockId open_own(GroupId group, std::uint8_t stream) {
        const SuperblockId b = open(group, BlockState::own_open);
        blocks_[idx(b)].stream = stream;
        return b;
    }
    /// Free superblocks of the group that the host may open; 0 while nothing is collected.
    std::uint32_t free_for_host(GroupId group) const {
        const Group& g = groups_[idx(group)];
        return keeps_reserve_ && g.free_count > g.reserve ? g.free_count - g.reserve : 0;
    }
    bool takes_map_pages(GroupId group) const {
        const Group& g = groups_[idx(group)];
        return g.open_map != kNoSuperblock || g.free_count > g.reserve;
    }
    /// Pages for parity. A row's parity pages are handed out with its last data page. They are due until
    /// take_parity_pages() is called.
    bool owes_parity() const { return !owed_.empty(); }
    std::vector<PageAddress> take_parity_pages() { return std::exchange(owed_, {}); }
    /// A page handed out has been programmed. True: it was the last of its superblock, which is sealed now.
    bool page_programmed(SuperblockId b) {
        BlockRecord& r = blocks_[idx(b)];
        SSDTLM_CHECK(r.programs > 0,
                     "page programmed in superblock " + std::to_string(idx(b)) + ", where none was running");
        if (--r.programs != 0 || r.state != BlockState::full) return false;
        r.state = BlockState::sealed;
        return true;
    }
    void make_victim(SuperblockId b);  ///< sealed or failed -> victim
    /// Seals the superblock that GC writes, although some of its pages are not programmed. Precondition: none of its
    /// programs is under way.
    void close_gc(GroupId group);
    /// The open superblock takes no more pages. True: it is sealed now; false: it will be sealed when its last program
    /// has ended.
    bool close(GroupId group, BlockState kind, std::uint32_t stream);
    /// Undoes close_gc(), or opens a superblock that was sealed because the power went. GC's pages go on at its page
    /// `write_pointer`.
    void reopen_for_gc(SuperblockId b, std::uint32_t write_pointer);
    void erased(SuperblockId b);  ///< victim -> free, behind the other free ones of its group
    /// The superblock is erased but does not become free.
    void emptied(SuperblockId b);

    // --- What fails ---
    /// Retires a superblock with a block that the factory has marked, and a spare one of its group takes its place.
    /// Call it before anything is in use, for spare superblocks first. False: no spare one is left.
    bool leave_out(SuperblockId b);
    /// A program in it has failed: closes it. False: it had failed before.
    bool fail(SuperblockId b);
    bool any_failed() const { return any_failed_; }
    /// The first failed superblock of the group that has no program under way. `of_gc`: only those that GC has written.
    /// kNoSuperblock: there is none.
    SuperblockId failed_of(GroupId group, bool of_gc = false) const;
    void retire(SuperblockId b);  ///< victim -> retired, when it is empty
    /// One spare superblock of the group becomes free or set apart, unless the failed one was replaced before. False:
    /// none is left.
    bool add_spare(GroupId group, BlockState as = BlockState::free);
    std::uint32_t spares(GroupId group) const { return groups_[idx(group)].spares + groups_[idx(group)].surplus; }
    /// Spare superblocks that are left, in per cent of those at the start, of the group with the fewest. 100 if there
    /// were none.
    std::uint32_t spares_left() const;
    /// From now on host pages may open the last free ones: nothing is collected any more.
    void give_up_reserve() {
        keeps_reserve_ = false;
        for (Group& g : groups_) g.reserve = 0;
    }

    /// Called after a loss of power. `used`: by superblock, whether it holds something; `failed`: whether it has
    /// failed. Used superblocks become sealed or failed. The others become free, or spare where enough are free. False:
    /// a group has too few that have not failed.
    bool restart(const std::vector<bool>& used, const std::vector<bool>& failed);
    /// Called in place of restart() where the states are known. State, stream, pages handed out, `bad` and `cut` are
    /// set in each superblock's record before. `free`: the free superblocks of each group, in their order.
    void restore(const std::vector<std::vector<SuperblockId>>& free);
    /// Visits the free superblocks of a group, the one that is used next first.
    template <class Visit>
    void for_each_free(GroupId group, Visit&& visit) const {
        for (SuperblockId b = groups_[idx(group)].free_first; b != kNoSuperblock; b = blocks_[idx(b)].next_free)
            visit(b);
    }
    /// Called after restart() or restore(): failed superblocks without valid units need no emptying and are retired.
    void retire_empty();
    /// Leaves the same state as `pages` times allocate_host() and page_programmed() on a group of free blocks. The
    /// caller sets the valid counts.
    void fill_host(GroupId group, std::uint64_t pages);
    /// Takes the group's next free superblock, as if all its pages had been handed out and programmed. Precondition:
    /// there is one.
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
