// SPDX-License-Identifier: Apache-2.0
// A victim policy: the block with the fewest valid units among the candidates of the group that were sealed at least `age`
// written units ago; when none of those is worth collecting, the oldest that is (the contract wants one if there is one).
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "controller/ftl/gc/victim_policy.h"

namespace ssdtlm::examples {

class AgedGreedy final : public VictimPolicy {
public:
    AgedGreedy(const VictimPolicySetup& s, std::uint64_t age)
        : age_(age),
          shape_(s.shape),
          most_valid_(s.shape.units() - s.reclaim_units),
          queues_(s.shape.groups()),
          valid_(s.shape.superblocks()),
          sealed_at_(s.shape.superblocks()) {}

    void sealed(SuperblockId block, std::uint32_t valid, std::uint64_t clock) override {
        valid_[idx(block)] = valid;
        sealed_at_[idx(block)] = clock;
        queues_[idx(shape_.group_of(block))].push_back(block);
    }
    void invalidated(SuperblockId block, std::uint32_t valid) override { valid_[idx(block)] = valid; }
    SuperblockId choose(GroupId group, std::uint64_t clock, std::uint32_t most_valid) override {
        auto& queue = queues_[idx(group)];
        auto best = queue.end();
        for (auto it = queue.begin(); it != queue.end(); ++it) {
            if (best != queue.end() && clock - sealed_at_[idx(*it)] < age_) break;
            if (valid_[idx(*it)] > std::min(most_valid, most_valid_)) continue;
            if (best == queue.end() || valid_[idx(*it)] < valid_[idx(*best)]) best = it;
        }
        if (best == queue.end()) return kNoSuperblock;
        const SuperblockId victim = *best;
        queue.erase(best);
        return victim;
    }
    void removed(SuperblockId block) override {
        auto& queue = queues_[idx(shape_.group_of(block))];
        queue.erase(std::find(queue.begin(), queue.end(), block));
    }
    void state(Snapshot& s) override {
        s(queues_);
        s.fixed(valid_);
        s.fixed(sealed_at_);
    }

private:
    std::uint64_t age_;
    SuperblockShape shape_;
    std::uint32_t most_valid_;                 // of a block worth collecting
    std::vector<std::deque<SuperblockId>> queues_;  // by group, oldest first
    std::vector<std::uint32_t> valid_;         // by block
    std::vector<std::uint64_t> sealed_at_;
};

}  // namespace ssdtlm::examples
