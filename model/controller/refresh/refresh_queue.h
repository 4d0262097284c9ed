// SPDX-License-Identifier: Apache-2.0
// The sealed superblocks of each group that are to be moved although that wins no room. They are moved in the order in
// which they came. Kernel-free.
#pragma once

#include <deque>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/block_manager.h"

namespace ssdtlm {

class RefreshQueue {
public:
    RefreshQueue(const SuperblockShape& shape, const BlockManager& blocks)
        : shape_(shape), blocks_(blocks), groups_(shape.groups()) {}

    /// Adds a superblock. False: it is in the queue already, or is not sealed.
    bool want(SuperblockId b);
    bool wanted(GroupId group) const { return !groups_[idx(group)].wanted.empty(); }
    /// True: the group's last victim came from take().
    bool took_last(GroupId group) const { return groups_[idx(group)].took_last; }
    /// Takes the superblock that was added first. Precondition: wanted(group).
    SuperblockId take(GroupId group);
    /// The group's next victim is this one, which was chosen for another reason.
    void other(GroupId group, SuperblockId victim);
    void state(Snapshot& s);

private:
    struct Group {
        std::deque<SuperblockId> wanted;
        bool took_last = false;
        void state(Snapshot& s) { s(wanted, took_last); }
    };

    const SuperblockShape& shape_;
    const BlockManager& blocks_;
    std::vector<Group> groups_;
};

}  // namespace ssdtlm
