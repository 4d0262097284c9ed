// SPDX-License-Identifier: Apache-2.0
// Hybrid mapping with log blocks (FAST: Lee, Park, Chung, Lee, Park, Song, "A log buffer-based flash translation layer using
// fully-associative sector translation", ACM TECS 6(3), 2007). A data block holds one logical block, each unit at its place. What the
// host writes goes to log blocks: whole pages from the first one of a logical block on, in ascending order, to the group's sequential
// log block, all others to its random ones in turn.
//
// Without random log blocks this is block mapping: the sequential log block is the replacement block, which takes each page of the host, in
// ascending order, at its place. A page of which the host writes some units has the others copied into it.
//
// Merges turn log blocks into data blocks. Switch: the sequential log block has all pages of its logical block and takes the place of
// the data block. Partial: another logical block needs it, so the rest is copied into it first. Full: of the oldest random log block
// each logical block that has units in it is gathered in a free superblock, in ascending order, wherever its units are. Fill (without
// random log blocks only): what lies before the page that the host writes is copied, or padded, first. Rest (so too): the other units of the
// page that the host writes are read, and programmed with it.
//
// The Ftl's map stays the truth about where a unit is; this is where pages are put and how superblocks are won back. A merge is asked
// for by the page that finds no room and waits; until it is over the group takes no pages of the host. Who does it asks begin(),
// copies the pages of run() in order, and says end_run(), until demanded() is false; superblocks that hold nothing any more are
// erased one by one. It knows no time.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/block_state.h"
#include "controller/ftl/ftl_config.h"
#include "controller/ftl/hybrid/logical_blocks.h"
#include "controller/ftl/superblock.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class Ftl;

bool is_hybrid(const FtlConfig& config);
/// Random log blocks of each group.
std::uint32_t random_log_blocks(const FtlConfig& config);

class HybridMap {
public:
    /// Streams of the superblocks (block_manager.h) that are sequential log blocks, of random ones, and of those that full merges fill. Stream 0
    /// of what garbage collection writes is the journal's.
    static constexpr std::uint32_t kSequential = 0, kRandom = 1, kMerged = 1;

    /// Copies into one superblock: pages `next` to `end` of a logical block.
    struct Run {
        std::uint32_t block = 0;
        std::uint32_t next = 0, end = 0;
    };

    /// `ftl` must outlive it.
    explicit HybridMap(Ftl& ftl);

    const LogicalBlocks& logical() const { return logical_; }

    // --- Pages of the host ---
    /// Its pages go to the sequential log block, as the first of a logical block or the next one; at once, or after a merge.
    bool is_sequential(const LogicalPage& p) const {
        const Sequential& s = groups_[idx(p.group)].sequential;
        return random_logs_ == 0 || p.page == 0 || (s.at != kNoSuperblock && s.block == p.block && s.next == p.page);
    }
    /// The page that continues it; its page is 0: there is none.
    LogicalPage next_sequential(GroupId group) const {
        const Sequential& s = groups_[idx(group)].sequential;
        return {group, s.block, s.at == kNoSuperblock ? 0 : s.next};
    }
    /// False: block mapping. Each page of the host has units of one logical page, at their slots.
    bool has_random_logs() const { return random_logs_ != 0; }
    /// Up to `most` pages of one row. `first`: they are this page and those behind it, whole; null: any units. Returns how many; 0: a
    /// merge comes first, or an erase.
    std::uint32_t take_pages(GroupId group, const LogicalPage* first, std::uint32_t most, PageAddress* out);

    /// With block mapping: this page, of which the host writes the units in `slots` (a bit each), not all. False: as with 0. Then, if rest_taken(),
    /// its other units were read and go into it.
    bool take_part(const LogicalPage& page, std::uint32_t slots, PageAddress& out);
    /// Of the page taken last, once.
    bool rest_taken(GroupId group) {
        Rest& rest = groups_[idx(group)].rest;
        const bool taken = rest.state == Rest::State::taken;
        if (taken) rest.state = Rest::State::none;
        return taken;
    }
    /// They were read, and the page that asked for them is to be placed.
    bool rest_at_hand(GroupId group) const { return groups_[idx(group)].rest.state == Rest::State::at_hand; }
    /// The page that asked for a merge is not written any more.
    void forget_rest(GroupId group) { groups_[idx(group)].rest.state = Rest::State::none; }
    /// That page without time: `out` has the host's units at their slots, and gets the others.
    void program_part(const LogicalPage& page, std::uint32_t slots, const PageAddress& a, Spare* out);

    /// For what a failed program was to write: at once, in a random log block that takes nothing else. The spare superblock that has taken the
    /// place of the failed one has room for all that was under way there.
    PageAddress take_again(GroupId group);

