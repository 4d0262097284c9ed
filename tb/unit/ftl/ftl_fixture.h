// SPDX-License-Identifier: Apache-2.0
// A small device and the untimed steps of the firmware, written once for the FTL tests: through the public interface
// of Ftl only, one unit at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/journal/notes.h"
#include "nand/array/spare_area.h"

namespace ssdtlm::test {

inline NandGeometry small_geometry() {
    NandGeometry g;
    g.channels = 2;
    g.ways = 2;
    g.dies_per_chip = 1;
    g.planes_per_die = 2;
    g.blocks_per_plane = 24;
    g.pages_per_block = 16;
    g.page_bytes = 16384;
    g.unit_bytes = 4096;
    return g;
}

inline FtlConfig small_config(const NandGeometry& g, double user_share, SuperblockSpan span = SuperblockSpan::plane) {
    FtlConfig c;
    c.user_capacity_bytes = static_cast<std::uint64_t>(user_share * static_cast<double>(g.units())) * g.unit_bytes;
    c.gc_soft_free_blocks = 3;
    c.gc_hard_free_blocks = 2;
    c.initial_state = InitialState::fresh;
    c.superblock = span;
    return c;
}

struct Device {
    Device(const FtlConfig& config, const NandGeometry& g, std::uint64_t seed = 1, const std::vector<BlockId>& bad = {})
        : geometry(g), flash(g), ftl(config, g, marked(bad), seed) {}
    SpareArea& marked(const std::vector<BlockId>& bad) {
        for (const BlockId b : bad) flash.mark_bad(b);
        return flash;
    }

    /// Host pages with these units, which are of one partition, at most a row. false: no group takes one (and `units`
    /// is what was not written).
    bool write(std::vector<Lpa>& units) {
        const std::uint32_t per_page = geometry.units_per_page();
        for (bool left_over = false; !units.empty(); left_over = true) {
            std::vector<PageAddress> row(ftl.shape().planes());
            const auto wanted = static_cast<std::uint32_t>((units.size() + per_page - 1) / per_page);
            const std::uint32_t pages =
                ftl.allocate_host_pages(wanted, row.data(), left_over, ftl.partitions().of(units.front()));
            if (pages == 0) return false;
            for (std::uint32_t p = 0; p < pages; ++p) {
                Spare out[kMaxUnitsPerPage];
                std::fill_n(out, per_page, kPadding);
                const std::size_t n = std::min<std::size_t>(per_page, units.size());
                for (std::uint32_t s = 0; s < n; ++s) {
                    out[s] = ftl.codec().make(units[s], 1);
                    map(units[s], geometry.ppa_of(row[p], s));
                }
                units.erase(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(n));
                flash.program_page(row[p], out, ftl.draw_record(row[p]));
                ftl.host_page_programmed(row[p]);
                last = row[p];
            }
        }
        return true;
    }
    bool write(std::vector<Lpa>&& units) { return write(units); }
    /// Without a power cut nobody needs the old copy.
    void map(Lpa lpa, Ppa to) {
        const Ppa old = ftl.map_unit(lpa, to);
        ftl.hold_copy(old);
        ftl.let_go_copy(old);
    }
    /// All that was deallocated, into the group.
    void write_journal(GroupId group) {
        while (notes_of(ftl).journal().next(true) != Journal::kDetached) {
            notes_of(ftl).gather_pages();
            const Journal::Id id = notes_of(ftl).journal().next(true);
            const PageAddress a = notes_of(ftl).place_page(id, group);
            const std::vector<Spare> none(geometry.units_per_page(), kPadding);
            PageRecord record = ftl.draw_record(a, PageKind::journal);
            record.content = &notes_of(ftl).journal().page(id).content;
            flash.program_page(a, none.data(), record);
            std::vector<SuperblockId> freed;
            notes_of(ftl).page_programmed(id, freed);
        }
    }
    GroupId last_group() const { return ftl.shape().group_of(last.plane); }
    /// Empties one victim, its units packed in page order.
    bool collect(GroupId group, bool idle = false) {
        const SuperblockId victim = ftl.select_victim(group, idle);
        if (victim == kNoSuperblock) return false;
        from.clear();
        std::uint32_t slots = 0;
        for (std::uint32_t page = 0; ftl.next_valid_page(victim, page, slots); ++page) {
            const PageAddress a = ftl.shape().page(victim, page);
            if (notes_of(ftl).renew_page(a)) {
                ++journal_pages_renewed;
                continue;
            }
            for (std::uint32_t s = 0; s < geometry.units_per_page(); ++s) {
                if ((slots >> s & 1) != 0) from.push_back(geometry.ppa_of(a, s));
            }
        }
        const std::uint32_t n = geometry.units_per_page();
        for (std::size_t i = 0; i < from.size(); i += n) {
            const PageAddress to = ftl.allocate_moved_page(group);
            Spare out[kMaxUnitsPerPage];
            std::fill_n(out, n, kPadding);
            for (std::uint32_t s = 0; s < n && i + s < from.size(); ++s) out[s] = flash.at(from[i + s]);
            flash.program_page(to, out, ftl.draw_record(to));
            for (std::uint32_t s = 0; s < n && i + s < from.size(); ++s)
                ftl.commit_move(ftl.codec().lpa(out[s]), from[i + s], geometry.ppa_of(to, s));
            ftl.gc_page_programmed(to);
        }
        if (ftl.is_bad(victim)) {
            ftl.superblock_emptied(victim);
            return true;
        }
        if (notes_of(ftl).must_be_written_for(victim)) write_journal(group);
        for (std::uint32_t i = 0; i < ftl.shape().planes(); ++i) flash.erase(ftl.shape().block(victim, i));
        ftl.superblock_erased(victim);
        return true;
    }

    NandGeometry geometry;
    SpareArea flash;
    Ftl ftl;
    PageAddress last;       ///< of write()
    std::vector<Ppa> from;  ///< of collect(), kept for its memory
    std::uint64_t journal_pages_renewed = 0;
};

}  // namespace ssdtlm::test
