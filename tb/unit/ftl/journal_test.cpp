// SPDX-License-Identifier: Apache-2.0
// What was deallocated or lost, from the note in memory to the page in flash and back after the power was off.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "common/random/random.h"
#include "controller/journal/notes.h"
#include "controller/mount/recovery.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;
using test::small_config;
using test::small_geometry;

class JournalTest : public testing::Test {
protected:
    explicit JournalTest(const NandGeometry& g = small_geometry()) : device(small_config(g, 0.6), g) {}

    void write(std::uint32_t unit) { ASSERT_TRUE(device.write({Lpa{unit}})); }
    bool is_mapped(std::uint32_t unit) { return is_place(device.ftl.lookup(Lpa{unit})); }
    /// Another FTL over the same flash.
    std::unique_ptr<Ftl> after_power_cut() {
        auto ftl = std::make_unique<Ftl>(device.ftl.config(), device.geometry, device.flash, 1);
        Recovery(*ftl).from_all_pages();
        ftl->verify_books();
        return ftl;
    }
    void write_journal() { device.write_journal(GroupId{0}); }

    Device device;
};

TEST_F(JournalTest, ADeallocationIsForgottenUnlessItIsInFlash) {
    for (std::uint32_t u = 0; u < 8; ++u) write(u);
    EXPECT_EQ(device.ftl.trim(Lpa{2}, 3), 3u);
    EXPECT_EQ(device.ftl.mapped_units(), 5u);
    EXPECT_EQ(after_power_cut()->mapped_units(), 8u);
    write_journal();
    const auto again = after_power_cut();
    EXPECT_EQ(again->mapped_units(), 5u);
    EXPECT_EQ(again->lookup(Lpa{3}), kUnmapped);
    EXPECT_TRUE(is_place(again->lookup(Lpa{5})));
}

TEST_F(JournalTest, WhatIsWrittenAfterwardsCountsAlthoughThePageOfTheJournalIsNewer) {
    write(3);
    device.ftl.trim(Lpa{3});
    write(3);
    write_journal();
    EXPECT_EQ(after_power_cut()->mapped_units(), 1u);
    device.ftl.trim(Lpa{3});
    write_journal();
    EXPECT_EQ(after_power_cut()->mapped_units(), 0u);
}

TEST_F(JournalTest, ALostUnitStaysLost) {
    write(3);
    write(4);
    device.ftl.lose(Lpa{3});
    EXPECT_EQ(device.ftl.lookup(Lpa{3}), kLost);
    write_journal();
    const auto again = after_power_cut();
    EXPECT_EQ(again->lookup(Lpa{3}), kLost);
    EXPECT_EQ(again->lost_units(), 1u);
    EXPECT_EQ(again->mapped_units(), 2u);
    EXPECT_EQ(again->trim(Lpa{3}), 1u);
    EXPECT_EQ(again->lookup(Lpa{3}), kUnmapped);
    EXPECT_EQ(again->lost_units(), 0u);
}

// One page holds two notes of the unit, with a write between them: renewed, the later one must not be left behind.
TEST_F(JournalTest, ARenewedPageKeepsTheLastNoteOfAUnit) {
    write(3);
    device.ftl.trim(Lpa{3});
    write(3);
    device.ftl.trim(Lpa{3});
    write_journal();
    const Journal::Id id = 1;
    ASSERT_EQ(notes_of(device.ftl).journal().page(id).state, Journal::State::durable);
    ASSERT_EQ(notes_of(device.ftl).journal().page(id).entries.size(), 2u);
    EXPECT_TRUE(notes_of(device.ftl).renew_page(PageAddress{notes_of(device.ftl).journal().page(id).at}));
    write_journal();
    EXPECT_EQ(after_power_cut()->mapped_units(), 0u);
    device.ftl.verify_books();
}

