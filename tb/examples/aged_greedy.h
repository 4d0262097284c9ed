// SPDX-License-Identifier: Apache-2.0
// A victim policy: the block with the fewest valid units among the candidates of the group that are old enough; when
// none of those is worth collecting, the oldest that is (the contract wants one if there is one). How old is a list:
// emptier blocks may be younger.
#pragma once

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/ftl/victims/victim_policy.h"

namespace ssdtlm::examples {

class AgedGreedy final : public VictimPolicy {
public:
    /// `ages`: in units that the host writes meanwhile, for the emptiest blocks first, for the fullest last; at least
    /// one. `log`: a file that gets a line for each victim; empty: none.
    AgedGreedy(const VictimPolicySetup& s, std::vector<std::int64_t> ages, std::string log = "")
        : ages_(std::move(ages)),
          log_path_(std::move(log)),
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
        auto oldest = queue.end(), best = queue.end();
        for (auto it = queue.begin(); it != queue.end(); ++it) {
            const std::uint32_t valid = valid_[idx(*it)];
            if (valid > std::min(most_valid, most_valid_)) continue;
            if (oldest == queue.end()) oldest = it;
            if (clock - sealed_at_[idx(*it)] < age_of(valid)) continue;
            if (best == queue.end() || valid < valid_[idx(*best)]) best = it;
        }
        if (best == queue.end()) best = oldest;
        if (best == queue.end()) return kNoSuperblock;
        const SuperblockId victim = *best;
        log(victim, clock);
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
    std::uint64_t age_of(std::uint32_t valid) const {
        const std::size_t part = std::uint64_t{valid} * ages_.size() / shape_.units();
        return static_cast<std::uint64_t>(ages_[std::min(part, ages_.size() - 1)]);
    }
    void log(SuperblockId block, std::uint64_t clock) {
        if (log_path_.empty()) return;
        if (log_ == nullptr) log_.reset(std::fopen(log_path_.c_str(), "w"));
        if (log_ == nullptr)
            throw UserError(Problem{"gc.aged_greedy.log", "'" + log_path_ + "' cannot be written",
                                    "a file that can be written", "name another"});
        std::fprintf(log_.get(), "%llu %u %u\n", static_cast<unsigned long long>(clock),
                     static_cast<unsigned>(idx(block)), valid_[idx(block)]);
    }

    std::vector<std::int64_t> ages_;
    std::string log_path_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> log_{nullptr, std::fclose};
    SuperblockShape shape_;
    std::uint32_t most_valid_;                      // of a block worth collecting
    std::vector<std::deque<SuperblockId>> queues_;  // by group, oldest first
    std::vector<std::uint32_t> valid_;              // by block
    std::vector<std::uint64_t> sealed_at_;
};

}  // namespace ssdtlm::examples
