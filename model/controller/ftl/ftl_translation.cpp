// SPDX-License-Identifier: Apache-2.0
// Translation pages on the flash: this file decides where they go and which copy counts.
#include <algorithm>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

bool Ftl::group_for_translation(std::uint32_t page, GroupId& out) {
    return translation_room_.next(
        translation_room_.pool_of(page), [this](GroupId group) { return blocks_.takes_translation_pages(group); }, out);
}

PageAddress Ftl::allocate_translation_page(GroupId group) {
    const bool opens = blocks_.write_pointer(group, BlockState::open_map) == 0;
    const PageAddress a = blocks_.allocate_map(group);
    if (opens) update_able(group);
    events_.pages_handed_out();
    return a;
}

Ppa Ftl::place_translation(std::uint32_t page, Ppa to) {
    const Ppa old = books_.exchange(lpa_of_translation(page), to);
    if (books_.entries().is_copy(old)) leave_translation_place(old);
    books_.validate(to);
    translation_room_.came(shape_.group_of(shape_.superblock_of(to)));
    return old;
}

void Ftl::translation_page_programmed(const PageAddress& a) {
    ++counters_.translation_pages;
    page_ended(a, PageEnd::programmed);
}

/// The flash is not told: what is deallocated stands in the journal, and if a loss of power brings this copy back,
/// nobody believes what it says (TranslationSearch).
void Ftl::drop_translation(std::uint32_t page) {
    const Ppa old = books_.exchange(lpa_of_translation(page), kUnmapped);
    if (books_.entries().is_copy(old)) leave_translation_place(old);
}

void Ftl::leave_translation_place(Ppa old) {
    books_.invalidate(old);
    translation_room_.left(shape_.group_of(shape_.superblock_of(old)));
}

}  // namespace ssdtlm
