// SPDX-License-Identifier: Apache-2.0
// The SLC cache among the other superblocks: the host's pages go into it first, and what is in it is folded later.
// Folding is garbage collection of another victim; it takes room from the other superblocks, so it is not begun at the
// hard threshold, and takes turns with the collections that make room. A dynamic superblock of the cache is a victim
// that makes room itself: it has few valid units for a superblock. Kernel-free.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/ftl/allocation/host_partition.h"
#include "controller/ftl/events.h"
#include "controller/ftl/feature_kind.h"
#include "controller/ftl/ftl_counters.h"
#include "controller/ftl/victims/victim_source.h"
#include "controller/slc/fold_pace.h"
#include "controller/slc/slc_cache.h"

namespace ssdtlm {

class SlcFeature final : public FtlFeature, private HostPartition, private VictimSource, private FtlListener {
public:
    static std::unique_ptr<FtlFeatureKind> kind(const FeatureSite& site);
    explicit SlcFeature(const FeatureSetup& setup);

    const SlcCache& cache() const { return cache_; }
    /// True: a superblock of the cache is to be folded now. An `idle` drive folds all that are full.
    bool wants(GroupId group, bool idle) const override;

    void state(Snapshot& s) override;
    /// While preconditioning lays data out, the cache takes none: the drive has had time to empty it.
    void lay_out_begins() override { cache_.use(false); }
    void lay_out_ended() override { cache_.use(true); }
    std::string check() const override { return cache_.check(); }
    void found_pages(const FoundSuperblocks& found) override;
    void found_records(const FoundSuperblocks& found, std::vector<std::vector<SuperblockId>>& free) override;

private:
    /// A last source: free superblocks of the group are few, and a dynamic one of the cache, which gives one back, was
    /// passed over before.
    class LastResort final : public VictimSource {
    public:
        explicit LastResort(SlcFeature& slc) : slc_(slc) {}
        SuperblockId take(GroupId group, bool idle) override;

    private:
        SlcFeature& slc_;
    };

    // --- A write partition ---
    bool owns(SuperblockId b) const override { return in_.blocks[b].stream == kSlcStream; }
    std::uint32_t pages() const override { return cache_.pages(); }
    bool takes_pages(GroupId group) const override { return cache_.takes_pages(group); }
    PageAddress allocate(GroupId group) override { return cache_.allocate(group); }
    SuperblockId open_block(GroupId group) const override { return cache_.open_block(group); }
    std::uint32_t write_pointer(GroupId group) const override { return cache_.write_pointer(group); }
    void sealed(SuperblockId b) override { cache_.seal(b); }
    void erased(SuperblockId b) override { cache_.erased(b); }
    void lost(SuperblockId b) override { cache_.lose(b); }
    /// A static superblock has no replacement: without it the cache is a superblock smaller.
    bool is_replaced(SuperblockId b) const override { return !cache_.is_static(b); }
    void left_out(SuperblockId b) override { cache_.found(b); }
    void for_each_free(GroupId group, const std::function<void(SuperblockId)>& visit) const override {
        cache_.for_each_free(group, visit);
    }
    void page_ended(const PageAddress& a, PageEnd) override { in_.counters.slc_pages += in_.slc.holds(a); }

    // --- A source of victims ---
    SuperblockId take(GroupId group, bool idle) override;
    void chosen(GroupId group, SuperblockId victim, const VictimSource& by) override;
    VictimReason reason() const override { return VictimReason::fold; }
    SourcePace* pace() override { return &pace_; }
    SuperblockId emptiest(GroupId group) const override { return cache_.emptiest_dynamic(group); }
    void give(SuperblockId b) override { cache_.take(b); }
    bool must_fold(GroupId group) const;
    /// True: the cache or the group has fewer free superblocks than it should.
    bool is_short(GroupId group) const;

    const FeatureSetup in_;
    SlcCache cache_;
    LastResort last_resort_{*this};
    FoldPace pace_;
    std::vector<std::uint8_t> folded_last_;  // by group: it gave a victim when it was asked last
};

}  // namespace ssdtlm
