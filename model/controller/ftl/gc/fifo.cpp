// SPDX-License-Identifier: Apache-2.0
// FIFO, also called LRU cleaning or a circular log: the block that was sealed first, whatever it holds, as long as a
// page is won. Collected data starts again at the end of the queue.
#include "controller/ftl/gc/block_lists.h"
#include "controller/ftl/gc/victim_policy.h"
#include "common/address/fast_divide.h"

namespace ssdtlm {
namespace {

class Fifo final : public VictimPolicy {
public:
    explicit Fifo(const VictimPolicySetup& s)
        : most_valid_(s.shape.units() - s.reclaim_units),
          group_of_(s.shape.blocks_per_group()),
          queues_(s.shape.superblocks(), s.shape.groups()),
          valid_(s.shape.superblocks()) {}

    void sealed(SuperblockId block, std::uint32_t valid, std::uint64_t) override {
        queues_.push_back(group_of_(idx(block)), block);
        valid_[idx(block)] = valid;
    }
    void invalidated(SuperblockId block, std::uint32_t valid) override { valid_[idx(block)] = valid; }
    SuperblockId select(GroupId group, std::uint64_t) override {
        for (SuperblockId b = queues_.front(idx(group)); b != kNoSuperblock; b = queues_.after(b)) {
            if (valid_[idx(b)] > most_valid_) continue;
            queues_.remove(b);
            return b;
        }
        return kNoSuperblock;
    }
    void removed(SuperblockId block) override { queues_.remove(block); }

private:
    std::uint32_t most_valid_;  // of a block worth collecting
    FastDivide group_of_;
    BlockLists queues_;  // one per group
    std::vector<std::uint32_t> valid_;
};

const VictimPolicies::Registered kFifoPolicy{{
    "fifo",
    "the block that was sealed first",
    {},
    [](const VictimPolicySetup& setup, const PolicySettings&) { return std::make_unique<Fifo>(setup); }}};

}  // namespace
}  // namespace ssdtlm
