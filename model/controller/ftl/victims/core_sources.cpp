// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/victims/core_sources.h"

#include <algorithm>

#include "controller/ftl/ftl.h"
#include "controller/ftl/victims/victims.h"

namespace ssdtlm {

SuperblockId FailedVictims::take(GroupId group, bool) {
    if (__builtin_expect(!in_.blocks.any_failed(), 1)) return kNoSuperblock;
    const SuperblockId failed = in_.blocks.failed_of(group, in_.ftl.placement() != nullptr);
    if (failed == kNoSuperblock ||
        (in_.blocks.free_blocks(group) == 0 && in_.blocks[failed].valid > room_.units(group)))
        return kNoSuperblock;
    in_.blocks.make_victim(failed);
    return failed;
}

/// A mapping by blocks only collects the journal this way, which takes no free superblock.
bool ScarceVictims::decides_alone(GroupId group) const {
    return __builtin_expect(in_.blocks.free_blocks(group) == 0, 0) && in_.ftl.placement() == nullptr;
}

/// Another superblock may have more room than the one where GC writes now.
void ScarceVictims::go_on_elsewhere(GroupId group) {
    const SuperblockId open = in_.blocks.open_block(group, BlockState::open_gc);
    if (open == kNoSuperblock || in_.blocks[open].programs != 0) return;
    in_.blocks.close_gc(group);
    in_.policy.sealed(open, in_.blocks[open].valid, in_.counters.host_units);
}

SuperblockId ScarceVictims::take(GroupId group, bool) {
    if (!decides_alone(group)) return kNoSuperblock;
    const std::uint64_t clock = in_.counters.host_units;
    // With two-step programming, what lies there already would not be safe until the next upper page is programmed.
    const bool goes_on = !in_.ftl.geometry().two_step;
    if (goes_on) go_on_elsewhere(group);
    std::vector<SuperblockId> candidates;
    for (SuperblockId b; (b = in_.policy.select(group, clock)) != kNoSuperblock;) candidates.push_back(b);
    if (goes_on && in_.blocks.open_block(group, BlockState::open_gc) == kNoSuperblock)
        room_.reopen_roomiest(candidates);
    const auto fewest = std::min_element(candidates.begin(), candidates.end(), [this](SuperblockId a, SuperblockId b) {
        return in_.blocks[a].valid < in_.blocks[b].valid;
    });
    // A superblock that is no candidate may give a whole superblock back, too.
    VictimSource* owner = nullptr;
    const SuperblockId owned = in_.victims.emptiest(group, owner);
    const bool gives =
        owned != kNoSuperblock && (fewest == candidates.end() || in_.blocks[owned].valid < in_.blocks[*fewest].valid);
    const SuperblockId best = gives ? owned : fewest != candidates.end() ? *fewest : kNoSuperblock;
    const bool stuck = best != kNoSuperblock && in_.blocks[best].valid > room_.units(group);
    const SuperblockId victim = stuck ? kNoSuperblock : best;
    if (victim != kNoSuperblock && gives)
        owner->give(victim);
    else if (victim != kNoSuperblock)
        candidates.erase(fewest);
    for (const SuperblockId b : candidates) in_.policy.sealed(b, in_.blocks[b].valid, clock);
    if (stuck) in_.ftl.refuse_writes();
    return victim;
}

/// Most units of a victim that may be in use.
std::uint32_t PolicyVictims::most_valid(GroupId group) const {
    const NandGeometry& g = in_.ftl.geometry();
    const SuperblockShape& shape = in_.ftl.shape();
    // This holds even for a policy that takes victims without gain: where victims cost rows, they would cost room.
    std::uint32_t most = shape.data_units() -
                         (in_.ftl.needs().rows_of_victim != 0 ? in_.ftl.needs().reclaim_units(g, shape.planes()) : 0);
    // Behind the data moved into the last free superblock there must be a page for the journal, for which the erase may
    // wait.
    if (in_.blocks.free_blocks(group) <= 1 && in_.ftl.placement() == nullptr && room_.units(group) < g.units_per_page())
        most = std::min(most, shape.data_units() - g.units_per_page());
    const double least_invalid = in_.ftl.config().gc_least_invalid;
    if (__builtin_expect(least_invalid == 0.0, 1) || in_.ftl.gc_forced(group)) return most;
    return std::min(most, shape.data_units() - static_cast<std::uint32_t>(least_invalid * shape.data_units()));
}

SuperblockId PolicyVictims::take(GroupId group, bool) {
    return in_.policy.select(group, in_.counters.host_units, most_valid(group));
}

}  // namespace ssdtlm
