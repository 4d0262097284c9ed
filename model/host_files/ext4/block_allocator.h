// SPDX-License-Identifier: Apache-2.0
// Which blocks of the file system are free, and which are taken next. As ext4's mballoc, it takes the place where the
// file goes on if that is free, else the first gap behind it that is large enough, else the largest.
#pragma once

#include <cstdint>
#include <map>

namespace ssdtlm {

/// Blocks that lie side by side.
struct BlockRun {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint64_t end() const { return first + count; }
};

class BlockAllocator {
public:
    /// Creates an allocator in which all of [0, blocks) is free.
    explicit BlockAllocator(std::uint64_t blocks) : free_blocks_(blocks) { free_[0] = blocks; }

    /// Takes these blocks. Throws CheckFailed when they are not free.
    void take(BlockRun run);
    /// Takes at least 1 and at most `wanted` blocks, as near behind `goal` as there is room for all of them. A count of
    /// 0 means that none is free.
    BlockRun allocate(std::uint64_t goal, std::uint64_t wanted);
    void release(BlockRun run);

    std::uint64_t free_blocks() const { return free_blocks_; }
    std::size_t gaps() const { return free_.size(); }

private:
    using Gap = std::map<std::uint64_t, std::uint64_t>::iterator;
    BlockRun cut(Gap gap, std::uint64_t first, std::uint64_t count);

    std::map<std::uint64_t, std::uint64_t> free_;  // first block -> count, none side by side
    std::uint64_t free_blocks_;
};

}  // namespace ssdtlm
