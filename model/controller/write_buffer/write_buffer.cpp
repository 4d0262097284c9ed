// SPDX-License-Identifier: Apache-2.0
#include "controller/write_buffer/write_buffer.h"

#include "common/report/error.h"

namespace ssdtlm {

WriteBuffer::WriteBuffer(std::uint32_t capacity_units, const WritePartitions* partitions, const WriteOrder& order)
    : partitions_(partitions != nullptr && partitions->count() > 1 ? partitions : nullptr),
      order_(order),
      choices_(order.units_per_bucket == 0 ? 0
               : partitions_ != nullptr    ? partitions_->count()
                                           : 1,
               BucketChoice(order.buckets, order.patience)),
      demanded_first_(order.coldest_first || !order.quotas.empty()),
      lists_per_partition_(demanded_first_    ? 2 * static_cast<std::uint32_t>(order.quotas.size() + 1)
                           : choices_.empty() ? 1
                                              : order.buckets),
      queues_((partitions_ != nullptr ? partitions_->count() : 1) * lists_per_partition_) {
    levels_.capacity = capacity_units;
    if (partitions_ != nullptr) of_partition_.resize(partitions_->count());
    SSDTLM_CHECK(capacity_units > 0, "write buffer without space");
    SSDTLM_CHECK(!demanded_first_ || (order.merges && choices_.empty()), "a write buffer in two orders");
    quotas_ = Quotas(capacity_units, order.quotas);
    if (!quotas_.shared()) parts_.resize(quotas_.parts());
}

inline void WriteBuffer::count_demanded(const Entry& e) {
    ++levels_.demanded;
    if (__builtin_expect(partitions_ != nullptr, 0)) ++of_partition_[partition_of(e)].demanded;
    if (__builtin_expect(!choices_.empty(), 0)) choices_[partition_of(e)].demand(bucket_of(e));
}

void WriteBuffer::list_last(Index i) {
    Entry& e = entries_[i];
    Queue& q = queue_of(e, partition_of(e));
    e.fifo_next = kNone;
    e.fifo_prev = q.tail;
    (q.tail != kNone ? entries_[q.tail].fifo_next : q.head) = i;
    q.tail = i;
    e.marks |= kListed;
}

void WriteBuffer::list_first(Index i) {
    Entry& e = entries_[i];
    Queue& q = queue_of(e, partition_of(e));
    e.fifo_prev = kNone;
    e.fifo_next = q.head;
    (q.head != kNone ? entries_[q.head].fifo_prev : q.tail) = i;
    q.head = i;
    e.marks |= kListed;
}

void WriteBuffer::unlist(Index i) {
    Entry& e = entries_[i];
    Queue& q = queue_of(e, partition_of(e));
    (e.fifo_prev != kNone ? entries_[e.fifo_prev].fifo_next : q.head) = e.fifo_next;
    (e.fifo_next != kNone ? entries_[e.fifo_next].fifo_prev : q.tail) = e.fifo_prev;
    e.marks = static_cast<std::uint8_t>(e.marks & ~kListed);
}

void WriteBuffer::make_ready(Index i) {
    Entry& e = entries_[i];
    e.queued = true;
    ++levels_.queued;
    if (__builtin_expect(!parts_.empty(), 0)) ++parts_[part_of(e)].queued;
    if (__builtin_expect(partitions_ != nullptr, 0)) ++of_partition_[partition_of(e)].queued;
    if (__builtin_expect(!choices_.empty(), 0)) choices_[partition_of(e)].added(bucket_of(e), false);
    if (is_demanded(e)) count_demanded(e);
}

void WriteBuffer::make_unready(Index i) {
    Entry& e = entries_[i];
    e.queued = false;
    --levels_.queued;
    if (__builtin_expect(!parts_.empty(), 0)) --parts_[part_of(e)].queued;
    if (__builtin_expect(partitions_ != nullptr, 0)) --of_partition_[partition_of(e)].queued;
    const bool demanded = is_demanded(e);
    if (__builtin_expect(!choices_.empty(), 0)) choices_[partition_of(e)].removed(bucket_of(e), demanded);
    if (!demanded) return;
    --levels_.demanded;
    if (__builtin_expect(partitions_ != nullptr, 0)) --of_partition_[partition_of(e)].demanded;
}

void WriteBuffer::enqueue(Index i) {
    list_last(i);
    make_ready(i);
}

void WriteBuffer::dequeue(Index i) {
    unlist(i);
    make_unready(i);
}

// Only the oldest write of a unit may be programmed: two copies of one unit are never programmed at once. If writes do
// not merge, the others have their places in the list already.
void WriteBuffer::make_dirty(Index i) {
    Entry& e = entries_[i];
    e.state = State::dirty;
    ++levels_.dirty;
    const bool oldest = map_.find(idx(e.lpa))->second.oldest == i;
    if (oldest || !order_.merges) list_last(i);
    if (oldest) make_ready(i);
}

/// Removes entries in front that wait for an older write of their unit on its way to flash. Such an entry will be the
/// first when that write is there.
WriteBuffer::Index WriteBuffer::first_ready(Queue& q) {
    while (q.head != kNone && !entries_[q.head].queued) unlist(q.head);
    return q.head;
}

// Only the oldest write of a unit merges. Writes behind it that lean on it got their other bytes from it, directly or
// not.
bool WriteBuffer::leans_on_merging(const Entry& e) const {
    return entries_[map_.find(idx(e.lpa))->second.oldest].state == State::merging;
}

// Speeds up an older write of a unit, because a command waits for a write behind it. Only the oldest can be undemanded
// in front of another one: it was merging when the next came, otherwise that would have replaced it.
void WriteBuffer::hurry(Index i) {
    Entry& e = entries_[i];
    const bool newly = e.queued && !is_demanded(e), moves = newly && demanded_first_;
    if (__builtin_expect(moves, 0)) unlist(i);
    if (newly) count_demanded(e);
    e.marks |= kHurried;
    if (__builtin_expect(moves, 0)) list_last(i);
}

WriteBuffer::Index WriteBuffer::insert(Lpa lpa, std::uint32_t version, std::uint32_t waiter, Bytes bytes,
                                       std::uint8_t stream, std::uint32_t dram_unit, const WorkTag& whose) {
    ++counters_.inserted;
    if (__builtin_expect(!choices_.empty(), 0))
        choices_[partitions_ != nullptr ? partitions_->of(lpa, stream) : 0].arrived();
    auto [it, fresh] = map_.try_emplace(idx(lpa), Chain{kNone, kNone});
    std::uint8_t marks = 0;
    if (!fresh) {
        const Index n = it->second.newest;
        Entry& tail = entries_[n];
        const bool waits_already = tail.waiter != kNoWaiter;
        const bool under_flush = tail.generation < generation_;
        // A partial write over a buffered unit needs no merge read: the older bytes are in the buffer.
        if (order_.merges && tail.state == State::dirty && !waits_already && !under_flush) {
            tail.version = version;
            const bool moves =
                tail.queued &&
                ((__builtin_expect(demanded_first_, 0) &&
                  (order_.coldest_first || waiter != kNoWaiter || part_of(tail) != quotas_.part_of(whose.tenant))) ||
                 (__builtin_expect(partitions_ != nullptr, 0) && partitions_->of(lpa, stream) != partition_of(tail)));
            if (moves) dequeue(n);
            if (__builtin_expect(!parts_.empty(), 0)) --parts_[part_of(tail)].used;
            tail.stream = stream;
            tail.set_writer(whose);
            tail.dram_unit = dram_unit;
            if (bytes == Bytes::whole) tail.marks = static_cast<std::uint8_t>(tail.marks & ~kLeans);
            if (waiter != kNoWaiter) {
                if (tail.queued && !is_demanded(tail)) count_demanded(tail);
                tail.waiter = waiter;
                if (it->second.oldest != n) hurry(it->second.oldest);
            }
            if (moves) enqueue(n);
            if (__builtin_expect(room_ != nullptr, 0)) room_->used_dirty(n);
            --levels_.used;
            ++counters_.coalesced;
            return n;
        }
        if (bytes != Bytes::whole && !tail.dropped() && (tail.state == State::merging || (tail.marks & kLeans) != 0))
            marks = kLeans;
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
    e.set_writer(whose);
    if (__builtin_expect(room_ != nullptr, 0)) room_->entered_dirty(i);
    ++per_generation_.back();
    if (fresh) {
        it->second = Chain{i, i};
    } else {
        entries_[it->second.newest].newer = i;
        it->second.newest = i;
        if (waiter != kNoWaiter)
            for (Index older = it->second.oldest; older != i; older = order_.merges ? i : entries_[older].newer)
                hurry(older);
    }
    if (bytes == Bytes::merging) {
        e.state = State::merging;
        ++levels_.merging;
    } else {
        make_dirty(i);
    }
    return i;
}

void WriteBuffer::fill_up(Index i, std::uint32_t version, std::uint8_t stream, std::uint32_t dram_unit,
                          const WorkTag& whose) {
    Entry& e = entries_[i];
    SSDTLM_CHECK(e.state == State::merging && !e.dropped() && e.newer == kNone && !is_demanded(e),
                 "a write takes the place of one that it has to queue behind");
    ++counters_.inserted;
    if (__builtin_expect(!choices_.empty(), 0))
        choices_[partitions_ != nullptr ? partitions_->of(e.lpa, stream) : 0].arrived();
    if (__builtin_expect(!parts_.empty(), 0)) --parts_[part_of(e)].used;
    e.version = version;
    e.stream = stream;
    e.dram_unit = dram_unit;
    e.set_writer(whose);
    if (__builtin_expect(room_ != nullptr, 0)) room_->used_dirty(i);
    --levels_.used;
    ++counters_.coalesced;
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
    SSDTLM_CHECK(entries_[i].state == State::merging && !entries_[i].dropped(),
                 "failed merge of a unit that does not wait for one");
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

WriteBuffer::Index WriteBuffer::pop_dirty(std::uint32_t partition) {
    Index i = kNone;
    if (__builtin_expect(lists_per_partition_ == 1, 1)) {
        i = first_ready(queues_[partition]);
    } else if (demanded_first_) {
        i = first_dirty(partition);
    } else if (const std::uint32_t bucket = choices_[partition].next(); bucket != BucketChoice::kNone) {
        i = first_ready(queues_[partition * order_.buckets + bucket]);
    }
    if (i != kNone) take_dirty(i);
    return i;
}

// Each listed unit is followed by those that wait for it, unless they have places of their own.
std::vector<WriteBuffer::Unit> WriteBuffer::dirty_units() const {
    std::vector<Unit> units;
    for (const Queue& q : queues_)
        for (Index i = q.head; i != kNone; i = entries_[i].fifo_next) {
            units.push_back(unit(i));
            for (Index n = entries_[i].newer; n != kNone && (entries_[n].marks & kListed) == 0; n = entries_[n].newer)
                units.push_back(unit(n));
        }
    return units;
}

void WriteBuffer::take_dirty(Index i) {
    dequeue(i);
    entries_[i].state = State::flushing;
    --levels_.dirty;
    levels_.wanted = false;
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
    if (entries_[next].state != State::dirty) return;
    if (order_.merges)
        list_last(next);
    else if ((entries_[next].marks & kListed) == 0)
        list_first(next);
    make_ready(next);
}

void WriteBuffer::release(Index i) {
    free(i);
    retire_generations();
}

void WriteBuffer::free(Index i) {
    Entry& e = entries_[i];
    e.state = State::free;
    --levels_.used;
    --levels_.held;
    if (__builtin_expect(!parts_.empty(), 0)) --parts_[part_of(e)].used;
    --per_generation_[e.generation - oldest_generation_];
    free_.push_back(i);
    if (__builtin_expect(room_ != nullptr, 0)) room_->left_dirty(i);
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
            if (e.queued) make_unready(i);
            if ((e.marks & kListed) != 0) unlist(i);
            --levels_.dirty;
            ++counters_.dropped_dirty;
            if (e.waiter != kNoWaiter) released.push_back(e.waiter);
            free(i);
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
    for (OfPartition& l : of_partition_) l.demanded = l.queued;
    for (BucketChoice& c : choices_) c.demand_all();
    if (__builtin_expect(demanded_first_, 0)) demand_all_lists();
    retire_generations();
    return closed;
}

}  // namespace ssdtlm
