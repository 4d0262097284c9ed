// SPDX-License-Identifier: Apache-2.0
// What translation pages say, as the flash keeps it where the power may go (SpareArea::keep_map()): a place for each
// entry, two in a word, the words of a page's slots one behind the other. Recovery compares with it: what an earlier
// life's map said is known from nowhere else.
#pragma once

#include <cstdint>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

/// From now on; the translation pages that are on the flash say what the map says now.
void keep_translation_pages(const Ftl& ftl, SpareArea& flash);

/// Into this slot of a page that is to be programmed: what the map says now.
void put_entries(PageContent& content, std::uint32_t slot, const Ftl& ftl, std::uint32_t page);
/// Into a page to which these units are moved from where they lie (`from`): what the flash says there. Null: none
/// of them is a translation page.
const PageContent* copy_entries(PageContent& content, const Spare* units, const Ppa* from, std::uint32_t count,
                                const Ftl& ftl);

/// Entry `entry` of the translation page there. CheckFailed where the flash has kept none.
Ppa entry_at(const Ftl& ftl, Ppa place, std::uint32_t entry);

}  // namespace ssdtlm
