// SPDX-License-Identifier: Apache-2.0
// The SLC cache: superblocks of each group that take the host's pages first, because they are programmed fast. What is still valid in the one
// that was filled first is moved to the group's other superblocks (folded), then it is erased. Kernel-free.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/block_manager.h"
#include "controller/ftl/ftl_config.h"
#include "controller/ports/slc_region.h"

namespace ssdtlm {

/// The last blocks of each plane in front of those that are set apart for checkpoints.
SlcRegion slc_region_of(const FtlConfig& config, const NandGeometry& geometry);

class SlcCache {
public:
    /// The superblocks of the region are taken over from `blocks`, all free.
    SlcCache(const SlcRegion& region, const SuperblockShape& shape, BlockManager& blocks);

    /// Of a superblock.
    std::uint32_t pages() const { return region_.pages * shape_.planes(); }

    bool takes_pages(GroupId group) const {
        const Group& g = groups_[idx(group)];
        return in_use_ && (g.open != kNoSuperblock || !g.free.empty());
    }
    /// The next page of the group. Precondition: takes_pages(group).
    PageAddress allocate(GroupId group);
    /// Pages handed out of the open one; 0: the next page opens one.
    std::uint32_t write_pointer(GroupId group) const {
        const SuperblockId open = groups_[idx(group)].open;
        return open == kNoSuperblock ? 0 : blocks_[open].write_pointer;
    }
    SuperblockId open_block(GroupId group) const { return groups_[idx(group)].open; }
    std::uint32_t free_blocks(GroupId group) const { return static_cast<std::uint32_t>(groups_[idx(group)].free.size()); }
    /// Full ones, to be folded.
    std::uint32_t sealed_blocks(GroupId group) const { return static_cast<std::uint32_t>(groups_[idx(group)].sealed.size()); }

    /// The last page of a full one has been programmed.
    void seal(SuperblockId b);
    /// A program in it has failed; it is not the cache's any more.
    void lose(SuperblockId b);
    /// The one that was filled first. Precondition: sealed_blocks(group) != 0. It is sealed then as others are.
    SuperblockId take_oldest(GroupId group);
    /// Its units, if take_oldest() would give it; 0 without one.
    std::uint32_t valid_in_oldest(GroupId group) const {
        const Group& g = groups_[idx(group)];
        return g.sealed.empty() ? 0 : blocks_[g.sealed.front()].valid;
    }
    /// Victim -> free.
    void erased(SuperblockId b);

    /// False: takes_pages() is false from now on.
    void use(bool in_use) { in_use_ = in_use; }

    /// After the power was off, each with the state that is set in its record: those that are sealed and free, in the order in which they were
    /// filled and erased.
    void found(SuperblockId b);
    /// What was sealed as the power left it.
    void found_sealed(SuperblockId b, bool cut);
    template <class Visit>
    void for_each_free(GroupId group, Visit&& visit) const {
        for (const SuperblockId b : groups_[idx(group)].free) visit(b);
    }
    /// What its lists say against the states of the superblocks: a sentence, empty when they agree.
    std::string check() const;
    void state(Snapshot& s);

private:
    struct Group {
        SuperblockId open = kNoSuperblock;
        std::deque<SuperblockId> free;    // in the order in which they were erased
        std::deque<SuperblockId> sealed;  // in the order in which they were filled
    };
    SuperblockId superblock(std::uint32_t group, std::uint32_t i) const {
        return SuperblockId{group * shape_.blocks_per_group() + region_.first + i};
    }
    Group& group_of(SuperblockId b) { return groups_[idx(shape_.group_of(b))]; }

    const SlcRegion region_;
    const SuperblockShape& shape_;
    BlockManager& blocks_;
    std::vector<Group> groups_;
    bool in_use_ = true;
};

}  // namespace ssdtlm
