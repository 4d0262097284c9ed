// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/io_queue.h"

#include <algorithm>

namespace ssdtlm {

__attribute__((noinline, cold)) IoSlot& IoQueue::add_slot(std::uint16_t tag, CommandTracker& timelines) {
    while (slots.size() <= tag) {
        const auto next = static_cast<std::uint16_t>(slots.size());
        slots.emplace_back().timeline = &timelines.at(number, next);
    }
    slot_count = tag + 1u;
    return slots[tag];
}

std::vector<std::uint16_t> IoQueue::in_device() const {
    std::vector<std::uint16_t> tags;
    for (std::uint32_t tag = 0; tag < slot_count; ++tag)
        if (commands->is_outstanding(number, static_cast<std::uint16_t>(tag)))
            tags.push_back(static_cast<std::uint16_t>(tag));
    std::stable_sort(tags.begin(), tags.end(),
                     [this](std::uint16_t a, std::uint16_t b) { return slots[a].submitted < slots[b].submitted; });
    return tags;
}

std::optional<std::uint16_t> IoQueue::oldest() const {
    std::optional<std::uint16_t> oldest;
    if (outstanding() == 0) return oldest;
    for (std::uint32_t i = 0; i < slot_count; ++i) {
        const auto tag = static_cast<std::uint16_t>(i);
        if (commands->is_outstanding(number, tag) && (!oldest || slots[tag].submitted < slots[*oldest].submitted))
            oldest = tag;
    }
    return oldest;
}

bool IoQueue::only_flushes() const {
    if (outstanding() == 0 || !backlog.empty()) return false;
    for (std::uint32_t i = 0; i < slot_count; ++i) {
        const auto tag = static_cast<std::uint16_t>(i);
        if (commands->is_outstanding(number, tag) && slots[tag].request.op != HostOp::flush) return false;
    }
    return true;
}

std::string IoQueue::stuck() const {
    if (backlog.empty() || submitting || reaping) return "";  // the running work looks at the backlog when it ends
    if (!has_room() && outstanding() != 0) return "";
    return "queue " + std::to_string(number) + ": " + std::to_string(backlog.size()) +
           " requests wait for room, and it has room or nothing will make any";
}

std::string IoQueue::dump() const {
    if (outstanding() == 0 && backlog.empty()) return "";
    return "  queue " + std::to_string(number) + ": outstanding " + std::to_string(outstanding()) + ", backlog " +
           std::to_string(backlog.size()) + commands->dump(number) +
           (commands->has_ended(number) ? ", completion not handled" : "") + "\n";
}

}  // namespace ssdtlm
