// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/read_disturb/read_disturb.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

ReadDisturb::ReadDisturb(std::uint32_t most_reads, const SuperblockShape& shape, const BlockManager& blocks)
    : most_(most_reads), shape_(shape), blocks_(blocks), reads_(std::size_t{shape.superblocks()} * shape.planes()), groups_(shape.groups()) {}

bool ReadDisturb::is_disturbed(SuperblockId b) const {
    for (std::uint32_t i = 0; i < shape_.planes(); ++i)
        if (reads(shape_.block(b, i)) >= most_) return true;
    return false;
}

bool ReadDisturb::want(SuperblockId b) {
    std::deque<SuperblockId>& wanted = groups_[idx(shape_.group_of(b))].wanted;
    if (blocks_[b].state != BlockState::sealed || std::find(wanted.begin(), wanted.end(), b) != wanted.end()) return false;
    wanted.push_back(b);
    return true;
}

SuperblockId ReadDisturb::take(GroupId group) {
    Group& g = groups_[idx(group)];
    SSDTLM_CHECK(!g.wanted.empty(), "no superblock of the group has been read too often");
    const SuperblockId b = g.wanted.front();
    g.wanted.pop_front();
    SSDTLM_CHECK(blocks_[b].state == BlockState::sealed && is_disturbed(b), "a superblock to be moved that has been erased since");
    g.took_last = true;
    return b;
}

void ReadDisturb::other(GroupId group, SuperblockId victim) {
    Group& g = groups_[idx(group)];
    g.took_last = false;
    const auto at = std::find(g.wanted.begin(), g.wanted.end(), victim);
    if (at != g.wanted.end()) g.wanted.erase(at);
}

void ReadDisturb::erased(SuperblockId b) {
    for (std::uint32_t i = 0; i < shape_.planes(); ++i) reads_[idx(shape_.block(b, i))] = 0;
}

}  // namespace ssdtlm
