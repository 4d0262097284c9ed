// SPDX-License-Identifier: Apache-2.0
// The least valid of d blocks drawn uniformly with replacement: d = 1 is the random policy; d_choices with 10
// comes close to greedy without any sorted structure (Van Houdt, "A mean field model for a class of garbage collection
// algorithms in flash-based solid state drives", 2013). When none drawn is worth collecting, the next one in the array
// behind the first draw.
#include "common/random/random.h"
#include "controller/ftl/gc/candidate_set.h"
#include "controller/ftl/gc/victim_policy.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kStream = 0x76696374696D73;  // of the seed: independent of what the workload draws

class RandomChoice final : public VictimPolicy {
public:
    RandomChoice(const VictimPolicySetup& s, std::uint32_t choices)
        : choices_(choices),
          most_valid_(s.shape.units() - s.reclaim_units),
          candidates_(s.shape),
          random_(s.seed, kStream) {}

    void sealed(SuperblockId block, std::uint32_t valid, std::uint64_t) override { candidates_.add(block, valid); }
    void invalidated(SuperblockId block, std::uint32_t valid) override { candidates_.set_valid(block, valid); }
    SuperblockId select(GroupId group, std::uint64_t) override {
        const std::uint32_t n = candidates_.size(group);
        if (n == 0) return kNoSuperblock;
        const auto first = static_cast<std::uint32_t>(random_.below(n));
        SuperblockId best = candidates_.member(group, first);
        for (std::uint32_t d = 1; d < choices_; ++d) {
            const SuperblockId b = candidates_.member(group, static_cast<std::uint32_t>(random_.below(n)));
            if (candidates_.valid(b) < candidates_.valid(best)) best = b;
        }
        for (std::uint32_t i = 1; candidates_.valid(best) > most_valid_; ++i) {
            if (i == n) return kNoSuperblock;
            best = candidates_.member(group, (first + i) % n);
        }
        candidates_.remove(best);
        return best;
    }

private:
    std::uint32_t choices_;
    std::uint32_t most_valid_;  // of a block worth collecting
    CandidateSet candidates_;
    Random random_;
};

const VictimPolicies::Registered kRandomPolicy{{
    "random",
    "any block, all with the same chance",
    {},
    [](const VictimPolicySetup& setup, const PolicySettings&) { return std::make_unique<RandomChoice>(setup, 1); }}};

const VictimPolicies::Registered kDChoicesPolicy{{
    "d_choices",
    "the least valid of some blocks that are drawn at random (Van Houdt 2013)",
    {policy_integer("choices", 10)
         .range("2", "1024")
         .says("Blocks that are drawn for each victim")
         .from("Van Houdt, SIGMETRICS 2013: at 10 close to greedy")},
    [](const VictimPolicySetup& setup, const PolicySettings& own) {
        return std::make_unique<RandomChoice>(setup, static_cast<std::uint32_t>(own.number("choices")));
    }}};

}  // namespace
}  // namespace ssdtlm
