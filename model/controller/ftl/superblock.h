// SPDX-License-Identifier: Apache-2.0
// What the FTL opens, fills, collects and erases as one: a superblock, the blocks with the same number of all planes of
// a group. A group is one plane, or all planes of a die, which are then always at the same page and can be programmed
// and erased by multi-plane operations, or all planes of the drive (a line). Pages of a superblock are numbered row by
// row over its planes, as they are filled: page n is page n / planes of the block in the group's plane number n %
// planes. A row is what one multi-plane program of each die fills. With parity the last die's pages of each row are for
// that of the others (../parity/): which die that is goes with the superblock's number, so that none takes more of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/address/fast_divide.h"
#include "common/address/geometry.h"

namespace ssdtlm {

enum class SuperblockSpan : std::uint8_t {
    plane,  ///< each plane has its own open blocks and its own victims
    die,    ///< one for all planes of a die
    drive   ///< one for all planes there are
};

enum class GroupId : std::uint32_t {};       ///< global: group * planes() are its planes
enum class SuperblockId : std::uint32_t {};  ///< global: group * blocks_per_group() + block in plane
inline constexpr SuperblockId kNoSuperblock{0xFFFFFFFFu};

class SuperblockShape {
public:
    /// From a geometry alone, every plane is by itself. `order`: the order of the planes of a superblock that spans the
    /// drive; empty: by their numbers. `parity`: the superblock spans the drive, and one of its dies takes the parity
    /// of the others.
    SuperblockShape(const NandGeometry& g, SuperblockSpan span = SuperblockSpan::plane,
                    const std::vector<PlaneId>& order = {}, bool parity = false)
        : planes_(span == SuperblockSpan::drive ? g.planes()
                  : span == SuperblockSpan::die ? g.planes_per_die
                                                : 1),
          joined_(span == SuperblockSpan::plane ? 1 : g.planes_per_die),
          groups_(g.planes() / planes_),
          blocks_per_group_(g.blocks_per_plane),
          pages_(g.pages_per_block * planes_),
          units_(g.units_per_block() * planes_),
          parity_planes_(parity && planes_ > joined_ ? joined_ : 0),
          block_of_(g.units_per_block()),
          per_plane_(g.blocks_per_plane),
          row_of_(planes_) {
        for (std::uint32_t p = 0; p < g.planes(); ++p) before_.push_back((p - p / planes_) * g.blocks_per_plane);
        if (span == SuperblockSpan::drive) order_ = order;
    }

    std::uint32_t planes() const { return planes_; }  ///< of a group
    std::uint32_t joined() const { return joined_; }  ///< of these, of one die: what a multi-plane operation takes
    std::uint32_t groups() const { return groups_; }
    std::uint32_t blocks_per_group() const { return blocks_per_group_; }  ///< superblocks of a group
    std::uint32_t superblocks() const { return groups_ * blocks_per_group_; }
    std::uint32_t pages() const { return pages_; }                  ///< of a superblock
    std::uint32_t units() const { return units_; }                  ///< of a superblock
    std::uint32_t parity_planes() const { return parity_planes_; }  ///< the last ones of a row, which are not for data
    std::uint32_t data_planes() const { return planes_ - parity_planes_; }
    std::uint32_t data_units() const { return units_ / planes_ * data_planes(); }
    /// How many of the first n pages are for data.
    std::uint32_t data_pages(std::uint32_t n) const {
        return row_of(n) * data_planes() + std::min(plane_in_group(n), data_planes());
    }

    GroupId group_of(PlaneId p) const { return GroupId{row_of_(idx(p))}; }
    GroupId group_of(SuperblockId s) const { return GroupId{per_plane_(idx(s))}; }
    SuperblockId superblock_of(BlockId b) const {
        if (planes_ == 1) return SuperblockId{idx(b)};
        return SuperblockId{idx(b) - before_[per_plane_(idx(b))]};
    }
    SuperblockId superblock_of(Ppa p) const { return superblock_of(BlockId{block_of_(idx(p))}); }
    /// The superblock's block in plane i of the group.
    BlockId block(SuperblockId s, std::uint32_t i) const {
        const std::uint32_t group = per_plane_(idx(s));
        return BlockId{idx(s) + (group * (planes_ - 1) + number_of(i, s)) * blocks_per_group_};
    }
    template <class Is>
    bool any_block(SuperblockId s, Is&& is) const {
        for (std::uint32_t i = 0; i < planes_; ++i)
            if (is(block(s, i))) return true;
        return false;
    }
    std::uint32_t row_of(std::uint32_t page) const { return row_of_(page); }
    std::uint32_t plane_in_group(std::uint32_t page) const { return page - row_of_(page) * planes_; }
    PageAddress page(SuperblockId s, std::uint32_t n) const {
        const std::uint32_t group = per_plane_(idx(s)), row = row_of_(n);
        return PageAddress{PlaneId{group * planes_ + number_of(n - row * planes_, s)},
                           idx(s) - group * blocks_per_group_, row};
    }

private:
    /// Number within the group of the i-th plane in filling order.
    std::uint32_t number_of(std::uint32_t i, SuperblockId s) const {
        if (__builtin_expect(parity_planes_ != 0, 0)) i = (i + idx(s) % (planes_ / joined_) * joined_) % planes_;
        return __builtin_expect(order_.empty(), 1) ? i : idx(order_[i]);
    }

    std::uint32_t planes_, joined_, groups_, blocks_per_group_, pages_, units_, parity_planes_;
    FastDivide block_of_;
    FastDivide per_plane_;
    FastDivide row_of_;
    std::vector<PlaneId> order_;         // empty: by their numbers
    std::vector<std::uint32_t> before_;  // by plane: from a block's number to its superblock's
};

}  // namespace ssdtlm
