// SPDX-License-Identifier: Apache-2.0
#include "controller/slc/slc_cache.h"

#include <algorithm>

#include "common/report/error.h"
#include "controller/ftl/ftl_check.h"

namespace ssdtlm {

SlcRegion slc_region_of(const FtlConfig& config, const NandGeometry& g) {
    return {g.blocks_per_plane - set_apart_blocks(config, g) - config.slc.blocks, config.slc.blocks,
            g.slc_pages_per_block()};
}

SlcCache::SlcCache(const FtlConfig& config, const NandGeometry& geometry, const SuperblockShape& shape,
                   BlockManager& blocks)
    : region_(slc_region_of(config, geometry)),
      most_dynamic_(config.slc.dynamic_blocks),
      reserve_(slc_reserve(config) - config.gc_hard_free_blocks),
      shape_(shape),
      blocks_(blocks),
      groups_(shape.groups()),
      modes_(most_dynamic_ == 0 ? 0 : geometry.blocks()) {
    for (std::uint32_t g = 0; g < shape.groups(); ++g)
        for (std::uint32_t i = 0; i < region_.blocks; ++i) {
            const SuperblockId b = superblock(g, i);
            blocks_[b].state = BlockState::own_free;
            blocks_[b].stream = kSlcStream;
            set_mode(b, true);
            groups_[g].free.push_back(b);
        }
}

SlcRegion SlcCache::region() const {
    if (modes_.empty()) return region_;
    return {0, shape_.blocks_per_group(), region_.pages, modes_.data()};
}

void SlcCache::set_mode(SuperblockId b, bool slc) {
    for (std::uint32_t i = 0; i < shape_.planes() && !modes_.empty(); ++i) modes_[idx(shape_.block(b, i))] = slc;
}

PageAddress SlcCache::allocate(GroupId group) {
    Group& g = groups_[idx(group)];
    if (g.open == kNoSuperblock && g.free.empty()) {
        SSDTLM_CHECK(may_borrow(group) != 0, "a page of the SLC cache in a group where it is full");
        g.open = blocks_.open_own(group, kSlcStream);
        set_mode(g.open, true);
        ++g.dynamic;
    } else if (g.open == kNoSuperblock) {
        g.open = g.free.front();
        g.free.pop_front();
        blocks_[g.open].state = BlockState::own_open;
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
    blocks_[b].state = BlockState::own_sealed;
    group_of(b).sealed.push_back(b);
    group_of(b).sealed_dynamic += !is_static(b);
}

void SlcCache::lose(SuperblockId b) {
    Group& g = group_of(b);
    if (g.open == b) g.open = kNoSuperblock;
    g.dynamic -= !is_static(b);
}

SuperblockId SlcCache::oldest(GroupId group, bool only_dynamic) const {
    const auto& sealed = groups_[idx(group)].sealed;
    const auto found =
        std::find_if(sealed.begin(), sealed.end(), [&](SuperblockId b) { return !only_dynamic || !is_static(b); });
    SSDTLM_CHECK(found != sealed.end(), "folding in a group where nothing is to be folded");
    return *found;
}

SuperblockId SlcCache::emptiest_dynamic(GroupId group) const {
    SuperblockId found = kNoSuperblock;
    for (const SuperblockId b : groups_[idx(group)].sealed)
        if (!is_static(b) && (found == kNoSuperblock || blocks_[b].valid < blocks_[found].valid)) found = b;
    return found;
}

void SlcCache::take(SuperblockId b) {
    Group& g = group_of(b);
    g.sealed.erase(std::find(g.sealed.begin(), g.sealed.end(), b));
    g.sealed_dynamic -= !is_static(b);
    blocks_[b].state = BlockState::sealed;
}

void SlcCache::erased(SuperblockId b) {
    if (is_static(b)) {
        blocks_.emptied(b);
        blocks_[b].state = BlockState::own_free;
        group_of(b).free.push_back(b);
        return;
    }
    blocks_.erased(b);
    blocks_[b].stream = kHostStream;
    set_mode(b, false);
    --group_of(b).dynamic;
}

void SlcCache::found_dynamic(SuperblockId b) {
    SSDTLM_CHECK(!is_static(b) && !modes_.empty(), "a superblock in SLC mode that cannot be the cache's");
    blocks_[b].stream = kSlcStream;
    set_mode(b, true);
    ++group_of(b).dynamic;
}

void SlcCache::found(SuperblockId b) {
    Group& g = group_of(b);
    const auto from = std::find(g.free.begin(), g.free.end(), b);
    if (from != g.free.end()) g.free.erase(from);
    switch (blocks_[b].state) {
        case BlockState::own_free:
            g.free.push_back(b);
            break;
        case BlockState::own_sealed:
            g.sealed.push_back(b);
            g.sealed_dynamic += !is_static(b);
            break;
        case BlockState::own_open:
            g.open = b;
            break;
        default:  // a victim still, or failed, or retired: then it is not the cache's any more
            g.dynamic -= !is_static(b) && blocks_[b].bad;
            break;
    }
}

void SlcCache::found_sealed(SuperblockId b, bool cut) {
    BlockRecord& r = blocks_[b];
    r.state = BlockState::own_sealed;
    r.write_pointer = pages();
    r.cut = cut;
    found(b);
}

std::string SlcCache::check() const {
    for (std::uint32_t n = 0; n < groups_.size(); ++n) {
        std::uint32_t free = 0, sealed = 0, open = 0, dynamic = 0, sealed_dynamic = 0;
        const std::uint32_t first = n * shape_.blocks_per_group();
        for (SuperblockId b{first}; idx(b) < first + shape_.blocks_per_group(); b = SuperblockId{idx(b) + 1}) {
            const BlockRecord& r = blocks_[b];
            free += r.state == BlockState::own_free;
            sealed += r.state == BlockState::own_sealed;
            open += r.state == BlockState::own_open;
            dynamic += r.stream == kSlcStream && !is_static(b) && !r.bad;
            sealed_dynamic += r.state == BlockState::own_sealed && !is_static(b);
            for (std::uint32_t i = 0; i < shape_.planes() && !modes_.empty(); ++i)
                if ((modes_[idx(shape_.block(b, i))] != 0) != (r.stream == kSlcStream))
                    return "SLC cache: superblock " + std::to_string(idx(b)) + ", which is " + name_of(r.state) +
                           ", is taken for one in the other cell mode";
        }
        const Group& g = groups_[n];
        if (dynamic != g.dynamic || dynamic > most_dynamic_ || sealed_dynamic != g.sealed_dynamic)
            return "SLC cache of group " + std::to_string(n) + ": " + std::to_string(dynamic) +
                   " dynamic superblocks, " + std::to_string(sealed_dynamic) + " of them sealed; it counts " +
                   std::to_string(g.dynamic) + " and " + std::to_string(g.sealed_dynamic) + " of at most " +
                   std::to_string(most_dynamic_);
        if (free != g.free.size() || sealed != g.sealed.size() || open != (g.open != kNoSuperblock))
            return "SLC cache of group " + std::to_string(n) + ": " + std::to_string(free) + " free, " +
                   std::to_string(sealed) + " sealed, " + std::to_string(open) + " open superblocks, its lists have " +
                   std::to_string(g.free.size()) + ", " + std::to_string(g.sealed.size()) + ", " +
                   std::to_string(g.open != kNoSuperblock);
    }
    return {};
}

void SlcCache::state(Snapshot& s) {
    for (Group& g : groups_) s(g.open, g.free, g.sealed, g.dynamic, g.sealed_dynamic);
    s.fixed(modes_);
    s(in_use_);
    for (std::uint32_t n = 0; s.reads() && n < groups_.size(); ++n) {
        const Group& g = groups_[n];
        std::vector<bool> seen(shape_.superblocks());
        const auto is = [&](SuperblockId b, BlockState state) {
            s.require(idx(b) / shape_.blocks_per_group() == n && blocks_[b].state == state &&
                          blocks_[b].stream == kSlcStream && !seen[idx(b)],
                      "a superblock of the SLC cache that is another's");
            seen[idx(b)] = true;
        };
        if (g.open != kNoSuperblock) is(g.open, BlockState::own_open);
        for (const SuperblockId b : g.free) is(b, BlockState::own_free);
        for (const SuperblockId b : g.sealed) is(b, BlockState::own_sealed);
    }
}

}  // namespace ssdtlm
