// SPDX-License-Identifier: Apache-2.0
// What a device tells about its commands' time, for observation only: a timeline of each command from its arrival on.
// It is keyed by queue and tag, which name a command among those that are outstanding. A host that has it adds its own
// part when a command has completed. No behaviour depends on it.
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
    std::vector<std::deque<Timeline>> queues_;  // deque: references stay valid while it grows
};

}  // namespace ssdtlm
