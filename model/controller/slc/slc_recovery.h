// SPDX-License-Identifier: Apache-2.0
// The SLC cache when the power was off: its static superblocks are where they always are; which of the others are in
// SLC mode their pages say, or a clean checkpoint. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ftl/block_manager.h"
#include "controller/ftl/superblock.h"
#include "controller/slc/slc_cache.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {

class SlcRecovery {
public:
    /// `last_of`: by superblock, the highest number of its pages. All must outlive it.
    SlcRecovery(SlcCache& slc, BlockManager& blocks, const SuperblockShape& shape, const SpareArea& spare,
                const std::vector<std::uint64_t>& last_of)
        : slc_(slc), blocks_(blocks), shape_(shape), spare_(spare), last_of_(last_of) {}

    // One of them.
    /// Restores the cache as the loss of power left it. Superblocks that have pages, as `used` says, are to be folded
    /// in the order in which they were written. Call BlockManager::restart() before.
    void from_pages(const std::vector<bool>& used);
    /// Restores the cache from the superblocks' records. Takes its free superblocks, which are in order, out of `free`.
    /// Call BlockManager::restore() afterwards.
    void from_records(std::vector<std::vector<SuperblockId>>& free);

private:
    bool tells_slc(BlockId block) const;
    template <class Is>
    std::vector<SuperblockId> oldest_first(Is&& is) const;

    SlcCache& slc_;
    BlockManager& blocks_;
    const SuperblockShape& shape_;
    const SpareArea& spare_;
    const std::vector<std::uint64_t>& last_of_;
};

}  // namespace ssdtlm
