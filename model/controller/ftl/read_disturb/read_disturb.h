// SPDX-License-Identifier: Apache-2.0
// Reads disturb the other pages of their block: what a block holds is moved before it has been read too often since its erase. Counts the
// pages that are read of each block, and says which sealed superblocks are to be moved. Kernel-free.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/block_manager.h"

namespace ssdtlm {

class ReadDisturb {
public:
    /// `most_reads` of a block.
    ReadDisturb(std::uint32_t most_reads, const SuperblockShape& shape, const BlockManager& blocks);

    /// A page of the block is read. True: its superblock is to be moved, and was not before. One that is still written, with the first read when it is full.
    bool read(BlockId b) {
        if (__builtin_expect(++reads_[idx(b)] < most_, 1)) return false;
        return want(shape_.superblock_of(b));
    }
    bool wanted(GroupId group) const { return !groups_[idx(group)].wanted.empty(); }
    /// Of the last take() or other(): its data have been read too often.
    bool took_last(GroupId group) const { return groups_[idx(group)].took_last; }
    /// The one that was wanted first. Precondition: wanted(group).
    SuperblockId take(GroupId group);
    /// The group's next victim is this one, for another reason.
    void other(GroupId group, SuperblockId victim);
    void erased(SuperblockId b);

    std::uint32_t reads(BlockId b) const { return reads_[idx(b)]; }
    /// The counts. What is wanted is wanted again with its next read.
    void state(Snapshot& s) { s.fixed(reads_); }

private:
    struct Group {
        std::deque<SuperblockId> wanted;
        bool took_last = false;
    };
    bool want(SuperblockId b);
    bool is_disturbed(SuperblockId b) const;

    const std::uint32_t most_;
    const SuperblockShape& shape_;
    const BlockManager& blocks_;
    std::vector<std::uint32_t> reads_;  // by block
    std::vector<Group> groups_;
};

}  // namespace ssdtlm
