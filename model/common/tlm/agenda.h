// SPDX-License-Identifier: Apache-2.0
// The calendar of the model. An entry is (time, sequence, what comes then). Entries of equal time run in posting order;
// that is the determinism rule. AgendaProcess (one SC_METHOD) drains it in a simulation, and run_until() in kernel-free
// tests. Modules read time from here, never from sc_time_stamp(). Kernel-free.
//
// Between two entries the agenda sleeps, at the time of the last one, and others of the simulation run. Whoever calls
// the model from there calls in_step() first.
//
// It is a calendar queue. 4096 buckets of 0.13 us hold the near future (0.54 ms); each is a list in order of time and
// posting that holds one entry or none most of the time. One 4-ary heap holds what lies beyond. What runs next does not
// depend on where an entry is kept: if two entries for the same time are in different places, the one posted first is
// in the heap.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/containers/pool.h"
#include "common/report/error.h"
#include "common/tlm/overflow_heap.h"
#include "common/tlm/then.h"
#include "common/units/units.h"

namespace ssdtlm {

/// The kernel in which an agenda sleeps between two entries.
class AgendaKernel {
public:
    /// The kernel's time. `agenda`: the agenda's time, which may be ahead only where nobody else can look.
    virtual SimTime time(SimTime agenda) = 0;
    /// Something was posted for `at`.
    virtual void wake(SimTime at) = 0;

protected:
    ~AgendaKernel() = default;
};

class Agenda {
public:
    Agenda() = default;
    Agenda(const Agenda&) = delete;
    Agenda& operator=(const Agenda&) = delete;

    SimTime now() const { return now_; }
    /// Whether its modules call each other directly, past their sockets' guards (tlm_guard.h). The results are the
    /// same. Set it before elaboration ends.
    bool calls_straight() const { return calls_straight_; }
    void call_straight(bool on) { calls_straight_ = on; }
    bool empty() const { return pending() == 0; }
    /// Time of the next entry; kNever when empty.
    SimTime next_time() const {
        const std::size_t near = nearest_bucket();
        return near == kNone || far_.first_at() <= buckets_[near].head->at ? far_.first_at() : buckets_[near].head->at;
    }
    std::uint64_t executed() const { return executed_; }
    std::size_t pending() const { return static_cast<std::size_t>(posted_ - executed_ - cancelled_); }

    /// Posts an entry: agenda.post(at, Then::to<&Link::deliver>(this, n)) calls this->deliver(n) at `at`.
    void post(SimTime at, const Then& then) { put(at, then.function, then.self, then.argument); }

    /// An entry that can be cancelled. Its handle is stale once it runs or was cancelled.
    struct Cancellable {
        SimTime at{};
        Then then;
    };
    using Entry = Handle<Cancellable>;
    /// As post(), with a handle, at a higher cost. The order is the same as with post().
    Entry post_cancellable(SimTime at, const Then& then) {
        Cancellable& c = cancellable_.acquire();
        c = Cancellable{at, then};
        const Entry entry = Pool<Cancellable>::handle_of(c);
        put(at, run_cancellable, this, entry.number());
        return entry;
    }
    /// Cancels an entry, as if it had never been posted. Returns false and does nothing when it has run, runs now, or
    /// was cancelled before. For an entry that was posted more than half a millisecond ahead, it looks at all such
    /// entries.
    bool cancel(Entry entry);
    /// Cancels all entries of which drop(self) is true, as if they had never been posted. Their handles become stale.
    /// It looks at every entry, so it is for events that end whole objects, such as a loss of power.
    template <class Drop>
    void drop_if(Drop drop);

    /// Runs the earliest entry. Precondition: not empty.
    void step() { run_one(kNever); }
    /// Runs the earliest entry if its time is not after `limit`. False: there is none.
    bool run_one(SimTime limit) {
        const std::size_t i = nearest_bucket();
        if (__builtin_expect(i == kNone, 0)) return run_far(limit);
        Bucket& b = buckets_[i];
        Node* n = b.head;
        if (__builtin_expect(far_.first_at() <= n->at, 0))
            return run_far(limit);  // posted before n if for the same time
        if (n->at > limit) return false;
        b.head = n->next;
        if (b.head == nullptr) leave_bucket(i);
        now_ = n->at;
        ++executed_;
        const Then then = n->then;
        n->next = free_;
        free_ = n;
        then();
        return true;
    }
    /// Runs all entries up to time t, then moves time to t.
    void run_until(SimTime t) {
        run_limit_ = t;
        while (run_one(t)) {
        }
        run_limit_ = kNoClaims;
        if (t != kNever && t > now_) now_ = t;
    }
    /// Runs until nothing is left.
    void run() { run_until(kNever); }
    /// For a module that keeps entries in order of time itself and posts only the first of them. It calls this at the
    /// end of such an entry. True: its following entry, at `at`, is what would run next; time is then there and the
    /// entry counts as run. False: the entry must be posted. The order is the same either way.
    bool claim(SimTime at) {
        if (at > run_limit_ || next_time() <= at) return false;
        now_ = at;
        ++posted_;
        ++executed_;
        return true;
    }
    /// Entries up to this time may be claimed. Whoever calls run_one() in a loop sets it before and after.
    void set_run_limit(SimTime limit) { run_limit_ = limit; }
    static constexpr SimTime kNoClaims = SimTime::min();

