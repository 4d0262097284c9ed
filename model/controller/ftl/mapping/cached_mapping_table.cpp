// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/mapping/cached_mapping_table.h"

#include "common/report/error.h"

namespace ssdtlm {

CachedMappingTable::CachedMappingTable(const Shape& shape)
    : shape_(shape),
      most_protected_(shape.slots * shape.protected_percent / 100),
      first_dirty_(shape.pages, kNone),
      dirty_in_(shape.pages) {}

void CachedMappingTable::link(Slot s) {
    Entry& e = entries_[s];
    Segment& segment = segments_[e.kept];
    e.warmer = kNone;
    e.colder = segment.hot;
    (segment.hot == kNone ? segment.cold : entries_[segment.hot].warmer) = s;
    segment.hot = s;
    ++segment.size;
    if (!e.kept || segment.size <= most_protected_) return;
    // The coldest of the protected ones gets another chance among the others.
    const Slot demoted = segment.cold;
    unlink(demoted);
    entries_[demoted].kept = false;
    link(demoted);
}

void CachedMappingTable::unlink(Slot s) {
    Entry& e = entries_[s];
    Segment& segment = segments_[e.kept];
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

CachedMappingTable::Slot CachedMappingTable::add(std::uint32_t key) {
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
    for (Entry& e : entries_) s(e.key, e.colder, e.warmer, e.next_dirty, e.dirty, e.kept);
    s(free_);
    for (Segment& segment : segments_) s(segment.cold, segment.hot, segment.size);
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
