// SPDX-License-Identifier: Apache-2.0
// The SLC cache among the other superblocks: when what is in it is folded. Folding is garbage collection of another
// victim; it takes room from the other superblocks, so it is not begun at the hard threshold, and takes turns with the
// collections that make room. A dynamic superblock of the cache is a victim that makes room itself: it has few valid
// units for a superblock. Kernel-free.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/ftl/feature.h"
#include "controller/ftl/gc/victim_source.h"
#include "controller/ftl/slc/slc_cache.h"

namespace ssdtlm {

class SlcFeature final : public FtlFeature, private VictimSource {
public:
    /// Null: the configuration has no SLC cache.
    static std::unique_ptr<FtlFeature> make(const FeatureSetup& setup);
    explicit SlcFeature(const FeatureSetup& setup);

    const SlcCache& cache() const { return cache_; }
    SlcCache& cache() { return cache_; }
    /// The cache has fewer free superblocks than it should, or the group has.
    bool is_short(GroupId group) const;
    /// One of it is to be folded now. An `idle` drive folds all that are full.
    bool wants(GroupId group, bool idle) const override;

    void state(Snapshot& s) override;
    std::string check() const override { return cache_.check(); }

private:
    /// Free superblocks of the group are few, and a dynamic one of the cache, which gives one back, was passed over.
    class LastResort final : public VictimSource {
    public:
        explicit LastResort(SlcFeature& slc) : slc_(slc) {}
        SuperblockId take(GroupId group, bool idle) override;

    private:
        SlcFeature& slc_;
    };

    SuperblockId take(GroupId group, bool idle) override;
    void chosen(GroupId group, SuperblockId victim, const VictimSource& by) override;
    VictimReason reason() const override { return VictimReason::fold; }
    bool owns(SuperblockId b) const override { return in_.blocks[b].stream == kSlcStream; }
    SuperblockId emptiest(GroupId group) const override { return cache_.emptiest_dynamic(group); }
    void give(SuperblockId b) override { cache_.take(b); }
    bool must_fold(GroupId group) const;

    const FeatureSetup in_;
    SlcCache cache_;
    LastResort last_resort_{*this};
    std::vector<std::uint8_t> folded_last_;  // by group: it gave a victim when it was asked last
};

}  // namespace ssdtlm
