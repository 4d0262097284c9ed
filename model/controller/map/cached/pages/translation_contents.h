// SPDX-License-Identifier: Apache-2.0
// Contents of translation pages, which the flash keeps where the power may go (SpareArea::keep_map()). Each entry is a
// place, two in a word; the words of a page's slots follow one another. Recovery compares with them, because nothing
// else tells what the map said before the loss of power.
#pragma once

#include <cstdint>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

/// From now on the flash keeps them. Translation pages that are on the flash get what the map says now.
void keep_translation_pages(const Ftl& ftl, SpareArea& flash);

/// Puts what the map says now into this slot of a page that is to be programmed.
void put_entries(PageContent& content, std::uint32_t slot, const Ftl& ftl, std::uint32_t page);
/// Copies the contents of those units that are translation pages into the page to which they are moved. `from`: their
/// old places.
void copy_entries(PageContent& content, const Spare* units, const Ppa* from, std::uint32_t count, const Ftl& ftl);

/// Entry `entry` of the translation page at `place`. Throws CheckFailed where the flash has kept none.
Ppa entry_at(const Ftl& ftl, Ppa place, std::uint32_t entry);

}  // namespace ssdtlm
