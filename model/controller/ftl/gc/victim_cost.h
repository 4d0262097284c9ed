// SPDX-License-Identifier: Apache-2.0
// What a victim costs beside the copies of its valid units. On flash that is programmed in two steps the pages behind
// the last copy have to close a word line before the victim may be erased.
#pragma once

#include <cstdint>

#include "common/address/geometry.h"

namespace ssdtlm {

/// Most rows of pages that a victim costs on flash of two steps: the rest of a row, and three to close it.
inline constexpr std::uint32_t kClosingRows = 4;

/// Invalid units from which on a superblock with this many planes is worth a collection: a page's worth, or with two
/// steps more than a victim costs.
inline std::uint32_t reclaim_units(const NandGeometry& g, std::uint32_t planes) {
    return g.units_per_page() * (g.two_step ? kClosingRows * planes + 1 : 1);
}

}  // namespace ssdtlm
