// SPDX-License-Identifier: Apache-2.0
// Windowed greedy: the least valid of the blocks that were sealed first (Hu et al., "Write amplification analysis in
// flash-based solid state drives", SYSTOR 2009); among equals, the one sealed first. A window of one is FIFO, one of
// all blocks is greedy. When none of the window is worth collecting, the first behind it that is. Constant time per
// invalidation; looks at the window for each victim. FIFO is also called LRU cleaning or a circular log: whatever the
// block holds, as long as a page is won; collected data start again at the end of the queue.
#include <algorithm>

#include "common/address/fast_divide.h"
#include "controller/ftl/victims/victim_policy.h"
#include "controller/gc/block_lists.h"

namespace ssdtlm {
namespace {

class WindowedGreedy final : public VictimPolicy {
public:
    WindowedGreedy(const VictimPolicySetup& s, std::uint32_t window)
        : window_(window),
          most_valid_(s.shape.data_units() - s.reclaim_units),
          group_of_(s.shape.blocks_per_group()),
          queues_(s.shape.superblocks(), s.shape.groups()),
          valid_(s.shape.superblocks()) {}

    void sealed(SuperblockId block, std::uint32_t valid, std::uint64_t) override {
        queues_.push_back(group_of_(idx(block)), block);
        valid_[idx(block)] = valid;
    }
    void invalidated(SuperblockId block, std::uint32_t valid) override { valid_[idx(block)] = valid; }
    SuperblockId choose(GroupId group, std::uint64_t, std::uint32_t most_valid) override {
        SuperblockId best = kNoSuperblock;
        std::uint32_t seen = 0, fewest = std::min(most_valid, most_valid_) + 1;
        for (SuperblockId b = queues_.front(idx(group));
             b != kNoSuperblock && (seen < window_ || best == kNoSuperblock); b = queues_.after(b), ++seen) {
            if (valid_[idx(b)] >= fewest) continue;
            fewest = valid_[idx(b)];
            best = b;
        }
        if (best != kNoSuperblock) queues_.remove(best);
        return best;
    }
    void removed(SuperblockId block) override { queues_.remove(block); }
    ChoiceLaw law() const override { return {window_ == 1 ? ChoiceLaw::Kind::oldest : ChoiceLaw::Kind::other}; }
    void state(Snapshot& s) override {
        s(queues_);
        s.fixed(valid_);
    }
    bool agrees(const std::vector<std::uint32_t>& valid) const override {
        const std::vector<std::uint32_t> lists = queues_.lists();
        for (std::uint32_t b = 0; b < valid.size(); ++b) {
            if (lists.empty()) return false;
            if (lists[b] != (valid[b] == kNoCandidate ? BlockLists::kInNone : group_of_(b))) return false;
            if (valid[b] != kNoCandidate && valid_[b] != valid[b]) return false;
        }
        return true;
    }

private:
    std::uint32_t window_;
    std::uint32_t most_valid_;  // of a block worth collecting
    FastDivide group_of_;
    BlockLists queues_;  // one per group
    std::vector<std::uint32_t> valid_;
};

const VictimPolicies::Registered kFifoPolicy{
    {"fifo", "the block sealed first", {}, [](const VictimPolicySetup& setup, const PolicySettings&) {
         return std::make_unique<WindowedGreedy>(setup, 1);
     }}};

const VictimPolicies::Registered kWindowedGreedyPolicy{
    {"windowed_greedy",
     "the least valid of the blocks sealed first (Hu et al. 2009)",
     {policy_integer("window", 32)
          .range("1", "1048576")
          .says("Number of oldest full blocks of a group of planes among which the victim is chosen. 1 is fifo; all of "
                "them is greedy")
          .from("assumed; Hu et al., SYSTOR 2009, vary it")},
     [](const VictimPolicySetup& setup, const PolicySettings& own) {
         return std::make_unique<WindowedGreedy>(setup, static_cast<std::uint32_t>(own.number("window")));
     }}};

}  // namespace
}  // namespace ssdtlm