    /// Moves time forward over a stretch without entries.
    void advance_to(SimTime t) {
        SSDTLM_CHECK(t <= next_time(), "agenda advanced past a pending entry");
        if (t > now_) now_ = t;
    }
    /// From now on it sleeps in this kernel; nullptr: it is awake.
    void sleep_in(AgendaKernel* kernel) { asleep_in_ = kernel; }
    /// After this call, now() is the kernel's time. Whoever is called by a process of the simulation that is not the
    /// agenda's, or between two sc_start(), calls it. It costs a predicted branch where the caller is an entry. Without
    /// it, posts and calls take the time of the last entry as the present one.
    void in_step() {
        if (__builtin_expect(asleep_in_ != nullptr, 0)) advance_to(asleep_in_->time(now_));
    }

private:
    static constexpr unsigned kBucketShift = 17;  // 2^17 ps
    static constexpr std::size_t kBuckets = 4096;
    static constexpr std::size_t kNone = ~std::size_t{0};
    static_assert(kBuckets == 64 * 64, "words_ has a bit per word of used_");

    struct Node {
        SimTime at;
        Then then;
        Node* next;
    };
    struct Bucket {
        Node* head = nullptr;
        Node* tail = nullptr;  // valid while head is
    };
    /// It is not inlined: the code that one command runs through is about as large as a processor's first instruction
    /// cache, and this is called from everywhere. The parts of a Then stay in registers.
    __attribute__((noinline)) void put(SimTime at, Then::Function function, void* self, std::uint64_t argument) {
        if (__builtin_expect(at < now_, 0)) refuse_past();
        const std::uint64_t turn = bucket_of(at);
        Node* const n = free_;
        if (__builtin_expect(turn - bucket_of(now_) >= kBuckets || n == nullptr || asleep_in_ != nullptr, 0))
            return post_otherwise(at, {function, self, argument});
        ++posted_;
        free_ = n->next;
        n->at = at;
        n->then = {function, self, argument};
        n->next = nullptr;
        const std::size_t i = turn % kBuckets;
        Bucket& b = buckets_[i];
        if (__builtin_expect(b.head == nullptr, 1)) {
            b.head = b.tail = n;
            used_[i / 64] |= std::uint64_t{1} << (i % 64);
            words_ |= std::uint64_t{1} << (i / 64);
        } else if (b.tail->at <= at) {
            b.tail->next = n;
            b.tail = n;
        } else {
            insert(b, n);
        }
    }
    static std::uint64_t bucket_of(SimTime t) {
        return static_cast<std::uint64_t>(t.time_since_epoch().count()) >> kBucketShift;
    }
    static std::size_t lowest(std::uint64_t bits) { return static_cast<std::size_t>(__builtin_ctzll(bits)); }

    /// The first used bucket from the present one on; the buckets hold less than one turn, so it holds the earliest
    /// times. kNone: all are empty.
    std::size_t nearest_bucket() const {
        const std::size_t from = bucket_of(now_) % kBuckets;
        const std::size_t word = from / 64;
        const std::uint64_t bits = used_[word] & (~std::uint64_t{0} << (from % 64));
        if (bits != 0) return word * 64 + lowest(bits);
        if (words_ == 0) return kNone;
        const std::uint64_t later = words_ & (~std::uint64_t{1} << word);
        const std::size_t next = lowest(later != 0 ? later : words_);
        return next * 64 + lowest(used_[next]);
    }
    /// The bucket has become empty.
    void leave_bucket(std::size_t i) {
        used_[i / 64] &= ~(std::uint64_t{1} << (i % 64));
        if (used_[i / 64] == 0) words_ &= ~(std::uint64_t{1} << (i / 64));
    }
    /// Puts `n` behind all entries of its time. It is not the last entry of the bucket.
    __attribute__((noinline)) static void insert(Bucket& b, Node* n) {
        Node** link = &b.head;
        while ((*link)->at <= n->at) link = &(*link)->next;
        n->next = *link;
        *link = n;
    }
    __attribute__((noinline, cold)) void grow() {
        constexpr std::size_t kChunk = 256;
        chunks_.push_back(std::make_unique<Node[]>(kChunk));
        for (std::size_t i = kChunk; i-- > 0;) {
            Node& n = chunks_.back()[i];
            n.next = free_;
            free_ = &n;
        }
    }
    /// Posts an entry when it is far ahead, when there are no nodes, or when the agenda is asleep.
    __attribute__((noinline)) void post_otherwise(SimTime at, const Then& then) {
        in_step();
        if (at < now_) refuse_stale(at);
        AgendaKernel* const kernel = asleep_in_;
        asleep_in_ = nullptr;
        if (free_ == nullptr) grow();
        if (bucket_of(at) - bucket_of(now_) < kBuckets)
            post(at, then);
        else
            post_far(OverflowEntry{at, ++posted_, then});
        asleep_in_ = kernel;
        if (kernel != nullptr) kernel->wake(at);
    }
    static void run_cancellable(void* self, std::uint64_t entry) {
        Agenda& agenda = *static_cast<Agenda*>(self);
        Cancellable& pooled = agenda.cancellable_.at(entry);
        const Cancellable c = pooled;
        agenda.cancellable_.release(pooled);
        c.then();
    }
    /// The object to which the entry belongs. If the entry goes by way of a handle, it is the object of the entry
    /// behind it.
    void* owner_of(const Then& then) {
        return then.function == run_cancellable ? cancellable_.at(then.argument).then.self : then.self;
    }
    void dropped(const Then& then) {
        if (then.function == run_cancellable) cancellable_.release(cancellable_.at(then.argument));
        ++cancelled_;
    }
    bool take_near(SimTime at, std::uint64_t entry);
    void take_far(std::uint64_t entry);
    [[noreturn]] __attribute__((noinline, cold)) static void refuse_past() {
        panic("Agenda", "event posted in the past");
    }
    [[noreturn]] __attribute__((noinline, cold)) void refuse_stale(SimTime at) const {
        const auto ps = [](SimTime t) { return std::to_string(t.time_since_epoch().count()) + " ps"; };
        throw UserError(Problem{"Agenda",
                                "an entry was posted for " + ps(at) + " by a caller who is none of its entries",
                                "times from " + ps(now_) + ", the kernel's, on",
                                "call in_step() before now() is read, or leave the call to a socket of the model"});
    }

