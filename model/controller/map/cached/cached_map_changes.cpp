// SPDX-License-Identifier: Apache-2.0
// Changes of the map: places that units get or lose, and what a start has found.
#include <algorithm>

#include "common/report/error.h"
#include "controller/map/cached/cached_map.h"

namespace ssdtlm {

void CachedMap::mark(Lpa lpa, Slot s) {
    check_.changed(lpa);
    table_.make_dirty(s);
    if (!by_page_ && is_loading(s)) uses_[s].loading = Loading::known;
}

void CachedMap::done(Lpa lpa, bool has_changed) {
    const Slot s = table_.find(key_of(lpa));
    SSDTLM_CHECK(s != kNone, "a unit that was not brought in is done");
    if (has_changed) mark(lpa, s);
    let_go(s);
    if (!queue_.empty()) admit();
    make_room(Cause::host);
    write_backs_.units_changed();
}

void CachedMap::changed(Lpa lpa) {
    const std::uint32_t key = key_of(lpa);
    Slot s = table_.find(key);
    if (s != kNone) return mark(lpa, s);
    s = take_in(key);
    mark(lpa, s);
    if (by_page_) {  // the other entries of the page have to be read
        table_.pin(s);
        uses_[s].waiting.push_back(kOwn);
        load({s, peers_.jobs.cause()});
    } else {
        uses_[s].loading = Loading::no;
        counters_.most_entries = std::max(counters_.most_entries, ++occupied_);
    }
    make_room();
}

void CachedMap::moved(Lpa lpa) {
    if (peers_.ftl.config().map.gc_updates == GcMapUpdates::written) return changed(lpa);
    check_.changed(lpa);
}

/// No copy of the page counts any more: all of its entries are dirty that say something.
__attribute__((noinline, cold)) void CachedMap::keep(std::uint32_t page) {
    const std::uint64_t n = peers_.pages.entries_each(), end = std::min((page + 1) * n, peers_.ftl.logical_units());
    for (std::uint64_t u = page * n; u < end; ++u)
        if (peers_.ftl.lookup(Lpa{static_cast<std::uint32_t>(u)}) != kUnmapped)
            changed(Lpa{static_cast<std::uint32_t>(u)});
}

void CachedMap::found_stale(std::uint32_t page, const std::vector<Lpa>& units) {
    for (const Lpa lpa : units) {
        check_.changed(lpa);
        if (by_page_ && lpa != units.front()) continue;
        const std::uint32_t key = by_page_ ? page : idx(lpa);
        table_.make_dirty(table_.find(key) != kNone ? table_.find(key) : take_in_known(key));
    }
}

void CachedMap::write_in_no_time(Lpa lpa) {
    const std::uint32_t key = key_of(lpa);
    Slot s = table_.find(key);
    if (s != kNone) {
        table_.use(s);
    } else {
        if (occupied_ >= table_.room()) {
            const Slot coldest = table_.coldest();
            if (table_.is_dirty(coldest)) write_backs_.write_in_no_time(table_.page_of(table_.key(coldest)));
            drop(coldest);
        }
        s = take_in(key);
        uses_[s].loading = Loading::no;
        ++occupied_;
    }
    table_.make_dirty(s);
    check_.changed(lpa);
}

void CachedMap::unmap(const MapExtent& extent) {
    const std::uint64_t per_page = peers_.pages.entries_each(), all = peers_.ftl.logical_units();
    const std::uint64_t end = std::uint64_t{idx(extent.first)} + extent.units;
    std::vector<Lpa> in_part;
    for (std::uint64_t u = idx(extent.first); u < end;) {
        const auto page = static_cast<std::uint32_t>(u / per_page);
        const std::uint64_t page_end = std::min((page + 1) * per_page, all), until = std::min(page_end, end);
        if (u == page * per_page && until == page_end) {  // nothing is left of it, so it need not be written
            check_.written(u, until - u);
            table_.clean(page, [](Slot) {});
            peers_.pages.drop(page);
            u = until;
        }
        for (; u < until; ++u)
            if (peers_.ftl.lookup(Lpa{static_cast<std::uint32_t>(u)}) != kUnmapped)
                in_part.push_back(Lpa{static_cast<std::uint32_t>(u)});
    }
    peers_.resident.unmap(extent);
    for (const Lpa lpa : in_part) changed(lpa);
    make_room(Cause::host);
    write_backs_.units_changed();
}

void CachedMap::lose(Lpa lpa) {
    peers_.resident.lose(lpa);
    changed(lpa);
}

}  // namespace ssdtlm
