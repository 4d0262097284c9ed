// SPDX-License-Identifier: Apache-2.0
#include "controller/slc/slc_recovery.h"

#include <algorithm>

namespace ssdtlm {

/// True: a page of the block can be read, in SLC mode. The mode of a block without such a page is not known, and nobody
/// needs it: nothing in the block is of use, and its erase ends the mode.
bool SlcRecovery::tells_slc(BlockId block) const {
    if (!spare_.slc(block)) return false;
    const NandGeometry& g = spare_.geometry();
    PageAddress page{g.plane_of(block), g.block_in_plane(block), spare_.next_page(block)};
    while (page.page-- != 0)
        if (spare_.at(g.ppa_of(page, 0)) != kTorn) return true;
    return false;
}

template <class Is>
std::vector<SuperblockId> SlcRecovery::oldest_first(Is&& is) const {
    std::vector<SuperblockId> found;
    for (std::uint32_t n = 0; n < shape_.superblocks(); ++n)
        if (const SuperblockId b{n}; is(b)) found.push_back(b);
    std::stable_sort(found.begin(), found.end(),
                     [this](SuperblockId a, SuperblockId b) { return last_of_[idx(a)] < last_of_[idx(b)]; });
    return found;
}

void SlcRecovery::from_pages(const std::vector<bool>& used) {
    for (std::uint32_t n = 0; n < shape_.superblocks() && spare_.any_slc(); ++n)
        if (const SuperblockId b{n};
            !slc_.is_static(b) && shape_.any_block(b, [this](BlockId block) { return tells_slc(block); }))
            slc_.found_dynamic(b);
    for (const SuperblockId b : oldest_first([this](SuperblockId s) { return blocks_[s].stream == kSlcStream; })) {
        const bool cut = shape_.any_block(
            b, [this](BlockId block) { return spare_.next_page(block) != spare_.geometry().slc_pages_per_block(); });
        const BlockState state = blocks_[b].state;
        if (used[idx(b)] && (state == BlockState::own_free || state == BlockState::sealed))
            slc_.found_sealed(b, cut);
        else
            slc_.found(b);
    }
}

void SlcRecovery::from_records(std::vector<std::vector<SuperblockId>>& free) {
    const auto is_slc = [this](SuperblockId b) { return blocks_[b].stream == kSlcStream; };
    for (const SuperblockId b : oldest_first([&](SuperblockId s) { return is_slc(s) && !slc_.is_static(s); }))
        slc_.found_dynamic(b);
    for (auto& of_group : free) {
        const auto others = std::stable_partition(of_group.begin(), of_group.end(), is_slc);
        for (auto b = of_group.begin(); b != others; ++b) slc_.found(*b);
        of_group.erase(of_group.begin(), others);
    }
    for (const SuperblockId b :
         oldest_first([&](SuperblockId s) { return is_slc(s) && blocks_[s].state != BlockState::own_free; }))
        slc_.found(b);
}

}  // namespace ssdtlm
