// SPDX-License-Identifier: Apache-2.0
#include "controller/checkpoint/checkpoint_feature.h"

#include <algorithm>

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

PageRecord CheckpointFeature::draw_record(PageKind kind) {
    return {in_.books.draw_number(), kind, kSetApartStream};
}

void CheckpointFeature::count(std::uint32_t pages, std::uint32_t blocks_erased) {
    in_.counters.checkpoint_pages += pages;
    in_.counters.blocks_erased += blocks_erased;
}

void CheckpointFeature::state(Snapshot& s) {
    s.section("checkpoints");
    checkpoints_.state(s);
}

/// After a loss of power. The newest root record has a number of its own.
void CheckpointFeature::take(const FoundSuperblocks& found) {
    for (std::uint32_t n = 0; n < found.last_of.size(); ++n)
        checkpoints_.in_flight().set_last_of(SuperblockId{n}, found.last_of[n]);
    std::uint64_t& last = in_.books.image().last_number;
    last = std::max(last, checkpoints_.root_number());
}

/// One of its group's spare ones is set apart now.
void CheckpointFeature::set_apart_left_out(SuperblockId bad) {
    const std::uint32_t of_group = in_.ftl.shape().blocks_per_group();
    for (SuperblockId s{idx(bad) / of_group * of_group}; checkpoints_.layout().holds(bad);
         s = SuperblockId{idx(s) + 1}) {
        if (in_.blocks[s].state != BlockState::set_apart || checkpoints_.layout().holds(s)) continue;
        in_.blocks[s].stream = kSetApartStream;
        checkpoints_.replace(bad, s);
    }
}

Checkpoints* checkpoints_of(const Ftl& ftl) {
    auto* const feature = ftl.feature<CheckpointFeature>();
    return feature == nullptr ? nullptr : &feature->tables();
}

}  // namespace ssdtlm
