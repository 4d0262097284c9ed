// SPDX-License-Identifier: Apache-2.0
// Translation pages on the flash: where they go, and which copy counts.
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
    owe_parity();
    return a;
}

Ppa Ftl::place_translation(std::uint32_t page, Ppa to) {
    const Ppa old = map_.exchange(lpa_of_translation(page), to);
    if (is_copy(old)) leave_translation_place(old);
    validate(to);
    translation_room_.came(shape_.group_of(shape_.superblock_of(to)));
    return old;
}

void Ftl::translation_page_programmed(const PageAddress& a) {
    ++counters_.translation_pages;
    page_programmed(a);
}

/// The flash is not told: what is deallocated stands in the journal, and if a loss of power brings this copy back,
/// nobody believes what it says (TranslationSearch).
void Ftl::drop_translation(std::uint32_t page) {
    const Ppa old = map_.exchange(lpa_of_translation(page), kUnmapped);
    if (is_copy(old)) leave_translation_place(old);
}

void Ftl::leave_translation_place(Ppa old) {
    invalidate(old);
    translation_room_.left(shape_.group_of(shape_.superblock_of(old)));
}

/// Those of all units that are mapped now, which are the first ones.
void Ftl::lay_out_translation() {
    if (translation_pages_ == 0) return;
    const std::uint32_t per_page = geometry_.units_per_page();
    const auto pages =
        static_cast<std::uint32_t>((mapped_units_ + entries_per_translation_page_ - 1) / entries_per_translation_page_);
    Spare out[kMaxUnitsPerPage];
    for (std::uint32_t next = 0; next < pages;) {
        const std::uint32_t pool = translation_room_.pool_of(next);
        GroupId group{};
        SSDTLM_CHECK(group_for_translation(next, group), "no room for the translation pages of what is laid out");
        const PageAddress a = allocate_translation_page(group);
        for (std::uint32_t s = 0; s < per_page; ++s) {
            out[s] = kPadding;
            if (next == pages || translation_room_.pool_of(next) != pool) continue;
            out[s] = codec_.make(lpa_of_translation(next), 0);
            place_translation(next++, geometry_.ppa_of(a, s));
        }
        spare_.program_page(a, out, draw_record(a, PageKind::mapping));
        translation_page_programmed(a);
        if (parity_ != nullptr) parity_->program_at_once();
    }
}

}  // namespace ssdtlm
