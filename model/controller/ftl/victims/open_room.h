// SPDX-License-Identifier: Apache-2.0
// Room behind what garbage collection wrote last, when a group has no free superblock. Each loss of power closes what
// GC was writing, and what it was collecting is not erased yet: a few in a row use up the reserve. Then GC goes on
// writing where it had stopped, behind the torn pages, until it has erased one. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ftl/block_manager.h"
#include "controller/ftl/ftl_config.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {

class OpenRoom {
public:
    /// All must outlive it.
    OpenRoom(const FtlConfig& config, const NandGeometry& geometry, const SuperblockShape& shape,
             const SpareArea& spare, BlockManager& blocks)
        : config_(config), geometry_(geometry), shape_(shape), spare_(spare), blocks_(blocks) {}

    /// Units that GC may still write to where it writes now.
    std::uint64_t units(GroupId group) const;
    /// GC goes on writing in the candidate that has most room, which is removed from `candidates`. If none has room,
    /// nothing changes.
    void reopen_roomiest(std::vector<SuperblockId>& candidates);

private:
    std::uint32_t pages_used(SuperblockId b, bool most) const;
    std::uint32_t rows(SuperblockId b) const;

    const FtlConfig& config_;
    const NandGeometry& geometry_;
    const SuperblockShape& shape_;
    const SpareArea& spare_;
    BlockManager& blocks_;
};

}  // namespace ssdtlm
