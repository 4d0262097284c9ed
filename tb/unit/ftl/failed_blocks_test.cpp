// SPDX-License-Identifier: Apache-2.0
// Superblocks that have failed are known after the power was off: from the journal, or when they fail again.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
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

constexpr std::uint32_t kSpare = 5;

FtlConfig with_spares(SuperblockSpan span) {
    FtlConfig c = small_config(small_geometry(), 0.5, span);
    c.spare_blocks = kSpare;
    return c;
}

class FailedBlocksTest : public testing::TestWithParam<SuperblockSpan> {
protected:
    FailedBlocksTest() : device(with_spares(GetParam()), small_geometry()) {}
    /// A host page whose program fails; the unit is written elsewhere.
    SuperblockId fail_program(Lpa lpa) {
        PageAddress a;
        EXPECT_TRUE(device.ftl.allocate_host_page(a));
        const std::vector<Spare> nothing(device.geometry.units_per_page(), kPadding);
        device.map(lpa, device.geometry.ppa_of(a, 0));
        device.flash.program_page(a, nothing.data(), device.ftl.draw_record(a));
        device.ftl.unmap_failed(lpa, device.geometry.ppa_of(a, 0));
        device.ftl.host_page_failed(a);
        const PageAddress to = device.ftl.allocate_again(device.ftl.shape().group_of(a.plane));
        std::vector<Spare> out = nothing;
        out[0] = device.ftl.codec().make(lpa, 1);
        device.flash.program_page(to, out.data(), device.ftl.draw_record(to));
        device.ftl.map_again(lpa, device.geometry.ppa_of(to, 0));
        device.ftl.gc_page_programmed(to);
        return device.ftl.shape().superblock_of(device.geometry.block_of(a));
    }
    std::unique_ptr<Ftl> power_on() {
        auto ftl = std::make_unique<Ftl>(device.ftl.config(), device.geometry, device.flash, 1);
        Recovery(*ftl).from_all_pages();
        ftl->verify_books();
        return ftl;
    }
    std::uint32_t planes() const { return device.ftl.shape().planes(); }
    Device device;
};

/// By the rule: of the superblocks of a group, those that have failed and those that are needed are not spare.
std::uint32_t spare_percent(const Ftl& ftl, const std::set<SuperblockId>& failed) {
    std::vector<std::uint32_t> of_group(ftl.shape().groups());
    std::uint32_t most = 0;
    for (const SuperblockId b : failed) most = std::max(most, ++of_group[idx(ftl.shape().group_of(b))]);
    return (kSpare - most) * 100 / kSpare;
}

// Without a free superblock, one that has failed is emptied first if its units have room behind what GC wrote last, to
// the last unit.
TEST_P(FailedBlocksTest, AreEmptiedIntoTheRoomThatIsLeft) {
    for (const std::uint32_t missing : {0u, 1u}) {  // pages
        Device d(with_spares(GetParam()), small_geometry());
        const std::uint32_t per_page = d.geometry.units_per_page();
        std::uint32_t next = 0;
        // Every page of the first rows is full, so that what fails holds whole pages.
        for (std::uint32_t n = 0; n < 5 * d.ftl.shape().groups(); ++n) {
            std::vector<Lpa> row;
            for (std::uint32_t u = 0; u < d.ftl.shape().planes() * per_page; ++u) row.push_back(Lpa{next++});
            ASSERT_TRUE(d.write(row));
        }
        PageAddress a;
        ASSERT_TRUE(d.ftl.allocate_host_page(a));
        const std::vector<Spare> nothing(per_page, kPadding);
        d.flash.program_page(a, nothing.data(), d.ftl.draw_record(a));
        d.ftl.host_page_failed(a);
        const SuperblockId failed = d.ftl.shape().superblock_of(d.geometry.block_of(a));
        const GroupId group = d.ftl.shape().group_of(failed);
        const std::uint32_t valid = d.ftl.superblock(failed).valid;
        ASSERT_EQ(valid, 5 * d.ftl.shape().planes() * per_page);
        std::uint32_t left = ~0u;  // pages where GC writes
        while (d.ftl.free_blocks(group) != 0 || left * per_page > valid - missing * per_page) {
            const PageAddress to = d.ftl.allocate_gc_page(group);
            d.flash.program_page(to, nothing.data(), d.ftl.draw_record(to));
            d.ftl.gc_page_programmed(to);
            left = d.ftl.shape().pages() -
                   d.ftl.superblock(d.ftl.shape().superblock_of(d.geometry.block_of(to))).write_pointer;
        }
        ASSERT_EQ(left * per_page, valid - missing * per_page);
        EXPECT_EQ(d.ftl.select_victim(group) == failed, missing == 0);
    }
}

