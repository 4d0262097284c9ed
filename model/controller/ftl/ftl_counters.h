// SPDX-License-Identifier: Apache-2.0
// What the FTL did, as counts that only grow; a measured window is the difference of two copies.
#pragma once

#include <cstdint>

namespace ssdtlm {

struct FtlCounters {
    std::uint64_t host_units = 0;            ///< logical units mapped by host writes
    std::uint64_t host_pages_allocated = 0;  ///< handed out to host writes
    std::uint64_t host_pages = 0;            ///< programmed with host data
    std::uint64_t gc_pages = 0;              ///< programmed with moved data
    std::uint64_t gc_units_moved = 0;        ///< copies that became the mapped one
    std::uint64_t gc_units_stale = 0;        ///< copies that the host had overwritten or trimmed meanwhile
    std::uint64_t blocks_erased = 0;         ///< those whose erase failed among them
    std::uint64_t victims = 0;
    std::uint64_t victim_valid_units = 0;  ///< sum over the victims, when they were selected
    std::uint64_t wear_victims = 0;        ///< of the victims, those of static wear levelling
    std::uint64_t wear_units = 0;          ///< sum over these, when they were selected
    std::uint64_t refresh_victims = 0;     ///< of the victims, those that had been read too often, or were old
    std::uint64_t refresh_units = 0;       ///< sum over these, when they were selected
    std::uint64_t aged_superblocks = 0;    ///< that were found to be old, and are to be refreshed
    std::uint64_t trims = 0;               ///< mapped units that lost their mapping by deallocation
    std::uint64_t journal_pages = 0;       ///< programmed with what was deallocated or lost
    std::uint64_t gc_own_units = 0;        ///< of gc_units_moved, those of features: translation pages
    std::uint64_t map_pages = 0;           ///< flash pages programmed with translation pages that left the map's cache
    std::uint64_t checkpoint_pages = 0;    ///< programmed with checkpoints of the map, root records among them
    std::uint64_t slc_pages = 0;           ///< of host_pages, those in the SLC cache
    std::uint64_t slc_victims = 0;         ///< of the victims, blocks of the SLC cache
    std::uint64_t slc_units_folded = 0;    ///< sum over these, when they were selected
    // Counts of a mapping by blocks (../map/blocks/). What its merges copy counts as moved by GC.
    std::uint64_t direct_blocks =
        0;  ///< logical blocks without a data block that were written in ascending order, to it
    std::uint64_t switch_merges = 0;
    std::uint64_t partial_merges = 0;
    std::uint64_t full_merges = 0;         ///< random log blocks emptied
    std::uint64_t full_merge_blocks = 0;   ///< logical blocks gathered for these
    std::uint64_t empty_logs = 0;          ///< random log blocks in which nothing was left
    std::uint64_t parity_pages = 0;        ///< programmed with the parity of rows
    std::uint64_t host_padding_pages = 0;  ///< programmed to close word lines, where the host writes
    std::uint64_t gc_padding_pages = 0;    ///< the same where garbage collection does

    /// Slots programmed without data. The figure is exact between calls, because a page's units are mapped when it is
    /// allocated (host) or when it has been programmed (GC).
    std::uint64_t pad_units(std::uint32_t units_per_page) const {
        return (host_pages_allocated + gc_pages) * units_per_page - host_units - gc_units_moved - gc_units_stale;
    }
    /// Units that fit into all pages given to host data, full or padded, and into those programmed by GC, for the
    /// journal, for the map and its checkpoints, for parity, and to close word lines. Host pages count at the issue of
    /// the program, as their units do. So this is never below host_units, in any window.
    std::uint64_t flash_units(std::uint32_t units_per_page) const {
        return (host_pages_allocated + gc_pages + journal_pages + map_pages + checkpoint_pages + parity_pages +
                host_padding_pages + gc_padding_pages) *
               units_per_page;
    }
    /// Pages of garbage collection that moved translation pages, and those that moved user data. A page that holds both
    /// counts in parts.
    double gc_mapping_pages(std::uint32_t units_per_page) const {
        return static_cast<double>(gc_own_units) / units_per_page;
    }
    double gc_user_pages(std::uint32_t units_per_page) const {
        return static_cast<double>(gc_pages) - gc_mapping_pages(units_per_page);
    }
    /// Pages programmed, of all classes. Host pages still under way do not count.
    std::uint64_t pages_programmed() const {
        return host_pages + gc_pages + journal_pages + map_pages + checkpoint_pages + parity_pages +
               host_padding_pages + gc_padding_pages;
    }
    /// flash_units / host_units, as formulas and other simulators count; 0 before the first host write. It is not the
    /// WAF in bytes that a drive reports, which differs when the host writes part of a unit, or writes a unit twice
    /// while it is buffered (written_bytes.h).
    double unit_write_amplification(std::uint32_t units_per_page) const {
        if (host_units == 0) return 0.0;
        return static_cast<double>(flash_units(units_per_page)) / static_cast<double>(host_units);
    }
    friend FtlCounters operator-(const FtlCounters& a, const FtlCounters& b) {
        return {a.host_units - b.host_units,
                a.host_pages_allocated - b.host_pages_allocated,
                a.host_pages - b.host_pages,
                a.gc_pages - b.gc_pages,
                a.gc_units_moved - b.gc_units_moved,
                a.gc_units_stale - b.gc_units_stale,
                a.blocks_erased - b.blocks_erased,
                a.victims - b.victims,
                a.victim_valid_units - b.victim_valid_units,
                a.wear_victims - b.wear_victims,
                a.wear_units - b.wear_units,
                a.refresh_victims - b.refresh_victims,
                a.refresh_units - b.refresh_units,
                a.aged_superblocks - b.aged_superblocks,
                a.trims - b.trims,
                a.journal_pages - b.journal_pages,
                a.gc_own_units - b.gc_own_units,
                a.map_pages - b.map_pages,
                a.checkpoint_pages - b.checkpoint_pages,
                a.slc_pages - b.slc_pages,
                a.slc_victims - b.slc_victims,
                a.slc_units_folded - b.slc_units_folded,
                a.direct_blocks - b.direct_blocks,
                a.switch_merges - b.switch_merges,
                a.partial_merges - b.partial_merges,
                a.full_merges - b.full_merges,
                a.full_merge_blocks - b.full_merge_blocks,
                a.empty_logs - b.empty_logs,
                a.parity_pages - b.parity_pages,
                a.host_padding_pages - b.host_padding_pages,
                a.gc_padding_pages - b.gc_padding_pages};
    }
};

}  // namespace ssdtlm
