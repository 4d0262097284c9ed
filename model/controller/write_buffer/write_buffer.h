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
#include "controller/ftl/allocation/write_partitions.h"
#include "controller/ports/buffer_levels.h"
#include "controller/ports/work_tag.h"
#include "controller/shared_cache/shared_cache.h"
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

/// Contract. Two writes of one unit are never under way to flash at once, and they go there in the order of insert().
/// Every unit inserted leaves exactly once: by programmed() after pop_dirty(), by drop(), by merged() when it was
/// dropped before, or replaced by a newer write of the same unit that no command and no flush told apart.
class WriteBuffer final : public BufferLevels {
public:
    using Index = std::uint32_t;
    static constexpr Index kNone = 0xFFFFFFFFu;
    static constexpr std::uint32_t kNoWaiter = 0xFFFFFFFFu;

    struct Unit {
        Lpa lpa{};
        std::uint32_t version = 0;
        bool merging =
            false;  ///< the rest of its bytes, or of those of the write that it leans on, is still in flash only
        bool dropped = false;         ///< deallocated while merging or on its way to flash: its data no longer matters
        std::uint8_t stream = 0;      ///< of its newest write
        std::uint8_t priority = 0;    ///< of the write that came last, as in WorkTag
        std::uint16_t tenant = 0;     ///< that wrote it last
        std::uint32_t dram_unit = 0;  ///< where its newest write is in the DRAM, in units
        SimTime submitted = kNever;   ///< the write that came last

        /// Of a program of it.
        WorkTag whose() const { return {tenant, priority, 0, kNever, submitted}; }
    };
    /// What a write has of its unit.
    enum class Bytes : std::uint8_t {
        whole,   ///< all
        part,    ///< some; the others are in the buffer, or were never written
        merging  ///< some; the others have to be read from flash
    };
    /// Up to so many entries check_waiters() walks through all of them: it may be asked after every event.
    static constexpr std::size_t kFew = 512, kFewLists = 4096;

    enum class State : std::uint8_t { free, merging, dirty, flushing };
    static constexpr std::uint8_t kHurried = 1;  ///< a newer write of the unit has a waiter
    static constexpr std::uint8_t kLeans =
        2;  ///< its other bytes are those of the write before it, which merged when it came
    static constexpr std::uint8_t kListed = 8;   ///< in the list of its partition or bucket
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

    /// `partitions` must outlive it; null: one.
    explicit WriteBuffer(std::uint32_t capacity_units, const WritePartitions* partitions = nullptr,
                         const WriteOrder& order = {});
    /// With buckets: those of these pages go first.
    void prefer(const DirtyPages& pages) {
        for (BucketChoice& c : choices_) c.prefer(pages);
    }

    /// Its room is also that of what is clean.
    void share(SharedCache& room) { room_ = &room; }

