// SPDX-License-Identifier: Apache-2.0
// What a device tells of its commands' time, for observation only: a timeline of each, from its doorbell on. It is keyed by (SQ, CID),
// which NVMe keeps unique among outstanding commands. A host that is given it adds its own part when a command has completed; no
// behaviour depends on it.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "common/latency/timeline.h"

namespace ssdtlm {

class CommandTracker {
public:
    Timeline& at(std::uint16_t sqid, std::uint16_t cid) {
        if (sqid >= queues_.size()) queues_.resize(sqid + 1u);
        auto& queue = queues_[sqid];
        while (cid >= queue.size()) queue.emplace_back();
        return queue[cid];
    }

private:
    std::vector<std::deque<Timeline>> queues_;  // deque: references stay valid while it grows
};

}  // namespace ssdtlm
