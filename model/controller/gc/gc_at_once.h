// SPDX-License-Identifier: Apache-2.0
// Garbage collection that takes no time (gc.charge_time = false). The valid units of a victim are programmed and its
// blocks are erased without the dies, even while programs of the host are under way in the same superblock. It goes
// block by block, in the order of the planes' numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/ports/map_port.h"
#include "controller/ports/map_updates.h"

namespace ssdtlm {

class GcAtOnce {
public:
    /// Work that the dies do not see.
    struct Counters {
        std::uint64_t pages = 0;   ///< programmed
        std::uint64_t blocks = 0;  ///< erased
    };
    explicit GcAtOnce(Ftl& ftl) : ftl_(ftl) {}

    /// Sets who is told of each unit of the host that was moved.
    void set_map(MapUpdates& map) { map_ = &map; }
    /// Moves all valid units of the group's victim to another place.
    void move(GroupId group, SuperblockId victim);
    /// Precondition: Ftl::erase_allowed().
    void erase(SuperblockId victim);
    const Counters& counters() const { return counters_; }

private:
    void program(GroupId group, std::size_t first, std::uint32_t count);

    Ftl& ftl_;
    MapUpdates* map_ = nullptr;
    std::vector<Ppa> from_;  // of the move() at hand
    PageContent content_;
    Counters counters_;
};

}  // namespace ssdtlm
