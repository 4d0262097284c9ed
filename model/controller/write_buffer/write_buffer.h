// SPDX-License-Identifier: Apache-2.0
// The write buffer in DRAM, in mapping units: which units are dirty, which are being programmed, who waits for
// them. Plain C++ without time. Programmed units leave the buffer at once, for the read cache if there is one.
//
// Life of a unit: reserve() a slot -> insert() -> [merging: partial write waits for the old copy] -> dirty ->
// pop_dirty() -> flushing -> programmed(). A newer write of a dirty unit replaces it in place (coalescing); a newer
// write of a unit that is flushing, or that a command waits for, queues behind it and is programmed after it; so does
// every one if writes do not merge. They go in the order in which they came, or grouped by translation page
// (bucket_choice.h), or the one that was not written for longest first; of these, what a command or a flush waits for
// goes before all others.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <vector>

#include "common/address/geometry.h"
#include "controller/cache_room/cache_room.h"
#include "controller/ports/buffer_port.h"
#include "controller/ports/lane_port.h"
#include "controller/write_buffer/bucket_choice.h"

namespace ssdtlm {

/// What goes to flash when.
struct WriteOrder {
    bool merges = true;                  ///< a newer write of a dirty unit takes its place; false: both are programmed
    std::uint32_t units_per_bucket = 0;  ///< of a translation page; 0: in the order of arrival
    std::uint32_t buckets = 0;
    std::uint64_t patience = 0;  ///< arrivals
    bool coldest_first = false;  ///< what was not written for longest; merges, and has no buckets
    std::vector<std::uint32_t>
        quotas{};  ///< per cent of the room, of tenants 1, 2, ...; merges, and has no buckets. Empty: shared by all
};

class WriteBuffer final : public BufferPort {
public:
    /// Up to so many entries check_waiters() walks through all of them: it may be asked after every event.
    static constexpr std::size_t kFew = 512, kFewLists = 4096;

    enum class State : std::uint8_t { free, merging, dirty, flushing };
    static constexpr std::uint8_t kHurried = 1;  ///< a newer write of the unit has a waiter
    static constexpr std::uint8_t kLeans =
        2;  ///< its other bytes are those of the write before it, which merged when it came
    static constexpr std::uint8_t kListed = 8;   ///< in the list of its lane or bucket
    static constexpr std::uint8_t kDropped = 4;  ///< deallocated while merging or flushing: its data no longer matters
    struct Entry {
        Lpa lpa{};
        std::uint32_t version = 0;
        std::uint32_t waiter = kNoWaiter;  ///< command index that waits for durability
        std::uint32_t generation = 0;      ///< flush generation it belongs to
        Index newer = kNone;               ///< next write of the same unit
        Index fifo_next = kNone;
        Index fifo_prev = kNone;
        State state : 7;         ///< free at first
        bool queued : 1;         ///< listed, and may be programmed: no older write of the unit is left
        std::uint8_t marks = 0;  ///< kHurried, kLeans, kDropped, kListed
        std::uint8_t stream = 0;
        std::uint8_t priority = 0;  ///< of its newest write, as are the next three
        std::uint32_t dram_unit = 0;
        std::uint16_t tenant = 0;
        SimTime submitted = kNever;

        bool dropped() const { return (marks & kDropped) != 0; }
        void set_writer(const WorkTag& whose) {
            priority = whose.priority;
            tenant = whose.tenant;
            submitted = whose.submitted;
        }
    };
    static_assert(sizeof(Entry) == 48);

    /// `lanes` must outlive it; null: one.
    explicit WriteBuffer(std::uint32_t capacity_units, const LanePort* lanes = nullptr, const WriteOrder& order = {});
    /// With buckets: those of these pages go first.
    void prefer(const DirtyPages& pages) {
        for (BucketChoice& c : choices_) c.prefer(pages);
    }

    /// Its room is also that of what is clean.
    void share(CacheRoom& room) { room_ = &room; }

