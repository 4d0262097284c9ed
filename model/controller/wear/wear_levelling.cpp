// SPDX-License-Identifier: Apache-2.0
#include "controller/wear/wear_levelling.h"

#include <algorithm>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

namespace {
class WearKind final : public FtlFeatureKind {
public:
    using FtlFeatureKind::FtlFeatureKind;
    bool is_wanted() const override { return config_.most_spread != 0; }
    FeatureNeeds needs() const override { return {0, 1, 0, true}; }
    std::unique_ptr<FtlFeature> make(const FeatureSetup& setup) const override {
        return std::make_unique<WearLevelling>(setup);
    }
};
}  // namespace

std::unique_ptr<FtlFeatureKind> WearLevelling::kind(const FeatureSite& site) {
    return std::make_unique<WearKind>(site);
}

WearLevelling::WearLevelling(const FeatureSetup& setup) : in_(setup), since_(setup.ftl.shape().groups()) {
    in_.victims.add(*this, VictimTurn::instead);
}

/// It takes part in the wear of the group's other superblocks.
bool WearLevelling::may_be_levelled(SuperblockId b) const {
    const BlockState state = in_.blocks[b].state;
    return state != BlockState::spare && state != BlockState::retired && state != BlockState::set_apart &&
           in_.ftl.owner(b) == nullptr;
}

SuperblockId WearLevelling::take(GroupId group, bool) {
    const FtlConfig& config = in_.ftl.config();
    std::uint32_t& since = since_[idx(group)];
    // It needs one free block for what is moved and leaves one for other victims.
    if (++since < config.levelling_each || in_.blocks.free_blocks(group) < 2) return kNoSuperblock;
    SuperblockId least_worn = kNoSuperblock;
    std::uint32_t least = ~0u, most = 0;
    const SuperblockShape& shape = in_.ftl.shape();
    const std::uint32_t first = idx(group) * shape.blocks_per_group();
    for (std::uint32_t n = first; n < first + shape.blocks_per_group(); ++n) {
        const SuperblockId b{n};
        if (!may_be_levelled(b)) continue;
        const std::uint32_t erases = in_.blocks.erases(b);
        most = std::max(most, erases);
        if (in_.blocks[b].state != BlockState::sealed || erases >= least) continue;
        least = erases;
        least_worn = b;
    }
    if (least_worn == kNoSuperblock || most - least <= config.most_spread) return kNoSuperblock;
    since = 0;
    in_.policy.removed(least_worn);
    in_.counters.wear_victims += shape.planes();
    in_.counters.wear_units += in_.blocks[least_worn].valid;
    return least_worn;
}

}  // namespace ssdtlm