TEST_P(FailedBlocksTest, AreKnownFromTheJournal) {
    Random random(1, 1);
    std::set<SuperblockId> failed;
    int told = 0;
    notes_of(device.ftl).on_due([&told] { ++told; });
    for (std::uint32_t i = 0; i < 3 * device.ftl.shape().groups(); ++i) {
        for (int n = 0; n < 40; ++n)
            ASSERT_TRUE(device.write({Lpa{static_cast<std::uint32_t>(random.below(device.ftl.logical_units()))}}));
        failed.insert(fail_program(Lpa{i}));
        EXPECT_EQ(told, static_cast<int>(i + 1)) << "it has to be written at once";
        EXPECT_NE(notes_of(device.ftl).journal().next(false), Journal::kDetached);
        device.write_journal(GroupId{i % device.ftl.shape().groups()});
        const auto ftl = power_on();
        EXPECT_EQ(ftl->media().blocks_retired, failed.size() * planes());
        EXPECT_EQ(ftl->media().available_spare, spare_percent(*ftl, failed));
        EXPECT_EQ(ftl->media().available_spare, device.ftl.media().available_spare);
        EXPECT_FALSE(ftl->media().read_only);
        for (std::uint32_t n = 0; n < ftl->shape().superblocks(); ++n)
            EXPECT_EQ(ftl->is_bad(SuperblockId{n}), failed.count(SuperblockId{n}) != 0);
        for (const SuperblockId b : failed)
            EXPECT_EQ(ftl->superblock(b).state,
                      ftl->superblock(b).valid == 0 ? BlockState::retired : BlockState::failed);
    }
}

// Garbage collection comes across the pages of the journal that say it: they go on being said.
TEST_P(FailedBlocksTest, StayKnownWhenTheirPageIsCollected) {
    const SuperblockId failed = fail_program(Lpa{0});
    device.write_journal(GroupId{0});
    Random random(2, 1);
    const auto units = static_cast<std::uint32_t>(device.ftl.logical_units());
    for (std::uint32_t i = 0; i < 8 * units; ++i) {
        std::vector<Lpa> unit{Lpa{static_cast<std::uint32_t>(random.below(units))}};
        while (!device.write(unit)) {
            for (std::uint32_t g = 0; g < device.ftl.shape().groups(); ++g)
                while (device.ftl.wants_collection(GroupId{g}) && device.collect(GroupId{g})) continue;
        }
        if (i % 997 != 0) continue;
        device.write_journal(GroupId{i % device.ftl.shape().groups()});
        const auto ftl = power_on();
        ASSERT_TRUE(ftl->is_bad(failed)) << i;
        ASSERT_EQ(ftl->media().blocks_retired, planes());
    }
    EXPECT_GT(device.journal_pages_renewed, 0u);
}

// The power goes before the journal is written: the superblock is taken for a good one, and its erase fails again.
TEST_P(FailedBlocksTest, FailAgainIfNobodyKnows) {
    const SuperblockId failed = fail_program(Lpa{0});
    const auto ftl = power_on();
    EXPECT_FALSE(ftl->is_bad(failed));
    EXPECT_EQ(ftl->media().blocks_retired, 0u);
    EXPECT_EQ(ftl->superblock(failed).state, BlockState::sealed);
    EXPECT_EQ(ftl->media().available_spare, 100u);
    // The spare one that has taken its place is in use now.
    const GroupId group = ftl->shape().group_of(failed);
    SuperblockId victim = kNoSuperblock;
    const std::uint32_t free = ftl->free_blocks(group);
    while (victim != failed) {
        victim = ftl->select_victim(group);
        ASSERT_NE(victim, kNoSuperblock);
    }
    ftl->superblock_not_erased(victim);
    EXPECT_EQ(ftl->media().available_spare, (kSpare - 1) * 100 / kSpare);
    EXPECT_EQ(ftl->media().blocks_retired, planes());
    EXPECT_EQ(ftl->free_blocks(group), free + 1);
    ftl->verify_books();
}

