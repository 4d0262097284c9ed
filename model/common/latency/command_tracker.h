// SPDX-License-Identifier: Apache-2.0
// Joins the two ends of a command for observation only: the driver begins a timeline when it writes the SQE
// (at the time when the request was issued), the controller charges stages to it, the driver ends it in the completion handler. Keyed by (SQ, CID), which
// NVMe keeps unique among outstanding commands. No behaviour depends on it.
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
