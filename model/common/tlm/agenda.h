// SPDX-License-Identifier: Apache-2.0
// The calendar of the model: (time, sequence, handler, argument). Kernel-free. Equal times run in posting
// order; that is the determinism rule. Drained by AgendaProcess (one SC_METHOD) in a simulation, or by
// run_until() in kernel-free tests. Modules read time from here, never from sc_time_stamp().
//
// A calendar queue: 1024 buckets of 0.52 us for the near future (0.54 ms), each a small binary heap that mostly holds
// one entry, and one 4-ary heap for what lies beyond. Both orders are (time, sequence), so what runs next does not
// depend on where an entry is kept.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/report/error.h"
#include "common/units/units.h"

namespace ssdtlm {

class Agenda {
public:
    using Handler = void (*)(void* self, std::uint64_t arg);

    SimTime now() const { return now_; }
    bool empty() const { return pending_ == 0; }
    /// Time of the next entry; kNever when empty.
    SimTime next_time() const {
        if (pending_ == 0) return kNever;
        const Entry* near = nearest_bucket_top();
        if (near == nullptr) return far_.front().at;
        return far_.empty() || before(*near, far_.front()) ? near->at : far_.front().at;
    }
    std::uint64_t executed() const { return executed_; }
    std::size_t pending() const { return pending_; }

    void post(SimTime at, Handler handler, void* self, std::uint64_t arg) {
        SSDTLM_CHECK(at >= now_, "event posted in the past");
        ++pending_;
        const Entry e{at, sequence_++, handler, self, arg};
        const std::uint64_t bucket = bucket_of(at);
        if (__builtin_expect(bucket - bucket_of(now_) < kBuckets, 1)) {
            const std::size_t i = bucket % kBuckets;
            std::vector<Entry>& b = buckets_[i];
            b.push_back(e);
            if (b.size() > 1) sift_up<2>(b, b.size() - 1);
            used_[i / 64] |= std::uint64_t{1} << (i % 64);
        } else {
            far_.push_back(e);
            sift_up<4>(far_, far_.size() - 1);
        }
        if (wake_ != nullptr) wake_(wake_self_, at);
    }
    /// agenda.post<&Link::deliver>(at, this, arg): calls this->deliver(arg) at `at`.
    template <auto Method, class T>
    void post(SimTime at, T* self, std::uint64_t arg = 0) {
        post(at, [](void* s, std::uint64_t a) { (static_cast<T*>(s)->*Method)(a); }, self, arg);
    }

    /// Runs the earliest entry. Precondition: not empty.
    void step() { run_one(kNever); }
    /// Runs the earliest entry if its time is not behind `limit`; false when there is none.
    bool run_one(SimTime limit) {
        if (pending_ == 0) return false;
        const Entry* near = nearest_bucket_top();
        Entry e;
        if (near != nullptr && (far_.empty() || before(*near, far_.front()))) {
            if (near->at > limit) return false;
            e = *near;
            const std::size_t i = bucket_of(e.at) % kBuckets;
            std::vector<Entry>& b = buckets_[i];
            if (b.size() == 1) {
                b.pop_back();
                used_[i / 64] &= ~(std::uint64_t{1} << (i % 64));
            } else {
                pop<2>(b);
            }
        } else {
            if (far_.front().at > limit) return false;
            e = far_.front();
            pop<4>(far_);
        }
        --pending_;
        now_ = e.at;
        ++executed_;
        e.handler(e.self, e.arg);
        return true;
    }
    /// Runs all entries with time <= t, then moves time to t.
    void run_until(SimTime t) {
        while (run_one(t)) {
        }
        if (t != kNever && t > now_) now_ = t;
    }
    /// Runs until nothing is left.
    void run() { run_until(kNever); }
    /// Moves time forward over an idle stretch.
    void advance_to(SimTime t) {
        SSDTLM_CHECK(t <= next_time(), "agenda advanced past a pending entry");
        if (t > now_) now_ = t;
    }
    /// Called on each post while set; AgendaProcess uses it when it sleeps. nullptr: not called.
    void set_wake(void (*wake)(void*, SimTime), void* self) {
        wake_ = wake;
        wake_self_ = self;
    }

private:
    static constexpr unsigned kBucketShift = 19;  // 2^19 ps
    static constexpr std::size_t kBuckets = 1024;

    struct Entry {
        SimTime at;
        std::uint64_t sequence;
        Handler handler;
        void* self;
        std::uint64_t arg;
    };
    static std::uint64_t bucket_of(SimTime t) { return static_cast<std::uint64_t>(t.time_since_epoch().count()) >> kBucketShift; }
    static bool before(const Entry& a, const Entry& b) {
        return a.at < b.at || (a.at == b.at && a.sequence < b.sequence);
    }
    /// First entry of the first used bucket from the present one on; the buckets hold less than one turn, so the
    /// first used one holds the earliest times.
    const Entry* nearest_bucket_top() const {
        const std::size_t from = bucket_of(now_) % kBuckets;
        std::size_t word = from / 64;
        std::uint64_t bits = used_[word] & (~std::uint64_t{0} << (from % 64));
        for (std::size_t n = 0; n <= used_.size(); ++n) {
            if (bits != 0) return &buckets_[word * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))].front();
            word = (word + 1) % used_.size();
            bits = used_[word];
        }
        return nullptr;
    }
    template <std::size_t Arity>
    static void sift_up(std::vector<Entry>& heap, std::size_t i) {
        const Entry e = heap[i];
        while (i > 0) {
            const std::size_t parent = (i - 1) / Arity;
            if (!before(e, heap[parent])) break;
            heap[i] = heap[parent];
            i = parent;
        }
        heap[i] = e;
    }
    template <std::size_t Arity>
    static void pop(std::vector<Entry>& heap) {
        const Entry e = heap.back();
        heap.pop_back();
        const std::size_t n = heap.size();
        if (n == 0) return;
        std::size_t i = 0;
        for (;;) {
            const std::size_t first = Arity * i + 1;
            if (first >= n) break;
            std::size_t best = first;
            const std::size_t last = first + Arity < n ? first + Arity : n;
            for (std::size_t c = first + 1; c < last; ++c)
                if (before(heap[c], heap[best])) best = c;
            if (!before(heap[best], e)) break;
            heap[i] = heap[best];
            i = best;
        }
        heap[i] = e;
    }

    std::array<std::vector<Entry>, kBuckets> buckets_;
    std::array<std::uint64_t, kBuckets / 64> used_{};
    std::vector<Entry> far_;
    SimTime now_{};
    std::uint64_t sequence_ = 0;
    std::uint64_t executed_ = 0;
    std::size_t pending_ = 0;
    void (*wake_)(void*, SimTime) = nullptr;
    void* wake_self_ = nullptr;
};

}  // namespace ssdtlm
