// SPDX-License-Identifier: Apache-2.0
// Which blocks are the SLC cache: some of each plane that follow each other. Their cells hold one bit each, so only the first of their pages
// exist. The region is fixed, so a drive that starts knows how to read each block.
#pragma once

#include <cstdint>

#include "common/address/geometry.h"

namespace ssdtlm {

struct SlcRegion {
    std::uint32_t first = 0;   ///< block in each plane
    std::uint32_t blocks = 0;  ///< of a plane; 0: there is no cache
    std::uint32_t pages = 0;   ///< of such a block

    bool holds(const PageAddress& a) const { return a.block - first < blocks; }
};

}  // namespace ssdtlm
