// SPDX-License-Identifier: Apache-2.0
// Hybrid mapping at the start: what preconditioning lays out, what a loss of power leaves, and the check of its books.
#include <algorithm>
#include <map>
#include <utility>

#include "controller/ftl/ftl.h"
#include "controller/map/blocks/hybrid_map.h"

namespace ssdtlm {

template <class Visit>
void HybridMap::for_each_valid(SuperblockId b, Visit&& visit) const {
    std::uint32_t slots = 0;
    for (std::uint32_t page = 0; ftl_.next_valid_page(b, page, slots); ++page)
        for (; slots != 0; slots &= slots - 1)
            visit(page, static_cast<std::uint32_t>(__builtin_ctz(slots)),
                  ftl_.geometry().ppa_of(ftl_.shape().page(b, page), static_cast<unsigned>(__builtin_ctz(slots))));
}

void HybridMap::laid_out(GroupId group, std::uint64_t pages) {
    Group& g = groups_[idx(group)];
    const std::uint32_t per_block = ftl_.shape().pages();
    for (std::uint32_t block = 0; std::uint64_t{block} * per_block < pages; ++block) {
        const SuperblockId b{idx(group) * ftl_.shape().blocks_per_group() + block};
        const auto here =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(per_block, pages - std::uint64_t{block} * per_block));
        g.data[block] = b;
        if (here == per_block) {
            blocks_[b].state = BlockState::placed;
        } else if (here == logical().pages(group, block)) {
            close_if_open(b, BlockState::open_host, kSequential);
        } else {
            g.data[block] = kNoSuperblock;
            g.sequential = {b, block, here, false};
        }
    }
}

/// True: all units in use of the superblock have their place there, and belong to the same logical block.
bool HybridMap::is_in_place(SuperblockId b, std::uint32_t& block) const {
    bool in_place = true, first = true;
    for_each_valid(b, [&](std::uint32_t page, std::uint32_t slot, Ppa at) {
        const Lpa lpa = ftl_.codec().lpa(ftl_.flash().at(at));
        const LogicalPage p = logical().page_of(lpa);
        if (std::exchange(first, false)) block = p.block;
        in_place = in_place && p.group == ftl_.shape().group_of(b) && p.block == block && p.page == page &&
                   logical().slot_of(lpa) == slot;
    });
    return in_place && !first;
}

void HybridMap::found(const std::vector<SuperblockId>& in_order) {
    for (const SuperblockId b : in_order) {
        std::uint32_t block = 0;
        if (ftl_.is_bad(b) || blocks_[b].valid == 0 || !is_in_place(b, block)) continue;
        SuperblockId& best = groups_[idx(ftl_.shape().group_of(b))].data[block];
        if (best == kNoSuperblock || blocks_[b].valid > blocks_[best].valid) best = b;
    }
    for (const SuperblockId b : in_order) {
        Group& g = groups_[idx(ftl_.shape().group_of(b))];
        if (ftl_.is_bad(b)) {
            g.random.push_front(b);
            continue;
        }
        blocks_[b].state = BlockState::placed;
        if (blocks_[b].valid == 0)
            die(b);
        else if (std::find(g.data.begin(), g.data.end(), b) == g.data.end())
            g.random.push_back(b);
    }
}

