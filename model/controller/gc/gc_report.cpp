// SPDX-License-Identifier: Apache-2.0
// What is told of collections: what holds victims back, for the search for what limits a run, and the state of all for
// the watchdog.
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

std::string GcEngine::dump() const {
    std::string s = "gc: " + std::to_string(active_) + " groups active\n";
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        const Group& g = groups_[i];
        if (g.victim == kNoSuperblock) continue;
        s += "  group " + std::to_string(i) + ": victim " + std::to_string(idx(g.victim)) + " page " +
             std::to_string(g.cursor) + ", in flight " + std::to_string(g.inflight) + ", waiting moves " +
             std::to_string(g.moves.size()) + (g.erase_waits ? ", erase waits for reads" : "") +
             (pacing_.paused(GroupId{static_cast<std::uint32_t>(i)}) ? ", paused" : "") + "\n";
    }
    return s;
}

}  // namespace ssdtlm