    __attribute__((noinline)) void post_far(const OverflowEntry& e) { far_.push(e); }
    __attribute__((noinline)) bool run_far(SimTime limit) {
        if (far_.empty() || far_.first_at() > limit) return false;
        const OverflowEntry first = far_.pop();
        now_ = first.at;
        ++executed_;
        first.then();
        return true;
    }

    SimTime now_{};
    Node* free_ = nullptr;
    std::uint64_t posted_ = 0;
    std::uint64_t executed_ = 0;
    OverflowHeap far_;
    SimTime run_limit_ = SimTime::min();
    bool calls_straight_ = true;
    AgendaKernel* asleep_in_ = nullptr;  // null: awake, or without a kernel
    std::uint64_t words_ = 0;            // bit per word of used_: not zero
    std::array<std::uint64_t, kBuckets / 64> used_{};
    std::array<Bucket, kBuckets> buckets_{};
    std::vector<std::unique_ptr<Node[]>> chunks_;
    std::uint64_t cancelled_ = 0;
    Pool<Cancellable> cancellable_;
};

inline bool Agenda::cancel(Entry entry) {
    Cancellable* const c = cancellable_.find(entry);
    if (c == nullptr) return false;
    if (!take_near(c->at, entry.number())) take_far(entry.number());
    cancellable_.release(*c);
    ++cancelled_;
    return true;
}

template <class Drop>
void Agenda::drop_if(Drop drop) {
    for (std::size_t i = 0; i < kBuckets; ++i) {
        Bucket& b = buckets_[i];
        if (b.head == nullptr) continue;
        Node* kept = nullptr;
        Node** link = &b.head;
        while (Node* const n = *link) {
            if (!drop(owner_of(n->then))) {
                kept = n;
                link = &n->next;
                continue;
            }
            dropped(n->then);
            *link = n->next;
            n->next = free_;
            free_ = n;
        }
        b.tail = kept;
        if (b.head == nullptr) leave_bucket(i);
    }
    for (const OverflowEntry& e : far_.take_all()) {
        if (drop(owner_of(e.then)))
            dropped(e.then);
        else
            post_far(e);
    }
}

/// Removes an entry from its time's bucket. False: it is not there, so it was posted far ahead.
inline bool Agenda::take_near(SimTime at, std::uint64_t entry) {
    if (bucket_of(at) - bucket_of(now_) >= kBuckets) return false;
    const std::size_t i = bucket_of(at) % kBuckets;
    Bucket& b = buckets_[i];
    Node* before = nullptr;
    for (Node* n = b.head; n != nullptr; before = n, n = n->next) {
        if (n->then.argument != entry || n->then.function != run_cancellable) continue;
        (before == nullptr ? b.head : before->next) = n->next;
        if (b.tail == n) b.tail = before;
        if (b.head == nullptr) leave_bucket(i);
        n->next = free_;
        free_ = n;
        return true;
    }
    return false;
}

inline void Agenda::take_far(std::uint64_t entry) {
    for (std::size_t i = 0; i < far_.size(); ++i)
        if (far_[i].then.argument == entry && far_[i].then.function == run_cancellable) return far_.remove(i);
    panic("Agenda", "a cancellable entry is in neither the buckets nor the heap");
}

}  // namespace ssdtlm
