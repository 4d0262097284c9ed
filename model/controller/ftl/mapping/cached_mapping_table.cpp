// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/mapping/cached_mapping_table.h"

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
    entries_.resize(static_cast<std::size_t>(entries));
    for (Entry& e : entries_) {
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
    for (const Slot slot : free_) is_free.at(slot) = true;
    bool fresh = false;
    for (Slot slot = 0; slot < entries_.size(); ++slot)
        if (!is_free[slot]) index_.insert(entries_[slot].key, fresh).slot = slot;
}

}  // namespace ssdtlm
