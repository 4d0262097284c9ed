// SPDX-License-Identifier: Apache-2.0
// Cost-benefit: the block with the largest age * (1 - u) / u, where u is its valid share and age the host writes since
// it was sealed (Rosenblum and Ousterhout, "The design and implementation of a log-structured file system", 1992, with
// the cost of flash: 2u reads and writes become a constant times u). Leaves young blocks alone, whose data may die
// soon, and so separates hot from cold. Looks at all candidates of the group for each victim.
#include <algorithm>

#include "controller/ftl/victims/victim_policy.h"
#include "controller/gc/candidate_set.h"

namespace ssdtlm {
namespace {

class CostBenefit final : public VictimPolicy {
public:
    explicit CostBenefit(const VictimPolicySetup& s)
        : units_(s.shape.data_units()),
          most_valid_(units_ - s.reclaim_units),
          candidates_(s.shape),
          sealed_at_(s.shape.superblocks()) {}

    void sealed(SuperblockId block, std::uint32_t valid, std::uint64_t clock) override {
        candidates_.add(block, valid);
        sealed_at_[idx(block)] = clock;
    }
    void invalidated(SuperblockId block, std::uint32_t valid) override { candidates_.set_valid(block, valid); }
    SuperblockId choose(GroupId group, std::uint64_t clock, std::uint32_t most_valid) override {
        most_valid = std::min(most_valid, most_valid_);
        SuperblockId best = kNoSuperblock;
        double best_score = -1.0;
        for (std::uint32_t i = 0; i < candidates_.size(group); ++i) {
            const SuperblockId b = candidates_.member(group, i);
            const std::uint32_t valid = candidates_.valid(b);
            if (valid > most_valid) continue;
            if (valid == 0) {  // free of cost
                best = b;
                break;
            }
            const auto age = static_cast<double>(clock - sealed_at_[idx(b)] + 1);
            const double score = age * static_cast<double>(units_ - valid) / static_cast<double>(valid);
            if (score > best_score) {
                best = b;
                best_score = score;
            }
        }
        if (best != kNoSuperblock) candidates_.remove(best);
        return best;
    }
    void removed(SuperblockId block) override { candidates_.remove(block); }
    void state(Snapshot& s) override {
        s(candidates_);
        s.fixed(sealed_at_);
    }
    bool agrees(const std::vector<std::uint32_t>& valid) const override {
        return candidates_.agrees(valid, kNoCandidate);
    }

private:
    std::uint32_t units_;
    std::uint32_t most_valid_;  // of a block worth collecting
    CandidateSet candidates_;
    std::vector<std::uint64_t> sealed_at_;  // by block
};

const VictimPolicies::Registered kCostBenefitPolicy{
    {"cost_benefit",
     "the block with the largest age times invalid by valid share (Rosenblum and Ousterhout 1992)",
     {},
     [](const VictimPolicySetup& setup, const PolicySettings&) { return std::make_unique<CostBenefit>(setup); }}};

}  // namespace
}  // namespace ssdtlm
