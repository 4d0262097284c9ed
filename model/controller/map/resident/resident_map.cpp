// SPDX-License-Identifier: Apache-2.0
#include "controller/map/resident/resident_map.h"

namespace ssdtlm {

bool ResidentMap::translate_many(const MapExtent& extent, MapUse use, Ppa* places) {
    if (use == MapUse::remove) return true;
    const std::uint32_t units = extent.units;
    for (std::uint32_t i = 0; i < units; ++i) places[i] = ftl_.lookup(Lpa{idx(extent.first) + i});
    // Neighbours often lie in one block.
    for (std::uint32_t i = 0; i < units;) {
        if (!is_place(places[i])) {
            ++i;
            continue;
        }
        const std::uint32_t block = block_of_(idx(places[i]));
        std::uint32_t n = 1;
        while (i + n < units && is_place(places[i + n]) && block_of_(idx(places[i + n])) == block) ++n;
        ftl_.read_started(BlockId{block}, n);
        i += n;
    }
    return true;
}

}  // namespace ssdtlm
