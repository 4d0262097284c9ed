// SPDX-License-Identifier: Apache-2.0
// The candidates of every plane in an array each, with their valid counts: for policies that draw or scan.
#pragma once

#include <cstdint>
#include <vector>

#include "common/address/geometry.h"
#include "common/address/fast_divide.h"

namespace ssdtlm {

class CandidateSet {
public:
    explicit CandidateSet(const NandGeometry& g)
        : per_plane_(g.blocks_per_plane),
          plane_of_(per_plane_),
          members_(g.blocks()),
          nodes_(g.blocks()),
          size_(g.planes()) {}

    void add(BlockId block, std::uint32_t valid) {
        const std::uint32_t plane = plane_of_(idx(block));
        nodes_[idx(block)] = Node{valid, size_[plane]};
        members_[plane * per_plane_ + size_[plane]++] = block;
    }
    /// The last of the plane's array takes its place.
    void remove(BlockId block) {
        const std::uint32_t plane = plane_of_(idx(block)), at = nodes_[idx(block)].position;
        const BlockId moved = members_[plane * per_plane_ + --size_[plane]];
        members_[plane * per_plane_ + at] = moved;
        nodes_[idx(moved)].position = at;
    }
    void set_valid(BlockId block, std::uint32_t valid) { nodes_[idx(block)].valid = valid; }
    std::uint32_t valid(BlockId block) const { return nodes_[idx(block)].valid; }
    std::uint32_t size(PlaneId plane) const { return size_[idx(plane)]; }
    BlockId member(PlaneId plane, std::uint32_t i) const { return members_[idx(plane) * per_plane_ + i]; }

private:
    struct Node {
        std::uint32_t valid = 0, position = 0;
    };
    std::uint32_t per_plane_;
    FastDivide plane_of_;
    std::vector<BlockId> members_;  // per plane: the first size_ places are used
    std::vector<Node> nodes_;       // by block
    std::vector<std::uint32_t> size_;
};

}  // namespace ssdtlm