// Too rare for random cuts: the block with the note may not go while the write that makes it untrue is on its way.
TEST_F(JournalTest, ANoteStaysUntilTheNewerCopyIsThere) {
    Ftl& ftl = device.ftl;
    write(3);
    ftl.trim(Lpa{3});
    write_journal();
    const SuperblockId home = ftl.shape().superblock_of(device.geometry.block_of(notes_of(ftl).journal().page(1).at));
    EXPECT_TRUE(ftl.erase_allowed(home));
    PageAddress a;
    ASSERT_TRUE(ftl.allocate_host_page(a));
    const Ppa old = ftl.map_unit(Lpa{3}, device.geometry.ppa_of(a, 0));
    ftl.hold_copy(old);
    EXPECT_FALSE(ftl.erase_allowed(home));
    EXPECT_EQ(ftl.superblock(home).valid, 0u);  // all the same nobody needs it for itself
    EXPECT_EQ(ftl.let_go_copy(old), home);
    EXPECT_TRUE(ftl.erase_allowed(home));
}

TEST_F(JournalTest, DeallocationsInTurnDoNotLeaveAPageEach) {
    for (std::uint32_t u = 0; u < 300; ++u) write(u);
    for (std::uint32_t u = 0; u < 300; u += 2) {
        device.ftl.trim(Lpa{u});
        write_journal();
    }
    EXPECT_EQ(device.ftl.counters().journal_pages, 150u);
    std::uint32_t of_use = 0;
    for (Journal::Id id = 1; id < notes_of(device.ftl).journal().ids(); ++id)
        of_use += notes_of(device.ftl).journal().page(id).live != 0;
    EXPECT_EQ(of_use, 1u);
    EXPECT_EQ(after_power_cut()->mapped_units(), 150u);
    device.ftl.verify_books();
}

TEST_F(JournalTest, APageThatJustFitsIsTakenIn) {
    NandGeometry g = small_geometry();
    g.page_bytes = g.unit_bytes = 128;
    for (const std::uint32_t more : {3u, 4u}) {
        Device d(small_config(g, 0.6), g);
        ASSERT_EQ(notes_of(d.ftl).journal().entries_per_page(), 8u);
        for (std::uint32_t u = 0; u < 40; ++u) ASSERT_TRUE(d.write({Lpa{u}}));
        for (std::uint32_t i = 0; i < 5; ++i) d.ftl.trim(Lpa{2 * i});
        d.write_journal(GroupId{0});
        for (std::uint32_t i = 5; i < 5 + more; ++i) d.ftl.trim(Lpa{2 * i});
        d.write_journal(GroupId{0});
        std::uint32_t of_use = 0;
        for (Journal::Id id = 1; id < notes_of(d.ftl).journal().ids(); ++id)
            of_use += notes_of(d.ftl).journal().page(id).live != 0;
        EXPECT_EQ(of_use, more == 3 ? 1u : 2u);
    }
}

TEST_F(JournalTest, ItsPagesGoToTheGroupsInTurn) {
    NandGeometry g = small_geometry();
    g.channels = 3;
    Device d(small_config(g, 0.6), g);
    for (std::uint32_t i = 1; i < 30; ++i) {
        GroupId group{};
        ASSERT_TRUE(notes_of(d.ftl).group_for_page(group));
        EXPECT_EQ(idx(group), i % 12);
    }
}

TEST_F(JournalTest, AnOlderPageIsNeededOnceByThoseWhoComeInTurn) {
    Journal journal(4096, 8);
    journal.add({1, Lpa{3}, 1, JournalNote::deallocated});
    EXPECT_TRUE(journal.need(Journal::Id{5}));
    EXPECT_FALSE(journal.need(Journal::Id{5}));
    EXPECT_TRUE(journal.need(Journal::Id{6}));
    EXPECT_EQ(journal.page(journal.open()).needs_pages, (std::vector<Journal::Id>{5, 6}));
}

