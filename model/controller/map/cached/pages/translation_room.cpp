// SPDX-License-Identifier: Apache-2.0
#include "controller/map/cached/pages/translation_room.h"

namespace ssdtlm {

TranslationRoom::TranslationRoom(const WritePartitions& partitions, std::uint32_t pages, std::uint32_t entries)
    : partitions_(partitions),
      entries_(entries),
      last_(partitions.has_ranges() ? partitions.shares() : 1),
      held_(partitions.shares()),
      most_(partitions.shares(), pages) {
    if (partitions.has_ranges()) return;
    for (std::uint32_t share = 0; share < partitions.shares(); ++share)
        most_[share] = static_cast<std::uint32_t>(std::uint64_t{pages} * partitions.groups(share).size() /
                                                  partitions.sequence().size());
}

}  // namespace ssdtlm
