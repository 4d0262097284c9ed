// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/victims/open_room.h"

#include <algorithm>

namespace ssdtlm {

/// Number of pages in use of the superblock's plane that has most of them, or fewest. Torn pages count as in use.
std::uint32_t OpenRoom::pages_used(SuperblockId b, bool most) const {
    std::uint32_t n = most ? 0 : geometry_.pages_per_block;
    for (std::uint32_t i = 0; i < shape_.planes(); ++i) {
        const std::uint32_t next = spare_.next_page(shape_.block(b, i));
        n = most ? std::max(n, next) : std::min(n, next);
    }
    return n;
}

/// Whole rows in which GC could go on writing. All pages of a block belong to one stream. If its first page cannot be
/// read, the block may be in another cell mode, or its erase was cut off; then there are none.
std::uint32_t OpenRoom::rows(SuperblockId b) const {
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

std::uint64_t OpenRoom::units(GroupId group) const {
    const SuperblockId open = blocks_.open_block(group, BlockState::open_gc);
    if (open == kNoSuperblock) return 0;
    const std::uint32_t pages =
        std::min(rows(open) * shape_.data_planes(),
                 shape_.data_pages(shape_.pages()) - shape_.data_pages(blocks_[open].write_pointer));
    return std::uint64_t{pages} * geometry_.units_per_page();
}

void OpenRoom::reopen_roomiest(std::vector<SuperblockId>& candidates) {
    const auto less = [this](SuperblockId a, SuperblockId b) { return rows(a) < rows(b); };
    const auto best = std::max_element(candidates.begin(), candidates.end(), less);
    if (best == candidates.end() || rows(*best) == 0) return;
    blocks_.reopen_for_gc(*best, pages_used(*best, false) * shape_.planes());
    candidates.erase(best);
}

}  // namespace ssdtlm
