// SPDX-License-Identifier: Apache-2.0
// The calendar of the model: (time, sequence, handler, argument). Kernel-free. Equal times run in posting
// order; that is the determinism rule. Drained by AgendaProcess (one SC_METHOD) in a simulation, or by
// run_until() in kernel-free tests. Modules read time from here, never from sc_time_stamp().
#pragma once

#include <cstdint>
#include <vector>

#include "common/report/error.h"
#include "common/units/units.h"

namespace ssdtlm {

class Agenda {
public:
    using Handler = void (*)(void* self, std::uint64_t arg);

    SimTime now() const { return now_; }
    bool empty() const { return heap_.empty(); }
    /// Time of the next entry; kNever when empty.
    SimTime next_time() const { return heap_.empty() ? kNever : heap_.front().at; }
    std::uint64_t executed() const { return executed_; }
    std::size_t pending() const { return heap_.size(); }

    void post(SimTime at, Handler handler, void* self, std::uint64_t arg) {
        SSDTLM_CHECK(at >= now_, "event posted in the past");
        heap_.emplace_back();
        sift_up(heap_.size() - 1, Entry{at, sequence_++, handler, self, arg});
        if (wake_ != nullptr) wake_(wake_self_, at);
    }
    /// agenda.post<&Link::deliver>(at, this, arg): calls this->deliver(arg) at `at`.
    template <auto Method, class T>
    void post(SimTime at, T* self, std::uint64_t arg = 0) {
        post(at, [](void* s, std::uint64_t a) { (static_cast<T*>(s)->*Method)(a); }, self, arg);
    }

    /// Runs the earliest entry. Precondition: not empty.
    void step() {
        const Entry e = heap_.front();
        pop();
        now_ = e.at;
        ++executed_;
        e.handler(e.self, e.arg);
    }
    /// Runs all entries with time <= t, then moves time to t.
    void run_until(SimTime t) {
        while (!heap_.empty() && heap_.front().at <= t) step();
        if (t != kNever && t > now_) now_ = t;
    }
    /// Runs until nothing is left.
    void run() { run_until(kNever); }
    /// Moves time forward over an idle stretch (AgendaProcess, when the kernel is ahead).
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
    struct Entry {
        SimTime at;
        std::uint64_t sequence;
        Handler handler;
        void* self;
        std::uint64_t arg;
    };
    static bool before(const Entry& a, const Entry& b) {
        return a.at < b.at || (a.at == b.at && a.sequence < b.sequence);
    }
    void sift_up(std::size_t i, const Entry& e) {
        while (i > 0) {
            const std::size_t parent = (i - 1) / 4;
            if (!before(e, heap_[parent])) break;
            heap_[i] = heap_[parent];
            i = parent;
        }
        heap_[i] = e;
    }
    void pop() {
        const Entry e = heap_.back();
        heap_.pop_back();
        const std::size_t n = heap_.size();
        if (n == 0) return;
        std::size_t i = 0;
        for (;;) {
            const std::size_t first = 4 * i + 1;
            if (first >= n) break;
            std::size_t best = first;
            const std::size_t last = first + 4 < n ? first + 4 : n;
            for (std::size_t c = first + 1; c < last; ++c)
                if (before(heap_[c], heap_[best])) best = c;
            if (!before(heap_[best], e)) break;
            heap_[i] = heap_[best];
            i = best;
        }
        heap_[i] = e;
    }

    std::vector<Entry> heap_;
    SimTime now_{};
    std::uint64_t sequence_ = 0;
    std::uint64_t executed_ = 0;
    void (*wake_)(void*, SimTime) = nullptr;
    void* wake_self_ = nullptr;
};

}  // namespace ssdtlm
