// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/allocation/translation_room.h"

namespace ssdtlm {

TranslationRoom::TranslationRoom(const Lanes& lanes, std::uint32_t pages, std::uint32_t entries)
    : lanes_(lanes),
      entries_(entries),
      last_(lanes.has_ranges() ? lanes.shares() : 1),
      held_(lanes.shares()),
      most_(lanes.shares(), pages) {
    if (lanes.has_ranges()) return;
    for (std::uint32_t share = 0; share < lanes.shares(); ++share)
        most_[share] =
            static_cast<std::uint32_t>(std::uint64_t{pages} * lanes.groups(share).size() / lanes.sequence().size());
}

}  // namespace ssdtlm