    /// Takes room for n units of this tenant; false when there is none: somebody waits then for his part of it.
    bool reserve(std::uint32_t n, std::uint16_t tenant = 0) {
        if (__builtin_expect(!parts_.empty(), 0) && !reserve_part(n, tenant))
            return false;  // the parts together are no larger
        if (levels_.used + n > levels_.capacity) return false;
        if (__builtin_expect(room_ != nullptr, 0) && !room_->make_room(n)) return false;
        levels_.used += n;
        return true;
    }
    /// Gives room reserved for n units back.
    void cancel(std::uint32_t n, std::uint16_t tenant = 0) {
        levels_.used -= n;
        if (__builtin_expect(!parts_.empty(), 0)) parts_[quotas_.part_of(tenant)].used -= n;
    }
    /// Programs of what is queued give room to somebody who waits for it. Only where tenants have parts of it.
    bool programs_give_room() const;
    /// Puts a unit into reserved room. `waiter`: index of the command that waits for its durability, or kNoWaiter.
    /// Bytes::merging: not programmable until merged(). `whose`: of the command; its stream is said apart. Returns its
    /// index.
    Index insert(Lpa lpa, std::uint32_t version, std::uint32_t waiter, Bytes bytes, std::uint8_t stream = 0,
                 std::uint32_t dram_unit = 0, const WorkTag& whose = WorkTag{});
    /// A newer write of a unit of Bytes::merging, which nobody waits for and no write came behind, takes its place. It
    /// goes on to wait for its rest. Gives back room reserved for one unit.
    void fill_up(Index i, std::uint32_t version, std::uint8_t stream, std::uint32_t dram_unit, const WorkTag& whose);
    /// The rest of a partly written unit is there. It may be programmed, unless it was deallocated meanwhile: then it
    /// vanishes, and its waiter is returned.
    std::uint32_t merged(Index i);
    /// The rest of a partly written unit, which was not deallocated meanwhile, cannot be read: it vanishes, and with it
    /// the later writes that need its bytes. Their waiters are appended to `waiters`. True: no write of the unit is
    /// left.
    bool merge_failed(Index i, std::vector<std::uint32_t>& waiters);
    /// Newest buffered write of a unit, kNone when the buffer has none.
    Index find(Lpa lpa) const {
        if (map_.empty()) return kNone;
        const auto it = map_.find(idx(lpa));
        return it == map_.end() ? kNone : it->second.newest;
    }
    /// The oldest write of it that is here; entry(i).newer is the next.
    Index oldest(Lpa lpa) const {
        const auto it = map_.find(idx(lpa));
        return it == map_.end() ? kNone : it->second.oldest;
    }
    Unit unit(Index i) const {
        const Entry& e = entries_[i];
        const bool merging =
            e.state == State::merging || (__builtin_expect((e.marks & kLeans) != 0, 0) && leans_on_merging(e));
        return {e.lpa, e.version, merging, e.dropped(), e.stream, e.priority, e.tenant, e.dram_unit, e.submitted};
    }
    /// A command waits for its durability, or for that of a newer write of the unit.
    bool is_awaited(Index i) const { return entries_[i].waiter != kNoWaiter || (entries_[i].marks & kHurried) != 0; }
    /// A read found it there.
    void touch(Index i);
    const Entry& entry(Index i) const { return entries_[i]; }
    /// The unit of this partition that is to be programmed next; kNone when there is none. It stays readable until
    /// programmed().
    Index pop_dirty(std::uint32_t partition = 0);
    /// Of the units of this partition that may be programmed now, the one that is next, and the one behind another;
    /// kNone: none.
    Index first_dirty(std::uint32_t partition) const;
    Index dirty_behind(Index i) const;
    /// All that are dirty, in the order in which they would be programmed if nothing else came; with partitions or
    /// buckets, of one after the other.
    std::vector<Unit> dirty_units() const;
    /// Is one of these.
    bool may_be_programmed(Index i) const { return entries_[i].queued; }
    /// This one is to be programmed next, like pop_dirty().
    void take_dirty(Index i);
    /// The unit is in flash: gives its room back. Returns its waiter.
    std::uint32_t programmed(Index i);
    /// The unit will never be in flash: gives its room back. Returns its waiter.
    std::uint32_t give_up(Index i) {
        ++counters_.given_up;
        return programmed(i);
    }
    /// Deallocates: units of this lpa vanish, those merging or on their way to flash are marked dropped. WaitQueues of
    /// vanished units are appended to `released`.
    void drop(Lpa lpa, std::vector<std::uint32_t>& released);
    /// Starts a new flush generation; everything inserted so far belongs to the one returned or earlier.
    std::uint32_t begin_flush();
    /// True when nothing of `generation` or earlier is left.
    bool flush_done(std::uint32_t generation) const { return oldest_generation_ > generation; }
    /// A dirty unit is in the queue, or behind an older write of the same unit that is; the counts of both are right.
    /// Looks at every unit, up to kFew of them in up to kFewLists lists: it is called often.
    void check_waiters() const;

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
    std::uint32_t partition_of(const Entry& e) const {
        return __builtin_expect(partitions_ == nullptr, 1) ? 0 : partitions_->of(e.lpa, e.stream);
    }
    std::uint32_t bucket_of(const Entry& e) const { return idx(e.lpa) / order_.units_per_bucket; }
    Queue& queue_of(const Entry& e, std::uint32_t partition) {
        if (__builtin_expect(lists_per_partition_ == 1, 1)) return queues_[partition];
        return queues_[partition * lists_per_partition_ +
                       (demanded_first_ ? 2 * part_of(e) + !is_demanded(e) : bucket_of(e))];
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
    const WritePartitions* partitions_;  // null: one
    const WriteOrder order_;
    SharedCache* room_ = nullptr;        // null: the buffer's alone
    std::vector<BucketChoice> choices_;  // by partition; empty: in the order of arrival
    std::vector<Part> parts_;            // empty: shared by all
    const bool demanded_first_;          // of each part: those that must become durable, and the others
    const std::uint32_t lists_per_partition_;
    std::vector<Queue> queues_;  // of units to program, by partition, and within it by bucket, or two for each part
    std::uint32_t generation_ = 0;
    std::uint32_t oldest_generation_ = 0;
    std::deque<std::uint32_t> per_generation_{0u};  ///< entries alive, from oldest_generation_ on
};

}  // namespace ssdtlm
