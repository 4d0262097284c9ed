// SPDX-License-Identifier: Apache-2.0
// The entries of an agenda that lie beyond its buckets: a 4-ary heap, ordered by time and posting. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "common/tlm/then.h"
#include "common/units/units.h"

namespace ssdtlm {

struct OverflowEntry {
    SimTime at;
    std::uint64_t sequence;  ///< number of its posting
    Then then;
};

class OverflowHeap {
public:
    bool empty() const { return heap_.empty(); }
    std::size_t size() const { return heap_.size(); }
    /// The time of the first entry; kNever if there is none.
    SimTime first_at() const { return first_at_; }
    const OverflowEntry& operator[](std::size_t i) const { return heap_[i]; }

    void push(const OverflowEntry& e) {
        heap_.push_back(e);
        raise(heap_.size() - 1, e);
        first_at_ = heap_.front().at;
    }
    OverflowEntry pop() {
        const OverflowEntry first = heap_.front();
        remove(0);
        return first;
    }
    void remove(std::size_t i) {
        const OverflowEntry e = heap_.back();
        heap_.pop_back();
        if (i < heap_.size()) {
            if (i > 0 && before(e, heap_[(i - 1) / kArity]))
                raise(i, e);
            else
                lower(i, e);
        }
        first_at_ = heap_.empty() ? kNever : heap_.front().at;
    }
    /// Removes and returns all entries, in no particular order.
    std::vector<OverflowEntry> take_all() {
        std::vector<OverflowEntry> all;
        all.swap(heap_);
        first_at_ = kNever;
        return all;
    }

private:
    static constexpr std::size_t kArity = 4;

    static bool before(const OverflowEntry& a, const OverflowEntry& b) {
        return a.at < b.at || (a.at == b.at && a.sequence < b.sequence);
    }
    /// Puts `e` at place i, or at a place above it.
    void raise(std::size_t i, const OverflowEntry& e) {
        while (i > 0) {
            const std::size_t parent = (i - 1) / kArity;
            if (!before(e, heap_[parent])) break;
            heap_[i] = heap_[parent];
            i = parent;
        }
        heap_[i] = e;
    }
    /// Puts `e` at place i, or at a place below it.
    void lower(std::size_t i, const OverflowEntry& e) {
        const std::size_t n = heap_.size();
        for (;;) {
            const std::size_t child = kArity * i + 1;
            const std::size_t last = child + kArity < n ? child + kArity : n;
            std::size_t best = child;
            for (std::size_t c = child + 1; c < last; ++c)
                if (before(heap_[c], heap_[best])) best = c;
            if (child >= n || !before(heap_[best], e)) break;
            heap_[i] = heap_[best];
            i = best;
        }
        heap_[i] = e;
    }

    SimTime first_at_ = kNever;
    std::vector<OverflowEntry> heap_;
};

}  // namespace ssdtlm
