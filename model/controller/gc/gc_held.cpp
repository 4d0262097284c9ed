// SPDX-License-Identifier: Apache-2.0
// What holds victims back, for the search for what limits a run.
#include "controller/gc/gc_engine.h"

namespace ssdtlm {

GcEngine::Held GcEngine::held() const {
    Held h;
    if (active_ == 0) return h;
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
        const Group& g = groups_[i];
        if (g.victim == kNoSuperblock) continue;
        ++h.collected;
        if (g.exhausted) continue;
        h.by_depth += g.inflight >= most_inflight_;
        h.by_pace += pacing_.paused(GroupId{i});
    }
    return h;
}

}  // namespace ssdtlm
