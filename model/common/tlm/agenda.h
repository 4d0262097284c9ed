// SPDX-License-Identifier: Apache-2.0
// The event calendar of the model. An entry has a time, and a function to call at that time. Entries of equal time run
// in the order in which they were posted, which makes runs deterministic. AgendaProcess (one SC_METHOD) runs the
// entries in a simulation, and run_until() in kernel-free tests. Modules read the time from the agenda, never from
// sc_time_stamp(). Kernel-free.
//
// Between two entries the agenda sleeps at the time of the last one, while other processes of the simulation run. A
// process that calls the model then must call in_step() first.
//
// The agenda is a calendar queue. 4096 buckets of 0.13 us hold the near future (0.54 ms). A bucket is a list, ordered
// by time and posting, which mostly holds one entry or none. One 4-ary heap holds later entries. The order of entries
// does not depend on where they are: if two entries for the same time are in different places, the one in the heap was
// posted first.
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

/// The kernel of the simulation in which an agenda sleeps between two entries.
class AgendaKernel {
public:
    /// Returns the kernel's time. `agenda`: the agenda's time, which may be ahead only while no other process runs.
    virtual SimTime time(SimTime agenda) = 0;
    /// An entry was posted for `at`, so the kernel must wake the agenda by then.
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
    /// True: its modules call each other directly, past the guards of their sockets (tlm_guard.h). The results are the
    /// same. Set it before elaboration ends.
    bool calls_straight() const { return calls_straight_; }
    void call_straight(bool on) { calls_straight_ = on; }
    bool empty() const { return pending() == 0; }
    /// The time of the next entry; kNever if there is none.
    SimTime next_time() const {
        const std::size_t near = nearest_bucket();
        return near == kNone || far_.first_at() <= buckets_[near].head->at ? far_.first_at() : buckets_[near].head->at;
    }
    std::uint64_t executed() const { return executed_; }
    std::size_t pending() const { return static_cast<std::size_t>(posted_ - executed_ - cancelled_); }

    /// Posts an entry: agenda.post(at, Then::to<&Link::deliver>(this, n)) calls this->deliver(n) at `at`.
    void post(SimTime at, const Then& then) { put(at, then.function, then.self, then.argument); }

    /// An entry that can be cancelled. Its handle becomes stale when the entry runs or is cancelled.
    struct Cancellable {
        SimTime at{};
        Then then;
    };
    using Entry = Handle<Cancellable>;
    /// Posts an entry and returns its handle. It costs more than post(); the order of entries is the same.
    Entry post_cancellable(SimTime at, const Then& then) {
        Cancellable& c = cancellable_.acquire();
        c = Cancellable{at, then};
        const Entry entry = Pool<Cancellable>::handle_of(c);
        put(at, run_cancellable, this, entry.number());
        return entry;
    }
    /// Cancels an entry, as if it had never been posted. Returns false if the entry has run, runs now, or was cancelled
    /// before. If the entry is in the heap, cancel() looks at all entries there.
    bool cancel(Entry entry);
    /// Cancels all entries for whose object drop(object) is true, as if they had never been posted. Their handles
    /// become stale. It looks at every entry, so it is for events that end whole objects, such as a loss of power.
    template <class Drop>
    void drop_if(Drop drop);

    /// Runs the earliest entry, if there is one.
    void step() { run_one(kNever); }
    /// Runs the earliest entry if its time is not after `limit`. Returns false if there is no such entry.
    bool run_one(SimTime limit) {
        const std::size_t i = nearest_bucket();
        if (__builtin_expect(i == kNone, 0)) return run_far(limit);
        Bucket& b = buckets_[i];
        Node* n = b.head;
        if (__builtin_expect(far_.first_at() <= n->at, 0))
            return run_far(limit);  // if the times are equal, the one in the heap was posted first
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
    /// Runs all entries up to time t, and then moves the time to t.
    void run_until(SimTime t) {
        run_limit_ = t;
        while (run_one(t)) {
        }
        run_limit_ = kNoClaims;
        if (t != kNever && t > now_) now_ = t;
    }
    /// Runs until there are no more entries.
    void run() { run_until(kNever); }
    /// This is for a module that keeps entries in order of time itself, and posts only the first of them. The module
    /// calls it at the end of such an entry, with the time of its next one. True: the next entry would run next anyway.
    /// The time is now `at`, the entry counts as run, and the module runs it itself. False: the module must post the
    /// entry. The order of entries is the same either way.
    bool claim(SimTime at) {
        if (at > run_limit_ || next_time() <= at) return false;
        now_ = at;
        ++posted_;
        ++executed_;
        return true;
    }
    /// claim() may claim entries up to this time. A caller that runs run_one() in a loop sets it before the loop, and
    /// to kNoClaims after it.
    void set_run_limit(SimTime limit) { run_limit_ = limit; }
    static constexpr SimTime kNoClaims = SimTime::min();

    /// Moves the time forward to `t`. Panics if there is an entry before `t`.
    void advance_to(SimTime t) {
        SSDTLM_CHECK(t <= next_time(), "agenda advanced past a pending entry");
        if (t > now_) now_ = t;
    }
    /// The agenda sleeps in this kernel from now on; nullptr: it is awake.
    void sleep_in(AgendaKernel* kernel) { asleep_in_ = kernel; }
    /// Brings now() to the kernel's time. A function must call it if it may run in a process other than the agenda's,
    /// or between two sc_start(). Without it, now() is still the time of the last entry. If the caller runs in an
    /// entry, it costs only a predicted branch.
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
        Node* tail = nullptr;  // valid while head is not null
    };
    /// It is not inlined, because it is called from everywhere, and the code of one command is about as large as a
    /// first-level instruction cache. The parts of a Then are separate parameters, so that they stay in registers.
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

    /// Returns the first used bucket from the present one on, or kNone. Entries in buckets are less than one turn
    /// ahead, so this bucket has the earliest ones.
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
    /// Marks a bucket as empty.
    void leave_bucket(std::size_t i) {
        used_[i / 64] &= ~(std::uint64_t{1} << (i % 64));
        if (used_[i / 64] == 0) words_ &= ~(std::uint64_t{1} << (i / 64));
    }
    /// Puts `n` behind all entries of its time. Precondition: it does not become the last entry of the bucket.
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
    /// Returns the object that an entry calls. For a cancellable entry it is the object of the entry behind the handle.
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
    AgendaKernel* asleep_in_ = nullptr;  // null: the agenda is awake, or has no kernel
    std::uint64_t words_ = 0;            // one bit per word of used_: the word is not zero
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

/// Removes an entry from the bucket of its time. Returns false if it is not there, because it is in the heap.
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
