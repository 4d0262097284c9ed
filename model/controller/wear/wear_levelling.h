// SPDX-License-Identifier: Apache-2.0
// Static wear levelling: blocks whose data never change would never be erased, while the others wear out. When the
// erase counts of a group of planes differ by too much, the least worn superblock is emptied in place of the victim
// policy's choice. Its data go to a superblock of their own, with FreeBlocks::by_wear a worn one, which then rests:
// among data that change they would hold places that become free, and would be moved again and again. Kernel-free.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/ftl/feature_kind.h"
#include "controller/ftl/victims/victim_source.h"

namespace ssdtlm {

class WearLevelling final : public FtlFeature, private VictimSource {
public:
    static std::unique_ptr<FtlFeatureKind> kind(const FeatureSite& site);
    explicit WearLevelling(const FeatureSetup& setup);

    void state(Snapshot& s) override { s.fixed(since_); }
    bool remembers() const override { return true; }
    std::uint32_t remembered(GroupId group) const override { return since_[idx(group)]; }
    void remember(GroupId group, std::uint32_t since) override { since_[idx(group)] = since; }

private:
    SuperblockId take(GroupId group, bool idle) override;
    VictimReason reason() const override { return VictimReason::wear; }
    bool moves_cold() const override { return true; }
    bool may_be_levelled(SuperblockId b) const;

    const FeatureSetup in_;
    std::vector<std::uint32_t> since_;  // by group: victims since the last one for this
};

}  // namespace ssdtlm
