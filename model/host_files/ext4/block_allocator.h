// SPDX-License-Identifier: Apache-2.0
// Knows which blocks of the file system are free, and which of them a file gets. Like ext4's mballoc, it takes the
// goal, where the file goes on, if that is free. Else it takes the first gap behind the goal that is large enough, else
// the first such gap before it, else the largest gap.
#pragma once

#include <cstdint>
#include <map>

namespace ssdtlm {

/// A run of blocks that lie side by side.
struct BlockRun {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint64_t end() const { return first + count; }
};

class BlockAllocator {
public:
    /// Creates an allocator in which all blocks of [0, blocks) are free.
    explicit BlockAllocator(std::uint64_t blocks) : free_blocks_(blocks) { free_[0] = blocks; }

    /// Takes these blocks. Panics when one of them is not free.
    void take(BlockRun run);
    /// Takes between 1 and `wanted` blocks that lie side by side. It takes fewer than `wanted` if the gap at `goal`, or
    /// the largest gap, is smaller. A count of 0 means that no block is free.
    BlockRun allocate(std::uint64_t goal, std::uint64_t wanted);
    void release(BlockRun run);

    std::uint64_t free_blocks() const { return free_blocks_; }
    std::size_t gaps() const { return free_.size(); }

private:
    using Gap = std::map<std::uint64_t, std::uint64_t>::iterator;
    BlockRun cut(Gap gap, std::uint64_t first, std::uint64_t count);

    std::map<std::uint64_t, std::uint64_t> free_;  // first block -> count; two gaps never touch
    std::uint64_t free_blocks_;
};

}  // namespace ssdtlm