    // --- Merges ---
    bool demanded(GroupId group) const { return groups_[idx(group)].demand != Demand::none; }
    /// Programs of the host under way in log blocks of the group: a merge begins when there are none.
    std::uint32_t host_programs(GroupId group) const;
    /// The copies that come next: run() has them. False: what was demanded is done, or cannot be done. Precondition: demanded(), and
    /// nothing is to be erased.
    bool begin(GroupId group);
    /// Of a drive that has become read-only: no more merges than have begun.
    void refuse_merges();
    const Run& run(GroupId group) const { return groups_[idx(group)].run; }
    /// The run is one page, of which the units that are not in host_slots() are read. They are not programmed by who reads them.
    bool reads_rest(GroupId group) const { return groups_[idx(group)].demand == Demand::rest; }
    std::uint32_t host_slots(GroupId group) const { return groups_[idx(group)].rest.slots; }
    /// The page for the next of them, which is counted as taken.
    PageAddress next_page(GroupId group);
    /// All of them are programmed.
    void end_run(GroupId group);
    /// Instead of it: one was not, and no others are under way. What was copied stays where it is; begin() says how it goes on.
    void abandon_run(GroupId group);
    /// Holds nothing any more and is to be erased; kNoSuperblock: none.
    SuperblockId dead(GroupId group) const {
        const Group& g = groups_[idx(group)];
        return g.dead.empty() ? kNoSuperblock : g.dead.front();
    }
    /// The erase of dead() begins: it is a victim from now on, until Ftl::superblock_erased() and erase_ended().
    SuperblockId begin_erase(GroupId group);
    void erase_ended(GroupId group) { groups_[idx(group)].erasing = false; }
    bool erasing(GroupId group) const { return groups_[idx(group)].erasing; }
    /// All that is demanded and dead, without time; up to an erase that has to wait.
    void merge_at_once(GroupId group);

    // --- What the Ftl says ---
    /// All programs of the superblock have ended.
    void sealed(SuperblockId b);
    /// A program in it has failed: it is a log block from now on, merged before the group takes a page of the host, and never used again.
    void failed(SuperblockId b);
    /// The group's first superblocks have so many pages of it in ascending order.
    void laid_out(GroupId group, std::uint64_t pages);
    /// After a loss of power: its superblocks that hold data, the one written last at the end. What was open is a log block, or the
    /// data block of a logical block that it has most of.
    void found(const std::vector<SuperblockId>& in_order);

    /// For who looks on: kNoSuperblock where there is none.
    SuperblockId data_block(GroupId group, std::uint32_t block) const { return groups_[idx(group)].data[block]; }
    SuperblockId sequential_log(GroupId group) const { return groups_[idx(group)].sequential.at; }
    const std::deque<SuperblockId>& random_logs(GroupId group) const { return groups_[idx(group)].random; }
    /// Empty: all units are where they may be, and each superblock has one part to play. Looks at every unit.
    std::string check() const;
    /// Precondition: nothing is demanded, erased or being programmed.
    void state(Snapshot& s);
    std::string dump(GroupId group) const;

private:
    enum class Demand : std::uint8_t { none, partial, full, fill, rest };
    /// The units that the host does not write of a page.
    struct Rest {
        enum class State : std::uint8_t { none, asked, at_hand, taken };
        State state = State::none;
        LogicalPage page;
        std::uint32_t slots = 0;  ///< which the host writes
    };
    struct Sequential {
        SuperblockId at = kNoSuperblock;
        std::uint32_t block = 0;
        std::uint32_t next = 0;
        bool copied = false;  ///< not all of it was written by the host
    };
    struct Group {
        std::vector<SuperblockId> data;     // by logical block
        Sequential sequential;
        std::vector<Sequential> complete;   // sequential log blocks whose last programs are under way
        std::deque<SuperblockId> random;    // the oldest first, but before these what has failed; one may be open, and one of take_again()
        std::deque<SuperblockId> dead;
        SuperblockId merged = kNoSuperblock;  // which a full merge fills
        Demand demand = Demand::none;
        Run run;                            // fill: what is asked for
        Rest rest;
        bool gathers = false;               // a full merge of which something was copied; not of what has failed
        bool begun = false;                 // what is demanded
        bool erasing = false;
    };
    void check_read(Snapshot& s, std::uint32_t group) const;
    bool merges_failed(GroupId group);
    bool begin_demanded(GroupId group);
    std::uint32_t take_sequential(const LogicalPage& first, std::uint32_t most, PageAddress* out);
    std::uint32_t take_random(GroupId group, std::uint32_t most, PageAddress* out);
    bool stands_at(const LogicalPage& page);
    std::uint32_t append(const LogicalPage& first, std::uint32_t most, PageAddress* out, bool copied);
    bool has_rest(const LogicalPage& page, std::uint32_t slots) const;
    bool may_open(GroupId group) const;
    std::uint32_t ask(GroupId group, Demand demand);
    std::uint32_t wait_for_room(GroupId group);
    bool begin_full(GroupId group);
    bool begin_fill(GroupId group);
    std::uint32_t end_of_mapped(GroupId group, std::uint32_t block, std::uint32_t from) const;
    void becomes_data(GroupId group, const Sequential& log);
    void take_place_of_data(GroupId group, std::uint32_t block, SuperblockId b);
    void close_if_open(SuperblockId b, BlockState kind, std::uint32_t stream);
    void die(SuperblockId b);
    void copy_page(GroupId group);
    void program_at_once(const LogicalPage& page, std::uint32_t skip, const PageAddress& a, Spare* out);
    bool is_in_place(SuperblockId b, std::uint32_t& block) const;
    template <class Visit>
    void for_each_valid(SuperblockId b, Visit&& visit) const;

    Ftl& ftl_;
    const std::uint32_t random_logs_;
    const LogicalBlocks logical_;
    std::vector<Group> groups_;
};

}  // namespace ssdtlm
