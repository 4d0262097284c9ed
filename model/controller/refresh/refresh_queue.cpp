// SPDX-License-Identifier: Apache-2.0
#include "controller/refresh/refresh_queue.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

bool RefreshQueue::want(SuperblockId b) {
    std::deque<SuperblockId>& wanted = groups_[idx(shape_.group_of(b))].wanted;
    if (blocks_[b].state != BlockState::sealed || std::find(wanted.begin(), wanted.end(), b) != wanted.end())
        return false;
    wanted.push_back(b);
    return true;
}

SuperblockId RefreshQueue::take(GroupId group) {
    Group& g = groups_[idx(group)];
    SSDTLM_CHECK(!g.wanted.empty(), "no superblock of the group is to be refreshed");
    const SuperblockId b = g.wanted.front();
    g.wanted.pop_front();
    SSDTLM_CHECK(blocks_[b].state == BlockState::sealed, "a superblock to be refreshed that is not sealed any more");
    g.took_last = true;
    return b;
}

void RefreshQueue::other(GroupId group, SuperblockId victim) {
    Group& g = groups_[idx(group)];
    g.took_last = false;
    const auto at = std::find(g.wanted.begin(), g.wanted.end(), victim);
    if (at != g.wanted.end()) g.wanted.erase(at);
}

void RefreshQueue::state(Snapshot& s) {
    s.fixed(groups_);
    if (!s.reads()) return;
    std::vector<bool> seen(shape_.superblocks());
    for (std::uint32_t n = 0; n < groups_.size(); ++n)
        for (const SuperblockId b : groups_[n].wanted) {
            s.require(
                idx(b) / shape_.blocks_per_group() == n && blocks_[b].state == BlockState::sealed && !seen[idx(b)],
                "a superblock to be refreshed that holds nothing");
            seen[idx(b)] = true;
        }
}

}  // namespace ssdtlm
