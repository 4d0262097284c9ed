// SPDX-License-Identifier: Apache-2.0
// Garbage collection in a group without a free superblock. Each loss of power closes what GC was writing, and what it
// was collecting is not erased yet: a few in a row use up the reserve. Then GC goes on writing where it had stopped,
// behind the torn pages, until it has erased one.
#include <algorithm>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

/// Pages in use of the plane of it that has most, or fewest of them, torn ones included.
std::uint32_t Ftl::pages_used(SuperblockId b, bool most) const {
    std::uint32_t n = most ? 0 : geometry_.pages_per_block;
    for (std::uint32_t i = 0; i < shape_.planes(); ++i) {
        const std::uint32_t next = spare_.next_page(shape_.block(b, i));
        n = most ? std::max(n, next) : std::min(n, next);
    }
    return n;
}

/// Whole rows in which GC could go on. Pages of a block are all of one stream. One whose first page cannot be read may
/// be in another cell mode, or its erase was cut off.
std::uint32_t Ftl::rows_for_gc(SuperblockId b) const {
    const std::uint8_t of_gc = config_.gc_frontier == GcFrontier::shared ? kHostStream : kGcStream;
    for (std::uint32_t i = 0; i < shape_.planes(); ++i) {
        const BlockId block = shape_.block(b, i);
        if (spare_.next_page(block) == 0) continue;
        if (spare_.at(geometry_.ppa_of({geometry_.plane_of(block), geometry_.block_in_plane(block), 0}, 0)) == kTorn)
            return 0;
        // Without records there was no loss of power, and the firmware knows it.
        if ((spare_.keeps_records() ? spare_.records(block).record().stream : blocks_[b].stream) != of_gc) return 0;
    }
    return geometry_.pages_per_block - pages_used(b, true);
}

/// Units that GC may still write to where it writes now.
std::uint64_t Ftl::gc_room(GroupId group) const {
    const SuperblockId open = blocks_.open_block(group, BlockState::open_gc);
    if (open == kNoSuperblock) return 0;
    const std::uint32_t pages =
        std::min(rows_for_gc(open) * shape_.data_planes(),
                 shape_.data_pages(shape_.pages()) - shape_.data_pages(blocks_[open].write_pointer));
    return std::uint64_t{pages} * geometry_.units_per_page();
}

void Ftl::reopen_roomiest(std::vector<SuperblockId>& candidates) {
    const auto less = [this](SuperblockId a, SuperblockId b) { return rows_for_gc(a) < rows_for_gc(b); };
    const auto best = std::max_element(candidates.begin(), candidates.end(), less);
    if (best == candidates.end() || rows_for_gc(*best) == 0) return;
    blocks_.reopen_for_gc(*best, pages_used(*best, false) * shape_.planes());
    candidates.erase(best);
}

SuperblockId Ftl::select_without_free(GroupId group) {
    const SuperblockId open = blocks_.open_block(group, BlockState::open_gc);
    // In two steps what lies there already would not be safe until the next upper page is programmed.
    const bool goes_on = !geometry_.two_step;
    if (goes_on && open != kNoSuperblock && blocks_[open].programs == 0) {  // another may have more room
        blocks_.close_gc(group);
        policy_->sealed(open, blocks_[open].valid, counters_.host_units);
    }
    std::vector<SuperblockId> candidates;
    for (SuperblockId b; (b = policy_->select(group, counters_.host_units)) != kNoSuperblock;) candidates.push_back(b);
    if (goes_on && blocks_.open_block(group, BlockState::open_gc) == kNoSuperblock) reopen_roomiest(candidates);
    const auto fewest = std::min_element(candidates.begin(), candidates.end(), [this](SuperblockId a, SuperblockId b) {
        return blocks_[a].valid < blocks_[b].valid;
    });
    // A dynamic one of the SLC cache gives a whole superblock back, too.
    const SuperblockId of_slc = slc_ != nullptr ? slc_->emptiest_dynamic(group) : kNoSuperblock;
    const bool folds =
        of_slc != kNoSuperblock && (fewest == candidates.end() || blocks_[of_slc].valid < blocks_[*fewest].valid);
    const SuperblockId best = folds ? of_slc : fewest != candidates.end() ? *fewest : kNoSuperblock;
    const bool stuck = best != kNoSuperblock && blocks_[best].valid > gc_room(group);
    const SuperblockId victim = stuck ? kNoSuperblock : best;
    if (victim != kNoSuperblock && folds)
        slc_->take(victim);
    else if (victim != kNoSuperblock)
        candidates.erase(fewest);
    for (const SuperblockId b : candidates) policy_->sealed(b, blocks_[b].valid, counters_.host_units);
    if (stuck) become_read_only();
    return victim == kNoSuperblock ? kNoSuperblock : count_victim(victim);
}

PageAddress Ftl::allocate_gc_page(GroupId group, std::uint32_t stream) {
    const bool opens = blocks_.write_pointer(group, BlockState::open_gc, stream) == 0;
    PageAddress a = blocks_.allocate_gc(group, stream);
    while (__builtin_expect(spare_.next_page(geometry_.block_of(a)) > a.page, 0)) a = skip_programmed(a);
    const bool fills =
        config_.gc_frontier == GcFrontier::shared && blocks_.write_pointer(group, BlockState::open_gc, stream) == 0;
    if (opens || fills) update_able(group);
    owe_parity();
    return a;
}

/// Where planes differ in what was programmed before the power went.
PageAddress Ftl::skip_programmed(const PageAddress& a) {
    blocks_.page_programmed(shape_.superblock_of(geometry_.block_of(a)));
    return blocks_.allocate_gc(shape_.group_of(a.plane));
}

}  // namespace ssdtlm
