// SPDX-License-Identifier: Apache-2.0
// Superblocks of a feature into which the host's pages go first: a write partition of its own. Its superblocks are no
// candidates of the victim policy. The core asks for the owner of a superblock, and hands on what happens to it.
#pragma once

#include <cstdint>
#include <functional>

#include "controller/ftl/block_manager.h"

namespace ssdtlm {

class HostPartition {
public:
    virtual ~HostPartition() = default;

    // --- Pages ---
    virtual bool owns(SuperblockId b) const = 0;
    /// Pages of one of its superblocks.
    virtual std::uint32_t pages() const = 0;
    virtual bool takes_pages(GroupId group) const = 0;
    /// The next page of the group. Precondition: takes_pages(group).
    virtual PageAddress allocate(GroupId group) = 0;
    /// The superblock that takes pages; kNoSuperblock: none does.
    virtual SuperblockId open_block(GroupId group) const = 0;
    /// Pages handed out of the open superblock; 0: the next page opens one.
    virtual std::uint32_t write_pointer(GroupId group) const = 0;

    // --- The life of its superblocks ---
    /// All programs of a full superblock have ended.
    virtual void sealed(SuperblockId b) = 0;
    /// A victim is erased, and is free now.
    virtual void erased(SuperblockId b) = 0;
    /// A program or the erase of the superblock has failed. It is not the partition's any more.
    virtual void lost(SuperblockId b) = 0;
    /// True: a spare superblock takes the place of a lost one.
    virtual bool is_replaced(SuperblockId b) const = 0;
    /// The factory has marked a block of the superblock. It is retired before anything is in use.
    virtual void left_out(SuperblockId b) = 0;
    /// Visits its free superblocks of a group, the one that is used next first.
    virtual void for_each_free(GroupId group, const std::function<void(SuperblockId)>& visit) const = 0;
};

}  // namespace ssdtlm
