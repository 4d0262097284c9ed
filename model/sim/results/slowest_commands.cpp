// SPDX-License-Identifier: Apache-2.0
#include "sim/results/slowest_commands.h"

#include <algorithm>

namespace ssdtlm {

namespace {

using Kept = SlowestCommands::Kept;

bool slower(const Kept& a, const Kept& b) {
    return a.total != b.total ? a.total > b.total : a.number < b.number;
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> numbers) {
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

}  // namespace

SlowestCommands::SlowestCommands(std::uint32_t count, const std::vector<std::uint64_t>& asked,
                                 const Occupancy& occupancy)
    : count_(count), asked_(sorted(asked)), occupancy_(occupancy) {
    if (count == 0) least_.fill(Ps::max());
}

SlowestCommands::Kept SlowestCommands::kept(const HostRequest& request, SimTime issued, Ps total,
                                            const Timeline& timeline) const {
    Kept k;
    k.request = request;
    k.number = timeline.number();
    k.issued = issued;
    k.total = total;
    k.path = critical_path(timeline, occupancy_);
    const Ps epoch = timeline.start() - issued;  // start of the workload
    for (PathStep& s : k.path) {
        s.from -= epoch;
        s.to -= epoch;
        for (Holder& h : s.holders) {
            h.from -= epoch;
            h.to -= epoch;
        }
    }
    return k;
}

__attribute__((noinline)) void SlowestCommands::consider(const HostRequest& request, SimTime issued, Ps total,
                                                         const Timeline& timeline) {
    std::vector<Kept>& heap = slowest_[static_cast<std::size_t>(request.op)];
    Ps& least = least_[static_cast<std::size_t>(request.op)];
    if (heap.size() == count_) {
        if (total == heap.front().total && timeline.number() > heap.front().number) return;
        std::pop_heap(heap.begin(), heap.end(), slower);
        heap.pop_back();
    }
    heap.push_back(kept(request, issued, total, timeline));
    heap.back().slow = true;
    std::push_heap(heap.begin(), heap.end(), slower);
    if (heap.size() == count_) least = heap.front().total;
}

void SlowestCommands::answer(const HostRequest& request, SimTime issued, Ps total, const Timeline& timeline) {
    if (std::binary_search(asked_.begin(), asked_.end(), timeline.number()))
        answered_.push_back(kept(request, issued, total, timeline));
}

std::vector<Kept> SlowestCommands::all() const {
    std::vector<Kept> all;
    for (std::size_t op = 0; op < kOps; ++op) {
        const std::size_t first = all.size();
        all.insert(all.end(), slowest_[op].begin(), slowest_[op].end());
        for (const Kept& k : answered_) {
            const auto same = [&k](const Kept& other) { return other.number == k.number; };
            if (static_cast<std::size_t>(k.request.op) == op && std::none_of(all.begin(), all.end(), same))
                all.push_back(k);
        }
        std::sort(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(), slower);
    }
    return all;
}

}  // namespace ssdtlm
