// SPDX-License-Identifier: Apache-2.0
// Converts the number of a physical unit as NandGeometry does, but without divisions, because every read needs it.
#pragma once

#include <cstdint>

#include "common/address/fast_divide.h"
#include "common/address/geometry.h"

namespace ssdtlm {

class PpaDecoder {
public:
    explicit PpaDecoder(const NandGeometry& g)
        : units_per_page_(g.units_per_page()),
          pages_per_block_(g.pages_per_block),
          blocks_per_plane_(g.blocks_per_plane),
          by_page_(g.units_per_page()),
          by_block_(g.pages_per_block),
          by_plane_(g.blocks_per_plane),
          by_die_(g.planes_per_die) {}

    /// Global number of the page that holds the unit.
    std::uint32_t page_number(Ppa p) const { return by_page_(idx(p)); }
    std::uint32_t slot_of(Ppa p, std::uint32_t page_number) const { return idx(p) - page_number * units_per_page_; }
    BlockId block_of(std::uint32_t page_number) const { return BlockId{by_block_(page_number)}; }
    PageAddress page_of(std::uint32_t page_number) const {
        const std::uint32_t block = by_block_(page_number);
        const std::uint32_t plane = by_plane_(block);
        return PageAddress{PlaneId{plane}, block - plane * blocks_per_plane_, page_number - block * pages_per_block_};
    }
    DieId die_of(PlaneId p) const { return DieId{by_die_(idx(p))}; }

private:
    std::uint32_t units_per_page_;
    std::uint32_t pages_per_block_;
    std::uint32_t blocks_per_plane_;
    FastDivide by_page_;
    FastDivide by_block_;
    FastDivide by_plane_;
    FastDivide by_die_;
};

}  // namespace ssdtlm
