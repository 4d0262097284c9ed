// SPDX-License-Identifier: Apache-2.0
// Who waits for the journal of deallocations, and when its pages are written.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "common/report/error.h"
#include "controller/journal/notes.h"
#include "device_under_test.h"

namespace ssdtlm {
namespace {

std::uint64_t journal_pages(const DeviceUnderTest& d) {
    return d.ftl.counters().journal_pages;
}

TEST(JournalWriter, AFlushWaitsForADeallocation) {
    DeviceUnderTest d(tiny_device());
    d.trim(0, 64);
    d.drain();
    EXPECT_EQ(journal_pages(d), 0u);  // nobody needs it yet
    d.flash.hold = true;
    const auto flush = d.flush();
    d.agenda.run();
    EXPECT_FALSE(d.done(flush));
    d.flash.release();
    d.drain();
    EXPECT_EQ(journal_pages(d), 1u);
    const Timeline& t = d.timeline(flush);
    EXPECT_EQ(t.sum(), t.last() - t.start());
    EXPECT_GT(t.of(Stage::array), Ps{0});
    d.flush();
    d.drain();
    EXPECT_EQ(journal_pages(d), 1u);
    d.shut_down();
}

TEST(JournalWriter, AFlushBeforeADeallocationDoesNotWait) {
    DeviceUnderTest d(tiny_device());
    d.flush();
    d.drain();
    d.trim(0, 64);
    d.trim(3, 1);  // no whole unit: nothing to note
    d.drain();
    EXPECT_EQ(journal_pages(d), 0u);
    d.shut_down();
    EXPECT_EQ(journal_pages(d), 1u);  // the shutdown's flush
}

// The same whenever the deallocation comes: when the write ends, its data or the deallocation are in flash.
TEST(JournalWriter, AForcedWriteEndsWithItsDataOrTheDeallocation) {
    std::uint64_t by_journal = 0, by_data = 0;
    for (std::int64_t ns = 0; ns < 20'000; ns += 50) {
        SCOPED_TRACE("deallocated after " + std::to_string(ns) + " ns");
        DeviceUnderTest d(tiny_device());
        bool ended = false, programmed = false;
        d.flash.on_programmed = [&](const FlashTransaction& t) {
            for (std::uint32_t s = 0; s < d.shape.geometry.units_per_page(); ++s)
                programmed = programmed || (t.record.kind == PageKind::user && d.ftl.codec().lpa(t.spare[s]) == Lpa{0});
        };
        // Alone in its row, or with a unit that stays.
        const auto write = d.write(0, ns % 100 == 0 ? 8 : 16, true);
        d.on_end = [&](std::uint32_t slot) {
            if (slot != write || ended) return;
            ended = true;
            ++(programmed ? by_data : by_journal);
            EXPECT_TRUE(programmed || notes_of(d.ftl).journal().last_pending() == 0)
                << "nothing in flash says what became of the unit";
        };
        d.agenda.run_until(SimTime{Ps{ns * 1000}});
        d.trim(0, 8);
        d.drain();
        EXPECT_TRUE(ended);
    }
    std::printf("%llu ended with their data, %llu with the journal\n", static_cast<unsigned long long>(by_data),
                static_cast<unsigned long long>(by_journal));
    EXPECT_GT(by_journal, 1u);
    EXPECT_GT(by_data, 1u);
}

// The write was told to be in flash when it ends: then so must be what became of its unit.
TEST(JournalWriter, AForcedWriteThatIsDeallocatedEndsWithTheDeallocation) {
    DeviceUnderTest d(tiny_device());
    d.flash.hold = true;
    const auto write = d.write(1, 1, true);  // part of a mapped unit: its old copy is read
    d.agenda.run();
    const auto trim = d.trim(0, 8);
    d.agenda.run();
    EXPECT_TRUE(d.done(trim));
    std::uint32_t programs = 0;
    d.flash.on_programmed = [&](const FlashTransaction& t) {
        EXPECT_EQ(t.record.kind, PageKind::journal);
        EXPECT_FALSE(d.done(write));
        ++programs;
    };
    d.flash.release();
    d.drain();
    EXPECT_EQ(programs, 1u);
    EXPECT_TRUE(d.done(write));
    d.flash.on_programmed = nullptr;
    d.shut_down();
}

// More ranges than a page holds: it is written when it is full, without anybody's wish.
TEST(JournalWriter, AFullPageIsWritten) {
    DeviceUnderTest d(tiny_device());
    const std::uint32_t entries = notes_of(d.ftl).journal().entries_per_page();
    ASSERT_EQ(entries, 512u);
    for (std::uint32_t i = 0; i < entries; ++i) {
        if (!d.has_room()) d.drain();
        EXPECT_EQ(journal_pages(d), 0u);
        d.trim(std::uint64_t{2} * i * 8, 8);
    }
    d.drain();
    EXPECT_EQ(journal_pages(d), 1u);
    d.shut_down();
    EXPECT_EQ(journal_pages(d), 1u);
    d.read_all();
}

TEST(JournalWriter, TheFirstCoreLooksAfterFullPages) {
    DeviceShape shape = tiny_device();
    shape.firmware.cores = 2;
    DeviceUnderTest d(shape);
    const std::uint32_t entries = notes_of(d.ftl).journal().entries_per_page();
    const auto busy = [&d] { return std::pair(d.firmware.cores().busy(0), d.firmware.cores().busy(1)); };
    d.trim(0, 8);
    d.drain();
    const auto start = busy();
    d.trim(16, 8);
    d.drain();
    const auto one = busy();
    const std::pair more(one.first - start.first, one.second - start.second);
    for (std::uint32_t i = 2; i < entries - 1; ++i) {
        d.trim(std::uint64_t{2} * i * 8, 8);
        d.drain();
    }
    const auto before = busy();
    d.flash.hold = true;
    d.trim(std::uint64_t{2} * entries * 8, 8);
    d.agenda.run();
    const auto after = busy();
    EXPECT_EQ(
        after.first - before.first - more.first + after.second - before.second - more.second,
        Ps{static_cast<std::int64_t>(shape.firmware.flash_issue * (1'000'000'000'000 / shape.firmware.clock_hz))});
    EXPECT_EQ(after.second - before.second, more.second);
    d.flash.release();
    d.drain();
    EXPECT_EQ(journal_pages(d), 1u);
    d.shut_down();
}

// Overwrites that need collection, with deallocations all over: no block goes before the journal, and nobody flushes.
TEST(JournalWriter, CollectionWritesWhatItNeeds) {
    DeviceUnderTest d(tiny_device());
    Random random(3);
    for (int i = 0; i < 20000; ++i) {
        while (!d.has_room()) d.agenda.run_one(kNever);
        const std::uint64_t unit = random.below(d.ftl.logical_units());
        if (random.percent(5))
            d.trim(unit * 8, 8);
        else
            d.write(unit * 8, 8);
        d.firmware.check_waiters();
    }
    d.drain();
    const FtlCounters c = d.ftl.counters();
    std::printf("%llu deallocations, %llu blocks erased, %llu pages of the journal\n",
                static_cast<unsigned long long>(c.trims), static_cast<unsigned long long>(c.blocks_erased),
                static_cast<unsigned long long>(c.journal_pages));
    EXPECT_GT(c.journal_pages, 100u);
    EXPECT_LT(c.journal_pages, c.blocks_erased * 2);
    d.shut_down();
    d.read_all();
}

// A full page finds no block to spare: what would need a second one waits, and goes on when collection has freed one.
TEST(JournalWriter, ADeallocationWaitsForRoom) {
    DeviceUnderTest d(tiny_device());
    Random random(7);
    const auto no_group_can = [&] {
        for (std::uint32_t g = 0; g < d.ftl.shape().groups(); ++g)
            if (!d.ftl.gc_hard(GroupId{g})) return false;
        return true;
    };
    while (!no_group_can()) {
        while (d.outstanding() + 1 < d.shape.slots) d.write(random.below(d.ftl.logical_units()) * 8, 8);
        ASSERT_TRUE(d.agenda.run_one(kNever));
    }
    d.flash.hold = true;  // so it stays
    d.agenda.run();
    ASSERT_TRUE(no_group_can());
    // Directly: a page of them would need many commands.
    const std::uint32_t entries = notes_of(d.ftl).journal().entries_per_page();
    std::uint32_t noted = 0;
    for (std::uint32_t u = 0; u < d.ftl.logical_units() && noted < entries; u += 2) noted += d.ftl.trim(Lpa{u});
    ASSERT_EQ(noted, entries);
    d.agenda.run();
    EXPECT_TRUE(notes_of(d.ftl).journal().any_full());
    EXPECT_EQ(journal_pages(d), 0u);
    const auto late = d.trim(8, 8);
    d.agenda.run();
    EXPECT_FALSE(d.done(late));
    d.flash.release();
    while (!d.done(late)) {
        ASSERT_TRUE(d.agenda.run_one(kNever)) << d.firmware.dump();
        d.firmware.check_waiters();
    }
    EXPECT_FALSE(is_place(d.ftl.lookup(Lpa{1})));
}

/// What check_waiters() says when nothing is collected any more and the host goes on.
std::string stuck_by(DeviceUnderTest& d, const std::function<void()>& more) {
    try {
        for (;;) {
            more();
            if (!d.agenda.run_one(kNever))
                return "nobody sees that " + std::to_string(d.outstanding()) + " commands are stuck";
            d.firmware.check_waiters();
        }
    } catch (const CheckFailed& e) {
        return e.what();
    }
}

// Nobody waits for a page that only a collection would give if there is none, even when everybody else is done.
TEST(JournalWriter, WhoWaitsForACollectionThatWillNotComeIsSeen) {
    for (const bool journal : {false, true}) {
        DeviceUnderTest d(tiny_device());
        d.firmware.stop_gc();
        Random random(8);
        const auto write = [&] { d.write(random.below(d.ftl.logical_units()) * 8, 8, true); };
        std::string seen;
        if (!journal) {
            seen = stuck_by(d, [&] {
                if (d.has_room()) write();
            });
            EXPECT_NE(seen.find(" programs or deallocations wait for a free block, no group is collected"),
                      std::string::npos)
                << seen;
            continue;
        }
        while (!d.ftl.gc_hard(GroupId{0}) || !d.ftl.gc_hard(GroupId{d.ftl.shape().groups() - 1})) {
            write();
            d.drain();
        }
        d.trim(8, 8);
        d.flush();
        seen = stuck_by(d, [] {});
        EXPECT_EQ(seen, "journal: waits for a free block, and no group is collected");
    }
}

}  // namespace
}  // namespace ssdtlm
