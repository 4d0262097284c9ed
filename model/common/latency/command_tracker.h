// SPDX-License-Identifier: Apache-2.0
// Holds a timeline of each outstanding command, from its arrival in the device on. A command is named by queue and tag.
// The host adds its own part when a command has completed. The timelines are for observation only: no behaviour depends
// on them.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "common/latency/timeline.h"

namespace ssdtlm {

class CommandTracker {
public:
    Timeline& at(std::uint16_t queue, std::uint16_t tag) {
        if (queue >= queues_.size()) queues_.resize(queue + 1u);
        auto& lines = queues_[queue];
        while (tag >= lines.size()) lines.emplace_back();
        return lines[tag];
    }

private:
    std::vector<std::deque<Timeline>> queues_;  // a deque keeps references valid while it grows
};

}  // namespace ssdtlm
