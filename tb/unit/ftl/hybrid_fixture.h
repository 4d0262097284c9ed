// SPDX-License-Identifier: Apache-2.0
// A device with a hybrid map, and the untimed steps of the firmware: pages of the host, with the merges that they ask
// for.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/ftl/ftl_check.h"
#include "controller/journal/notes.h"
#include "controller/map/blocks/hybrid_map.h"
#include "controller/precondition/precondition.h"
#include "nand/array/spare_area.h"

namespace ssdtlm::test {

/// One die of two planes: a logical block is 8 pages of 2 units, 16 units.
inline NandGeometry hybrid_geometry() {
    NandGeometry g;
    g.channels = g.ways = g.dies_per_chip = 1;
    g.planes_per_die = 2;
    g.blocks_per_plane = 24;
    g.pages_per_block = 4;
    g.page_bytes = 8192;
    g.unit_bytes = 4096;
    return g;
}

inline FtlConfig hybrid_config(const NandGeometry& g, std::uint32_t random_logs,
                               SuperblockSpan span = SuperblockSpan::die) {
    FtlConfig c;
    c.mapping = "fast";
    c.fast.random_log_blocks = random_logs;
    c.gc_soft_free_blocks = 3;
    c.gc_hard_free_blocks = 2;
    c.initial_state = InitialState::fresh;
    c.superblock = span;
    c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
    return c;
}

inline FtlConfig block_config(const NandGeometry& g, SuperblockSpan span = SuperblockSpan::die) {
    FtlConfig c = hybrid_config(g, 0, span);
    c.mapping = "block";
    c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
    return c;
}

inline HybridMap& hybrid_of(const Ftl& ftl) {
    return dynamic_cast<HybridMap&>(*ftl.placement());
}

struct HybridDevice {
    /// `bad`: blocks that the factory has marked.
    HybridDevice(const FtlConfig& config, const NandGeometry& g, std::uint64_t seed = 1,
                 const std::vector<BlockId>& bad = {})
        : geometry(g), flash(g), ftl(config, g, (mark(bad), flash), seed) {
        Preconditioner(ftl).run();
    }
    void mark(const std::vector<BlockId>& bad) {
        for (const BlockId b : bad) flash.mark_bad(b);
    }

    const LogicalBlocks& logical() const { return ftl.placement()->logical(); }
    /// A page with all units of this one, in their order.
    void write(const LogicalPage& p) {
        std::vector<Lpa> units;
        for (std::uint32_t i = 0; i < logical().units(p); ++i) units.push_back(Lpa{idx(logical().first_unit(p)) + i});
        program(p.group, &p, units);
    }
    void write(std::uint32_t block, std::uint32_t page, GroupId group = {}) { write(LogicalPage{group, block, page}); }
    /// A page with these units, which are of one group and not all those of one page. With block mapping of one page,
    /// all of them or not.
    void write(const std::vector<Lpa>& units) {
        const LogicalPage p = logical().page_of(units[0]);
        program(p.group, !ftl.placement()->takes_any_units() && units.size() == logical().units(p) ? &p : nullptr,
                units);
    }
    /// Unit of a logical block of group 0.
    Lpa unit(std::uint32_t block, std::uint32_t n) const {
        const std::uint32_t per_page = geometry.units_per_page();
        return Lpa{idx(logical().first_unit({GroupId{0}, block, n / per_page})) + n % per_page};
    }
    void program(GroupId group, const LogicalPage* whole, const std::vector<Lpa>& units) {
        PageAddress a;
        const LogicalPage page = logical().page_of(units[0]);
        const bool by_block = !ftl.placement()->takes_any_units();
        std::uint32_t slots = 0;
        for (const Lpa l : units) slots |= 1u << logical().slot_of(l);
        while (!(by_block && whole == nullptr ? ftl.placement()->take_part(page, slots, a)
                                              : ftl.placement()->take_pages(group, whole, 1, &a) != 0)) {
            ASSERT_TRUE(ftl.placement()->demanded(group) || ftl.placement()->dead(group) != kNoSuperblock);
            merge(group);
        }
        Spare out[kMaxUnitsPerPage];
        std::fill_n(out, geometry.units_per_page(), kPadding);
        for (std::uint32_t i = 0; i < units.size(); ++i) {
            const std::uint32_t s = by_block ? logical().slot_of(units[i]) : i;
            out[s] = ftl.codec().make(units[i], ++version);
            const Ppa old = ftl.map_unit(units[i], geometry.ppa_of(a, s));
            ftl.hold_copy(old);
            ftl.let_go_copy(old);
        }
        if (by_block) return ftl.placement()->program_part(page, slots, a, out);
        flash.program_page(a, out, ftl.draw_record(a));
        ftl.host_page_programmed(a);
    }
    /// With the journal, when an erase waits for it.
    void merge(GroupId group) {
        for (;;) {
            ftl.placement()->merge_at_once(group);
            if (ftl.placement()->dead(group) == kNoSuperblock) return;
            const Journal::Id id = notes_of(ftl).journal().next(true);
            ASSERT_NE(id, Journal::kDetached);
            write_journal_page(group, id);
            if (ftl.wants_collection(group)) collect_journal(group);
        }
    }
    void write_journal_page(GroupId group, Journal::Id id) {
        const PageAddress a = notes_of(ftl).place_page(id, group);
        const std::vector<Spare> none(geometry.units_per_page(), kPadding);
        PageRecord record = ftl.draw_record(a, PageKind::journal);
        record.content = &notes_of(ftl).journal().page(id).content;
        flash.program_page(a, none.data(), record);
        std::vector<SuperblockId> freed;
        notes_of(ftl).page_programmed(id, freed);
    }
    void collect_journal(GroupId group) {
        const SuperblockId victim = ftl.select_victim(group);
        if (victim == kNoSuperblock) return;
        std::uint32_t slots = 0;
        for (std::uint32_t page = 0; ftl.next_valid_page(victim, page, slots); ++page)
            ASSERT_TRUE(notes_of(ftl).renew_page(ftl.shape().page(victim, page)));
        while (!ftl.erase_allowed(victim)) write_journal_page(group, notes_of(ftl).journal().next(true));
        for (std::uint32_t i = 0; i < ftl.shape().planes(); ++i) flash.erase(ftl.shape().block(victim, i));
        ftl.superblock_erased(victim);
    }
    FtlCounters since(const FtlCounters& before) const { return ftl.counters() - before; }

    NandGeometry geometry;
    SpareArea flash;
    Ftl ftl;
    std::uint32_t version = 0;
};

/// Each unit is what was written last, by its version, or was never written.
inline void expect_written_last(const Ftl& ftl, const SpareArea& flash,
                                const std::map<std::uint32_t, std::uint32_t>& versions) {
    for (std::uint32_t l = 0; l < ftl.logical_units(); ++l) {
        const Ppa at = ftl.lookup(Lpa{l});
        ASSERT_EQ(at == kUnmapped, versions.count(l) == 0) << l;
        if (at == kUnmapped) continue;
        ASSERT_EQ(ftl.codec().version(flash.at(at)), ftl.codec().version(ftl.codec().make(Lpa{l}, versions.at(l))))
            << l;
    }
}

}  // namespace ssdtlm::test
