// SPDX-License-Identifier: Apache-2.0
// Checkpoints as a feature of the FTL: it follows which programs are under way, and owns the superblocks set apart.
#pragma once

#include <memory>

#include "controller/checkpoint/checkpoints.h"
#include "controller/ftl/feature.h"

namespace ssdtlm {

class CheckpointFeature final : public FtlFeature {
public:
    /// Null: the drive has no checkpoints.
    static std::unique_ptr<FtlFeature> make(const FeatureSetup& setup);
    explicit CheckpointFeature(const FeatureSetup& setup);

    Checkpoints& tables() { return checkpoints_; }
    void set_apart_left_out(SuperblockId bad) override;

private:
    const FeatureSetup in_;
    Checkpoints checkpoints_;
};

/// Null: the drive has no checkpoints.
Checkpoints* checkpoints_of(const Ftl& ftl);

}  // namespace ssdtlm
