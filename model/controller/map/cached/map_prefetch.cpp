// SPDX-License-Identifier: Apache-2.0
// Prefetches entries with one that was missing (map.prefetch): those behind it in the same translation page. They take
// room that is free, or that of clean entries which nobody holds. They never take the room of an entry that somebody
// waits for.
#include <algorithm>

#include "controller/map/cached/cached_map.h"

namespace ssdtlm {

/// The page needed no read of the flash.
void CachedMap::page_was_at_hand(std::uint64_t page) {
    if (prefetch_ > 1) prefetch(static_cast<std::uint32_t>(page), nullptr);
    page_at_hand(page);
}

/// Called before those that wait for the page get their answers, so that they find the prefetched entries. `read`: null
/// when the contents that count are in the DRAM.
__attribute__((noinline)) void CachedMap::prefetch(std::uint32_t page, const TranslationRead* read) {
    const NandGeometry& g = peers_.ftl.geometry();
    // The page was written again while it was read: what has come is not what counts.
    if (read != nullptr && peers_.pages.place(page) != g.ppa_of(read->txn.address, read->slot[0])) return;
    const std::uint64_t n = peers_.pages.entries_each(), end = std::min((page + 1) * n, peers_.ftl.logical_units());
    for (const Slot s : reading_.at(page).slots) {
        const std::uint64_t behind = std::min(end, std::uint64_t{table_.key(s)} + prefetch_);
        if (!prefetch_behind(table_.key(s), static_cast<std::uint32_t>(behind), table_.tenant(s), read)) return;
    }
}

/// Prefetches the missing entries up to `end`. False: there is no room.
bool CachedMap::prefetch_behind(std::uint32_t wanted, std::uint32_t end, std::uint16_t tenant,
                                const TranslationRead* read) {
    for (std::uint32_t key = wanted + 1; key < end; ++key) {
        if (table_.find(key) != kNone) continue;
        check_.require_fresh(key, 1);
        if (read != nullptr && check_.has_entries(*read)) check_.compare(*read, Lpa{key});
        const Slot s = take_in(key, tenant);
        if (!has_room_behind(wanted, key)) {
            table_.remove(s);
            return false;
        }
        uses_[s].loading = Loading::no;
        uses_[s].prefetched = true;
        ++counters_.prefetched;
        counters_.most_entries = std::max(counters_.most_entries, ++occupied_);
    }
    return true;
}

/// Makes room for one more entry. An entry that came with the same wanted one does not leave for it.
bool CachedMap::has_room_behind(std::uint32_t wanted, std::uint32_t key) {
    if (!wanted_.empty() || occupied_ > table_.room()) return false;
    if (occupied_ < table_.room()) return true;
    const Slot coldest = table_.coldest();
    if (coldest == kNone || table_.is_dirty(coldest)) return false;
    if (table_.key(coldest) > wanted && table_.key(coldest) <= key) return false;
    drop(coldest);
    return true;
}

}  // namespace ssdtlm
