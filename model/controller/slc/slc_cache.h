// SPDX-License-Identifier: Apache-2.0
// The SLC cache: superblocks of each group that take the host's pages first, because they are programmed fast. What is
// still valid in the one that was filled first is moved to the group's other superblocks (folded), then it is erased.
// Some are the cache's own (static). Others it takes from the group's free ones while there are more than a reserve
// (dynamic), and gives them back when they are erased. Kernel-free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/block_manager.h"
#include "controller/ftl/ftl_config.h"
#include "controller/ports/slc_region.h"

namespace ssdtlm {

/// The first feature of the list (../features/features.cpp) has this stream.
inline constexpr std::uint8_t kSlcStream = kFirstOwnStream;
/// Region of the static superblocks: the last blocks of each plane in front of those set apart for checkpoints.
SlcRegion slc_region_of(const FtlConfig& config, const NandGeometry& geometry);
/// Free superblocks of a group that the SLC cache must leave free. So opening one for the cache begins no collection,
/// nor does what the host writes past the cache until then. Folding needs no reserve: a superblock that is folded takes
/// at most one free one, and gives itself back.
constexpr std::uint32_t slc_reserve(const FtlConfig& config) {
    return config.gc_soft_free_blocks + 1;
}

class SlcCache {
public:
    /// Takes over the static superblocks from `blocks`. All of them are free.
    SlcCache(const FtlConfig& config, const NandGeometry& geometry, const SuperblockShape& shape, BlockManager& blocks);

    /// The pages that are in SLC mode, now and later, as long as the cache exists.
    SlcRegion region() const;
    /// Pages of a superblock in SLC mode.
    std::uint32_t pages() const { return region_.pages * shape_.planes(); }

    bool takes_pages(GroupId group) const {
        return in_use_ && (groups_[idx(group)].open != kNoSuperblock || free_blocks(group) != 0);
    }
    /// The next page of the group. Precondition: takes_pages(group).
    PageAddress allocate(GroupId group);
    /// Pages handed out of the open superblock; 0: the next page opens one.
    std::uint32_t write_pointer(GroupId group) const {
        const SuperblockId open = groups_[idx(group)].open;
        return open == kNoSuperblock ? 0 : blocks_[open].write_pointer;
    }
    SuperblockId open_block(GroupId group) const { return groups_[idx(group)].open; }
    /// Superblocks that it may open now: free static ones, and free ones of the group.
    std::uint32_t free_blocks(GroupId group) const {
        return static_cast<std::uint32_t>(groups_[idx(group)].free.size()) + may_borrow(group);
    }
    /// Dynamic superblocks. They count from their opening until they are erased or fail.
    std::uint32_t dynamic_blocks(GroupId group) const { return groups_[idx(group)].dynamic; }
    bool is_static(SuperblockId b) const { return idx(b) % shape_.blocks_per_group() - region_.first < region_.blocks; }
    /// Full superblocks that are dynamic.
    std::uint32_t sealed_dynamic(GroupId group) const { return groups_[idx(group)].sealed_dynamic; }
    /// Full superblocks, which are to be folded.
    std::uint32_t sealed_blocks(GroupId group) const {
        return static_cast<std::uint32_t>(groups_[idx(group)].sealed.size());
    }

    /// The last page of a full superblock has been programmed.
    void seal(SuperblockId b);
    /// A program or the erase of the superblock has failed. It is not the cache's any more.
    void lose(SuperblockId b);
    /// The full superblock that was filled first, of all or only of the dynamic ones. Precondition: there is one.
    SuperblockId oldest(GroupId group, bool only_dynamic = false) const;
    /// The full dynamic superblock with the fewest valid units; kNoSuperblock: there is none.
    SuperblockId emptiest_dynamic(GroupId group) const;
    /// Removes a full superblock from the cache. It is sealed as others are, and can be emptied.
    void take(SuperblockId b);
    /// Valid units of the full superblock that was filled first; 0: there is none.
    std::uint32_t valid_in_oldest(GroupId group) const {
        const Group& g = groups_[idx(group)];
        return g.sealed.empty() ? 0 : blocks_[g.sealed.front()].valid;
    }
    /// The superblock was a victim and is free now: a static one in the cache, a dynamic one in its group.
    void erased(SuperblockId b);

    /// False: takes_pages() returns false from now on.
    void use(bool in_use) { in_use_ = in_use; }

    /// After a loss of power: a superblock in SLC mode that is not static. Call it before found().
    void found_dynamic(SuperblockId b);
    /// After found_dynamic(): each superblock of the cache, with the state that is set in its record. Sealed ones come
    /// in the order in which they were filled, free ones in the order in which they were erased.
    void found(SuperblockId b);
    /// A superblock that is sealed as the loss of power left it.
    void found_sealed(SuperblockId b, bool cut);
    template <class Visit>
    void for_each_free(GroupId group, Visit&& visit) const {
        for (const SuperblockId b : groups_[idx(group)].free) visit(b);
    }
    /// Returns an empty text if its lists agree with the states of the superblocks, else a sentence.
    std::string check() const;
    void state(Snapshot& s);

private:
    struct Group {
        SuperblockId open = kNoSuperblock;
        std::deque<SuperblockId> free;    // in the order in which they were erased
        std::deque<SuperblockId> sealed;  // in the order in which they were filled
        std::uint32_t dynamic = 0, sealed_dynamic = 0;
    };
    /// Free superblocks of the group that may become dynamic ones now.
    std::uint32_t may_borrow(GroupId group) const {
        const std::uint32_t dynamic = groups_[idx(group)].dynamic;
        if (dynamic >= most_dynamic_) return 0;
        const std::uint32_t free = blocks_.free_for_host(group);
        return free <= reserve_ ? 0 : std::min(free - reserve_, most_dynamic_ - dynamic);
    }
    void set_mode(SuperblockId b, bool slc);
    SuperblockId superblock(std::uint32_t group, std::uint32_t i) const {
        return SuperblockId{group * shape_.blocks_per_group() + region_.first + i};
    }
    Group& group_of(SuperblockId b) { return groups_[idx(shape_.group_of(b))]; }

    const SlcRegion region_;  // the static ones
    const std::uint32_t most_dynamic_;
    const std::uint32_t reserve_;  // of those free ones that the host may open
    const SuperblockShape& shape_;
    BlockManager& blocks_;
    std::vector<Group> groups_;
    std::vector<std::uint8_t> modes_;  // by block; empty: without dynamic ones
    bool in_use_ = true;
};

}  // namespace ssdtlm
