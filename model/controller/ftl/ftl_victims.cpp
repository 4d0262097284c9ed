// SPDX-License-Identifier: Apache-2.0
// Which superblock is collected next, of all who want one to be: what has failed, the SLC cache, what is to be
// refreshed, wear levelling, the victim policy.
#include <algorithm>
#include <utility>

#include "controller/ftl/ftl.h"
#include "controller/ftl/word_lines/open_word_lines.h"

namespace ssdtlm {

VictimReason Ftl::victim_reason(SuperblockId victim) const {
    if (is_bad(victim)) return VictimReason::failed;
    if (levels_[idx(shape_.group_of(victim))]) return VictimReason::wear;
    if (refresh_ != nullptr && refresh_->queue.took_last(shape_.group_of(victim))) return VictimReason::refresh;
    return blocks_[victim].stream == kSlcStream ? VictimReason::fold : VictimReason::space;
}

/// Units of a victim that are in use.
std::uint32_t Ftl::most_valid(GroupId group) const {
    // Even of a policy that takes victims without gain: in two steps they would cost room.
    std::uint32_t most =
        shape_.data_units() - (geometry_.two_step ? OpenWordLines::reclaim_units(geometry_, shape_.planes()) : 0);
    // Behind what is moved into the last free one there must be a page for the journal, for which the erase may wait.
    if (blocks_.free_blocks(group) <= 1 && placement_ == nullptr && gc_room(group) < geometry_.units_per_page())
        most = std::min(most, shape_.data_units() - geometry_.units_per_page());
    if (__builtin_expect(config_.gc_least_invalid == 0.0, 1) || gc_forced(group)) return most;
    return std::min(most,
                    shape_.data_units() - static_cast<std::uint32_t>(config_.gc_least_invalid * shape_.data_units()));
}

SuperblockId Ftl::choose_victim(GroupId group, bool idle) {
    levels_[idx(group)] = false;
    if (__builtin_expect(blocks_.any_failed(), 0)) {
        const SuperblockId failed = blocks_.failed_of(group, placement_ != nullptr);
        // Without a free block another one has to be erased first, unless there is room behind what GC wrote last.
        if (failed != kNoSuperblock && (blocks_.free_blocks(group) != 0 || blocks_[failed].valid <= gc_room(group))) {
            blocks_.make_victim(failed);
            return failed;
        }
    }
    if (!begun_.empty() && begun_[idx(group)] != kNoSuperblock)
        return std::exchange(begun_[idx(group)], kNoSuperblock);  // counted when it was chosen
    if (__builtin_expect(slc_ != nullptr, 0))
        if (const SuperblockId fold = select_for_folding(group, idle); fold != kNoSuperblock) return count_victim(fold);
    if (__builtin_expect(refresh_ != nullptr, 0))
        if (const SuperblockId refreshed = select_for_refresh(group); refreshed != kNoSuperblock) return refreshed;
    // Of a mapping by blocks what is collected so is the journal, which takes no free one.
    if (__builtin_expect(blocks_.free_blocks(group) == 0, 0) && placement_ == nullptr)
        return select_without_free(group);
    if (__builtin_expect(config_.most_spread != 0, 0)) {
        const SuperblockId least_worn = select_for_levelling(group);
        if (least_worn != kNoSuperblock) return count_victim(least_worn);
    }
    SuperblockId victim = policy_->select(group, counters_.host_units, most_valid(group));
    // It was the others' turn, but they have nothing to give: only this wins room then.
    if (__builtin_expect(victim == kNoSuperblock && slc_ != nullptr, 0) && must_fold(group))
        victim = select_for_folding(group, idle);
    return victim == kNoSuperblock ? kNoSuperblock : count_victim(victim);
}

void Ftl::leave_victim(SuperblockId victim) {
    begun_.resize(shape_.groups(), kNoSuperblock);
    begun_[idx(shape_.group_of(victim))] = victim;
}

SuperblockId Ftl::count_victim(SuperblockId victim) {
    blocks_.make_victim(victim);
    counters_.victims += shape_.planes();
    counters_.victim_valid_units += blocks_[victim].valid;
    if (blocks_[victim].stream == kSlcStream) {
        counters_.slc_victims += shape_.planes();
        counters_.slc_units_folded += blocks_[victim].valid;
    }
    return victim;
}

SuperblockId Ftl::select_victim(GroupId group, bool idle) {
    const std::uint64_t before = counters_.refresh_victims;
    const SuperblockId victim = choose_victim(group, idle);
    if (__builtin_expect(refresh_ != nullptr, 0) && victim != kNoSuperblock && counters_.refresh_victims == before)
        refresh_->queue.other(group, victim);
    // Without a free block there is room behind stream 0 only, if at all (ftl_scarce.cpp); the last one is for stream
    // 0, as pages of the journal are.
    if (__builtin_expect(lanes_.streams() != 0, 0) && victim != kNoSuperblock)
        gc_stream_[idx(group)] =
            static_cast<std::uint8_t>(blocks_.free_blocks(group) <= 1 ? 0 : host_stream_of(blocks_[victim].stream));
    return victim;
}

}  // namespace ssdtlm
