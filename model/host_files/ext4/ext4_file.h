// SPDX-License-Identifier: Apache-2.0
// A file of ext4: where its blocks lie, which of them are written, and to which transactions its last changes belong.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "host_files/ext4/block_allocator.h"

namespace ssdtlm {

class ExtentMap {
public:
    struct Extent {
        std::uint64_t first = 0;  ///< on the drive
        std::uint64_t count = 0;
        bool written = false;
    };
    /// A piece of the file. `first`: its place on the drive; 0 for a hole.
    struct Piece {
        std::uint64_t first = 0;
        std::uint64_t count = 0;
        enum class Kind : std::uint8_t { hole, unwritten, written } kind = Kind::hole;
    };
    /// Returns the piece that begins at `block` of the file: at most `most` blocks of one kind that lie side by side.
    Piece at(std::uint64_t block, std::uint64_t most) const;
    /// Gives a place on the drive to blocks that were a hole. Panics when one of them has a place.
    void add(std::uint64_t block, BlockRun run, bool written);
    /// Marks [block, block + count) as written. Returns true if a part of it was not written before. Precondition: all
    /// of it has places.
    bool mark_written(std::uint64_t block, std::uint64_t count);
    /// The place at which this block would continue the extent before it in the file; 0: there is no extent before it.
    std::uint64_t behind(std::uint64_t block) const;
    std::size_t size() const { return extents_.size(); }
    const std::map<std::uint64_t, Extent>& extents() const { return extents_; }

private:
    void join(std::uint64_t block);
    std::map<std::uint64_t, Extent> extents_;  // by block of the file
};

struct Ext4File {
    std::uint64_t inode = 0;
    ExtentMap map;
    std::uint64_t size = 0;  ///< bytes
    BlockRun reserved;       ///< for block `reserved_for` of the file (mballoc's preallocation)
    std::uint64_t reserved_for = 0;
    std::vector<std::uint64_t> tree;     ///< leaves of the extent tree outside the inode
    std::int64_t changed_tick = -1;      ///< mtime, in ticks of the kernel's clock; -1: long ago
    std::int64_t read_tick = -1;         ///< atime
    std::uint64_t transaction = 0;       ///< of the last change; 0: none
    std::uint64_t data_transaction = 0;  ///< of the last change of places or length, which data depend on
};

}  // namespace ssdtlm
