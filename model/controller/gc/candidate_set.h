// SPDX-License-Identifier: Apache-2.0
// The candidates of every group, each group in an array, with their valid counts. It serves policies that draw or scan.
#pragma once

#include <cstdint>
#include <vector>

#include "common/address/fast_divide.h"
#include "controller/ftl/superblock.h"

namespace ssdtlm {

class CandidateSet {
public:
    explicit CandidateSet(const SuperblockShape& g)
        : per_group_(g.blocks_per_group()),
          group_of_(per_group_),
          members_(g.superblocks()),
          nodes_(g.superblocks()),
          size_(g.groups()) {}

    void add(SuperblockId block, std::uint32_t valid) {
        const std::uint32_t group = group_of_(idx(block));
        nodes_[idx(block)] = Node{valid, size_[group]};
        members_[group * per_group_ + size_[group]++] = block;
    }
    /// Removes a block. The last of the group's array takes its place.
    void remove(SuperblockId block) {
        const std::uint32_t group = group_of_(idx(block)), at = nodes_[idx(block)].position;
        const SuperblockId moved = members_[group * per_group_ + --size_[group]];
        members_[group * per_group_ + at] = moved;
        nodes_[idx(moved)].position = at;
    }
    void set_valid(SuperblockId block, std::uint32_t valid) { nodes_[idx(block)].valid = valid; }
    std::uint32_t valid(SuperblockId block) const { return nodes_[idx(block)].valid; }
    std::uint32_t size(GroupId group) const { return size_[idx(group)]; }
    SuperblockId member(GroupId group, std::uint32_t i) const { return members_[idx(group) * per_group_ + i]; }
    template <class Archive>
    void state(Archive& s) {
        s.fixed(members_);
        s.fixed(nodes_);
        s.fixed(size_);
    }
    /// As VictimPolicy::agrees().
    bool agrees(const std::vector<std::uint32_t>& valid, std::uint32_t no_candidate) const {
        std::uint64_t members = 0, candidates = 0;
        for (std::uint32_t group = 0; group < size_.size(); ++group) {
            if (size_[group] > per_group_) return false;
            members += size_[group];
        }
        for (std::uint32_t b = 0; b < valid.size(); ++b) {
            if (valid[b] == no_candidate) continue;
            const std::uint32_t group = group_of_(b);
            if (nodes_[b].valid != valid[b] || nodes_[b].position >= size_[group] ||
                members_[group * per_group_ + nodes_[b].position] != SuperblockId{b})
                return false;
            ++candidates;
        }
        return members == candidates;
    }

private:
    struct Node {
        std::uint32_t valid = 0, position = 0;
    };
    std::uint32_t per_group_;
    FastDivide group_of_;
    std::vector<SuperblockId> members_;  // per group: the first size_ places are used
    std::vector<Node> nodes_;            // by block
    std::vector<std::uint32_t> size_;
};

}  // namespace ssdtlm
