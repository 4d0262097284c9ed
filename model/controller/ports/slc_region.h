// SPDX-License-Identifier: Apache-2.0
// Which blocks are in SLC mode: their cells hold one bit each, so only the first of their pages exist. With a cache of
// fixed size they are some of each plane that follow each other, so a drive that starts knows how to read each block;
// with a dynamic one each block has its mode until it is erased, which a table says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/address/geometry.h"

namespace ssdtlm {

struct SlcRegion {
    std::uint32_t first = 0;   ///< block in each plane
    std::uint32_t blocks = 0;  ///< of a plane that may be in SLC mode; 0: there is no cache
    std::uint32_t pages = 0;   ///< of such a block
    /// One byte per block of the device, not 0 for a block in SLC mode. All blocks of a plane may then be in SLC mode
    /// (first = 0). Null: all blocks of the region are in SLC mode.
    const std::uint8_t* modes = nullptr;

    bool holds(const PageAddress& a) const {
        return a.block - first < blocks &&
               (modes == nullptr || modes[std::size_t{idx(a.plane)} * blocks + a.block] != 0);
    }
};

}  // namespace ssdtlm
