// SPDX-License-Identifier: Apache-2.0
#include "host_files/ext4/block_allocator.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

BlockRun BlockAllocator::cut(Gap gap, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t begin = gap->first, end = gap->first + gap->second;
    if (first == begin)
        free_.erase(gap);
    else
        gap->second = first - begin;
    if (first + count != end) free_[first + count] = end - first - count;
    free_blocks_ -= count;
    return {first, count};
}

void BlockAllocator::take(BlockRun run) {
    if (run.count == 0) return;
    Gap gap = free_.upper_bound(run.first);
    SSDTLM_CHECK(gap != free_.begin(), "blocks taken that are not free");
    --gap;
    SSDTLM_CHECK(gap->first + gap->second >= run.end(), "blocks taken that are not free");
    cut(gap, run.first, run.count);
}

BlockRun BlockAllocator::allocate(std::uint64_t goal, std::uint64_t wanted) {
    if (free_.empty() || wanted == 0) return {};
    Gap behind = free_.upper_bound(goal);
    if (behind != free_.begin()) {
        const Gap at = std::prev(behind);
        const std::uint64_t end = at->first + at->second;
        if (goal < end) return cut(at, goal, std::min(wanted, end - goal));
    }
    const auto large = [&](const auto& gap) { return gap.second >= wanted; };
    Gap gap = std::find_if(behind, free_.end(), large);
    if (gap == free_.end()) {
        gap = std::find_if(free_.begin(), behind, large);
        if (gap == behind)
            gap = std::max_element(free_.begin(), free_.end(),
                                   [](const auto& a, const auto& b) { return a.second < b.second; });
    }
    return cut(gap, gap->first, std::min(wanted, gap->second));
}

void BlockAllocator::release(BlockRun run) {
    if (run.count == 0) return;
    Gap behind = free_.lower_bound(run.first);
    SSDTLM_CHECK(behind == free_.end() || run.end() <= behind->first, "blocks released twice");
    free_blocks_ += run.count;
    if (behind != free_.end() && behind->first == run.end()) {
        run.count += behind->second;
        behind = free_.erase(behind);
    }
    if (behind != free_.begin()) {
        const Gap before = std::prev(behind);
        SSDTLM_CHECK(before->first + before->second <= run.first, "blocks released twice");
        if (before->first + before->second == run.first) {
            before->second += run.count;
            return;
        }
    }
    free_.emplace_hint(behind, run.first, run.count);
}

}  // namespace ssdtlm
