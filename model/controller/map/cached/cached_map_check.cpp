// SPDX-License-Identifier: Apache-2.0
// What a watchdog and a check want to know of a cached map.
#include <string>

#include "common/report/error.h"
#include "controller/map/cached/cached_map.h"

namespace ssdtlm {

void CachedMap::check_waiters() const {
    const auto require = [](bool ok, std::size_t who, const char* what) {
        if (!ok) throw CheckFailed("cached map: " + std::to_string(who) + what);
    };
    require(queue_.empty() || held_ != 0, queue_.size(), " questions wait for their turn, and nobody holds an entry");
    require(reading_.empty() || reads_under_way_ != 0, reading_.size(),
            " translation pages are waited for, and none is read");
    const bool all_held = table_.coldest() == CachedMappingTable::kNone && table_.pinned() != 0;
    require(wanted_.empty() || all_held || write_backs_.any(), wanted_.size(),
            " entries wait for room, not all are held, and none is written back");
    require(!write_backs_.waits_for_block() || peers_.gc.active() != 0 || wanted_.empty(), wanted_.size(),
            " entries wait for room, those to be written for a free block, and no group is collected");
}

std::string CachedMap::dump() const {
    return "cached map: " + std::to_string(table_.size()) + " entries, room for " + std::to_string(table_.room()) +
           ", " + std::to_string(held_) + " held; " + std::to_string(queue_.size()) +
           " questions wait for their turn, " + std::to_string(wanted_.size()) + " entries for room, " +
           std::to_string(reading_.size()) + " translation pages are read, " + write_backs_.dump() + "\n";
}

}  // namespace ssdtlm