// Whatever they hold, as long as there is a free one to take it, and whatever else GC could gain more from.
TEST_P(FailedBlocksTest, AreEmptiedBeforeAnythingElse) {
    Ftl& ftl = device.ftl;
    Random random(4, 1);
    const auto units = static_cast<std::uint32_t>(ftl.logical_units());
    std::uint32_t emptied = 0;
    std::uint64_t most_held = 0;
    std::vector<Lpa> all(units);
    for (std::uint32_t lpa = 0; lpa < units; ++lpa) all[lpa] = Lpa{lpa};
    ASSERT_TRUE(device.write(std::vector<Lpa>(all)));
    const std::uint32_t row = planes() * device.geometry.units_per_page();
    for (std::uint32_t i = 0; i < (kSpare - 1) * ftl.shape().groups(); ++i) {
        const SuperblockId failed = fail_program(Lpa{static_cast<std::uint32_t>(random.below(units))});
        // A row to each group, so that the next one fails in the next group.
        for (std::uint32_t n = 0; n < ftl.shape().groups(); ++n) {
            const auto first = static_cast<std::uint32_t>(random.below(units - row));
            ASSERT_TRUE(device.write(std::vector<Lpa>(all.begin() + first, all.begin() + first + row)));
        }
        const bool several = random.percent(80);  // of a group at once
        for (std::uint32_t g = 0; g < ftl.shape().groups(); ++g) {
            const GroupId group{g};
            if (several && ftl.count(group, BlockState::failed) != 0) continue;
            while (ftl.count(group, BlockState::failed) != 0) {
                ASSERT_NE(ftl.free_blocks(group), 0u);
                const std::uint32_t left = ftl.count(group, BlockState::failed),
                                    retired = ftl.count(group, BlockState::retired);
                ASSERT_TRUE(device.collect(group));
                ASSERT_EQ(ftl.count(group, BlockState::failed), left - 1);
                ASSERT_EQ(ftl.count(group, BlockState::retired), retired + 1);
                most_held = std::max<std::uint64_t>(most_held, device.from.size());
                ++emptied;
            }
            while (ftl.wants_collection(group)) ASSERT_TRUE(device.collect(group));
        }
        EXPECT_TRUE(several || ftl.superblock(failed).state == BlockState::retired);
    }
    EXPECT_GT(emptied, ftl.shape().groups());
    EXPECT_GE(4 * most_held, ftl.shape().units()) << "none that held much has failed";
    ftl.verify_books();
}

// What the row of the host superblock has room for goes on there: the failure is of another one of the group.
TEST_P(FailedBlocksTest, OnlyItsOwnRowIsGivenUp) {
    Ftl& ftl = device.ftl;
    const std::uint32_t ragged = planes() == 1 ? 0 : 1;
    const std::vector<Spare> nothing(device.geometry.units_per_page(), kPadding);
    const auto program = [&](const PageAddress& a) {
        device.flash.program_page(a, nothing.data(), ftl.draw_record(a));
    };
    PageAddress first;
    ASSERT_TRUE(ftl.allocate_host_page(first));
    program(first);
    ftl.host_page_programmed(first);
    EXPECT_EQ(ftl.ragged_groups(), ragged);
    const PageAddress again = ftl.allocate_again(ftl.shape().group_of(first.plane));
    program(again);
    ftl.gc_page_failed(again);
    EXPECT_EQ(ftl.ragged_groups(), ragged);
    PageAddress second;
    EXPECT_EQ(ftl.allocate_host_pages(1, &second, true), 1u);
    EXPECT_EQ(ftl.shape().superblock_of(device.geometry.block_of(second)) ==
                  ftl.shape().superblock_of(device.geometry.block_of(first)),
              planes() != 1);
    program(second);
    ftl.host_page_programmed(second);
    EXPECT_EQ(ftl.ragged_groups(), 0u);
    PageAddress third;
    ASSERT_TRUE(ftl.allocate_host_page(third));
    program(third);
    EXPECT_EQ(ftl.ragged_groups(), ragged);
    ftl.host_page_failed(third);
    EXPECT_EQ(ftl.ragged_groups(), 0u);
}

// The newer copy fails, and the unit is deallocated before it is written again: the old copy stays until flash says so.
TEST_P(FailedBlocksTest, AnOldCopyStaysUntilItsDeallocationIsInFlash) {
    Ftl& ftl = device.ftl;
    enum class Then { written, in_flash, noted, lost };
    const std::vector<Spare> nothing(device.geometry.units_per_page(), kPadding);
    std::uint32_t unit = 0;
    for (const Then then : {Then::written, Then::in_flash, Then::noted, Then::lost}) {
        const Lpa lpa{unit++};
        SCOPED_TRACE(unit);
        ASSERT_TRUE(device.write({lpa}));
        const Ppa old = ftl.lookup(lpa);
        const SuperblockId home = ftl.shape().superblock_of(old);
        ASSERT_TRUE(ftl.erase_allowed(home));
        PageAddress a;
        ASSERT_TRUE(ftl.allocate_host_page(a));
        const Ppa at = device.geometry.ppa_of(a, 0);
        EXPECT_EQ(ftl.map_unit(lpa, at), old);
        ftl.hold_copy(old);
        device.flash.program_page(a, nothing.data(), ftl.draw_record(a));
        ftl.unmap_failed(lpa, at);
        ftl.host_page_failed(a);
        device.write_journal(GroupId{0});  // that the block has failed
        ASSERT_TRUE(then != Then::written || device.write({lpa}));
        if (then == Then::in_flash || then == Then::noted) ftl.trim(lpa);
        if (then == Then::in_flash) device.write_journal(GroupId{0});
        if (then == Then::lost) ftl.lose(lpa);
        EXPECT_FALSE(ftl.erase_allowed(home));
        const bool waits = then == Then::noted || then == Then::lost;
        EXPECT_EQ(ftl.hand_over_copy(old), waits ? kNoSuperblock : home);
        EXPECT_EQ(ftl.erase_allowed(home), !waits);
        EXPECT_EQ(notes_of(ftl).must_be_written_for(home), waits);
        device.write_journal(GroupId{0});
        EXPECT_TRUE(ftl.erase_allowed(home));
    }
    ftl.verify_books();
}

