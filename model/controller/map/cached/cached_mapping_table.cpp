// SPDX-License-Identifier: Apache-2.0
#include "controller/map/cached/cached_mapping_table.h"

#include "common/report/error.h"

namespace ssdtlm {

CachedMappingTable::CachedMappingTable(const Shape& shape)
    : shape_(shape),
      quotas_(shape.slots, shape.quotas),
      parts_(quotas_.parts()),
      first_dirty_(shape.pages, kNone),
      dirty_in_(shape.pages) {
    for (std::uint32_t i = 0; i < parts_.size(); ++i) {
        parts_[i].room = quotas_.shared() ? shape.slots : quotas_.units(i);
        parts_[i].most_protected = parts_[i].room * shape.protected_percent / 100;
    }
}

__attribute__((noinline)) CachedMappingTable::Slot CachedMappingTable::coldest_of_fullest() const {
    Slot coldest = kNone;
    std::int64_t most = 0;
    for (std::uint32_t i = 0; i < parts_.size(); ++i) {
        const auto beyond = static_cast<std::int64_t>(parts_[i].size) - static_cast<std::int64_t>(parts_[i].room);
        if (coldest_of(i) == kNone || (coldest != kNone && beyond <= most)) continue;
        coldest = coldest_of(i);
        most = beyond;
    }
    return coldest;
}

void CachedMappingTable::link(Slot s) {
    Entry& e = entries_[s];
    Segment& segment = parts_[e.part].segments[e.kept];
    e.warmer = kNone;
    e.colder = segment.hot;
    (segment.hot == kNone ? segment.cold : entries_[segment.hot].warmer) = s;
    segment.hot = s;
    ++segment.size;
    if (!e.kept || segment.size <= parts_[e.part].most_protected) return;
    // The coldest of the protected ones gets another chance among the others.
    const Slot demoted = segment.cold;
    unlink(demoted);
    entries_[demoted].kept = false;
    link(demoted);
}

void CachedMappingTable::unlink(Slot s) {
    Entry& e = entries_[s];
    Segment& segment = parts_[e.part].segments[e.kept];
    (e.colder == kNone ? segment.cold : entries_[e.colder].warmer) = e.warmer;
    (e.warmer == kNone ? segment.hot : entries_[e.warmer].colder) = e.colder;
    --segment.size;
}

void CachedMappingTable::use(Slot s) {
    Entry& e = entries_[s];
    if (e.pins != 0) {
        e.kept = shape_.replacement == MapReplacement::segmented_lru;
        return;
    }
    unlink(s);
    e.kept = shape_.replacement == MapReplacement::segmented_lru;
    link(s);
}

CachedMappingTable::Slot CachedMappingTable::add(std::uint32_t key, std::uint16_t tenant) {
    if (free_.empty()) {
        entries_.emplace_back();
        free_.push_back(static_cast<Slot>(entries_.size() - 1));
    }
    const Slot s = free_.back();
    free_.pop_back();
    bool fresh = false;
    index_.insert(key, fresh).slot = s;
    SSDTLM_CHECK(fresh, "an entry of the map is cached twice");
    entries_[s] = Entry{};
    entries_[s].key = key;
    entries_[s].part = static_cast<std::uint8_t>(quotas_.part_of(tenant));
    ++parts_[entries_[s].part].size;
    link(s);
    return s;
}

void CachedMappingTable::pin(Slot s) {
    Entry& e = entries_[s];
    if (e.pins++ != 0) return;
    ++pinned_;
    unlink(s);
}

void CachedMappingTable::unpin(Slot s) {
    Entry& e = entries_[s];
    SSDTLM_CHECK(e.pins != 0, "an entry of the map is let go that nobody holds");
    if (--e.pins != 0) return;
    --pinned_;
    link(s);
}

void CachedMappingTable::make_dirty(Slot s) {
    Entry& e = entries_[s];
    if (e.dirty) return;
    const std::uint32_t page = page_of(e.key);
    e.dirty = true;
    e.next_dirty = first_dirty_[page];
    first_dirty_[page] = s;
    ++dirty_in_[page];
}

void CachedMappingTable::remove(Slot s) {
    Entry& e = entries_[s];
    SSDTLM_CHECK(!e.dirty && e.pins == 0, "an entry of the map leaves that is dirty or in use");
    unlink(s);
    --parts_[e.part].size;
    index_.erase(*index_.find(e.key));
    free_.push_back(s);
}

void CachedMappingTable::state(Snapshot& s) {
    SSDTLM_CHECK(pinned_ == 0, "a snapshot of a cached map that is in use");
    if (s.reads())
        for (const Entry& e : entries_) index_.erase(*index_.find(e.key));
    std::uint64_t entries = entries_.size();
    s(entries);
    if (s.reads()) entries_.clear();
    for (std::uint64_t i = 0; i < entries; ++i) {
        if (s.reads()) entries_.emplace_back();  // one by one: there may be fewer than it says
        Entry& e = entries_[static_cast<std::size_t>(i)];
        s(e.key, e.colder, e.warmer, e.next_dirty, e.dirty, e.kept);
        if (!quotas_.shared()) s(e.part);
    }
    s(free_);
    for (Part& p : parts_) {
        for (Segment& segment : p.segments) s(segment.cold, segment.hot, segment.size);
        if (!quotas_.shared()) s(p.size);
    }
    if (quotas_.shared()) parts_[0].size = entries_.size() - free_.size();
    s.fixed(first_dirty_);
    s.fixed(dirty_in_);
    if (!s.reads()) return;
    std::vector<bool> is_free(entries_.size());
    for (const Slot slot : free_) {
        s.require(slot < entries_.size() && !is_free[slot],
                  "a free entry of the cached map that is not there, or twice");
        is_free[slot] = true;
    }
    check_lists(s, is_free);
    for (Slot slot = 0; slot < entries_.size(); ++slot) {
        if (is_free[slot]) continue;
        bool fresh = false;
        index_.insert(entries_[slot].key, fresh).slot = slot;
        s.require(fresh, "an entry of the map that is cached twice");
    }
}

/// Each entry that is not free must be in one order of replacement once, and in the list of its page when it is dirty.
void CachedMappingTable::check_lists(Snapshot& s, const std::vector<bool>& is_free) const {
    const auto is_used = [&](Slot slot) { return slot < entries_.size() && !is_free[slot]; };
    std::uint64_t linked = 0, dirty = 0, of_pages = 0;
    for (Slot slot = 0; slot < entries_.size(); ++slot) {
        if (is_free[slot]) continue;
        const Entry& e = entries_[slot];
        s.require(page_of(e.key) < shape_.pages && e.part < parts_.size(),
                  "an entry of the cached map that the map does not have");
        dirty += e.dirty;
    }
    std::uint64_t size_of_parts = 0;
    for (std::uint32_t part = 0; part < parts_.size(); ++part) {
        size_of_parts += parts_[part].size;
        for (const bool kept : {false, true}) {
            const Segment& segment = parts_[part].segments[kept];
            Slot before = kNone, slot = segment.cold;
            for (std::uint64_t left = segment.size; left != 0;
                 --left, ++linked, before = slot, slot = entries_[slot].warmer)
                s.require(is_used(slot) && entries_[slot].part == part && entries_[slot].kept == kept &&
                              entries_[slot].colder == before,
                          "an order of the cached map with others in it");
            s.require(slot == kNone && segment.hot == before, "an order of the cached map that does not end");
        }
    }
    for (std::uint32_t page = 0; page < shape_.pages; ++page) {
        Slot slot = first_dirty_[page];
        for (std::uint32_t left = dirty_in_[page]; left != 0; --left, ++of_pages, slot = entries_[slot].next_dirty)
            s.require(is_used(slot) && entries_[slot].dirty && page_of(entries_[slot].key) == page,
                      "a list of dirty entries of the map with others in it");
        s.require(slot == kNone, "a list of dirty entries of the map that does not end");
    }
    const std::uint64_t used = entries_.size() - free_.size();
    s.require(linked == used && size_of_parts == used && dirty == of_pages,
              "an entry of the cached map that is in no list");
}

}  // namespace ssdtlm
