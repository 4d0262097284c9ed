// SPDX-License-Identifier: Apache-2.0
// Static wear levelling: blocks whose data never change would never be erased, while the others wear out. When the
// erase counts of a group of planes differ by too much, the least worn block is emptied in place of the victim policy's
// choice. Its data go to a block of their own, with FreeBlocks::by_wear a worn one, which then rests: among data that
// change they would hold places that become free, and would be moved again and again.
#include <algorithm>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

SuperblockId Ftl::select_for_levelling(GroupId group) {
    std::uint32_t& since = since_levelled_[idx(group)];
    // One free block for what is moved, one for what other victims leave.
    if (++since < config_.levelling_each || blocks_.free_blocks(group) < 2) return kNoSuperblock;
    SuperblockId least_worn = kNoSuperblock;
    std::uint32_t least = ~0u, most = 0;
    const std::uint32_t first = idx(group) * shape_.blocks_per_group();
    for (std::uint32_t n = first; n < first + shape_.blocks_per_group(); ++n) {
        const SuperblockId b{n};
        const BlockState state = blocks_[b].state;
        if (state == BlockState::spare || state == BlockState::retired || state == BlockState::set_apart ||
            blocks_[b].stream == kSlcStream)
            continue;
        const std::uint32_t erases = blocks_.erases(b);
        most = std::max(most, erases);
        if (state != BlockState::sealed || erases >= least) continue;
        least = erases;
        least_worn = b;
    }
    if (least_worn == kNoSuperblock || most - least <= config_.most_spread) return kNoSuperblock;
    since = 0;
    levels_[idx(group)] = true;
    policy_->removed(least_worn);
    counters_.wear_victims += shape_.planes();
    counters_.wear_units += blocks_[least_worn].valid;
    return least_worn;
}

PageAddress Ftl::allocate_wear_page(GroupId group) {
    const bool opens = blocks_.write_pointer(group, BlockState::open_wear) == 0;
    const PageAddress a = blocks_.allocate_wear(group);
    if (opens) update_able(group);
    owe_parity();
    return a;
}

}  // namespace ssdtlm
