// SPDX-License-Identifier: Apache-2.0
// The SLC cache among the other superblocks: when the host's pages go into it, and when what is in it is folded.
// Folding is garbage collection of another victim; it takes room from the other superblocks, so it is not begun at the
// hard threshold, and takes turns with the collections that make room. A dynamic superblock of the cache is a victim
// that makes room itself: it has few valid units for a superblock.
#include <algorithm>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

std::uint32_t Ftl::take_slc_pages(GroupId group, std::uint32_t most, PageAddress* out) {
    const std::uint32_t from = slc_->write_pointer(group), left = row_left(from), n = std::min(most, left);
    for (std::uint32_t i = 0; i < n; ++i) out[i] = slc_->allocate(group);
    if (from + n == slc_->pages()) update_able(group);
    if (shape_.planes() != 1) lanes_.cursor(group, 0).set_ragged(group, n != left);
    counters_.host_pages_allocated += n;
    return n;
}

std::uint32_t Ftl::units_of(SuperblockId b) const {
    return blocks_[b].stream == kSlcStream ? slc_->pages() * geometry_.units_per_page() : shape_.data_units();
}

/// Free ones are few, and a dynamic superblock gives one back. What is moved takes one more at most.
bool Ftl::must_fold(GroupId group) const {
    return slc_->sealed_dynamic(group) != 0 && gc_soft(group) && blocks_.free_blocks(group) != 0;
}

bool Ftl::slc_is_short(GroupId group) const {
    return slc_->free_blocks(group) < config_.slc.fold_free_blocks ||
           (config_.slc.dynamic_blocks != 0 && gc_soft(group));
}

bool Ftl::wants_fold(GroupId group, bool idle) const {
    if (slc_ == nullptr || media_.read_only || slc_->sealed_blocks(group) == 0) return false;
    if (must_fold(group)) return true;
    if (gc_hard(group)) return false;
    // What the host has written again meanwhile costs nothing to be rid of.
    return idle || slc_->free_blocks(group) < config_.slc.fold_free_blocks ||
           (slc_->free_blocks(group) == 0 && slc_->valid_in_oldest(group) == 0);
}

SuperblockId Ftl::select_for_folding(GroupId group, bool idle) {
    std::uint8_t& last = folded_last_[idx(group)];
    const bool others_wait = last && gc_soft(group);
    last = !others_wait && wants_fold(group, idle);
    if (!last) return kNoSuperblock;
    const SuperblockId b = slc_->oldest(group, must_fold(group));
    slc_->take(b);
    return b;
}

}  // namespace ssdtlm
