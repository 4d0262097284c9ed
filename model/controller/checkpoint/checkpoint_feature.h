// SPDX-License-Identifier: Apache-2.0
// Checkpoints as a feature of the FTL: it follows which programs are under way, and owns the superblocks set apart.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/checkpoint/checkpoints.h"
#include "controller/ftl/feature.h"

namespace ssdtlm {

class CheckpointFeature final : public FtlFeature {
public:
    /// Null: the drive has no checkpoints.
    static std::unique_ptr<FtlFeature> make(const FeatureSetup& setup);
    explicit CheckpointFeature(const FeatureSetup& setup);

    Checkpoints& tables() { return checkpoints_; }
    /// The record of a page in a superblock that is set apart.
    PageRecord draw_record(PageKind kind);
    void count(std::uint32_t pages, std::uint32_t blocks_erased);

    // What the core asks of a feature.
    void set_apart_left_out(SuperblockId bad) override;
    void state(Snapshot& s) override;
    void found_pages(const FoundSuperblocks& found) override { take(found); }
    void found_records(const FoundSuperblocks& found, std::vector<std::vector<SuperblockId>>&) override { take(found); }

private:
    void take(const FoundSuperblocks& found);

    const FeatureSetup in_;
    Checkpoints checkpoints_;
};

/// Null: the drive has no checkpoints.
Checkpoints* checkpoints_of(const Ftl& ftl);

}  // namespace ssdtlm
