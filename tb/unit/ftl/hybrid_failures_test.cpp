// SPDX-License-Identifier: Apache-2.0
// Programs that fail below log blocks: what is merged, copied and retired, against sequences worked out by hand; and at
// random, with losses of power. A logical block is 8 pages of 2 units.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "common/random/random.h"
#include "controller/journal/notes.h"
#include "controller/mount/recovery.h"
#include "hybrid_fixture.h"

namespace ssdtlm {
namespace {

using test::hybrid_of;
using test::HybridDevice;

constexpr GroupId kGroup{0};

NandGeometry with_spare_blocks(NandGeometry g, std::uint32_t spare) {
    g.blocks_per_plane += spare;
    return g;
}
/// Without random logs: block mapping.
FtlConfig with_spares(const NandGeometry& g, std::uint32_t random_logs, std::uint32_t spare,
                      SuperblockSpan span = SuperblockSpan::die) {
    FtlConfig c = random_logs == 0 ? test::block_config(g, span) : test::hybrid_config(g, random_logs, span);
    c.spare_blocks = spare;
    c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
    return c;
}

/// What is merged, copied, and then erased or retired.
struct Cost {
    std::uint64_t full = 0, blocks = 0, empty = 0, pages = 0, units = 0, erased = 0, retired = 0;
    friend bool operator==(const Cost& a, const Cost& b) {
        return a.full == b.full && a.blocks == b.blocks && a.empty == b.empty && a.pages == b.pages &&
               a.units == b.units && a.erased == b.erased && a.retired == b.retired;
    }
    friend std::ostream& operator<<(std::ostream& o, const Cost& c) {
        return o << "full " << c.full << " (" << c.blocks << " logical blocks), empty " << c.empty << ", pages "
                 << c.pages << ", units " << c.units << ", erased " << c.erased << ", retired " << c.retired;
    }
};

struct Rig {
    explicit Rig(std::uint32_t random_logs) : d(with_spares(g, random_logs, 4), g) {
        for (std::uint32_t block = 0; block < 3; ++block) write_pages(block, 0, 8);
        d.merge(kGroup);
        before = d.ftl.counters();
    }
    void write_pages(std::uint32_t block, std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t p = from; p < to; ++p) d.write(block, p);
    }
    void write_units(std::uint32_t block, std::uint32_t a, std::uint32_t b) {
        d.write({d.unit(block, a), d.unit(block, b)});
    }
    SuperblockId of(const PageAddress& a) const { return d.ftl.shape().superblock_of(g.block_of(a)); }
    SuperblockId of(std::uint32_t block, std::uint32_t n) const {
        return d.ftl.shape().superblock_of(d.ftl.lookup(d.unit(block, n)));
    }
    /// The program of a page with these two units fails, and they are placed again. `page`: of the logical block; null:
    /// these units are not one.
    SuperblockId fail(std::uint32_t block, std::uint32_t a, std::uint32_t b, bool whole) {
        const LogicalPage page{kGroup, block, a / 2};
        PageAddress at;
        EXPECT_EQ(d.ftl.placement()->take_pages(kGroup, whole ? &page : nullptr, 1, &at), 1u);
        const Lpa units[] = {d.unit(block, a), d.unit(block, b)};
        const Spare nothing[] = {kPadding, kPadding};
        Ppa old[2];
        for (std::uint32_t s = 0; s < 2; ++s) d.ftl.hold_copy(old[s] = d.ftl.map_unit(units[s], g.ppa_of(at, s)));
        d.flash.program_page(at, nothing, d.ftl.draw_record(at));
        for (std::uint32_t s = 0; s < 2; ++s) d.ftl.unmap_failed(units[s], g.ppa_of(at, s));
        d.ftl.host_page_failed(at);
        const PageAddress again = d.ftl.allocate_again(kGroup);
        const Spare out[] = {d.ftl.codec().make(units[0], ++d.version), d.ftl.codec().make(units[1], ++d.version)};
        d.flash.program_page(again, out, d.ftl.draw_record(again));
        for (std::uint32_t s = 0; s < 2; ++s) d.ftl.map_again(units[s], g.ppa_of(again, s));
        d.ftl.gc_page_programmed(again);
        for (const Ppa p : old) d.ftl.let_go_copy(p);
        EXPECT_NE(of(again), of(at));
        EXPECT_EQ(d.ftl.superblock(of(at)).state, BlockState::failed);
        EXPECT_EQ(hybrid_of(d.ftl).random_logs(kGroup).front(), of(at));
        EXPECT_EQ(hybrid_of(d.ftl).random_logs(kGroup).back(), of(again));
        return of(at);
    }
    /// The next page of the run; its program fails, or not.
    PageAddress copy(bool fails) {
        HybridMap& hybrid = hybrid_of(d.ftl);
        const LogicalPage page{kGroup, hybrid.run(kGroup).block, hybrid.run(kGroup).next};
        const PageAddress to = hybrid.next_page(kGroup);
        const Ppa from[] = {d.ftl.lookup(d.unit(page.block, 2 * page.page)),
                            d.ftl.lookup(d.unit(page.block, 2 * page.page + 1))};
        const Spare out[] = {d.flash.at(from[0]), d.flash.at(from[1])}, nothing[] = {kPadding, kPadding};
        d.flash.program_page(to, fails ? nothing : out, d.ftl.draw_record(to));
        for (std::uint32_t s = 0; s < 2 && !fails; ++s)
            EXPECT_TRUE(d.ftl.commit_move(d.ftl.codec().lpa(out[s]), from[s], g.ppa_of(to, s)));
        fails ? d.ftl.gc_page_failed(to) : d.ftl.gc_page_programmed(to);
        return to;
    }
    /// Since the last time.
    Cost cost() {
        d.merge(kGroup);
        d.ftl.verify_books();
        const FtlCounters c = d.since(before);
        before = d.ftl.counters();
        const Cost found{c.full_merges,
                         c.full_merge_blocks,
                         c.empty_logs,
                         c.gc_pages,
                         c.gc_units_moved,
                         c.blocks_erased,
                         d.ftl.media().blocks_retired - retired};
        retired = d.ftl.media().blocks_retired;
        return found;
    }
    NandGeometry g = with_spare_blocks(test::hybrid_geometry(), 4);
    HybridDevice d;
    FtlCounters before;
    std::uint64_t retired = 0;
};

struct HybridFailures : ::testing::Test, Rig {
    HybridFailures() : Rig(2) {}
};
struct BlockMappingFailures : ::testing::Test, Rig {
    BlockMappingFailures() : Rig(0) {}
};

TEST_F(HybridFailures, ASequentialLogIsMergedBeforeTheNextPage) {
    write_pages(0, 0, 3);
    const SuperblockId failed = fail(0, 6, 7, true);
    EXPECT_EQ(hybrid_of(d.ftl).sequential_log(kGroup), kNoSuperblock);
    EXPECT_EQ(cost(),
              (Cost{0, 0, 0, 1, 0, 0, 2}));  // the page placed again; nothing is merged while the host writes nothing
    d.write(0, 4);
    // Logical block 0: the units 0 to 5 from the failed log, 6 and 7 from the other, the rest from its data block,
    // which is erased.
    EXPECT_EQ(cost(), (Cost{0, 1, 0, 8, 16, 2, 0}));
    EXPECT_EQ(d.ftl.superblock(failed).state, BlockState::retired);
    EXPECT_EQ(of(0, 7), hybrid_of(d.ftl).data_block(kGroup, 0));
    EXPECT_EQ(of(0, 9), hybrid_of(d.ftl).random_logs(kGroup).back());  // it does not go on behind anything any more
}

TEST_F(HybridFailures, ASequentialLogThatFailsAtItsEndDoesNotBecomeADataBlock) {
    write_pages(0, 0, 7);
    const SuperblockId data = hybrid_of(d.ftl).data_block(kGroup, 0), failed = fail(0, 14, 15, true);
    EXPECT_EQ(hybrid_of(d.ftl).data_block(kGroup, 0), data);
    d.write(1, 0);
    EXPECT_EQ(cost(), (Cost{0, 1, 0, 9, 16, 2, 2}));
    EXPECT_EQ(d.ftl.superblock(failed).state, BlockState::retired);
}

TEST_F(HybridFailures, ARandomLogIsMergedBeforeOlderOnes) {
    for (std::uint32_t i = 0; i < 8; ++i) write_units(2, 3, 5);
    const SuperblockId oldest = hybrid_of(d.ftl).random_logs(kGroup).front();
    write_units(0, 3, 5);
    write_units(1, 0, 2);
    const SuperblockId failed = fail(1, 4, 6, false);
    write_units(0, 7, 9);
    // Logical blocks 0 and 1, with what was placed again of the second. Then there are as many log blocks as there may
    // be: the oldest one is merged, too.
    EXPECT_EQ(cost(), (Cost{1, 3, 0, 25, 48, 8, 2}));
    EXPECT_EQ(d.ftl.superblock(failed).state, BlockState::retired);
    EXPECT_EQ(of(1, 6), hybrid_of(d.ftl).data_block(kGroup, 1));
    EXPECT_EQ(d.ftl.superblock(oldest).state, BlockState::free);
}

// The run is begun again in another superblock, and then the merge goes on where it was.
TEST_F(HybridFailures, AMergeBeginsAgain) {
    for (std::uint32_t i = 0; i < 7; ++i) write_units(0, 4, 8);
    write_units(1, 0, 3);
    for (std::uint32_t i = 0; i < 8; ++i) write_units(2, 0, 3);
    PageAddress none;
    EXPECT_EQ(d.ftl.placement()->take_pages(kGroup, nullptr, 1, &none), 0u);
    ASSERT_TRUE(d.ftl.placement()->begin(kGroup));
    for (int i = 0; i < 3; ++i) copy(false);
    const SuperblockId failed = of(copy(true));
    d.ftl.placement()->abandon_run(kGroup);
    EXPECT_EQ(d.ftl.superblock(failed).valid, 6u);
    d.ftl.verify_books();
    // 4 pages for nothing, then logical blocks 0 and 1; two data blocks and the oldest log are erased.
    EXPECT_EQ(cost(), (Cost{1, 2, 0, 20, 38, 6, 2}));
    EXPECT_EQ(d.ftl.superblock(failed).state, BlockState::retired);
}

// What a partial merge copies into fails: the sequential log is merged in full in its place.
TEST_F(HybridFailures, APartialMergeIsAFullOne) {
    write_pages(0, 0, 3);
    PageAddress none;
    const LogicalPage other{kGroup, 1, 0};
    EXPECT_EQ(d.ftl.placement()->take_pages(kGroup, &other, 1, &none), 0u);
    ASSERT_TRUE(d.ftl.placement()->begin(kGroup));
    copy(false);
    const SuperblockId failed = of(copy(true));
    d.ftl.placement()->abandon_run(kGroup);
    EXPECT_TRUE(d.ftl.placement()->demanded(kGroup));
    EXPECT_EQ(cost(), (Cost{0, 1, 0, 10, 18, 2, 2}));
    EXPECT_EQ(d.ftl.superblock(failed).state, BlockState::retired);
    EXPECT_EQ(d.ftl.counters().partial_merges, 0u);
}

TEST_F(HybridFailures, WithoutASpareOneTheDriveIsReadOnlyAndKeepsWhatItHas) {
    for (std::uint32_t i = 0; i < 4; ++i) {
        write_pages(0, 0, 3);
        fail(0, 6, 7, true);
    }
    write_pages(0, 0, 3);
    EXPECT_EQ(d.ftl.media().available_spare, 0u);
    EXPECT_FALSE(d.ftl.media().read_only);
    const SuperblockId failed = fail(0, 6, 7, true);
    EXPECT_TRUE(d.ftl.media().read_only);
    PageAddress none;
    EXPECT_EQ(d.ftl.placement()->take_pages(kGroup, nullptr, 1, &none), 0u);
    EXPECT_FALSE(d.ftl.placement()->demanded(kGroup));
    EXPECT_EQ(of(0, 5), failed);
}

TEST_F(BlockMappingFailures, AReplacementBlockIsMergedAndBegunAgain) {
    write_pages(0, 0, 2);
    const SuperblockId failed = fail(0, 4, 5, true);
    d.write(0, 3);
    // The failed block: all of logical block 0. What was placed again is there then, and its log block empty. Of the
    // new replacement block the 3 pages before.
    EXPECT_EQ(cost(), (Cost{0, 1, 1, 12, 22, 4, 2}));
    EXPECT_EQ(d.ftl.superblock(failed).state, BlockState::retired);
    EXPECT_EQ(of(0, 7), hybrid_of(d.ftl).sequential_log(kGroup));
}

// Of what the journal says, and does not say yet, when the power goes.
TEST(HybridFailuresStart, KnowsWhatHasFailed) {
    for (const bool noted : {false, true}) {
        SCOPED_TRACE(noted);
        Rig now(2);
        now.write_pages(0, 0, 3);
        const SuperblockId failed = now.fail(0, 6, 7, true);
        if (noted) now.d.write_journal_page(kGroup, notes_of(now.d.ftl).journal().next(true));
        Ftl ftl(now.d.ftl.config(), now.g, now.d.flash, 1);
        Recovery(ftl).from_all_pages();
        ASSERT_NO_THROW(ftl.verify_books());
        EXPECT_EQ(ftl.superblock(failed).valid, 6u);
        EXPECT_EQ(ftl.superblock(failed).state, noted ? BlockState::failed : BlockState::placed);
        EXPECT_EQ(hybrid_of(ftl).random_logs(kGroup).front(), failed);
        PageAddress a;
        EXPECT_EQ(ftl.placement()->take_pages(kGroup, nullptr, 1, &a), 0u);
        ftl.placement()->merge_at_once(kGroup);
        EXPECT_EQ(ftl.superblock(failed).state, noted ? BlockState::retired : BlockState::free);
        ASSERT_NO_THROW(ftl.verify_books());
    }
}

/// One life of a drive whose programs fail, between two losses of power.
struct Life {
    /// Whether the next program fails.
    bool fails() { return random.below(1000) < 4; }
    void program(const PageAddress& a, const std::vector<Spare>& out, bool failed) {
        flash.program_page(a, failed ? std::vector<Spare>(out.size(), kPadding).data() : out.data(),
                           ftl.draw_record(a));
    }
    /// All that is demanded and dead.
    void merge(GroupId group) {
        HybridMap& hybrid = hybrid_of(ftl);
        for (;;) {
            while (hybrid.dead(group) != kNoSuperblock) {
                const SuperblockId b = hybrid.begin_erase(group);
                for (std::uint32_t i = 0; i < ftl.shape().planes(); ++i) flash.erase(ftl.shape().block(b, i));
                ftl.superblock_erased(b);
                hybrid.erase_ended(group);
            }
            if (!hybrid.demanded(group)) return;
            if (!hybrid.begin(group)) continue;
            bool failed = false;
            while (!failed && hybrid.run(group).next != hybrid.run(group).end) failed = copy(group);
            failed ? hybrid.abandon_run(group) : hybrid.end_run(group);
            abandoned += failed;
        }
    }
    bool copy(GroupId group) {
        const LogicalPage p{group, ftl.placement()->run(group).block, ftl.placement()->run(group).next};
        const PageAddress a = ftl.placement()->next_page(group);
        std::vector<Ppa> from(ftl.geometry().units_per_page(), kUnmapped);
        std::vector<Spare> out(from.size(), kPadding);
        for (std::uint32_t s = 0; s < ftl.placement()->logical().units(p); ++s) {
            from[s] = ftl.lookup(Lpa{idx(ftl.placement()->logical().first_unit(p)) + s});
            if (from[s] != kUnmapped) out[s] = flash.at(from[s]);
        }
        const bool failed = fails();
        program(a, out, failed);
        for (std::uint32_t s = 0; s < from.size() && !failed; ++s)
            if (from[s] != kUnmapped) ftl.commit_move(ftl.codec().lpa(out[s]), from[s], ftl.geometry().ppa_of(a, s));
        failed ? ftl.gc_page_failed(a) : ftl.gc_page_programmed(a);
        return failed;
    }
    /// A page with these units, in a superblock of their group. Each is placed again until it is there. False: the
    /// drive is read-only.
    bool write(const LogicalPage& p, bool whole, const std::vector<Spare>& units) {
        PageAddress a;
        while (ftl.placement()->take_pages(p.group, whole ? &p : nullptr, 1, &a) == 0) {
            if (ftl.media().read_only) return false;
            merge(p.group);
        }
        for (bool again = false;; again = true) {
            for (std::uint32_t s = 0; s < units.size(); ++s) {
                if (units[s] == kPadding) continue;
                const Lpa lpa = ftl.codec().lpa(units[s]);
                again ? ftl.map_again(lpa, ftl.geometry().ppa_of(a, s))
                      : void(ftl.map_unit(lpa, ftl.geometry().ppa_of(a, s)));
            }
            const bool failed = fails();
            program(a, units, failed);
            if (!failed) {
                again ? ftl.gc_page_programmed(a) : ftl.host_page_programmed(a);
                return true;
            }
            for (std::uint32_t s = 0; s < units.size(); ++s)
                if (units[s] != kPadding) ftl.unmap_failed(ftl.codec().lpa(units[s]), ftl.geometry().ppa_of(a, s));
            again ? ftl.gc_page_failed(a) : ftl.host_page_failed(a);
            ++placed_again;
            if (ftl.media().read_only) return false;
            a = ftl.allocate_again(p.group);
        }
    }
    void write_journal() {
        GroupId group;
        const Journal::Id id = notes_of(ftl).journal().next(true);
        if (id == Journal::kDetached || !notes_of(ftl).group_for_page(group)) return;
        const PageAddress a = notes_of(ftl).place_page(id, group);
        PageRecord record = ftl.draw_record(a, PageKind::journal);
        record.content = &notes_of(ftl).journal().page(id).content;
        flash.program_page(a, std::vector<Spare>(ftl.geometry().units_per_page(), kPadding).data(), record);
        std::vector<SuperblockId> freed;
        notes_of(ftl).page_programmed(id, freed);
    }
    Ftl& ftl;
    SpareArea& flash;
    Random& random;
    std::uint64_t abandoned = 0, placed_again = 0;
};

// No unit is lost before the drive is read-only, and what is known to have failed is not used again.
TEST(HybridFailuresStart, GoesOnAfterLossesOfPower) {
    std::uint64_t abandoned = 0, placed_again = 0, read_only = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, 8);
        const auto spare = static_cast<std::uint32_t>(4 + random.below(16));
        NandGeometry g = with_spare_blocks(test::hybrid_geometry(), spare);
        g.channels = static_cast<std::uint32_t>(1 + random.below(2));
        g.page_bytes = 4096u << random.below(3);
        const FtlConfig c = with_spares(g, static_cast<std::uint32_t>(1 + random.below(3)), spare,
                                        random.percent(50) ? SuperblockSpan::die : SuperblockSpan::plane);
        SpareArea flash(g);
        std::map<std::uint32_t, std::uint32_t> versions;
        std::uint32_t version = 0;
        bool ended = false;
        for (int life = 0; life < 12 && !ended; ++life) {
            Ftl ftl(c, g, flash, 1);
            if (life != 0) {
                Recovery(ftl).from_all_pages();
                ASSERT_NO_THROW(ftl.verify_books());
            }
            ASSERT_NO_FATAL_FAILURE(test::expect_written_last(ftl, flash, versions));
            Life now{ftl, flash, random};
            const LogicalBlocks& logical = ftl.placement()->logical();
            LogicalPage stream;
            for (std::uint64_t step = 0, steps = random.below(400); step < steps && !ended; ++step) {
                LogicalPage p = logical.page_of(Lpa{static_cast<std::uint32_t>(random.below(ftl.logical_units()))});
                const bool whole = random.percent(60) || g.units_per_page() == 1;
                if (whole && random.percent(80)) p = stream;
                std::vector<Spare> out(g.units_per_page(), kPadding);
                for (std::uint32_t s = 0; s < (whole ? logical.units(p) : 1); ++s)
                    out[s] = ftl.codec().make(Lpa{idx(logical.first_unit(p)) + s}, ++version);
                ended = !now.write(p, whole, out);
                for (std::uint32_t s = 0; s < out.size() && !ended; ++s)
                    if (out[s] != kPadding)
                        versions[idx(ftl.codec().lpa(out[s]))] = version - (whole ? logical.units(p) : 1) + s + 1;
                if (p == stream && whole)
                    stream = ++p.page == logical.pages(p.group, p.block)
                                 ? logical.page_of(Lpa{static_cast<std::uint32_t>(random.below(ftl.logical_units()))})
                                 : p;
                if (random.percent(5)) now.write_journal();
                if (step % 100 != 99 || ended) continue;
                ASSERT_NO_THROW(ftl.verify_books());
            }
            abandoned += now.abandoned, placed_again += now.placed_again;
        }
        read_only += ended;
    }
    std::printf("%lu runs of merges begun again, %lu pages placed again, %lu drives read-only in the end\n", abandoned,
                placed_again, read_only);
    EXPECT_GT(abandoned, 100u);
    EXPECT_GT(placed_again, 100u);
    EXPECT_GT(read_only, 0u);
    EXPECT_LT(read_only, 40u);
}

}  // namespace
}  // namespace ssdtlm
