// SPDX-License-Identifier: Apache-2.0
// Which copies of translation pages a start has to find, over losses of power, and what it may say of their entries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "controller/map/cached/cached_map.h"
#include "controller/map/cached/pages/translation_contents.h"

namespace ssdtlm {

class TranslationWatch {
public:
    /// Over flash that nothing was written to yet.
    TranslationWatch(const Ftl& ftl, SpareArea& flash) : flash_(flash), pages_(ftl.own_units()) {
        keep_translation_pages(ftl, flash);
    }

    void programmed(const Ftl& ftl, const FlashTransaction& t) {
        for (std::uint32_t s = 0; s < ftl.geometry().units_per_page(); ++s)
            if (const Lpa lpa = ftl.codec().lpa(t.spare[s]); t.spare[s] != kPadding && ftl.is_own(lpa)) {
                const std::uint32_t page = idx(lpa) - static_cast<std::uint32_t>(ftl.logical_units());
                const Ppa at = ftl.geometry().ppa_of(t.address, s);
                compare(ftl, t, page, at);
                Page& p = pages_[page];
                if (p.is_dropped || (p.first != kUnmapped && p.first != at))
                    continue;  // a copy of before it was dropped
                p.first = kUnmapped;
                p.newest = std::max(p.newest, t.record.number);
            }
    }
    /// After each event: a page that was dropped need not be found any more.
    void forget_dropped(const Ftl& ftl) {
        for (std::uint32_t page = 0; page < pages_.size(); ++page) {
            Page& p = pages_[page];
            const Ppa at = ftl.lookup(ftl.own_unit(page));
            if (p.is_dropped && is_place(at)) p.first = at;
            p.is_dropped = !is_place(at);
            if (!p.is_dropped || p.newest == 0) continue;
            p.newest = 0;
            ++dropped;
        }
    }
    /// What the search says goes to the map, and no more of a page is dirty than if it had never been written.
    void found_stale(const Ftl& ftl, CachedMap& map, std::uint32_t page, const std::vector<Lpa>& units) {
        const std::uint32_t n = ftl.needs().units_per_own;
        std::size_t mapped = 0;
        for (std::uint32_t u = page * n; u < (page + 1) * n && u < ftl.logical_units(); ++u)
            mapped += ftl.lookup(Lpa{u}) != kUnmapped;
        if (units.size() > mapped)
            throw std::logic_error("of translation page " + std::to_string(page) + " " + std::to_string(units.size()) +
                                   " entries are dirty, and " + std::to_string(mapped) + " units mapped");
        dirty += units.size();
        dirty_now_ += units.size();
        for (const Lpa lpa : units) stale_.insert(idx(lpa));
        map.found_stale(page, units);
    }
    /// The start is over; `by_all_pages`: the map before translation pages were looked at.
    void started(const Ftl& ftl, const Ftl& by_all_pages) {
        for (std::uint32_t u = 0; u < ftl.logical_units(); ++u) {
            const std::uint32_t n = ftl.needs().units_per_own;
            const Ppa at = ftl.lookup(ftl.own_unit(u / n)), is = ftl.lookup(Lpa{u});
            if (stale_.count(u) == 0 && (is_place(at) ? entry_at(ftl, at, u % n) : kUnmapped) != is)
                throw std::logic_error("translation page " + std::to_string(u / n) + " says another thing of unit " +
                                       std::to_string(u) + ", and nobody has found that");
        }
        stale_.clear();
        for (std::uint32_t page = 0; page < pages_.size(); ++page) {
            const Ppa at = by_all_pages.lookup(by_all_pages.own_unit(page));
            const std::uint64_t number = is_place(at) ? flash_.record(ftl.geometry().page_of(at)).number : 0;
            if (number < pages_[page].newest)
                throw std::logic_error("of translation page " + std::to_string(page) + " copy number " +
                                       std::to_string(number) + " is found; number " +
                                       std::to_string(pages_[page].newest) + " was on the flash");
            if (is_place(ftl.lookup(ftl.own_unit(page))) && ftl.lookup(ftl.own_unit(page)) != at)
                throw std::logic_error("of translation page " + std::to_string(page) +
                                       " another copy is found than by all pages");
            copies_[page].erase(copies_[page].upper_bound(number),
                                copies_[page].end());  // of a dropped page an older one may be left
            const bool is_dropped = !is_place(ftl.lookup(ftl.own_unit(page)));
            pages_[page] = {is_dropped ? 0 : number, kUnmapped, is_dropped};
        }
        most_dirty = std::max(most_dirty, dirty_now_);
        dirty_now_ = 0;
    }

    std::uint64_t dropped = 0;     ///< pages
    std::uint64_t dirty = 0;       ///< entries, of all starts
    std::uint64_t most_dirty = 0;  ///< of one start

private:
    /// Garbage collection moves what a page says (one whose program has failed goes to its blocks, too, and is of
    /// another kind), which the map may not say any more: the copy placed before it says the same.
    void compare(const Ftl& ftl, const FlashTransaction& t, std::uint32_t page, Ppa at) {
        std::vector<Ppa> says;
        for (std::uint32_t i = 0; i < ftl.needs().units_per_own; ++i) says.push_back(entry_at(ftl, at, i));
        std::map<std::uint64_t, std::vector<Ppa>>& copies = copies_[page];
        const auto next = copies.lower_bound(t.record.number);
        if (t.cls == FlashClass::gc_write && t.record.kind != PageKind::mapping && next != copies.begin() &&
            std::prev(next)->second != says)
            throw std::logic_error("translation page " + std::to_string(page) +
                                   " was moved, and says other things than before");
        copies[t.record.number] = std::move(says);
        if (copies.size() > 8) copies.erase(copies.begin());
    }

    SpareArea& flash_;
    std::map<std::uint32_t, std::map<std::uint64_t, std::vector<Ppa>>>
        copies_;  ///< by translation page and number: what it says
    struct Page {
        std::uint64_t newest = 0;  ///< number of the newest copy on the flash that has to be found; 0: none
        Ppa first = kUnmapped;  ///< it was dropped and has its place there again, of which the flash knows nothing yet;
                                ///< kUnmapped: it was not
        bool is_dropped = true;  ///< or was never written
    };
    std::vector<Page> pages_;
    std::set<std::uint32_t> stale_;  ///< units that the start has found
    std::uint64_t dirty_now_ = 0;
};

}  // namespace ssdtlm
