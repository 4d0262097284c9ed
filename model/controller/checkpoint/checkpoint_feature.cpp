// SPDX-License-Identifier: Apache-2.0
#include "controller/checkpoint/checkpoint_feature.h"

#include "controller/ftl/ftl.h"

namespace ssdtlm {

std::unique_ptr<FtlFeature> CheckpointFeature::make(const FeatureSetup& setup) {
    return setup.ftl.config().has_checkpoints() ? std::make_unique<CheckpointFeature>(setup) : nullptr;
}

CheckpointFeature::CheckpointFeature(const FeatureSetup& setup)
    : in_(setup),
      checkpoints_(CheckpointLayout(setup.ftl.config(), setup.ftl.geometry()), setup.ftl.geometry(),
                   setup.ftl.units()) {
    setup.events.listen(checkpoints_.in_flight(), {FtlEvent::page_drawn, FtlEvent::units_moving, FtlEvent::page_ended});
}

/// One of its group's spare ones is set apart now.
void CheckpointFeature::set_apart_left_out(SuperblockId bad) {
    const std::uint32_t of_group = in_.ftl.shape().blocks_per_group();
    for (SuperblockId s{idx(bad) / of_group * of_group}; checkpoints_.layout().holds(bad);
         s = SuperblockId{idx(s) + 1}) {
        if (in_.blocks[s].state != BlockState::set_apart || checkpoints_.layout().holds(s)) continue;
        in_.blocks[s].stream = kCheckpointStream;
        checkpoints_.replace(bad, s);
    }
}

Checkpoints* checkpoints_of(const Ftl& ftl) {
    auto* const feature = ftl.feature<CheckpointFeature>();
    return feature == nullptr ? nullptr : &feature->tables();
}

}  // namespace ssdtlm
