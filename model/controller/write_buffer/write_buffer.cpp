// SPDX-License-Identifier: Apache-2.0
#include "controller/write_buffer/write_buffer.h"

#include <string>

#include "common/report/error.h"

namespace ssdtlm {

WriteBuffer::WriteBuffer(std::uint32_t capacity_units, const LanePort* lanes)
    : lanes_(lanes != nullptr && lanes->count() > 1 ? lanes : nullptr), queues_(lanes_ != nullptr ? lanes_->count() : 1) {
    levels_.capacity = capacity_units;
    if (lanes_ != nullptr) of_lane_.resize(lanes_->count());
    SSDTLM_CHECK(capacity_units > 0, "write buffer without space");
}

/// `by`: 1 more, or ~0u: one less.
inline void WriteBuffer::count_demanded(const Entry& e, std::uint32_t by) {
    levels_.demanded += by;
    if (__builtin_expect(lanes_ != nullptr, 0)) of_lane_[lane_of(e)].demanded += by;
}

void WriteBuffer::enqueue(Index i) {
    Entry& e = entries_[i];
    const std::uint32_t lane = lane_of(e);
    Queue& q = queues_[lane];
    e.fifo_next = kNone;
    e.fifo_prev = q.tail;
    (q.tail != kNone ? entries_[q.tail].fifo_next : q.head) = i;
    q.tail = i;
    e.queued = true;
    ++levels_.queued;
    if (__builtin_expect(lanes_ != nullptr, 0)) ++of_lane_[lane].queued;
    if (is_demanded(e)) count_demanded(e, 1);
}

void WriteBuffer::dequeue(Index i) {
    Entry& e = entries_[i];
    const std::uint32_t lane = lane_of(e);
    Queue& q = queues_[lane];
    (e.fifo_prev != kNone ? entries_[e.fifo_prev].fifo_next : q.head) = e.fifo_next;
    (e.fifo_next != kNone ? entries_[e.fifo_next].fifo_prev : q.tail) = e.fifo_prev;
    e.queued = false;
    --levels_.queued;
    if (__builtin_expect(lanes_ != nullptr, 0)) --of_lane_[lane].queued;
    if (is_demanded(e)) count_demanded(e, ~0u);
}

// Only the oldest write of a unit is ever in the queue: two copies of one unit are never programmed at once.
void WriteBuffer::make_dirty(Index i) {
    Entry& e = entries_[i];
    e.state = State::dirty;
    ++levels_.dirty;
    if (map_.find(idx(e.lpa))->second.oldest == i) enqueue(i);
}

// Only the oldest write of a unit merges; those behind it that lean got their other bytes from it, directly or not.
bool WriteBuffer::leans_on_merging(const Entry& e) const {
    return entries_[map_.find(idx(e.lpa))->second.oldest].state == State::merging;
}

// What a command waits for is behind this older write of the same unit. Only the oldest can be undemanded in front of
// another one: it merged when the next came, else that would have replaced it.
void WriteBuffer::hurry(Index i) {
    Entry& e = entries_[i];
    if (e.queued && !is_demanded(e)) count_demanded(e, 1);
    e.marks |= kHurried;
}

WriteBuffer::Index WriteBuffer::insert(Lpa lpa, std::uint32_t version, std::uint32_t waiter, Bytes bytes,
                                      std::uint8_t stream, std::uint32_t dram_unit) {
    ++counters_.inserted;
    auto [it, fresh] = map_.try_emplace(idx(lpa), Chain{kNone, kNone});
    std::uint8_t marks = 0;
    if (!fresh) {
        const Index n = it->second.newest;
        Entry& tail = entries_[n];
        const bool waits_already = tail.waiter != kNoWaiter;
        const bool under_flush = tail.generation < generation_;
        // A partial write over a buffered unit needs no merge read: the older bytes are in the buffer.
        if (tail.state == State::dirty && !waits_already && !under_flush) {
            tail.version = version;
            const bool other_lane = __builtin_expect(lanes_ != nullptr, 0) && tail.queued && lanes_->of(lpa, stream) != lane_of(tail);
            if (other_lane) dequeue(n);
            tail.stream = stream;
            if (other_lane) enqueue(n);
            tail.dram_unit = dram_unit;
            if (bytes == Bytes::whole) tail.marks = static_cast<std::uint8_t>(tail.marks & ~kLeans);
            if (waiter != kNoWaiter) {
                if (tail.queued && !is_demanded(tail)) count_demanded(tail, 1);
                tail.waiter = waiter;
                if (it->second.oldest != n) hurry(it->second.oldest);
            }
            --levels_.used;
            ++counters_.coalesced;
            return n;
        }
        if (bytes != Bytes::whole && !tail.dropped() && (tail.state == State::merging || (tail.marks & kLeans) != 0)) marks = kLeans;
    }
    Index i;
    if (!free_.empty()) {
        i = free_.back();
        free_.pop_back();
    } else {
        i = static_cast<Index>(entries_.size());
        entries_.emplace_back();
    }
    ++levels_.held;
    Entry& e = entries_[i];
    e = Entry{};
    e.lpa = lpa;
    e.version = version;
    e.waiter = waiter;
    e.generation = generation_;
    e.marks = marks;
    e.stream = stream;
    e.dram_unit = dram_unit;
    ++per_generation_.back();
    if (fresh) {
        it->second = Chain{i, i};
    } else {
        entries_[it->second.newest].newer = i;
        it->second.newest = i;
        if (waiter != kNoWaiter) hurry(it->second.oldest);
    }
    if (bytes == Bytes::merging) {
        e.state = State::merging;
        ++levels_.merging;
    } else {
        make_dirty(i);
    }
    return i;
}

std::uint32_t WriteBuffer::merged(Index i) {
    Entry& e = entries_[i];
    SSDTLM_CHECK(e.state == State::merging, "merge of a unit that does not wait for one");
    --levels_.merging;
    if (!e.dropped()) {
        make_dirty(i);
        return kNoWaiter;
    }
    ++counters_.dropped_dirty;
    const std::uint32_t waiter = e.waiter;
    unlink_oldest(i);
    release(i);
    return waiter;
}

bool WriteBuffer::merge_failed(Index i, std::vector<std::uint32_t>& waiters) {
    SSDTLM_CHECK(entries_[i].state == State::merging && !entries_[i].dropped(), "failed merge of a unit that does not wait for one");
    --levels_.merging;
    for (Index next = kNone;; i = next) {
        next = entries_[i].newer;
        if (entries_[i].waiter != kNoWaiter) waiters.push_back(entries_[i].waiter);
        ++counters_.merges_failed;
        unlink_oldest(i);
        release(i);
        if (next == kNone) return true;
        if ((entries_[next].marks & kLeans) == 0) return false;
        dequeue(next);
        --levels_.dirty;
    }
}

WriteBuffer::Index WriteBuffer::pop_dirty(std::uint32_t lane) {
    const Index i = queues_[lane].head;
    if (i != kNone) take_dirty(i);
    return i;
}

void WriteBuffer::take_dirty(Index i) {
    dequeue(i);
    entries_[i].state = State::flushing;
    --levels_.dirty;
}

void WriteBuffer::unlink_oldest(Index i) {
    const auto it = map_.find(idx(entries_[i].lpa));
    SSDTLM_CHECK(it != map_.end() && it->second.oldest == i, "buffered unit leaves out of order");
    const Index next = entries_[i].newer;
    if (next == kNone) {
        map_.erase(it);
        return;
    }
    it->second.oldest = next;
    if (entries_[next].state == State::dirty) enqueue(next);
}

void WriteBuffer::release(Index i) {
    Entry& e = entries_[i];
    e.state = State::free;
    --levels_.used;
    --levels_.held;
    --per_generation_[e.generation - oldest_generation_];
    free_.push_back(i);
    retire_generations();
}

void WriteBuffer::retire_generations() {
    while (per_generation_.size() > 1 && per_generation_.front() == 0) {
        per_generation_.pop_front();
        ++oldest_generation_;
    }
}

std::uint32_t WriteBuffer::programmed(Index i) {
    SSDTLM_CHECK(entries_[i].state == State::flushing, "programmed a unit that was not being flushed");
    const std::uint32_t waiter = entries_[i].waiter;
    unlink_oldest(i);
    release(i);
    return waiter;
}

void WriteBuffer::drop(Lpa lpa, std::vector<std::uint32_t>& released) {
    const auto it = map_.find(idx(lpa));
    if (it == map_.end()) return;
    Index i = it->second.oldest;
    Chain kept{kNone, kNone};
    while (i != kNone) {
        Entry& e = entries_[i];
        const Index next = e.newer;
        ++counters_.deallocated;
        if (e.state == State::dirty) {
            if (e.queued) dequeue(i);
            --levels_.dirty;
            ++counters_.dropped_dirty;
            if (e.waiter != kNoWaiter) released.push_back(e.waiter);
            e.state = State::free;
            --levels_.used;
            --levels_.held;
            --per_generation_[e.generation - oldest_generation_];
            free_.push_back(i);
        } else {
            e.marks |= kDropped;
            e.newer = kNone;
            if (kept.newest == kNone)
                kept.oldest = i;
            else
                entries_[kept.newest].newer = i;
            kept.newest = i;
        }
        i = next;
    }
    if (kept.oldest == kNone)
        map_.erase(it);
    else
        it->second = kept;
    retire_generations();
}

std::uint32_t WriteBuffer::begin_flush() {
    const std::uint32_t closed = generation_++;
    per_generation_.push_back(0);
    levels_.demanded = levels_.queued;  // the flush covers them all
    for (OfLane& l : of_lane_) l.demanded = l.queued;
    retire_generations();
    return closed;
}

void WriteBuffer::check_waiters() const {
    if (entries_.size() > kFew) return;
    std::uint32_t dirty = 0, queued = 0, demanded = 0, merging = 0;
    for (Index i = 0; i < entries_.size(); ++i) {
        const Entry& e = entries_[i];
        if (e.state == State::free) continue;
        merging += e.state == State::merging;
        queued += e.queued;
        demanded += e.queued && is_demanded(e);
        if (e.state != State::dirty) continue;
        ++dirty;
        if (e.dropped()) continue;
        const auto chain = map_.find(idx(e.lpa));
        const bool oldest = chain != map_.end() && chain->second.oldest == i;
        if (chain == map_.end() || oldest != e.queued)
            throw CheckFailed("write buffer: logical unit " + std::to_string(idx(e.lpa)) + " is dirty, " +
                              (e.queued ? "queued though an older write of it is not in flash"
                                        : "but neither queued nor behind an older write"));
    }
    const auto require = [](bool ok, const char* what, std::uint32_t counted, std::uint32_t found) {
        if (!ok)
            throw CheckFailed(std::string("write buffer: ") + std::to_string(counted) + " units are counted as " + what + ", " +
                              std::to_string(found) + " are");
    };
    require(dirty == levels_.dirty, "dirty", levels_.dirty, dirty);
    require(queued == levels_.queued, "queued", levels_.queued, queued);
    require(demanded == levels_.demanded, "to be made durable", levels_.demanded, demanded);
    require(merging == levels_.merging, "merging", levels_.merging, merging);
    if (of_lane_.empty()) return;
    OfLane all;
    for (std::uint32_t lane = 0; lane < of_lane_.size(); ++lane) {
        OfLane found;
        for (Index i = queues_[lane].head; i != kNone; i = entries_[i].fifo_next) {
            ++found.queued;
            found.demanded += is_demanded(entries_[i]);
        }
        require(found.queued == of_lane_[lane].queued, "queued in a lane", of_lane_[lane].queued, found.queued);
        require(found.demanded == of_lane_[lane].demanded, "to be made durable in a lane", of_lane_[lane].demanded, found.demanded);
        all.queued += found.queued;
        all.demanded += found.demanded;
    }
    require(all.queued == queued, "queued", queued, all.queued);
    require(all.demanded == demanded, "to be made durable", demanded, all.demanded);
}

}  // namespace ssdtlm
