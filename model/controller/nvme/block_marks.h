// SPDX-License-Identifier: Apache-2.0
// The set of logical blocks that the host has marked as uncorrectable. Writing a block removes its mark.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

#include "common/snapshot/snapshot.h"

namespace ssdtlm {

class BlockMarks {
public:
    bool empty() const { return end_of_.empty(); }
    /// Returns the end of the last mark, or 0.
    std::uint64_t end() const { return empty() ? 0 : std::prev(end_of_.end())->second; }
    void add(std::uint64_t first, std::uint64_t count) {
        if (count == 0) return;
        remove(first, count);
        end_of_.emplace(first, first + count);
    }
    void remove(std::uint64_t first, std::uint64_t count) {
        const std::uint64_t end = first + count;
        auto i = end_of_.upper_bound(first);
        if (i != end_of_.begin()) --i;
        while (i != end_of_.end() && i->first < end) {
            const std::uint64_t from = i->first, to = i->second;
            if (to <= first) {
                ++i;
                continue;
            }
            i = end_of_.erase(i);
            if (from < first) end_of_.emplace(from, first);
            if (to > end) i = end_of_.emplace(end, to).first;
        }
    }
    /// Returns the first marked block of the range, or `first + count` if there is none.
    std::uint64_t first_in(std::uint64_t first, std::uint64_t count) const {
        auto i = end_of_.upper_bound(first);
        if (i != end_of_.begin()) {
            auto before = i;
            if ((--before)->second > first) return first;
        }
        return i != end_of_.end() && i->first < first + count ? i->first : first + count;
    }
    /// Calls `f(first, count)` for each part of the range that is not marked.
    template <class F>
    void for_each_gap(std::uint64_t first, std::uint64_t count, F f) const {
        const std::uint64_t end = first + count;
        while (first < end) {
            const std::uint64_t mark = first_in(first, end - first);
            if (mark != first) f(first, mark - first);
            first = mark;
            if (first < end) first = std::prev(end_of_.upper_bound(first))->second;
        }
    }
    void state(Snapshot& s) {
        s.map(end_of_);
        std::uint64_t before = 0;
        for (const auto& [first, end] : end_of_) {
            s.require(first >= before && first < end, "marks of unreadable blocks that overlap");
            before = end;
        }
    }
    bool any(std::uint64_t first, std::uint64_t count) const { return first_in(first, count) != first + count; }

private:
    std::map<std::uint64_t, std::uint64_t> end_of_;  // by first block
};

}  // namespace ssdtlm
