// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/io_queue.h"

#include <algorithm>

namespace ssdtlm {

void IoSlot::make_prp(HostMemory& memory, std::uint32_t bytes, std::uint32_t page_bytes, std::uint32_t offset) {
    const std::uint8_t* const before = buffer.data;
    buffer.reserve(memory, bytes, page_bytes, offset);
    if (buffer.data != before) spoiled = 0;
    prp = build_prp(memory, page_bytes, buffer.address, bytes, buffer.lists);
    prp_bytes = bytes;
}

__attribute__((noinline, cold)) IoSlot& IoQueue::add_slot(std::uint16_t cid, CommandTracker& timelines) {
    while (slots.size() <= cid) {
        const auto next = static_cast<std::uint16_t>(slots.size());
        slots.emplace_back().timeline = &timelines.at(pair.qid(), next);
    }
    slot_count = cid + 1u;
    return slots[cid];
}

std::vector<std::uint16_t> IoQueue::in_device() const {
    std::vector<std::uint16_t> cids;
    for (std::uint32_t cid = 0; cid < slot_count; ++cid)
        if (pair.outstanding(static_cast<std::uint16_t>(cid))) cids.push_back(static_cast<std::uint16_t>(cid));
    std::stable_sort(cids.begin(), cids.end(), [this](std::uint16_t a, std::uint16_t b) { return slots[a].submitted < slots[b].submitted; });
    return cids;
}

std::optional<std::uint16_t> IoQueue::oldest() const {
    std::optional<std::uint16_t> oldest;
    if (pair.outstanding() == 0) return oldest;
    for (std::uint32_t i = 0; i < slot_count; ++i) {
        const auto cid = static_cast<std::uint16_t>(i);
        if (pair.outstanding(cid) && (!oldest || slots[cid].submitted < slots[*oldest].submitted)) oldest = cid;
    }
    return oldest;
}

std::string IoQueue::stuck() const {
    if (backlog.empty() || submitting || reaping) return "";  // who looks at the backlog at his end
    if (!pair.has_room() && pair.outstanding() != 0) return "";
    return "queue " + std::to_string(pair.qid()) + ": " + std::to_string(backlog.size()) +
           " requests wait for room, and it has room or nothing will make any";
}

std::string IoQueue::dump() const {
    if (pair.outstanding() == 0 && backlog.empty()) return "";
    return "  queue " + std::to_string(pair.qid()) + ": outstanding " + std::to_string(pair.outstanding()) + ", backlog " +
           std::to_string(backlog.size()) + ", SQ tail " + std::to_string(pair.tail()) + ", SQ head " + std::to_string(pair.sq_head()) +
           ", CQ head " + std::to_string(pair.head()) + (pair.has_completion() ? ", completion not handled" : "") + "\n";
}

}  // namespace ssdtlm
