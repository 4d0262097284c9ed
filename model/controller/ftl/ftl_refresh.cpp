// SPDX-License-Identifier: Apache-2.0
// Superblocks that have been read too often are moved by garbage collection, as victims out of turn. Like wear levelling that wins no room but takes some, so
// it is not begun at the hard threshold, and takes turns with the collections that make room.
#include "controller/ftl/ftl.h"

namespace ssdtlm {

void Ftl::page_read(BlockId block) {
    if (read_disturb_->read(block)) refresh_due_(shape_.group_of(shape_.superblock_of(block)));
}

bool Ftl::wants_refresh(GroupId group) const {
    return read_disturb_ != nullptr && read_disturb_->wanted(group) && !gc_hard(group) && !media_.read_only;
}

SuperblockId Ftl::select_for_refresh(GroupId group) {
    const bool others_wait = read_disturb_->took_last(group) && gc_soft(group);
    if (others_wait || !wants_refresh(group)) return kNoSuperblock;
    const SuperblockId b = read_disturb_->take(group);
    policy_->removed(b);
    counters_.refresh_victims += shape_.planes();
    counters_.refresh_units += blocks_[b].valid;
    return count_victim(b);
}

}  // namespace ssdtlm
