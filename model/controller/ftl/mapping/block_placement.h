// SPDX-License-Identifier: Apache-2.0
// Where a mapping by blocks puts pages of the host, and how it wins superblocks back: what the Ftl and the firmware ask
// of it. Logical blocks have data blocks, in which each unit has its place; what the host writes may go to other
// superblocks first, which are merged with them. The Ftl's table stays the truth about where a unit is. A merge is
// asked for by the page that finds no room and waits; until it is over the group takes no pages of the host. Whoever
// does it asks begin(), copies the pages of run() in order, and says end_run(), until demanded() is false; superblocks
// that hold nothing any more are erased one by one. Nothing here knows time. Among the streams of superblocks that
// garbage collection writes, stream 0 is the journal's.
//
// Contract:
// - take_pages(), take_part() and take_again() give pages of superblocks that the group has open (BlockManager), in
//   their order, and count those of the host.
// - A superblock that sealed() or found() tells of is the placement's until begin_erase(): its state is
//   BlockState::placed, and no victim policy sees it.
// - What cannot go on, because there is no free superblock and none to come, is said with Ftl::refuse_writes().
// - The same calls give the same answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/block_manager.h"
#include "controller/ftl/mapping/logical_blocks.h"
#include "controller/ftl/mapping/mapping.h"
#include "controller/ftl/superblock.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class BlockPlacement {
public:
    /// The copies into one superblock: pages `next` to `end` of a logical block.
    struct Run {
        std::uint32_t block = 0;
        std::uint32_t next = 0, end = 0;
    };

    explicit BlockPlacement(const PlacementSetup& setup);
    virtual ~BlockPlacement() = default;

    const LogicalBlocks& logical() const { return logical_; }

    // --- Pages of the host ---
    /// True: the page continues a logical block that is written in ascending order, as its first page or the next one,
    /// at once or after a merge.
    virtual bool is_sequential(const LogicalPage& p) const = 0;
    /// The page that continues the sequence. If its page is 0, there is no sequence.
    virtual LogicalPage next_sequential(GroupId group) const = 0;
    /// False: each page of the host has units of one logical page, at their slots.
    virtual bool takes_any_units() const = 0;
    /// Takes up to `most` pages of one row. `first`: whole pages, this one and those behind it; null: pages for any
    /// units. Returns how many; 0: a merge or an erase comes first.
    virtual std::uint32_t take_pages(GroupId group, const LogicalPage* first, std::uint32_t most, PageAddress* out) = 0;
    /// Takes one page of which the host writes only the units in `slots` (a bit each). It is used where
    /// takes_any_units() is false. False: a merge or an erase comes first. When it is taken and rest_taken(), its other
    /// units were read and go into it.
    virtual bool take_part(const LogicalPage& page, std::uint32_t slots, PageAddress& out) = 0;
    /// True once for the page taken last: its other units were read.
    virtual bool rest_taken(GroupId) { return false; }
    /// The rest of a page was read, and the page can be placed.
    virtual bool rest_at_hand(GroupId) const { return false; }
    /// The page that asked for the rest or a merge will not be written.
    virtual void forget_rest(GroupId) {}
    /// A page for the data of a failed program, taken at once, where nothing else goes. The spare superblock that
    /// replaces the failed one has room for all that was under way there.
    virtual PageAddress take_again(GroupId group) = 0;

    // --- Merges ---
    virtual bool demanded(GroupId group) const = 0;
    /// Host programs under way in superblocks that may be merged. A merge begins when there are none.
    virtual std::uint32_t host_programs(GroupId group) const = 0;
    /// Starts the next copies, which run() describes. False: the demanded merge is done or impossible. Precondition:
    /// demanded(), and nothing is to be erased.
    virtual bool begin(GroupId group) = 0;
    /// The drive has become read-only: no merge begins any more.
    virtual void refuse_merges() = 0;
    virtual const Run& run(GroupId group) const = 0;
    /// True: the run is one page, and its units that are not in host_slots() are read. Its reader does not program
    /// them.
    virtual bool reads_rest(GroupId) const { return false; }
    virtual std::uint32_t host_slots(GroupId) const { return 0; }
    /// The page for the next copy of the run. It counts as taken.
    virtual PageAddress next_page(GroupId group) = 0;
    /// All copies of the run are programmed.
    virtual void end_run(GroupId group) = 0;
    /// Called in place of end_run() when a copy failed and no others are under way. What was copied stays where it is;
    /// begin() says how to go on.
    virtual void abandon_run(GroupId group) = 0;
    /// A superblock that holds nothing any more and is to be erased; kNoSuperblock: there is none.
    virtual SuperblockId dead(GroupId group) const = 0;
    /// The erase of dead() begins. The superblock is a victim until Ftl::superblock_erased() and erase_ended().
    virtual SuperblockId begin_erase(GroupId group) = 0;
    virtual void erase_ended(GroupId group) = 0;
    virtual bool erasing(GroupId group) const = 0;

    // --- What the Ftl says ---
    /// All programs of the superblock have ended.
    virtual void sealed(SuperblockId b) = 0;
    /// A program in it has failed: it is emptied by merges, and never used again.
    virtual void failed(SuperblockId b) = 0;
    /// The group's first superblocks hold this many pages of the sequential lay-out in ascending order.
    virtual void laid_out(GroupId group, std::uint64_t pages) = 0;
    /// Called after a loss of power with its superblocks that hold data, in the order of writing.
    virtual void found(const std::vector<SuperblockId>& in_order) = 0;
    /// Returns an empty text if all units are where they may be, and each superblock has exactly one role. It looks at
    /// every unit.
    virtual std::string check() const = 0;
    /// Precondition: nothing is demanded, erased or being programmed. A placement without it works in drives that are
    /// not saved.
    virtual void state(Snapshot& s) { s.refuse("the mapping (ftl.mapping) does not say what it remembers"); }
    virtual std::string dump(GroupId group) const = 0;

    // --- Without time, for preconditioning ---
    /// Does all demanded merges and erases, up to an erase that has to wait.
    void merge_at_once(GroupId group);
    /// Programs a page of take_part(). `out` has the host's units at their slots, and gets the other units.
    void program_part(const LogicalPage& page, std::uint32_t slots, const PageAddress& a, Spare* out);

protected:
    /// True: the unit has a copy on the flash.
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
