// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/mapping/block_placement.h"

#include "controller/ftl/ftl.h"

namespace ssdtlm {

BlockPlacement::BlockPlacement(const PlacementSetup& setup)
    : ftl_(setup.ftl),
      blocks_(setup.blocks),
      counters_(setup.counters),
      logical_(ftl_.geometry(), ftl_.shape(), ftl_.partitions().sequence(), ftl_.logical_units()) {}

bool BlockPlacement::has_copy(Lpa lpa) const {
    return is_place(ftl_.lookup(lpa));
}

std::uint32_t BlockPlacement::row_left(std::uint32_t page) const {
    return ftl_.shape().data_planes() - ftl_.shape().plane_in_group(page);
}

SuperblockId BlockPlacement::superblock_of(const PageAddress& a) const {
    return ftl_.shape().superblock_of(ftl_.geometry().block_of(a));
}

void BlockPlacement::merge_at_once(GroupId group) {
    for (;;) {
        while (dead(group) != kNoSuperblock) {
            if (!ftl_.erase_allowed(dead(group))) return;
            const SuperblockId b = begin_erase(group);
            for (std::uint32_t i = 0; i < ftl_.shape().planes(); ++i)
                ftl_.flash_in_no_time().erase(ftl_.shape().block(b, i));
            ftl_.superblock_erased(b);
            erase_ended(group);
        }
        if (!demanded(group)) return;
        if (!begin(group)) continue;
        while (!reads_rest(group) && run(group).next != run(group).end) copy_page(group);
        end_run(group);
    }
}

void BlockPlacement::copy_page(GroupId group) {
    const LogicalPage p{group, run(group).block, run(group).next};
    const PageAddress a = next_page(group);
    Spare out[kMaxUnitsPerPage];
    program_at_once(p, 0, a, out);
    ftl_.gc_page_programmed(a);
}

void BlockPlacement::program_part(const LogicalPage& page, std::uint32_t slots, const PageAddress& a, Spare* out) {
    program_at_once(page, rest_taken(page.group) ? slots : ~0u, a, out);
    ftl_.host_page_programmed(a);
}

/// Copies the units that are not in the slots `skip`. `out` has the units of those slots.
void BlockPlacement::program_at_once(const LogicalPage& page, std::uint32_t skip, const PageAddress& a, Spare* out) {
    Ppa from[kMaxUnitsPerPage];
    SpareArea& flash = ftl_.flash_in_no_time();
    for (std::uint32_t s = 0; s < ftl_.geometry().units_per_page(); ++s) {
        from[s] = kUnmapped;
        if ((skip >> s & 1u) != 0) continue;
        const Ppa at = s < logical_.units(page) ? ftl_.lookup(Lpa{idx(logical_.first_unit(page)) + s}) : kUnmapped;
        if (is_place(at)) from[s] = at;
        out[s] = from[s] == kUnmapped ? kPadding : flash.at(at);
    }
    flash.program_page(a, out, ftl_.draw_record(a));
    for (std::uint32_t s = 0; s < ftl_.geometry().units_per_page(); ++s)
        if (from[s] != kUnmapped) ftl_.commit_move(ftl_.codec().lpa(out[s]), from[s], ftl_.geometry().ppa_of(a, s));
}

}  // namespace ssdtlm
