// SPDX-License-Identifier: Apache-2.0
// Reads disturb the other pages of their block. This class counts the reads of each block since its erase, and says
// when they are too many. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/superblock.h"

namespace ssdtlm {

class ReadDisturb {
public:
    /// `most_reads`: reads of a block from which on its data are moved.
    ReadDisturb(std::uint32_t most_reads, const SuperblockShape& shape)
        : most_(most_reads), shape_(shape), reads_(std::size_t{shape.superblocks()} * shape.planes()) {}

    /// A page of the block is read. True, now and with each later read: the block's data are to be moved.
    bool read(BlockId b) { return __builtin_expect(++reads_[idx(b)] >= most_, 0); }
    void erased(SuperblockId b) {
        for (std::uint32_t i = 0; i < shape_.planes(); ++i) reads_[idx(shape_.block(b, i))] = 0;
    }

    std::uint32_t reads(BlockId b) const { return reads_[idx(b)]; }
    void state(Snapshot& s) { s.fixed(reads_); }

private:
    const std::uint32_t most_;
    const SuperblockShape& shape_;
    std::vector<std::uint32_t> reads_;  // by block
};

}  // namespace ssdtlm
