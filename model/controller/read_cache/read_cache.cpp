// SPDX-License-Identifier: Apache-2.0
#include "controller/read_cache/read_cache.h"

#include "common/report/error.h"

namespace ssdtlm {

namespace {
constexpr std::uint32_t kNone = 0xFFFFFFFFu;
}

ReadCache::ReadCache(const ReadCacheConfig& config, std::uint32_t unit_bytes, SharedCache* room)
    : config_(config),
      room_(room),
      slots_(room != nullptr ? room->units() : config.bytes / unit_bytes),
      quotas_(slots_.size(), config.quotas) {
    for (std::uint32_t part = 0; part < quotas_.parts(); ++part)
        parts_.push_back({kNone, kNone, 0, quotas_.shared() ? slots_.size() : quotas_.units(part)});
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
    if (__builtin_expect(slots_[found->second].ahead, 0)) {
        slots_[found->second].ahead = false;
        ++counters_.ahead_hits;
    }
    if (room_ != nullptr)
        room_->used_clean(found->second);
    else if (config_.replacement == ReadCacheReplacement::lru &&
             found->second != parts_[slots_[found->second].part].newest) {
        unlink(found->second);
        link_newest(found->second);
    }
    return &slots_[found->second].unit;
}

// Reads of a unit that overlap have one number, so the first to end brings it in. If each had a number of its own, and
// the last counted, a unit that is always being read would never enter.
std::uint32_t ReadCache::begin_fill(Lpa lpa) {
    bool fresh = false;
    Fill& f = fills_.insert(idx(lpa), fresh);
    if (fresh) {
        if (last_fill_ + 1 == kNoFill) ++last_fill_;
        f.number = ++last_fill_;
    }
    return f.number;
}

void ReadCache::cancel_fill(std::uint32_t fill, Lpa lpa) {
    if (Fill* const f = fills_.find(idx(lpa)); f != nullptr && f->number == fill) fills_.erase(*f);
}

void ReadCache::end_fill(std::uint32_t fill, const Unit& unit, std::uint16_t tenant) {
    Fill* const f = fills_.find(idx(unit.lpa));
    if (f == nullptr || f->number != fill) return;
    fills_.erase(*f);
    insert(unit, tenant);
}

void ReadCache::end_ahead(std::uint32_t fill, const Unit& unit, bool wanted, std::uint16_t tenant) {
    const std::uint64_t filled = counters_.filled;
    end_fill(fill, unit, tenant);
    if (wanted) return;
    if (counters_.filled != filled)
        slots_[index_.find(idx(unit.lpa))->second].ahead = true;
    else
        ++counters_.ahead_wasted;
}

void ReadCache::insert(const Unit& unit, std::uint16_t tenant) {
    if (const auto found = index_.find(idx(unit.lpa)); found != index_.end()) {
        slots_[found->second].unit = unit;
        return;
    }
    if (room_ == nullptr) return link_newest(put(unit, tenant));
    if (room_->admit_clean())
        room_->entered_clean(put(unit, tenant));
    else
        ++counters_.turned_away;
}

void ReadCache::keep(const Unit& unit, std::uint32_t entry, std::uint16_t tenant) {
    if (room_ == nullptr) return insert(unit, tenant);
    SSDTLM_CHECK(index_.find(idx(unit.lpa)) == index_.end(), "a unit of the write buffer is in the read cache");
    room_->cleaned(entry, put(unit, tenant));
}

std::uint32_t ReadCache::put(const Unit& unit, std::uint16_t tenant) {
    const std::uint32_t slot = take_slot(quotas_.part_of(tenant));
    index_.emplace(idx(unit.lpa), slot);
    slots_[slot].unit = unit;
    ++counters_.filled;
    return slot;
}

void ReadCache::evict(std::uint32_t slot) {
    remove(slot);
    ++counters_.evicted;
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
    Part& p = parts_[slots_[slot].part];
    slots_[slot].older = p.newest;
    slots_[slot].newer = kNone;
    (p.newest == kNone ? p.oldest : slots_[p.newest].newer) = slot;
    p.newest = slot;
}

void ReadCache::unlink(std::uint32_t slot) {
    const Slot& s = slots_[slot];
    Part& p = parts_[s.part];
    (s.older == kNone ? p.oldest : slots_[s.older].newer) = s.newer;
    (s.newer == kNone ? p.newest : slots_[s.newer].older) = s.older;
}

void ReadCache::remove(std::uint32_t slot) {
    room_ != nullptr ? room_->left_clean(slot) : unlink(slot);
    --parts_[slots_[slot].part].used;
    index_.erase(idx(slots_[slot].unit.lpa));
    slots_[slot].unit.bytes.reset();
    counters_.ahead_wasted += slots_[slot].ahead;
    slots_[slot].ahead = false;
    free_.push_back(slot);
}

std::uint32_t ReadCache::take_slot(std::uint32_t part) {
    Part& p = parts_[part];
    if (p.used == p.units) evict(p.oldest);
    ++p.used;
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].part = part;
    return slot;
}