// The same where a record was in the place of the old copy, and where the unit has been written once more before the
// record is in flash.
TEST_P(FailedBlocksTest, WhatAFailedCopyTookThePlaceOfStaysUntilItsDeallocationIsInFlash) {
    Ftl& ftl = device.ftl;
    const std::vector<Spare> nothing(device.geometry.units_per_page(), kPadding);
    std::uint32_t unit = 0;
    for (const bool of_record : {true, false})
        for (const bool written_again : {true, false}) {
            const Lpa lpa{unit++};
            SCOPED_TRACE(unit);
            ASSERT_TRUE(device.write({lpa}));
            if (of_record) ftl.trim(lpa);
            device.write_journal(GroupId{0});
            SuperblockId home = of_record ? kNoSuperblock : ftl.shape().superblock_of(ftl.lookup(lpa));
            for (Journal::Id id = 1; id < notes_of(ftl).journal().ids() && of_record; ++id) {
                const Journal::Page& page = notes_of(ftl).journal().page(id);
                const auto& entries = page.entries;
                if (page.state == Journal::State::durable &&
                    std::any_of(entries.begin(), entries.end(), [lpa](const JournalEntry& e) {
                        return e.first == lpa && e.note == JournalNote::deallocated;
                    }))
                    home = ftl.shape().superblock_of(device.geometry.block_of(page.at));
            }
            ASSERT_NE(home, kNoSuperblock);
            ASSERT_TRUE(ftl.erase_allowed(home));
            PageAddress a;
            ASSERT_TRUE(ftl.allocate_host_page(a));
            const Ppa old = ftl.map_unit(lpa, device.geometry.ppa_of(a, 0));
            ftl.hold_copy(old);
            ftl.trim(lpa);
            device.flash.program_page(a, nothing.data(), ftl.draw_record(a));
            ftl.host_page_failed(a);
            Ppa record = kUnmapped;
            if (written_again) {
                ASSERT_TRUE(ftl.allocate_host_page(a));
                record = ftl.map_unit(lpa, device.geometry.ppa_of(a, 0));
            }
            EXPECT_FALSE(ftl.erase_allowed(home));
            EXPECT_EQ(ftl.hand_over_copy(old), kNoSuperblock);
            EXPECT_FALSE(ftl.erase_allowed(home));
            EXPECT_TRUE(notes_of(ftl).must_be_written_for(home));
            device.write_journal(GroupId{0});
            ftl.let_go_copy(record);  // in flash, with the page of the journal in that superblock perhaps
            EXPECT_TRUE(ftl.erase_allowed(home));
        }
}

TEST_P(FailedBlocksTest, WithoutSpareOnesTheDriveStaysReadOnly) {
    std::set<SuperblockId> failed;
    std::uint32_t lpa = 0;
    while (!device.ftl.media().read_only) {
        failed.insert(fail_program(Lpa{lpa++}));
        device.write_journal(GroupId{0});
        const auto ftl = power_on();
        EXPECT_EQ(ftl->media().read_only, device.ftl.media().read_only);
        EXPECT_EQ(ftl->media().available_spare, device.ftl.media().available_spare);
        EXPECT_EQ(ftl->media().blocks_retired, failed.size() * planes());
        EXPECT_EQ(ftl->mapped_units(), lpa);
    }
    EXPECT_GT(failed.size(), std::size_t{kSpare});
    EXPECT_FALSE(power_on()->wants_collection(GroupId{0}));
}

INSTANTIATE_TEST_SUITE_P(Span, FailedBlocksTest, testing::Values(SuperblockSpan::plane, SuperblockSpan::die),
                         [](const auto& instance) {
                             return std::string(instance.param == SuperblockSpan::plane ? "plane" : "die");
                         });

}  // namespace
}  // namespace ssdtlm
