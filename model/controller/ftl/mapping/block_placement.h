// SPDX-License-Identifier: Apache-2.0
// Where a mapping by blocks puts pages of the host, and how it wins superblocks back: what the Ftl and the firmware ask
// of it. Logical blocks have data blocks, in which each unit has its place; what the host writes may go to other
// superblocks first, which are merged with them. The Ftl's table stays the truth about where a unit is. A merge is
// asked for by the page that finds no room and waits; until it is over the group takes no pages of the host. Who does
// it asks begin(), copies the pages of run() in order, and says end_run(), until demanded() is false; superblocks that
// hold nothing any more are erased one by one. Nothing here knows time. Streams of superblocks: 0 of what garbage
// collection writes is the journal's.
//
// Contract:
// - take_pages(), take_part() and take_again() give pages of superblocks that the group has open (BlockManager), in
// their order, and count those of the host.
// - A superblock that sealed() or found() tells of is the placement's until begin_erase(): its state is
// BlockState::placed, and no victim policy sees it.
// - What cannot go on, because there is no free superblock and none to come, is said with Ftl::refuse_writes().
// - The same calls give the same answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/block_manager.h"
#include "controller/ftl/hybrid/logical_blocks.h"
#include "controller/ftl/mapping/mapping.h"
#include "controller/ftl/superblock.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class BlockPlacement {
public:
    /// Copies into one superblock: pages `next` to `end` of a logical block.
    struct Run {
        std::uint32_t block = 0;
        std::uint32_t next = 0, end = 0;
    };

    explicit BlockPlacement(const PlacementSetup& setup);
    virtual ~BlockPlacement() = default;

    const LogicalBlocks& logical() const { return logical_; }

    // --- Pages of the host ---
    /// Its pages go on where a logical block is written in ascending order, as the first of it or the next one; at
    /// once, or after a merge.
    virtual bool is_sequential(const LogicalPage& p) const = 0;
    /// The page that continues it; its page is 0: there is none.
    virtual LogicalPage next_sequential(GroupId group) const = 0;
    /// False: each page of the host has units of one logical page, at their slots.
    virtual bool takes_any_units() const = 0;
    /// Up to `most` pages of one row. `first`: they are this page and those behind it, whole; null: any units. Returns
    /// how many; 0: a merge comes first, or an erase.
    virtual std::uint32_t take_pages(GroupId group, const LogicalPage* first, std::uint32_t most, PageAddress* out) = 0;
    /// Where it does not take any units: this page, of which the host writes the units in `slots` (a bit each), not
    /// all. False: as with 0. Then, if rest_taken(), its other units were read and go into it.
    virtual bool take_part(const LogicalPage& page, std::uint32_t slots, PageAddress& out) = 0;
    /// Of the page taken last, once.
    virtual bool rest_taken(GroupId) { return false; }
    /// They were read, and the page that asked for them is to be placed.
    virtual bool rest_at_hand(GroupId) const { return false; }
    /// The page that asked for a merge is not written any more.
    virtual void forget_rest(GroupId) {}
    /// For what a failed program was to write: at once, where nothing else goes. The spare superblock that has taken
    /// the place of the failed one has room for all that was under way there.
    virtual PageAddress take_again(GroupId group) = 0;

    // --- Merges ---
    virtual bool demanded(GroupId group) const = 0;
    /// Programs of the host under way in superblocks that may be merged: a merge begins when there are none.
    virtual std::uint32_t host_programs(GroupId group) const = 0;
    /// The copies that come next: run() has them. False: what was demanded is done, or cannot be done. Precondition:
    /// demanded(), and nothing is to be erased.
    virtual bool begin(GroupId group) = 0;
    /// Of a drive that has become read-only: no more merges than have begun.
    virtual void refuse_merges() = 0;
    virtual const Run& run(GroupId group) const = 0;
    /// The run is one page, of which the units that are not in host_slots() are read. They are not programmed by who
    /// reads them.
    virtual bool reads_rest(GroupId) const { return false; }
    virtual std::uint32_t host_slots(GroupId) const { return 0; }
    /// The page for the next of them, which is counted as taken.
    virtual PageAddress next_page(GroupId group) = 0;
    /// All of them are programmed.
    virtual void end_run(GroupId group) = 0;
    /// Instead of it: one was not, and no others are under way. What was copied stays where it is; begin() says how it
    /// goes on.
    virtual void abandon_run(GroupId group) = 0;
    /// Holds nothing any more and is to be erased; kNoSuperblock: none.
    virtual SuperblockId dead(GroupId group) const = 0;
    /// The erase of dead() begins: it is a victim from now on, until Ftl::superblock_erased() and erase_ended().
    virtual SuperblockId begin_erase(GroupId group) = 0;
    virtual void erase_ended(GroupId group) = 0;
    virtual bool erasing(GroupId group) const = 0;

    // --- What the Ftl says ---
    /// All programs of the superblock have ended.
    virtual void sealed(SuperblockId b) = 0;
    /// A program in it has failed: it is emptied by merges, and never used again.
    virtual void failed(SuperblockId b) = 0;
    /// The group's first superblocks have so many pages of it in ascending order.
    virtual void laid_out(GroupId group, std::uint64_t pages) = 0;
    /// After a loss of power: its superblocks that hold data, the one written last at the end.
    virtual void found(const std::vector<SuperblockId>& in_order) = 0;
    /// Empty: all units are where they may be, and each superblock has one part to play. Looks at every unit.
    virtual std::string check() const = 0;
    /// Precondition: nothing is demanded, erased or being programmed. Without it, drives that are not saved work.
    virtual void state(Snapshot& s) { s.refuse("the mapping (ftl.mapping) does not say what it remembers"); }
    virtual std::string dump(GroupId group) const = 0;

    // --- Without time, for preconditioning ---
    /// All that is demanded and dead, up to an erase that has to wait.
    void merge_at_once(GroupId group);
    /// A page of take_part(): `out` has the host's units at their slots, and gets the others.
    void program_part(const LogicalPage& page, std::uint32_t slots, const PageAddress& a, Spare* out);

protected:
    /// The unit has a copy on the flash.
    bool has_copy(Lpa lpa) const;
    /// Pages from this one to the end of its row.
    std::uint32_t row_left(std::uint32_t page) const;
    SuperblockId superblock_of(const PageAddress& a) const;

    Ftl& ftl_;
    BlockManager& blocks_;
    FtlCounters& counters_;

private:
    void copy_page(GroupId group);
    void program_at_once(const LogicalPage& page, std::uint32_t skip, const PageAddress& a, Spare* out);

    const LogicalBlocks logical_;
};

}  // namespace ssdtlm
