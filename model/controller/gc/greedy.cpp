// SPDX-License-Identifier: Apache-2.0
// Greedy: the block with the fewest valid units; among equals, the one that reached this count first. It is optimal for
// uniform traffic and knows no hot and cold data. It takes O(1) per invalidation; select() walks the empty buckets
// below the minimum.
#include <algorithm>

#include "common/address/fast_divide.h"
#include "controller/ftl/victims/victim_policy.h"
#include "controller/gc/block_lists.h"

namespace ssdtlm {
namespace {

class Greedy final : public VictimPolicy {
public:
    explicit Greedy(const VictimPolicySetup& s)
        : buckets_(s.shape.data_units() + 1),
          most_valid_(s.shape.data_units() - s.reclaim_units),
          group_of_(s.shape.blocks_per_group()),
          lists_(s.shape.superblocks(), s.shape.groups() * buckets_),
          lowest_(s.shape.groups(), buckets_) {}

    void sealed(SuperblockId block, std::uint32_t valid, std::uint64_t) override { put(block, valid); }
    void invalidated(SuperblockId block, std::uint32_t valid) override {
        lists_.remove(block);
        put(block, valid);
    }
    SuperblockId choose(GroupId group, std::uint64_t, std::uint32_t most_valid) override {
        most_valid = std::min(most_valid, most_valid_);
        std::uint32_t& v = lowest_[idx(group)];
        const std::uint32_t first = idx(group) * buckets_;
        for (; v <= most_valid; ++v) {
            const SuperblockId victim = lists_.front(first + v);
            if (victim == kNoSuperblock) continue;
            lists_.remove(victim);
            return victim;
        }
        return kNoSuperblock;
    }
    void removed(SuperblockId block) override { lists_.remove(block); }
    ChoiceLaw law() const override { return {ChoiceLaw::Kind::best_of, ChoiceLaw::kAll, most_valid_}; }
    void state(Snapshot& s) override {
        s(lists_);
        s.fixed(lowest_);
    }
    bool agrees(const std::vector<std::uint32_t>& valid) const override {
        const std::vector<std::uint32_t> lists = lists_.lists();
        for (std::uint32_t b = 0; b < valid.size(); ++b) {
            if (lists.empty()) return false;
            const std::uint32_t group = group_of_(b);
            if (lists[b] != (valid[b] == kNoCandidate ? BlockLists::kInNone : group * buckets_ + valid[b]))
                return false;
            if (lists[b] != BlockLists::kInNone && lowest_[group] > valid[b]) return false;
        }
        return true;
    }

private:
    void put(SuperblockId block, std::uint32_t valid) {
        const std::uint32_t group = group_of_(idx(block));
        lists_.push_back(group * buckets_ + valid, block);
        lowest_[group] = std::min(lowest_[group], valid);
    }

    std::uint32_t buckets_;     // per group: one list for each valid count, 0 .. units per block
    std::uint32_t most_valid_;  // of a block worth collecting
    FastDivide group_of_;
    BlockLists lists_;
    std::vector<std::uint32_t> lowest_;  // per group: no bucket below has a block
};

const VictimPolicies::Registered kGreedyPolicy{
    {"greedy",
     "the block with the fewest valid units, and of equals the one that got there first",
     {},
     [](const VictimPolicySetup& setup, const PolicySettings&) { return std::make_unique<Greedy>(setup); }}};

}  // namespace
}  // namespace ssdtlm
