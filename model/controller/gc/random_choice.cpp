// SPDX-License-Identifier: Apache-2.0
// The least valid of d blocks drawn uniformly with replacement: d = 1 is the random policy; d_choices with 10
// comes close to greedy without any sorted structure (Van Houdt, "A mean field model for a class of garbage collection
// algorithms in flash-based solid state drives", 2013). When none drawn is worth collecting, others are drawn. What is
// worth it is a parameter of random: random+ and random++ are its variants in MQSim (Tavakkol et al., FAST 2018).
#include <algorithm>

#include "common/random/random.h"
#include "controller/ftl/victims/victim_policy.h"
#include "controller/gc/candidate_set.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kStream = 0x76696374696D73;  // of the seed: independent of what the workload draws

class RandomChoice final : public VictimPolicy {
public:
    /// `most_valid`: a drawn block with at most this many valid units is taken, as long as the group has one that the
    /// contract asks for.
    RandomChoice(const VictimPolicySetup& s, std::uint32_t choices, std::uint32_t most_valid)
        : choices_(choices),
          most_valid_(most_valid),
          worth_it_(s.shape.data_units() - s.reclaim_units),
          at_all_(std::max(most_valid, worth_it_)),
          candidates_(s.shape),
          random_(s.seed, kStream) {}

    void sealed(SuperblockId block, std::uint32_t valid, std::uint64_t) override { candidates_.add(block, valid); }
    void invalidated(SuperblockId block, std::uint32_t valid) override { candidates_.set_valid(block, valid); }
    SuperblockId choose(GroupId group, std::uint64_t, std::uint32_t limit) override {
        const std::uint32_t most_valid = std::min(limit, most_valid_), at_all = std::min(limit, at_all_);
        const std::uint32_t n = candidates_.size(group);
        if (n == 0) return kNoSuperblock;
        SuperblockId best = kNoSuperblock;
        for (std::uint32_t again = 0; again < kDraws && (best == kNoSuperblock || candidates_.valid(best) > most_valid);
             ++again) {
            best = draw(group);
            for (std::uint32_t d = 1; d < choices_; ++d) {
                const SuperblockId b = draw(group);
                if (candidates_.valid(b) < candidates_.valid(best)) best = b;
            }
        }
        if (candidates_.valid(best) > most_valid) best = any(group, most_valid);
        if (best == kNoSuperblock && at_all != most_valid) best = any(group, at_all);
        // Otherwise full blocks would be moved for ever, even in a drive at rest.
        if (best != kNoSuperblock && candidates_.valid(best) > worth_it_ && !is_one_worth_it(group))
            return kNoSuperblock;
        if (best != kNoSuperblock) candidates_.remove(best);
        return best;
    }
    void removed(SuperblockId block) override { candidates_.remove(block); }
    ChoiceLaw law() const override { return {ChoiceLaw::Kind::best_of, choices_, most_valid_}; }
    void state(Snapshot& s) override { s(candidates_, random_); }
    bool agrees(const std::vector<std::uint32_t>& valid) const override {
        return candidates_.agrees(valid, kNoCandidate);
    }

private:
    static constexpr std::uint32_t kDraws = 32;  // then all are looked at

    SuperblockId draw(GroupId group) {
        return candidates_.member(group, static_cast<std::uint32_t>(random_.below(candidates_.size(group))));
    }
    /// Draws a superblock with at most `most_valid` valid units, all with the same chance; kNoSuperblock: there is
    /// none.
    SuperblockId any(GroupId group, std::uint32_t most_valid) {
        SuperblockId found = kNoSuperblock;
        std::uint64_t seen = 0;
        for (std::uint32_t i = 0; i < candidates_.size(group); ++i) {
            const SuperblockId b = candidates_.member(group, i);
            if (candidates_.valid(b) <= most_valid && random_.below(++seen) == 0) found = b;
        }
        return found;
    }

    bool is_one_worth_it(GroupId group) const {
        for (std::uint32_t i = 0; i < candidates_.size(group); ++i)
            if (candidates_.valid(candidates_.member(group, i)) <= worth_it_) return true;
        return false;
    }

    std::uint32_t choices_;
    std::uint32_t most_valid_, worth_it_, at_all_;
    CandidateSet candidates_;
    Random random_;
};

const VictimPolicies::Registered kRandomPolicy{
    {"random",
     "any block, with equal chance",
     {policy_integer("least_invalid_pages", 1)
          .range("0", "65535")
          .says("Invalid pages that a victim must have, if any block has so many. More than 1 is random++. 0: any full "
                "block is taken, even if nothing "
                "is gained (random+), unless no block would gain anything")
          .from("1: less would win nothing")},
     [](const VictimPolicySetup& setup, const PolicySettings& own) {
         const std::uint64_t least =
             static_cast<std::uint64_t>(own.number("least_invalid_pages")) * setup.reclaim_units;
         const auto units = setup.shape.data_units();
         return std::make_unique<RandomChoice>(
             setup, 1, units - static_cast<std::uint32_t>(std::min<std::uint64_t>(least, units)));
     }}};

const VictimPolicies::Registered kDChoicesPolicy{{"d_choices",
                                                  "the least valid of some blocks drawn at random (Van Houdt 2013)",
                                                  {policy_integer("choices", 10)
                                                       .range("2", "1024")
                                                       .says("Blocks that are drawn for each victim")
                                                       .from("Van Houdt, SIGMETRICS 2013: at 10 close to greedy")},
                                                  [](const VictimPolicySetup& setup, const PolicySettings& own) {
                                                      return std::make_unique<RandomChoice>(
                                                          setup, static_cast<std::uint32_t>(own.number("choices")),
                                                          setup.shape.data_units() - setup.reclaim_units);
                                                  }}};

}  // namespace
}  // namespace ssdtlm
