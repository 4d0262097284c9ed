// SPDX-License-Identifier: Apache-2.0
#include "controller/map/cached/pages/translation_contents.h"

#include <algorithm>
#include <map>
#include <string>

namespace ssdtlm {

namespace {
std::uint32_t words_per_slot(const Ftl& ftl) {
    return (ftl.needs().units_per_own + 1) / 2;
}

/// Makes room for the words of this slot, and returns the first of them.
std::uint64_t* room_for(PageContent& content, std::uint32_t slot, std::uint32_t words) {
    content.resize(std::max<std::size_t>(content.size(), std::size_t{slot + 1} * words));
    return content.data() + std::size_t{slot} * words;
}

const std::uint64_t* words_at(const Ftl& ftl, Ppa place) {
    const NandGeometry& g = ftl.geometry();
    const std::size_t first = std::size_t{g.slot_of(place)} * words_per_slot(ftl);
    const PageContent* const content = ftl.flash().content(g.page_of(place));
    if (content == nullptr || content->size() < first + words_per_slot(ftl))
        throw CheckFailed("the flash has not kept what the translation page at unit " + std::to_string(idx(place)) +
                          " says");
    return content->data() + first;
}
}  // namespace

void keep_translation_pages(const Ftl& ftl, SpareArea& flash) {
    flash.keep_map();
    const NandGeometry& g = ftl.geometry();
    std::map<std::uint32_t, PageContent> pages;  // by the unit in their first slot
    for (std::uint32_t page = 0; page < ftl.own_units(); ++page) {
        const Ppa at = ftl.lookup(ftl.own_unit(page));
        if (is_place(at)) put_entries(pages[idx(at) - g.slot_of(at)], g.slot_of(at), ftl, page);
    }
    for (const auto& [first, content] : pages) flash.set_content(g.page_of(Ppa{first}), content);
}

void put_entries(PageContent& content, std::uint32_t slot, const Ftl& ftl, std::uint32_t page) {
    const std::uint32_t n = ftl.needs().units_per_own;
    std::uint64_t* const words = room_for(content, slot, words_per_slot(ftl));
    for (std::uint32_t i = 0; i < n && std::uint64_t{page} * n + i < ftl.logical_units(); ++i)
        words[i / 2] |= std::uint64_t{idx(ftl.lookup(Lpa{page * n + i}))} << (i % 2 * 32);
}

void copy_entries(PageContent& content, const Spare* units, const Ppa* from, std::uint32_t count, const Ftl& ftl) {
    for (std::uint32_t i = 0; i < count; ++i)
        if (units[i] != kPadding && ftl.is_own(ftl.codec().lpa(units[i])))
            std::copy_n(words_at(ftl, from[i]), words_per_slot(ftl), room_for(content, i, words_per_slot(ftl)));
}

Ppa entry_at(const Ftl& ftl, Ppa place, std::uint32_t entry) {
    return Ppa{static_cast<std::uint32_t>(words_at(ftl, place)[entry / 2] >> (entry % 2 * 32))};
}

}  // namespace ssdtlm