std::string HybridMap::check() const {
    std::map<SuperblockId, std::uint32_t> parts;
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
        const Group& g = groups_[i];
        for (std::uint32_t block = 0; block < g.data.size(); ++block) {
            const SuperblockId b = g.data[block];
            std::uint32_t of = block;
            if (b == kNoSuperblock) continue;
            ++parts[b];
            if (blocks_[b].valid != 0 && (!is_in_place(b, of) || of != block))
                return "data block " + std::to_string(idx(b)) + " of logical block " + std::to_string(block) +
                       " of group " + std::to_string(i) + " holds units out of their places";
        }
        for (const SuperblockId b : g.random) ++parts[b];
        for (const SuperblockId b : g.dead) {
            ++parts[b];
            if (blocks_[b].valid != 0)
                return "superblock " + std::to_string(idx(b)) + " is to be erased and holds units";
        }
        for (const Sequential& s : g.complete) ++parts[s.at];
        if (g.sequential.at != kNoSuperblock) ++parts[g.sequential.at];
        if (g.merged != kNoSuperblock) ++parts[g.merged];
    }
    for (std::uint32_t n = 0; n < ftl_.shape().superblocks(); ++n) {
        const SuperblockId b{n};
        const BlockRecord& r = blocks_[b];
        const auto found = parts.find(b);
        const std::uint32_t played = found == parts.end() ? 0 : found->second;
        const bool is_log =
            (r.state == BlockState::open_host || r.state == BlockState::full || r.state == BlockState::placed ||
             r.state == BlockState::failed || (r.state == BlockState::open_gc && r.stream != kGcStream)) &&
            r.stream != kGcStream;
        if (played != (is_log ? 1u : 0u))
            return "superblock " + std::to_string(n) + " is " + name_of(r.state) + " and plays " +
                   std::to_string(played) + " parts in the hybrid map";
    }
    for (std::uint64_t l = 0; l < ftl_.logical_units(); ++l) {
        const Lpa lpa{static_cast<std::uint32_t>(l)};
        const Ppa at = ftl_.lookup(lpa);
        if (!is_place(at)) continue;
        if (logical().page_of(lpa).group != ftl_.shape().group_of(ftl_.shape().superblock_of(at)))
            return "unit " + std::to_string(l) + " is in a group that is not its own";
    }
    return "";
}

void HybridMap::state(Snapshot& s) {
    for (Group& g : groups_) {
        SSDTLM_CHECK(g.demand == Demand::none && !g.erasing && g.complete.empty() && g.merged == kNoSuperblock,
                     "a snapshot while log blocks are merged");
        SSDTLM_CHECK(g.rest.state == Rest::State::none, "a snapshot with units at hand for a page of the host");
        s.fixed(g.data);
        s(g.sequential.at, g.sequential.block, g.sequential.next, g.sequential.copied);
        for (std::deque<SuperblockId>* const list : {&g.random, &g.dead}) {
            std::vector<SuperblockId> as_vector(list->begin(), list->end());
            s(as_vector);
            list->assign(as_vector.begin(), as_vector.end());
        }
        if (s.reads()) check_read(s, static_cast<std::uint32_t>(&g - groups_.data()));
    }
}

/// Each superblock must be in its group, and the sequential log block must be of a logical block. check() looks at
/// their contents.
void HybridMap::check_read(Snapshot& s, std::uint32_t group) const {
    const Group& g = groups_[group];
    const auto is_of_group = [&](SuperblockId b) {
        s.require(idx(b) / ftl_.shape().blocks_per_group() == group, "a log block of another group");
    };
    for (const SuperblockId b : g.data)
        if (b != kNoSuperblock) is_of_group(b);
    for (const SuperblockId b : g.random) is_of_group(b);
    for (const SuperblockId b : g.dead) is_of_group(b);
    if (g.sequential.at == kNoSuperblock) return;
    is_of_group(g.sequential.at);
    s.require(g.sequential.block < g.data.size() && g.sequential.next <= ftl_.shape().pages() &&
                  blocks_[g.sequential.at].write_pointer == g.sequential.next,
              "a sequential log block that cannot be");
}

std::string HybridMap::dump(GroupId group) const {
    static const char* const names[] = {"no", "a partial", "a full", "a filling", "a page's"};
    const Group& g = groups_[idx(group)];
    return std::string(names[static_cast<std::size_t>(g.demand)]) + " merge is demanded, logical block " +
           std::to_string(g.run.block) + " page " + std::to_string(g.run.next) + " of " + std::to_string(g.run.end) +
           ", " + std::to_string(g.random.size()) + " random log blocks, " + std::to_string(g.dead.size()) +
           " to be erased" + (g.erasing ? ", one being erased" : "") + ", " + std::to_string(host_programs(group)) +
           " programs of the host";
}

}  // namespace ssdtlm