TEST_F(JournalTest, AFailedPageLetsGoOfAllThatWaitForIt) {
    Ftl& ftl = device.ftl;
    for (std::uint32_t u = 0; u < 4; ++u) write(u);
    for (std::uint32_t u = 0; u < 3; ++u) ftl.trim(Lpa{u});
    const Journal::Id id = notes_of(ftl).journal().next(true);
    const PageAddress at = notes_of(ftl).place_page(id, GroupId{0});
    PageAddress a;
    ASSERT_TRUE(ftl.allocate_host_page(a));
    for (std::uint32_t u = 0; u < 3; ++u) ftl.hold_copy(ftl.map_unit(Lpa{u}, device.geometry.ppa_of(a, u)));
    const SuperblockId home = ftl.shape().superblock_of(device.geometry.block_of(at));
    EXPECT_EQ(ftl.superblock(home).superseded, 3u);
    std::vector<SuperblockId> freed;
    notes_of(ftl).page_failed(id, freed);
    EXPECT_EQ(ftl.superblock(home).superseded, 0u);
    EXPECT_EQ(freed, std::vector<SuperblockId>{home});
}

// A range is one entry, however many of its units were never written.
TEST_F(JournalTest, ARangeIsOneEntry) {
    for (std::uint32_t u = 10; u < 90; u += 3) write(u);
    EXPECT_EQ(device.ftl.trim(Lpa{0}, 100), 27u);
    EXPECT_EQ(device.ftl.trim(Lpa{0}, 100), 0u);
    const Journal::Page& open = notes_of(device.ftl).journal().page(notes_of(device.ftl).journal().open());
    ASSERT_EQ(open.entries.size(), 1u);
    EXPECT_EQ(open.entries[0].first, Lpa{10});
    EXPECT_EQ(open.entries[0].units, 79u);
    EXPECT_EQ(open.live, 27u);
}

/// 256 entries a page: many pages are needed.
class SmallJournalPages : public JournalTest {
protected:
    SmallJournalPages() : JournalTest(geometry()) {}
    static NandGeometry geometry() {
        NandGeometry g = small_geometry();
        g.page_bytes = 4096;
        g.pages_per_block = 64;
        return g;
    }
};

// At random; what has been noted is written before each cut, so what is found must be what was.
TEST_F(SmallJournalPages, AreFoundAgainAtRandom) {
    Random random(5);
    const auto logical = static_cast<std::uint32_t>(device.ftl.logical_units());
    std::uint64_t deallocated = 0, lost = 0;
    for (int i = 0; i < 400000; ++i) {
        const auto unit = static_cast<std::uint32_t>(random.percent(20) ? random.below(64) : random.below(logical));
        if (random.percent(25)) {
            deallocated +=
                device.ftl.trim(Lpa{unit}, static_cast<std::uint32_t>(1 + random.below(std::min(logical - unit, 4u))));
        } else if (random.percent(2)) {
            if (is_mapped(unit)) device.ftl.lose(Lpa{unit}), ++lost;
        } else {
            std::vector<Lpa> units{Lpa{unit}};
            while (!device.write(units)) {
                bool any = false;
                for (std::uint32_t g = 0; g < device.ftl.shape().groups(); ++g) any = device.collect(GroupId{g}) || any;
                ASSERT_TRUE(any) << "no space and nothing to collect";
            }
            const GroupId group{static_cast<std::uint32_t>(random.below(device.ftl.shape().groups()))};
            if (device.ftl.gc_soft(group)) device.collect(group);
        }
        if (i % 16000 != 0) continue;
        write_journal();
        const auto again = after_power_cut();
        for (std::uint32_t u = 0; u < logical; ++u) {
            const Ppa was = device.ftl.lookup(Lpa{u}), is = again->lookup(Lpa{u});
            ASSERT_EQ(was, is) << "unit " << u << " after " << i << " steps";
        }
    }
    EXPECT_GT(deallocated, 5000u);
    EXPECT_GT(lost, 100u);
    EXPECT_GT(device.journal_pages_renewed, 100u);
    EXPECT_GT(device.ftl.counters().blocks_erased, 100u);
}

}  // namespace
}  // namespace ssdtlm