std::vector<Lpa> ReadCache::units() const {
    SSDTLM_CHECK(room_ == nullptr && quotas_.shared(), "the order of a read cache that is not one list");
    std::vector<Lpa> all;
    for (std::uint32_t slot = parts_.front().oldest; slot != kNone; slot = slots_[slot].newer)
        all.push_back(slots_[slot].unit.lpa);
    return all;
}

void ReadCache::state(Snapshot& s) {
    SSDTLM_CHECK(fills_.size() == 0, "a snapshot while the read cache is being filled");
    for (Slot& slot : slots_) {
        s(slot.unit.lpa, slot.unit.version, slot.unit.dram_unit, slot.older, slot.newer);
        if (!quotas_.shared()) s(slot.part);
        if (tracks_ahead_) s(slot.ahead);
    }
    s(free_);
    for (Part& p : parts_) s(p.oldest, p.newest);
    s.map(index_);
    if (s.reads()) check_slots(s);
    for (Part& p : parts_) p.used = 0;
    for (const auto& [lpa, slot] : index_) ++parts_[slots_[slot].part].used;
    if (room_ != nullptr) {
        s(*room_);
        s.require(room_->clean() == index_.size(), "units in the room of the buffer that are not in the read cache");
    } else if (s.reads()) {
        check_orders(s);
    }
}

/// Each slot is free, or that of one unit.
void ReadCache::check_slots(Snapshot& s) const {
    std::vector<bool> seen(slots_.size());
    const auto take = [&](std::uint32_t slot) {
        s.require(slot < slots_.size() && !seen[slot], "a place of the read cache that is there twice");
        seen[slot] = true;
    };
    for (const std::uint32_t slot : free_) take(slot);
    for (const auto& [lpa, slot] : index_) {
        take(slot);
        s.require(idx(slots_[slot].unit.lpa) == lpa && slots_[slot].part < parts_.size(),
                  "a place of the read cache that is another unit's");
    }
    s.require(free_.size() + index_.size() == slots_.size(), "a place of the read cache that is nobody's");
}

/// Each unit is in the order of its part once.
void ReadCache::check_orders(Snapshot& s) const {
    for (std::uint32_t part = 0; part < parts_.size(); ++part) {
        std::uint32_t before = kNone, slot = parts_[part].oldest;
        for (std::uint64_t left = parts_[part].used; left != 0; --left, before = slot, slot = slots_[slot].newer)
            s.require(slot < slots_.size() && slots_[slot].part == part && slots_[slot].older == before,
                      "an order of the read cache with others in it");
        s.require(slot == kNone && before == parts_[part].newest && parts_[part].used <= parts_[part].units,
                  "an order of the read cache that does not end");
    }
}

}  // namespace ssdtlm