    bool reserve(std::uint32_t n, std::uint16_t tenant = 0) override {
        if (__builtin_expect(!parts_.empty(), 0) && !reserve_part(n, tenant))
            return false;  // the parts together are no larger
        if (levels_.used + n > levels_.capacity) return false;
        if (__builtin_expect(room_ != nullptr, 0) && !room_->make_room(n)) return false;
        levels_.used += n;
        return true;
    }
    void cancel(std::uint32_t n, std::uint16_t tenant = 0) override {
        levels_.used -= n;
        if (__builtin_expect(!parts_.empty(), 0)) parts_[quotas_.part_of(tenant)].used -= n;
    }
    bool programs_give_room() const override;
    Index insert(Lpa lpa, std::uint32_t version, std::uint32_t waiter, Bytes bytes, std::uint8_t stream = 0,
                 std::uint32_t dram_unit = 0, const WorkTag& whose = WorkTag{}) override;
    void fill_up(Index i, std::uint32_t version, std::uint8_t stream, std::uint32_t dram_unit,
                 const WorkTag& whose) override;
    std::uint32_t merged(Index i) override;
    bool merge_failed(Index i, std::vector<std::uint32_t>& waiters) override;
    Index find(Lpa lpa) const override {
        if (map_.empty()) return kNone;
        const auto it = map_.find(idx(lpa));
        return it == map_.end() ? kNone : it->second.newest;
    }
    /// The oldest write of it that is here; entry(i).newer is the next.
    Index oldest(Lpa lpa) const {
        const auto it = map_.find(idx(lpa));
        return it == map_.end() ? kNone : it->second.oldest;
    }
    Unit unit(Index i) const override {
        const Entry& e = entries_[i];
        const bool merging =
            e.state == State::merging || (__builtin_expect((e.marks & kLeans) != 0, 0) && leans_on_merging(e));
        return {e.lpa, e.version, merging, e.dropped(), e.stream, e.priority, e.tenant, e.dram_unit, e.submitted};
    }
    bool is_awaited(Index i) const override {
        return entries_[i].waiter != kNoWaiter || (entries_[i].marks & kHurried) != 0;
    }
    void touch(Index i) override;
    const Entry& entry(Index i) const { return entries_[i]; }
    Index pop_dirty(std::uint32_t lane = 0) override;
    Index first_dirty(std::uint32_t lane) const override;
    Index dirty_behind(Index i) const override;
    std::vector<Unit> dirty_units() const override;
    bool may_be_programmed(Index i) const override { return entries_[i].queued; }
    void take_dirty(Index i) override;
    std::uint32_t programmed(Index i) override;
    void drop(Lpa lpa, std::vector<std::uint32_t>& released) override;
    std::uint32_t begin_flush() override;
    bool flush_done(std::uint32_t generation) const override { return oldest_generation_ > generation; }
    /// A dirty unit is in the queue, or behind an older write of the same unit that is; the counts of both are right.
    /// Looks at every unit, up to kFew of them in up to kFewLists lists: it is called often.
    void check_waiters() const override;

private:
    struct Chain {
        Index oldest;
        Index newest;
    };
    struct Queue {
        Index head = kNone;
        Index tail = kNone;
    };
    /// Of the room, for a tenant or for all others.
    struct Part {
        std::uint32_t used = 0;  ///< reserved and occupied
        std::uint32_t queued = 0;
        bool wanted = false;  ///< somebody found it full
    };
    std::uint32_t part_of(const Entry& e) const { return quotas_.part_of(e.tenant); }
    bool reserve_part(std::uint32_t n, std::uint16_t tenant);
    bool goes_before(std::uint32_t part, std::uint32_t other) const;
    std::uint32_t lane_of(const Entry& e) const {
        return __builtin_expect(lanes_ == nullptr, 1) ? 0 : lanes_->of(e.lpa, e.stream);
    }
    std::uint32_t bucket_of(const Entry& e) const { return idx(e.lpa) / order_.units_per_bucket; }
    Queue& queue_of(const Entry& e, std::uint32_t lane) {
        if (__builtin_expect(lists_per_lane_ == 1, 1)) return queues_[lane];
        return queues_[lane * lists_per_lane_ + (demanded_first_ ? 2 * part_of(e) + !is_demanded(e) : bucket_of(e))];
    }
    void count_demanded(const Entry& e);
    void list_last(Index i);
    void list_first(Index i);
    void unlist(Index i);
    void make_ready(Index i);
    void make_unready(Index i);
    Index first_ready(Queue& q);
    void demand_all_lists();
    void check_lists() const;
    bool leans_on_merging(const Entry& e) const;
    void enqueue(Index i);
    void dequeue(Index i);
    void make_dirty(Index i);
    bool is_demanded(const Entry& e) const {
        return e.waiter != kNoWaiter || (e.marks & kHurried) != 0 || e.generation < generation_;
    }
    void hurry(Index i);
    void unlink_oldest(Index i);
    void release(Index i);
    void free(Index i);
    void retire_generations();

    std::vector<Entry> entries_;
    std::vector<Index> free_;
    boost::unordered_flat_map<std::uint32_t, Chain> map_;
    const LanePort* lanes_;  // null: one
    const WriteOrder order_;
    CacheRoom* room_ = nullptr;          // null: the buffer's alone
    std::vector<BucketChoice> choices_;  // by lane; empty: in the order of arrival
    std::vector<Part> parts_;            // empty: shared by all
    const bool demanded_first_;          // of each part: those that must become durable, and the others
    const std::uint32_t lists_per_lane_;
    std::vector<Queue> queues_;  // of units to program, by lane, and within it by bucket, or two for each part
    std::uint32_t generation_ = 0;
    std::uint32_t oldest_generation_ = 0;
    std::deque<std::uint32_t> per_generation_{0u};  ///< entries alive, from oldest_generation_ on
};

}  // namespace ssdtlm
