// SPDX-License-Identifier: Apache-2.0
// Greedy: the block with the fewest valid units; among equals, the one that reached this count first. Optimal for
// uniform traffic, ignorant of hot and cold. O(1) per invalidation; select() walks the empty buckets below the minimum.
#include <algorithm>

#include "controller/ftl/gc/block_lists.h"
#include "controller/ftl/gc/victim_policy.h"
#include "common/address/fast_divide.h"

namespace ssdtlm {
namespace {

class Greedy final : public VictimPolicy {
public:
    explicit Greedy(const VictimPolicySetup& s)
        : buckets_(s.geometry.units_per_block() + 1),
          most_valid_(s.geometry.units_per_block() - s.reclaim_units),
          plane_of_(s.geometry.blocks_per_plane),
          lists_(s.geometry.blocks(), s.geometry.planes() * buckets_),
          lowest_(s.geometry.planes(), buckets_) {}

    void sealed(BlockId block, std::uint32_t valid, std::uint64_t) override { put(block, valid); }
    void invalidated(BlockId block, std::uint32_t valid) override {
        lists_.remove(block);
        put(block, valid);
    }
    BlockId select(PlaneId plane, std::uint64_t) override {
        std::uint32_t& v = lowest_[idx(plane)];
        const std::uint32_t first = idx(plane) * buckets_;
        for (; v <= most_valid_; ++v) {
            const BlockId victim = lists_.front(first + v);
            if (victim == kNoBlock) continue;
            lists_.remove(victim);
            return victim;
        }
        return kNoBlock;
    }

private:
    void put(BlockId block, std::uint32_t valid) {
        const std::uint32_t plane = plane_of_(idx(block));
        lists_.push_back(plane * buckets_ + valid, block);
        lowest_[plane] = std::min(lowest_[plane], valid);
    }

    std::uint32_t buckets_;     // per plane: one list for each valid count, 0 .. units per block
    std::uint32_t most_valid_;  // of a block worth collecting
    FastDivide plane_of_;
    BlockLists lists_;
    std::vector<std::uint32_t> lowest_;  // per plane: no bucket below has a block
};

}  // namespace

std::unique_ptr<VictimPolicy> make_greedy_policy(const VictimPolicySetup& setup) {
    return std::make_unique<Greedy>(setup);
}

}  // namespace ssdtlm
