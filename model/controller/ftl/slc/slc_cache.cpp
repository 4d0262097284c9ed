// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/slc/slc_cache.h"

#include <algorithm>

#include "common/report/error.h"
#include "controller/ftl/checkpoint/checkpoint_layout.h"

namespace ssdtlm {

SlcRegion slc_region_of(const FtlConfig& config, const NandGeometry& g) {
    return {g.blocks_per_plane - CheckpointLayout(config, g).per_group() - config.slc.blocks, config.slc.blocks, g.slc_pages_per_block()};
}

SlcCache::SlcCache(const SlcRegion& region, const SuperblockShape& shape, BlockManager& blocks)
    : region_(region), shape_(shape), blocks_(blocks), groups_(shape.groups()) {
    for (std::uint32_t g = 0; g < shape.groups(); ++g)
        for (std::uint32_t i = 0; i < region.blocks; ++i) {
            const SuperblockId b = superblock(g, i);
            blocks_[b].state = BlockState::slc_free;
            blocks_[b].stream = kSlcStream;
            groups_[g].free.push_back(b);
        }
}

PageAddress SlcCache::allocate(GroupId group) {
    Group& g = groups_[idx(group)];
    if (g.open == kNoSuperblock) {
        SSDTLM_CHECK(!g.free.empty(), "a page of the SLC cache in a group where it is full");
        g.open = g.free.front();
        g.free.pop_front();
        blocks_[g.open].state = BlockState::open_slc;
    }
    BlockRecord& r = blocks_[g.open];
    const PageAddress page = shape_.page(g.open, r.write_pointer);
    ++r.programs;
    if (++r.write_pointer == pages()) {
        r.state = BlockState::full;
        g.open = kNoSuperblock;
    }
    return page;
}

void SlcCache::seal(SuperblockId b) {
    blocks_[b].state = BlockState::slc_sealed;
    group_of(b).sealed.push_back(b);
}

void SlcCache::lose(SuperblockId b) {
    if (group_of(b).open == b) group_of(b).open = kNoSuperblock;
}

SuperblockId SlcCache::take_oldest(GroupId group) {
    Group& g = groups_[idx(group)];
    SSDTLM_CHECK(!g.sealed.empty(), "folding in a group where nothing is to be folded");
    const SuperblockId b = g.sealed.front();
    g.sealed.pop_front();
    blocks_[b].state = BlockState::sealed;
    return b;
}

void SlcCache::erased(SuperblockId b) {
    blocks_.emptied(b);
    blocks_[b].state = BlockState::slc_free;
    group_of(b).free.push_back(b);
}

void SlcCache::found(SuperblockId b) {
    Group& g = group_of(b);
    const auto from = std::find(g.free.begin(), g.free.end(), b);
    if (from != g.free.end()) g.free.erase(from);
    switch (blocks_[b].state) {
        case BlockState::slc_free: g.free.push_back(b); break;
        case BlockState::slc_sealed: g.sealed.push_back(b); break;
        case BlockState::open_slc: g.open = b; break;
        default: break;  // failed or retired
    }
}

void SlcCache::found_sealed(SuperblockId b, bool cut) {
    BlockRecord& r = blocks_[b];
    r.state = BlockState::slc_sealed;
    r.write_pointer = pages();
    r.cut = cut;
    found(b);
}

std::string SlcCache::check() const {
    for (std::uint32_t n = 0; n < groups_.size(); ++n) {
        std::uint32_t free = 0, sealed = 0, open = 0;
        for (std::uint32_t i = 0; i < region_.blocks; ++i) {
            const BlockState state = blocks_[superblock(n, i)].state;
            free += state == BlockState::slc_free;
            sealed += state == BlockState::slc_sealed;
            open += state == BlockState::open_slc;
        }
        const Group& g = groups_[n];
        if (free != g.free.size() || sealed != g.sealed.size() || open != (g.open != kNoSuperblock))
            return "SLC cache of group " + std::to_string(n) + ": " + std::to_string(free) + " free, " + std::to_string(sealed) + " sealed, " +
                   std::to_string(open) + " open superblocks, its lists have " + std::to_string(g.free.size()) + ", " +
                   std::to_string(g.sealed.size()) + ", " + std::to_string(g.open != kNoSuperblock);
    }
    return {};
}

void SlcCache::state(Snapshot& s) {
    for (Group& g : groups_) s(g.open, g.free, g.sealed);
    s(in_use_);
}

}  // namespace ssdtlm
