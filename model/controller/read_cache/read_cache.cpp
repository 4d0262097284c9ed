// SPDX-License-Identifier: Apache-2.0
#include "controller/read_cache/read_cache.h"

#include "common/report/error.h"

namespace ssdtlm {

namespace {
constexpr std::uint32_t kNone = 0xFFFFFFFFu;
}

ReadCache::ReadCache(const ReadCacheConfig& config, std::uint32_t unit_bytes)
    : config_(config), slots_(config.bytes / unit_bytes), oldest_(kNone), newest_(kNone) {
    SSDTLM_CHECK(!slots_.empty(), "a read cache without room for a unit");
    index_.reserve(slots_.size());
    for (std::uint32_t i = capacity(); i-- != 0;) free_.push_back(i);
}

const ReadCache::Unit* ReadCache::look_up(Lpa lpa) {
    const auto found = index_.find(idx(lpa));
    if (found == index_.end()) {
        ++counters_.misses;
        return nullptr;
    }
    ++counters_.hits;
    if (config_.replacement == ReadCacheReplacement::lru && found->second != newest_) {
        unlink(found->second);
        link_newest(found->second);
    }
    return &slots_[found->second].unit;
}

std::uint32_t ReadCache::begin_fill(Lpa lpa) {
    bool fresh = false;
    if (last_fill_ + 1 == kNoFill) ++last_fill_;
    return fills_.insert(idx(lpa), fresh).number = ++last_fill_;
}

void ReadCache::cancel_fill(std::uint32_t fill, Lpa lpa) {
    if (Fill* const f = fills_.find(idx(lpa)); f != nullptr && f->number == fill) fills_.erase(*f);
}

void ReadCache::end_fill(std::uint32_t fill, const Unit& unit) {
    Fill* const f = fills_.find(idx(unit.lpa));
    if (f == nullptr || f->number != fill) return;
    fills_.erase(*f);
    insert(unit);
}

void ReadCache::insert(const Unit& unit) {
    if (const auto found = index_.find(idx(unit.lpa)); found != index_.end()) {
        slots_[found->second].unit = unit;
        return;
    }
    const std::uint32_t slot = take_slot();
    index_.emplace(idx(unit.lpa), slot);
    slots_[slot].unit = unit;
    link_newest(slot);
    ++counters_.filled;
}

void ReadCache::drop(Lpa lpa) {
    if (Fill* const f = fills_.find(idx(lpa)); f != nullptr) fills_.erase(*f);
    if (const auto found = index_.find(idx(lpa)); found != index_.end()) remove(found->second);
}

void ReadCache::drop(Lpa first, std::uint32_t units) {
    if (units <= used() + fills_.size()) {
        for (std::uint32_t i = 0; i < units; ++i) drop(Lpa{idx(first) + i});
        return;
    }
    // Fewer are here than are deallocated: looks at those.
    std::vector<Lpa> here;
    const auto add = [&](std::uint32_t lpa) {
        if (lpa - idx(first) < units) here.push_back(Lpa{lpa});
    };
    for (const auto& [lpa, slot] : index_) add(lpa);
    fills_.for_each([&](const Fill& f) { add(f.key); });
    for (const Lpa lpa : here) drop(lpa);
}

void ReadCache::link_newest(std::uint32_t slot) {
    slots_[slot].older = newest_;
    slots_[slot].newer = kNone;
    (newest_ == kNone ? oldest_ : slots_[newest_].newer) = slot;
    newest_ = slot;
}

void ReadCache::unlink(std::uint32_t slot) {
    const Slot& s = slots_[slot];
    (s.older == kNone ? oldest_ : slots_[s.older].newer) = s.newer;
    (s.newer == kNone ? newest_ : slots_[s.newer].older) = s.older;
}

void ReadCache::remove(std::uint32_t slot) {
    unlink(slot);
    index_.erase(idx(slots_[slot].unit.lpa));
    slots_[slot].unit.bytes.reset();
    free_.push_back(slot);
}

std::uint32_t ReadCache::take_slot() {
    if (free_.empty()) {
        remove(oldest_);
        ++counters_.evicted;
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
}

std::vector<Lpa> ReadCache::units() const {
    std::vector<Lpa> all;
    for (std::uint32_t slot = oldest_; slot != kNone; slot = slots_[slot].newer) all.push_back(slots_[slot].unit.lpa);
    return all;
}

void ReadCache::state(Snapshot& s) {
    SSDTLM_CHECK(fills_.size() == 0, "a snapshot while the read cache is being filled");
    for (Slot& slot : slots_) {
        SSDTLM_CHECK(!slot.unit.bytes, "a snapshot of bytes");
        s(slot.unit.lpa, slot.unit.version, slot.unit.dram_unit, slot.older, slot.newer);
    }
    s(free_, oldest_, newest_);
    s.map(index_);
}

}  // namespace ssdtlm
