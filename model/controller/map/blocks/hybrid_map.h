// SPDX-License-Identifier: Apache-2.0
// Hybrid mapping with log blocks (FAST: Lee, Park, Chung, Lee, Park, Song, "A log buffer-based flash translation layer
// using fully-associative sector translation", ACM TECS 6(3), 2007). A data block holds one logical block, each unit at
// its place. What the host writes goes to log blocks: whole pages from the first one of a logical block on, in
// ascending order, to the group's sequential log block, all others to its random ones in turn.
//
// Without random log blocks this is block mapping: the sequential log block is the replacement block, which takes each
// page of the host, in ascending order, at its place. A page of which the host writes some units has the others copied
// into it.
//
// Merges turn log blocks into data blocks. Switch: the sequential log block has all pages of its logical block and
// takes the place of the data block. Partial: another logical block needs it, so the rest is copied into it first.
// Full: of the oldest random log block each logical block that has units in it is gathered in a free superblock, in
// ascending order, wherever its units are. Fill (without random log blocks only): what lies before the page that the
// host writes is copied, or padded, first. Rest (so too): the other units of the page that the host writes are read,
// and programmed with it.
//
// What a mapping by blocks is asked, and who does the merges, is in ../../ftl/mapping/block_placement.h.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/mapping/block_placement.h"
#include "controller/ftl/superblock.h"

namespace ssdtlm {

class HybridMap : public BlockPlacement {
public:
    /// Streams of the superblocks (../../ftl/block_manager.h): sequential log blocks, random log blocks, and
    /// superblocks that full merges fill.
    static constexpr std::uint32_t kSequential = 0, kRandom = 1, kMerged = 1;

    /// `random_logs`: random log blocks of each group.
    HybridMap(const PlacementSetup& setup, std::uint32_t random_logs);

    bool is_sequential(const LogicalPage& p) const override {
        const Sequential& s = groups_[idx(p.group)].sequential;
        return random_logs_ == 0 || p.page == 0 || (s.at != kNoSuperblock && s.block == p.block && s.next == p.page);
    }
    LogicalPage next_sequential(GroupId group) const override {
        const Sequential& s = groups_[idx(group)].sequential;
        return {group, s.block, s.at == kNoSuperblock ? 0 : s.next};
    }
    bool takes_any_units() const override { return random_logs_ != 0; }
    std::uint32_t take_pages(GroupId group, const LogicalPage* first, std::uint32_t most, PageAddress* out) override;
    bool take_part(const LogicalPage& page, std::uint32_t slots, PageAddress& out) override;
    bool rest_taken(GroupId group) override {
        Rest& rest = groups_[idx(group)].rest;
        const bool taken = rest.state == Rest::State::taken;
        if (taken) rest.state = Rest::State::none;
        return taken;
    }
    bool rest_at_hand(GroupId group) const override { return groups_[idx(group)].rest.state == Rest::State::at_hand; }
    void forget_rest(GroupId group) override { groups_[idx(group)].rest.state = Rest::State::none; }
    PageAddress take_again(GroupId group) override;

    bool demanded(GroupId group) const override { return groups_[idx(group)].demand != Demand::none; }
    std::uint32_t host_programs(GroupId group) const override;
    bool begin(GroupId group) override;
    void refuse_merges() override;
    const Run& run(GroupId group) const override { return groups_[idx(group)].run; }
    bool reads_rest(GroupId group) const override { return groups_[idx(group)].demand == Demand::rest; }
    std::uint32_t host_slots(GroupId group) const override { return groups_[idx(group)].rest.slots; }
    PageAddress next_page(GroupId group) override;
    void end_run(GroupId group) override;
    void abandon_run(GroupId group) override;
    SuperblockId dead(GroupId group) const override {
        const Group& g = groups_[idx(group)];
        return g.dead.empty() ? kNoSuperblock : g.dead.front();
    }
    SuperblockId begin_erase(GroupId group) override;
    void erase_ended(GroupId group) override { groups_[idx(group)].erasing = false; }
    bool erasing(GroupId group) const override { return groups_[idx(group)].erasing; }

    void sealed(SuperblockId b) override;
    /// The superblock is a log block from now on. It is merged before the group takes a page of the host.
    void failed(SuperblockId b) override;
    void laid_out(GroupId group, std::uint64_t pages) override;
    /// A superblock that was open becomes a log block, or the data block of the logical block that it has most of.
    void found(const std::vector<SuperblockId>& in_order) override;
    std::string check() const override;
    void state(Snapshot& s) override;
    std::string dump(GroupId group) const override;

    /// For tests and observers. kNoSuperblock: there is none.
    SuperblockId data_block(GroupId group, std::uint32_t block) const { return groups_[idx(group)].data[block]; }
    SuperblockId sequential_log(GroupId group) const { return groups_[idx(group)].sequential.at; }
    const std::deque<SuperblockId>& random_logs(GroupId group) const { return groups_[idx(group)].random; }

private:
    enum class Demand : std::uint8_t { none, partial, full, fill, rest };
    /// The units of a page that the host does not write.
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
        std::vector<SuperblockId> data;  // by logical block
        Sequential sequential;
        std::vector<Sequential> complete;  // sequential log blocks whose last programs are under way
        std::deque<SuperblockId>
            random;  // the oldest first, but before these what has failed; one may be open, and one of take_again()
        std::deque<SuperblockId> dead;
        SuperblockId merged = kNoSuperblock;  // which a full merge fills
        Demand demand = Demand::none;
        Run run;  // fill: what is asked for
        Rest rest;
        bool gathers = false;  // a full merge of which something was copied; not of what has failed
        bool begun = false;    // what is demanded
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
    bool is_in_place(SuperblockId b, std::uint32_t& block) const;
    template <class Visit>
    void for_each_valid(SuperblockId b, Visit&& visit) const;

    const std::uint32_t random_logs_;
    std::vector<Group> groups_;
};

}  // namespace ssdtlm
