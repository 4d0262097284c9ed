// SPDX-License-Identifier: Apache-2.0
// Superblocks that have been read too often, or whose data are old, are moved by garbage collection, as victims out of
// turn. Like wear levelling that wins no room but takes some, so it is not begun at the hard threshold, and takes turns
// with the collections that make room.
#include <algorithm>
#include <tuple>
#include <utility>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

void Ftl::page_read(BlockId block) {
    if (!refresh_->reads->read(block)) return;
    const SuperblockId b = shape_.superblock_of(block);
    if (refresh_->queue.want(b)) refresh_due_(shape_.group_of(b));
}

void Ftl::look_at_ages() {
    std::vector<SuperblockId> due;
    refresh_->ages->look(blocks_, due);
    for (const SuperblockId b : due)
        if (refresh_->queue.want(b)) ++counters_.aged_superblocks;
    // Where the work takes no time, the first of them may be moved within.
    for (std::uint32_t g = 0; !due.empty() && g < shape_.groups(); ++g)
        if (refresh_->queue.wanted(GroupId{g})) refresh_due_(GroupId{g});
}

void Ftl::start_ages(bool written_now) {
    // By the number of the first page; what was laid out has none, and comes from all groups in turn.
    std::vector<std::tuple<std::uint64_t, std::uint32_t, SuperblockId>> held;
    for (std::uint32_t i = 0; i < shape_.superblocks(); ++i) {
        const SuperblockId b{i};
        if (blocks_[b].write_pointer == 0 || blocks_[b].state == BlockState::set_apart ||
            blocks_[b].state == BlockState::retired)
            continue;
        const PageAddress first = shape_.page(b, 0);
        held.emplace_back(spare_.record(first).number, first.block, b);
    }
    std::sort(held.begin(), held.end());
    std::vector<SuperblockId> in_order;
    for (const auto& of_one : held) in_order.push_back(std::get<SuperblockId>(of_one));
    written_now ? refresh_->ages->begin_anew(in_order) : refresh_->ages->spread(in_order);
}

bool Ftl::wants_refresh(GroupId group) const {
    return refresh_ != nullptr && refresh_->queue.wanted(group) && !gc_hard(group) && !media_.read_only;
}

SuperblockId Ftl::select_for_refresh(GroupId group) {
    const bool others_wait = refresh_->queue.took_last(group) && gc_soft(group);
    if (others_wait || !wants_refresh(group)) return kNoSuperblock;
    const SuperblockId b = refresh_->queue.take(group);
    policy_->removed(b);
    counters_.refresh_victims += shape_.planes();
    counters_.refresh_units += blocks_[b].valid;
    return count_victim(b);
}

}  // namespace ssdtlm
