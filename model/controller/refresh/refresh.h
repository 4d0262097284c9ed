// SPDX-License-Identifier: Apache-2.0
// Superblocks that have been read too often, or whose data are old, are moved by garbage collection, as victims out of
// turn. Like wear levelling that wins no room but takes some, so it is not begun at the hard threshold, and takes turns
// with the collections that make room. Kernel-free.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "controller/ftl/events.h"
#include "controller/ftl/feature_kind.h"
#include "controller/ftl/victims/victim_source.h"
#include "controller/ftl/victims/victims.h"
#include "controller/refresh/read_disturb.h"
#include "controller/refresh/refresh_queue.h"
#include "controller/refresh/retention.h"

namespace ssdtlm {

class Refresh final : public FtlFeature, private FtlListener, private VictimSource {
public:
    static std::unique_ptr<FtlFeatureKind> kind(const FeatureSite& site);
    explicit Refresh(const FeatureSetup& setup);

    /// Null: reads are not counted.
    const ReadDisturb* reads() const { return reads_ ? &*reads_ : nullptr; }
    /// Null: there are no looks at ages.
    const Retention* ages() const { return ages_ ? &*ages_ : nullptr; }

    /// A page of the block is read. Precondition: reads().
    void page_read(BlockId block);
    /// Precondition of both: ages().
    void look_at_ages();
    /// Sets the ages of the data on the flash: all written now, or at an even rate up to now.
    void start_ages(bool written_now);

    void state(Snapshot& s) override;

private:
    void page_drawn(const PageAddress&, SuperblockId b, std::uint64_t) override { ages_->written(b); }
    void superblock_erased(SuperblockId b) override;
    bool wants(GroupId group, bool idle) const override;
    SuperblockId take(GroupId group, bool idle) override;
    void chosen(GroupId group, SuperblockId victim, const VictimSource& by) override;
    VictimReason reason() const override { return VictimReason::refresh; }

    const FeatureSetup in_;
    RefreshQueue queue_;
    std::optional<ReadDisturb> reads_;
    std::optional<Retention> ages_;
};

/// These return false for an FTL that refreshes nothing (null).
inline bool counts_reads(const Refresh* refresh) {
    return refresh != nullptr && refresh->reads() != nullptr;
}
inline bool looks_at_ages(const Refresh* refresh) {
    return refresh != nullptr && refresh->ages() != nullptr;
}

}  // namespace ssdtlm
