// SPDX-License-Identifier: Apache-2.0
// Decides when garbage collection that takes no time is done. It always runs in an agenda entry of its own, because its
// caller may be in the midst of its work.
#include "controller/gc/gc_engine.h"

namespace ssdtlm {

bool GcEngine::collect_at_once(GroupId group) {
    if (!choose(group)) return false;
    at_once_->move(group, groups_[idx(group)].victim);
    exhaust(group);
    try_erase(group);
    return true;
}

/// The host waits, or is idle.
void GcEngine::look_at_once(GroupId group) {
    Group& g = groups_[idx(group)];
    if (g.looked_at || g.victim != kNoSuperblock || stopped_ || !(ftl_.gc_forced(group) || host_.idle())) return;
    g.looked_at = true;
    ++looks_;
    agenda_.post(agenda_.now(), Then::to<&GcEngine::collect_while_needed>(this, idx(group)));
}

void GcEngine::collect_while_needed(std::uint64_t index) {
    const GroupId group{static_cast<std::uint32_t>(index)};
    while ((ftl_.gc_forced(group) || host_.idle()) && collect_at_once(group)) continue;
    groups_[index].looked_at = false;
    --looks_;
}

void GcEngine::erase_at_once(std::uint64_t index) {
    Group& g = groups_[index];
    --g.inflight;
    at_once_->erase(g.victim);
    end_victim(GroupId{static_cast<std::uint32_t>(index)});
}

void GcEngine::after_command() {
    for (std::uint32_t g = 0; g < ftl_.shape().groups(); ++g) collect_at_once(GroupId{g});
}

}  // namespace ssdtlm
