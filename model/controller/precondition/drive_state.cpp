// SPDX-License-Identifier: Apache-2.0
#include "controller/precondition/drive_state.h"

#include <algorithm>

namespace ssdtlm {

DriveState drive_state(const Ftl& ftl) {
    const SuperblockShape& shape = ftl.shape();
    DriveState s;
    s.logical_units = ftl.logical_units();
    s.mapped_units = ftl.mapped_units();
    s.groups = shape.groups();
    s.least_free = shape.blocks_per_group();
    for (std::uint32_t g = 0; g < shape.groups(); ++g) {
        const std::uint32_t free = ftl.free_blocks(GroupId{g});
        s.least_free = std::min(s.least_free, free);
        s.most_free = std::max(s.most_free, free);
        s.mean_free += static_cast<double>(free) / shape.groups();
    }
    for (std::uint32_t i = 0; i < shape.superblocks(); ++i) {
        const BlockRecord& r = ftl.superblock(SuperblockId{i});
        if (r.state != BlockState::sealed && r.state != BlockState::own_sealed && r.state != BlockState::placed)
            continue;
        const std::uint64_t room = std::uint64_t{r.write_pointer} * ftl.geometry().units_per_page();
        ++s.full;
        ++s.full_by_valid[room == 0 ? 0 : r.valid * DriveState::kTenths / room];
    }
    return s;
}

}  // namespace ssdtlm
