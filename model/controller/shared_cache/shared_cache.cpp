// SPDX-License-Identifier: Apache-2.0
#include "controller/shared_cache/shared_cache.h"

#include <string>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

SharedCache::SharedCache(std::uint32_t units, std::uint32_t window, bool by_use)
    : units_(units), window_(window), by_use_(by_use), nodes_(2 * std::size_t{units}) {
    SSDTLM_CHECK(units != 0 && window != 0 && window <= units,
                 "a window of the room for cached units that does not fit it");
}

void SharedCache::bind(BufferLevels& buffer, std::function<void(std::uint32_t)> evict) {
    buffer_ = &buffer;
    evict_ = std::move(evict);
}

void SharedCache::push(std::uint32_t node) {
    Node& n = nodes_[node];
    SSDTLM_CHECK(!n.linked, "a cached unit comes that is there");
    n.linked = true;
    n.since = ++clock_;
    n.older = newest_;
    n.newer = kNone;
    (newest_ == kNone ? oldest_ : nodes_[newest_].newer) = node;
    newest_ = node;
    if (++size_ == window_) edge_ = node;
}

void SharedCache::remove(std::uint32_t node) {
    Node& n = nodes_[node];
    SSDTLM_CHECK(n.linked, "a cached unit leaves that is not there");
    n.linked = false;
    if (edge_ != kNone && in_window(n)) edge_ = nodes_[edge_].newer;
    (n.older == kNone ? oldest_ : nodes_[n.older].newer) = n.newer;
    (n.newer == kNone ? newest_ : nodes_[n.newer].older) = n.older;
    --size_;
}

void SharedCache::use(std::uint32_t node) {
    if (!by_use_ || node == newest_ || !nodes_[node].linked) return;
    remove(node);
    push(node);
}

void SharedCache::entered_clean(std::uint32_t slot) {
    push(node_of(slot));
    clean_.insert(clean_.end(), nodes_[node_of(slot)]);
    ++clean_count_;
}

void SharedCache::used_clean(std::uint32_t slot) {
    if (!by_use_ || node_of(slot) == newest_) return;
    left_clean(slot);
    entered_clean(slot);
}

void SharedCache::left_clean(std::uint32_t slot) {
    clean_.erase(clean_.iterator_to(nodes_[node_of(slot)]));
    --clean_count_;
    remove(node_of(slot));
}

void SharedCache::cleaned(std::uint32_t entry, std::uint32_t slot) {
    Node &dirty = nodes_[entry], &clean = nodes_[node_of(slot)];
    SSDTLM_CHECK(dirty.linked && !clean.linked, "a unit that is not in the room for cached units becomes clean");
    clean.since = dirty.since;
    clean.older = dirty.older;
    clean.newer = dirty.newer;
    dirty.linked = false;
    clean.linked = true;
    (clean.older == kNone ? oldest_ : nodes_[clean.older].newer) = node_of(slot);
    (clean.newer == kNone ? newest_ : nodes_[clean.newer].older) = node_of(slot);
    if (edge_ == entry) edge_ = node_of(slot);
    clean_.insert(clean);
    ++clean_count_;
}

/// Evicts the oldest clean unit, if it is in the window.
bool SharedCache::evict_one() {
    if (clean_count_ == 0 || !in_window(*clean_.begin())) return false;
    evict_(static_cast<std::uint32_t>(&*clean_.begin() - nodes_.data()) - units_);
    return true;
}

bool SharedCache::make_room(std::uint32_t units) {
    while (buffer_->used() + clean_count_ + units > units_)
        if (!evict_one()) return false;
    return true;
}

bool SharedCache::admit_clean() {
    if (buffer_->used() + clean_count_ < units_ || evict_one()) return true;
    buffer_->want_room();
    return false;
}

void SharedCache::check() const {
    const auto require = [](bool ok, std::uint64_t n, const char* what) {
        if (!ok) throw CheckFailed("room for cached units: " + std::to_string(n) + what);
    };
    require(size_ == buffer_->held() + clean_count_, size_,
            " units are in the order, which are not those of write buffer and read cache");
    require(buffer_->used() + clean_count_ <= units_, buffer_->used() + clean_count_,
            " units are in it, more than it has room for");
    if (size_ > 512) return;
    std::uint32_t seen = 0, clean = 0;
    for (std::uint32_t node = oldest_; node != kNone; node = nodes_[node].newer) {
        clean += node >= units_;
        if (++seen == window_) require(node == edge_, window_, " units are its window, which ends elsewhere");
    }
    require(seen == size_ && (size_ >= window_ || edge_ == kNone), seen, " units are in the order, others are counted");
    require(clean == clean_count_, clean, " of them are clean, others are counted");
}

void SharedCache::state(Snapshot& s) {
    SSDTLM_CHECK(size_ == clean_count_, "a snapshot of cached units some of which are dirty");
    std::vector<std::uint32_t> slots;
    for (std::uint32_t node = oldest_; node != kNone; node = nodes_[node].newer) slots.push_back(node - units_);
    if (s.reads())
        for (const std::uint32_t slot : slots) left_clean(slot);
    s(slots);
    if (!s.reads()) return;
    for (const std::uint32_t slot : slots) {
        s.require(slot < units_ && !nodes_[node_of(slot)].linked, "a unit that is not in the read cache, or twice");
        entered_clean(slot);
    }
}

}  // namespace ssdtlm
