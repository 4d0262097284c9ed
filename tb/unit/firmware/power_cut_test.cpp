// SPDX-License-Identifier: Apache-2.0
// The power goes at any event, all but the flash is gone, and a new firmware finds its map in the out-of-band areas:
// every unit is as it was last durable, or as something submitted later left it. What is deallocated is durable after a
// flush.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "controller/map/cached/pages/translation_sizes.h"
#include "cut_host.h"
#include "support/seeds.h"

namespace ssdtlm {
namespace {

/// Superblocks that span the drive have parity then.
void add_parity(DeviceShape& s, bool wanted) {
    if (!wanted || s.ftl.superblock != SuperblockSpan::drive) return;
    s.geometry.ways = 3;
    s.ftl.parity = Parity::die;
}

/// Of superblocks that are its own, of any that are free, or of both.
DeviceShape with_some_slc_cache(DeviceShape s, std::uint64_t seed) {
    const auto blocks = 1 + static_cast<std::uint32_t>(seed % 4), fold = static_cast<std::uint32_t>(seed % 2);
    if (seed / 4 % 2 == 0) return with_slc_cache(s, blocks, fold);
    return with_dynamic_slc(with_slc_cache(s, seed / 8 % 2 == 0 ? 0 : blocks, fold), seed / 16 % 2 == 0 ? 2 : 1000);
}

TEST(PowerCut, EveryUnitIsAsItWasDurableOrLater) {
    std::uint64_t parity_rows = 0, slc_found = 0;
    std::uint64_t torn = 0, lost = 0, moved = 0, writes = 0, erases = 0, deallocations = 0, journal_pages = 0,
                  erases_cut = 0, erases_read = 0, erases_supposed = 0;
    const std::uint64_t first = 1 + seed_offset();
    std::uint32_t furthest = 0;
    for (std::uint64_t seed = first; seed < first + share_of(40); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        DeviceShape s = tiny_device(seed % 3 == 0 ? 16384 : 8192);
        s.ftl.superblock = seed % 5 == 4   ? SuperblockSpan::drive
                           : seed % 2 == 0 ? SuperblockSpan::die
                                           : SuperblockSpan::plane;
        s.ftl.gc_frontier = seed % 11 < 4 ? GcFrontier::shared : GcFrontier::own;
        s.geometry.ways = seed % 4 < 2 ? 1 : 2;
        add_parity(s, seed % 3 != 1);
        s.ftl.user_capacity_bytes = most_logical_units(s.ftl, s.geometry) * s.geometry.unit_bytes;
        if (seed % 3 == 1) s = with_some_slc_cache(s, seed);
        if (seed % 7 < 3) {
            s.ftl.buffer_order = BufferOrder::lru;
            s.ftl.flush_start_percent = seed % 7 == 0 ? 0 : 75;
            s.ftl.flush_stop_percent = seed % 7 == 2 ? 20 : 100;
            if (seed % 2 == 0)
                s.ftl.read_cache = {0, ReadCacheReplacement::cflru, ReadCacheFill::both, ReadCacheSpace::buffer};
            else
                s.ftl.buffer_quotas = {30, 30};
        }
        s.seed = seed;
        CutHost host(s, seed);
        host.run(25);
        torn += host.torn;
        lost += host.lost_versions;
        moved += host.moved;
        writes += host.writes;
        erases += host.erases;
        deallocations += host.deallocations;
        journal_pages += host.journal_pages;
        erases_cut += host.erases_cut;
        erases_read += host.erases_found.read;
        erases_supposed += host.erases_found.supposed;
        furthest = std::max(furthest, host.erases_found.furthest);
        parity_rows += host.parity_rows;
        slc_found += host.slc_found;
        if (HasFailure()) return;
    }
    const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
    std::printf(
        "%llu cuts: %llu pages torn, %llu erases cut; of %llu writes and %llu deallocations %llu versions lost that "
        "were not durable; "
        "%llu units moved, %llu erases, %llu pages of the journal\n",
        n(share_of(1000)), n(torn), n(erases_cut), n(writes), n(deallocations), n(lost), n(moved), n(erases),
        n(journal_pages));
    std::printf(
        "after the starts how often %llu superblocks were erased was read, and of %llu supposed; at most %u away from "
        "the truth\n",
        n(erases_read), n(erases_supposed), furthest);
    std::printf("%llu complete rows with parity after the starts\n", n(parity_rows));
    std::printf("%llu superblocks of dynamic SLC caches found in the starts\n", n(slc_found));
    EXPECT_GT(slc_found, share_of(1000) / 20);
    if (share_of(40) >= 10) {
        EXPECT_GT(parity_rows, share_of(1000)) << "of ten seeds one or more have parity";
    }
    EXPECT_GT(erases_read, share_of(20 * 1000));
    EXPECT_GT(erases_supposed, share_of(1000));
    EXPECT_GT(journal_pages, share_of(5000));
    EXPECT_GT(torn, share_of(1000));
    EXPECT_GT(erases_cut, share_of(50));
    EXPECT_GT(lost, share_of(10000));
    EXPECT_GT(moved, share_of(10000));
    EXPECT_GT(erases, share_of(1000));
}

/// Records of deallocations that hold for a moment only: until the newer copy of their one unit is programmed.
TEST(PowerCut, OfUnitsThatAreDeallocatedOneByOne) {
    std::uint64_t torn = 0, journal_pages = 0, deallocations = 0, erases = 0, moved = 0;
    const std::uint64_t first = 1 + seed_offset();
    for (std::uint64_t seed = first; seed < first + share_of(100); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        DeviceShape s = tiny_device();
        s.ftl.superblock = seed % 2 == 0 ? SuperblockSpan::die : SuperblockSpan::plane;
        s.ftl.buffer_bytes = (seed % 3 == 0 ? 4ull : 64ull) * s.geometry.unit_bytes;
        s.geometry.pages_per_block = 2;
        s.ftl.user_capacity_bytes = most_logical_units(s.ftl, s.geometry) * s.geometry.unit_bytes;
        s.seed = seed;
        CutHost host(s, seed, Cuts::behind_erases);
        host.run(25);
        torn += host.torn;
        journal_pages += host.journal_pages;
        deallocations += host.deallocations;
        erases += host.erases;
        moved += host.moved;
        if (HasFailure()) return;
    }
    const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
    std::printf(
        "%llu cuts: %llu pages torn; %llu deallocations, %llu pages of the journal, %llu units moved, %llu erases\n",
        n(share_of(2500)), n(torn), n(deallocations), n(journal_pages), n(moved), n(erases));
    EXPECT_GT(journal_pages, share_of(50000));
}

/// A failed program of what was deallocated meanwhile is not placed again: that no older copy comes back is up to the
/// record of the deallocation alone.
TEST(PowerCut, OfUnitsDeallocatedWhileTheirProgramsFail) {
    std::uint64_t cuts = 0, failed = 0, torn = 0, journal_pages = 0, erases = 0, read_only = 0, rests = 0;
    const std::uint64_t first = 1 + seed_offset();
    for (std::uint64_t seed = first; seed < first + share_of(60); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        DeviceShape s = tiny_device(4096);  // a page is a unit
        s.ftl.superblock = SuperblockSpan::plane;
        s.ftl.buffer_bytes = (seed % 2 == 0 ? 4ull : 64ull) * s.geometry.unit_bytes;
        s.ftl.gc_policy = "random";  // old copies lie about for long
        s.faults.program_fails = 0.05;
        s.ftl.spare_blocks = 400;
        s.geometry.blocks_per_plane += s.ftl.spare_blocks;
        s.geometry.pages_per_block = 2;
        s.ftl.user_capacity_bytes = 64ull * s.geometry.unit_bytes;
        s.seed = seed;
        CutHost host(s, seed, Cuts::behind_failures);
        host.run(12);
        cuts += host.cuts;
        failed += host.programs_failed;
        torn += host.torn;
        journal_pages += host.journal_pages;
        erases += host.erases;
        read_only += host.read_only;
        rests += host.rests;
        if (HasFailure()) return;
    }
    const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
    std::printf(
        "%llu cuts: %llu programs failed, %llu pages torn, %llu pages of the journal, %llu erases; %llu lives ended "
        "read-only, and %llu with a shutdown\n",
        n(cuts), n(failed), n(torn), n(journal_pages), n(erases), n(read_only), n(rests));
    EXPECT_GT(cuts, share_of(500));
    EXPECT_GT(failed, 5 * cuts);
}

/// MLC that is programmed in two steps: the power takes lower pages that were programmed long ago.
DeviceShape in_two_steps(DeviceShape s) {
    s.geometry.bits_per_cell = 2;
    s.geometry.two_step = true;
    s.geometry.blocks_per_plane = 32;
    s.ftl.gc_hard_free_blocks =
        6;  // each loss of power may leave a superblock of garbage collection half full, which nobody goes on with
    s.ftl.gc_soft_free_blocks = 8;
    return s;
}

TEST(PowerCut, OfFlashThatIsProgrammedInTwoSteps) {
    std::uint64_t torn = 0, lower = 0, padding = 0, lost = 0, moved = 0, deallocations = 0, read_only = 0,
                  read_only_of_few = 0, cuts = 0;
    const std::uint64_t first = 1 + seed_offset();
    for (std::uint64_t seed = first; seed < first + share_of(40); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        DeviceShape s = in_two_steps(tiny_device(seed % 3 == 0 ? 16384 : 8192));
        s.ftl.superblock = seed % 5 == 4   ? SuperblockSpan::drive
                           : seed % 2 == 0 ? SuperblockSpan::die
                                           : SuperblockSpan::plane;
        s.geometry.ways = seed % 4 < 2 ? 1 : 2;
        if (seed % 4 == 3) s.ftl.gc_hard_free_blocks = 2;  // which may be too few
        if (seed % 7 < 2) {
            s.ftl.stream_frontiers = 1 + static_cast<std::uint32_t>(seed % 2);
            s.geometry.blocks_per_plane += 2 * s.ftl.stream_frontiers;
        }
        if (seed % 7 == 3) s.ftl.buffer_mode = BufferMode::write_through;
        if (seed % 7 > 4)
            s.ftl.buffer_bytes =
                2ull * s.geometry.unit_bytes * s.geometry.units_per_page();  // less than lower pages can take
        if (seed % 7 == 4) s.ftl.flush_start_percent = 75;
        s.ftl.user_capacity_bytes = most_logical_units(s.ftl, s.geometry) * s.geometry.unit_bytes;
        s.seed = seed;
        CutHost host(s, seed);
        const int of_drive = seed % 4 == 3 ? 100 : 25;
        host.run(of_drive, seed % 4 == 3 ? 400 : 6000);
        cuts += static_cast<std::uint64_t>(of_drive);
        torn += host.torn;
        lower += host.lower_pages_lost;
        padding += host.padding_pages;
        lost += host.lost_versions;
        moved += host.moved;
        deallocations += host.deallocations;
        (seed % 4 == 3 ? read_only_of_few : read_only) += host.read_only;
        if (HasFailure()) return;
    }
    EXPECT_EQ(read_only, 0u);
    const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
    std::printf(
        "%llu cuts: %llu pages torn, and %llu lower pages with them; %llu pages of padding; %llu versions lost that "
        "were not durable; %llu units moved, %llu deallocations; read-only %llu times\n",
        n(cuts), n(torn), n(lower), n(padding), n(lost), n(moved), n(deallocations), n(read_only_of_few));
    EXPECT_GT(lower, share_of(300));
    EXPECT_GT(padding, share_of(5000));
    EXPECT_GT(moved, share_of(10000));
}

/// One loss of power after each event of a short run. Returns how many lower pages went with upper ones.
std::uint64_t cut_after_each_event(DeviceShape s) {
    s.ftl.user_capacity_bytes = most_logical_units(s.ftl, s.geometry) * s.geometry.unit_bytes;
    std::uint64_t events = 0, lower = 0;
    for (bool more = true; more; ++events) {
        SCOPED_TRACE("after event " + std::to_string(events));
        CutHost host(s, 77);
        EXPECT_NO_THROW(more = host.cut_after(events, 120));
        if (::testing::Test::HasFailure()) break;
        lower += host.lower_pages_lost;
    }
    std::printf("%llu events\n", static_cast<unsigned long long>(events));
    EXPECT_GT(events, 500u);
    return lower;
}

TEST(PowerCut, AfterEachEventOfAShortRun) {
    EXPECT_EQ(cut_after_each_event(tiny_device()), 0u);
}

TEST(PowerCut, AfterEachEventOfAShortRunInTwoSteps) {
    EXPECT_GT(cut_after_each_event(in_two_steps(tiny_device())), 50u);
}

/// To what one row of pages needs, or a few more. Whatever a translation page does not say is found otherwise.
void limit_dirty_pages(DeviceShape& s, std::uint64_t seed) {
    const double row = s.geometry.planes_per_die * s.geometry.units_per_page(),
                 all = static_cast<double>(translation_pages_of(s.ftl, s.geometry));
    s.ftl.map.power_protected = std::min(0.9, (row + static_cast<double>(seed % 3)) / all);
    s.ftl.map.dirty_until = seed % 2 == 0 ? DirtyUntil::issued : DirtyUntil::programmed;
    s.ftl.buffer_order = seed % 7 < 2 ? BufferOrder::by_translation_page : BufferOrder::arrival;
    s.ftl.buffer_merges = seed % 3 != 0;
    if (s.ftl.map.granularity != MapGranularity::page || seed % 7 != 0) return;
    s.ftl.map.cache_bytes = translation_pages_of(s.ftl, s.geometry) * s.geometry.unit_bytes;
    s.ftl.map.gc_updates = GcMapUpdates::found;
}

/// Addresses that are written to a part of the flash only, and have translation pages in all parts, or with them.
void divide(DeviceShape& s, std::uint64_t seed) {
    const bool planes = s.ftl.superblock == SuperblockSpan::plane;
    if (seed % 2 == 0)
        s.ftl.static_dimensions = planes ? (seed % 4 == 0 ? "P" : "WP") : "W";
    else
        s.ftl.nvm_sets = planes ? "P0, P1" : s.geometry.ways == 2 ? "W0, W1" : "W0";
    s.ftl.user_capacity_bytes = most_logical_units(s.ftl, s.geometry) * s.geometry.unit_bytes;
}

/// A map on the flash: translation pages that are torn, entries that were dirty, pages that were dropped. What comes
/// from the flash in a life is compared with what was programmed in the earlier ones (EntryCheck).
void check_map_on_flash(MapGranularity granularity, const FaultRates& faults = {}) {
    std::uint64_t programs_failed = 0, map_programs_failed = 0, erases_failed = 0;
    std::uint64_t torn = 0, lost = 0, moved = 0, written = 0, dirty = 0, most_dirty = 0, dropped = 0, read_only = 0;
    const std::uint64_t first = 1 + seed_offset();
    for (std::uint64_t seed = first; seed < first + share_of(40); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        DeviceShape s = tiny_device(seed % 3 == 0 ? 16384 : 8192);
        s.geometry.ways = seed % 4 < 2 ? 1 : 2;
        s.ftl.superblock = seed % 5 == 4   ? SuperblockSpan::drive
                           : seed % 2 == 0 ? SuperblockSpan::die
                                           : SuperblockSpan::plane;
        s.ftl.gc_frontier = seed % 11 < 4 ? GcFrontier::shared : GcFrontier::own;
        add_parity(s, seed % 3 != 1 && seed % 4 != 1);
        s.ftl.mapping = "dftl";
        s.ftl.map.granularity = granularity;
        s.ftl.map.replacement = seed % 5 < 2 ? MapReplacement::segmented_lru : MapReplacement::lru;
        // Of four entries whole pages are deallocated now and then, and with them the translation page.
        s.ftl.map.entry_bytes = s.geometry.unit_bytes / (seed % 3 == 1 ? 32 : 4);
        const bool by_page = granularity == MapGranularity::page;
        const std::uint64_t slots = seed % 4 == 3 ? 200 : 2ull * s.geometry.units_per_page();
        s.ftl.map.cache_bytes =
            std::max<std::uint64_t>(slots, 8) * (by_page ? s.geometry.unit_bytes : 2 * s.ftl.map.entry_bytes);
        s.ftl.user_capacity_bytes = most_logical_units(s.ftl, s.geometry) * s.geometry.unit_bytes;
        s.faults = faults;
        s.ftl.spare_blocks = faults.any() ? 16 : 0;
        s.geometry.blocks_per_plane += s.ftl.spare_blocks;
        if (seed % 4 == 1) s = with_some_slc_cache(s, seed);
        if (seed % 3 != 0 && s.ftl.superblock != SuperblockSpan::drive) divide(s, seed);
        if (seed % 7 < 4) limit_dirty_pages(s, seed);
        s.seed = seed;
        CutHost host(s, seed);
        host.run(25);
        programs_failed += host.programs_failed;
        map_programs_failed += host.map_programs_failed;
        erases_failed += host.erases_failed;
        torn += host.torn;
        lost += host.lost_versions;
        moved += host.moved;
        written += host.translation_written;
        dirty += host.translation().dirty;
        most_dirty = std::max(most_dirty, host.translation().most_dirty);
        dropped += host.translation().dropped;
        read_only += host.read_only;
        if (::testing::Test::HasFailure()) return;
    }
    const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
    std::printf(
        "%llu cuts: %llu pages torn, %llu versions lost that were not durable, %llu units moved; %llu translation "
        "pages written, %llu dropped; "
        "after the starts %llu entries dirty, at most %llu at a time; read-only %llu times\n",
        n(share_of(1000)), n(torn), n(lost), n(moved), n(written), n(dropped), n(dirty), n(most_dirty), n(read_only));
    if (faults.any())
        std::printf("%llu programs failed, %llu of them of translation pages, and %llu erases\n", n(programs_failed),
                    n(map_programs_failed), n(erases_failed));
    EXPECT_GE(map_programs_failed, faults.any() ? share_of(50) : 0);
    EXPECT_GE(erases_failed, faults.any() ? share_of(20) : 0);
    EXPECT_GT(torn, share_of(1000));
    EXPECT_GT(lost, share_of(10000));
    EXPECT_GT(written, share_of(10000));
    EXPECT_GT(dirty, share_of(10000));
    EXPECT_GT(dropped, share_of(100));
}

TEST(PowerCut, WithTheMapOnTheFlash) {
    check_map_on_flash(MapGranularity::entry);
}
TEST(PowerCut, WithTheMapOnTheFlashByPages) {
    check_map_on_flash(MapGranularity::page);
}

TEST(PowerCut, OfFailingFlashWithTheMapOnTheFlash) {
    check_map_on_flash(MapGranularity::entry, {2e-3, 2e-3, 0, 0});
}
TEST(PowerCut, OfFailingFlashWithTheMapOnTheFlashByPages) {
    check_map_on_flash(MapGranularity::page, {2e-3, 2e-3, 0, 0});
}

TEST(PowerCut, AfterEachEventWithTheMapOnTheFlash) {
    DeviceShape s = tiny_device();
    s.ftl.mapping = "dftl";
    s.ftl.map.entry_bytes = s.geometry.unit_bytes / 8;
    s.ftl.map.cache_bytes = std::uint64_t{8} * 2 * s.ftl.map.entry_bytes;
    cut_after_each_event(s);
}

/// Few entries in a translation page, and few in memory.
void put_map_on_flash(DeviceShape& s, std::uint64_t seed) {
    const bool by_page = seed % 2 == 0;
    s.ftl.mapping = "dftl";
    s.ftl.map.granularity = by_page ? MapGranularity::page : MapGranularity::entry;
    s.ftl.map.entry_bytes = s.geometry.unit_bytes / (seed % 3 == 1 ? 32 : 4);
    s.ftl.map.cache_bytes =
        (seed % 7 < 3 ? 200 : 16) * std::uint64_t{by_page ? s.geometry.unit_bytes : 2 * s.ftl.map.entry_bytes};
    s.geometry.blocks_per_plane += 8;
    if (seed % 4 < 2 && s.ftl.superblock != SuperblockSpan::drive) divide(s, seed);
    s.ftl.user_capacity_bytes = most_logical_units(s.ftl, s.geometry) * s.geometry.unit_bytes;
}

/// Checkpoints in the background and at shutdowns, with losses of power in the middle of them; every start is compared
/// with what all pages say.
void check_checkpoints(std::uint64_t interval, bool at_shutdown, bool map_on_flash = false) {
    std::uint64_t translation_reads = 0, translation_pages = 0, dirty_after_clean = 0;
    std::uint64_t from_checkpoint = 0, from_clean = 0, went_on = 0, twice = 0, pages = 0, lost = 0, torn = 0,
                  deallocations = 0, journal_pages = 0, moved = 0;
    const std::uint64_t first = 1 + seed_offset();
    for (std::uint64_t seed = first; seed < first + share_of(map_on_flash ? 30 : 60); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        // Small units: a map of several pages, of which some have changed.
        DeviceShape s = seed % 5 < 2 ? tiny_device(4096, 512) : tiny_device(seed % 3 == 0 ? 16384 : 8192);
        s.geometry.blocks_per_plane = seed % 5 < 2 ? 40 : 32;
        s.ftl.superblock = seed % 5 == 4   ? SuperblockSpan::drive
                           : seed % 2 == 0 ? SuperblockSpan::die
                                           : SuperblockSpan::plane;
        s.ftl.gc_frontier = seed % 11 < 4 ? GcFrontier::shared : GcFrontier::own;
        s.geometry.ways = seed % 4 < 2 ? 1 : 2;
        add_parity(s, seed % 3 == 0);
        s.ftl.checkpoint_interval_bytes = interval;
        s.ftl.checkpoint_at_shutdown = at_shutdown;
        if (seed % 4 != 0) {  // and collects as soon as nobody asks for anything
            s.ftl.gc_idle_after = Ps{seed % 4 * 1'000'000};
            s.ftl.gc_idle_free_blocks = 1000;
        }
        s.ftl.user_capacity_bytes = most_logical_units(s.ftl, s.geometry) * s.geometry.unit_bytes;
        if (seed % 3 != 0) s = with_some_slc_cache(s, seed);
        if (seed % 3 == 0) {
            s.ftl.stream_frontiers = 1 + static_cast<std::uint32_t>(seed % 2);
            s.geometry.blocks_per_plane += 2 * s.ftl.stream_frontiers;
        }
        if (map_on_flash) put_map_on_flash(s, seed);
        s.seed = seed;
        CutHost host(s, seed);
        host.run(25);
        from_checkpoint += host.from_checkpoint;
        from_clean += host.from_clean;
        went_on += host.went_on;
        twice += host.shut_down_twice;
        pages += host.checkpoint_pages;
        lost += host.lost_versions;
        torn += host.torn;
        deallocations += host.deallocations;
        journal_pages += host.journal_pages;
        moved += host.moved;
        translation_reads += host.translation_reads;
        translation_pages += host.translation_pages;
        dirty_after_clean += host.dirty_after_clean;
        if (::testing::Test::HasFailure()) return;
    }
    const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
    if (map_on_flash) {
        std::printf("of %llu translation pages %llu were read; after %llu clean starts some entries were dirty\n",
                    n(translation_pages), n(translation_reads), n(dirty_after_clean));
        EXPECT_LT(translation_reads, translation_pages);
        EXPECT_LE(20 * dirty_after_clean, from_clean);
    }
    std::printf(
        "starts: %llu from a checkpoint and what was written since, %llu from a clean one; %llu times work went on "
        "after a shutdown, %llu times another one followed; %llu pages of checkpoints; %llu pages torn, %llu "
        "deallocations, %llu journal pages, %llu units moved\n",
        n(from_checkpoint), n(from_clean), n(went_on), n(twice), n(pages), n(torn), n(deallocations), n(journal_pages),
        n(moved));
    EXPECT_GT(from_checkpoint, interval == 0 ? 0 : share_of(map_on_flash ? 500 : 1000));
    EXPECT_GE(from_clean, at_shutdown ? share_of(100) : 0);
    EXPECT_GE(went_on, at_shutdown ? share_of(40) : 0);
    EXPECT_GE(twice, at_shutdown ? share_of(40) : 0);
    EXPECT_GT(lost, share_of(10000));
}

TEST(PowerCut, WithCheckpointsAtIntervals) {
    check_checkpoints(1_MiB, false);
}
TEST(PowerCut, WithCheckpointsAllTheTime) {
    check_checkpoints(1, false);
}
TEST(PowerCut, WithCheckpointsAtShutdowns) {
    check_checkpoints(0, true);
}
TEST(PowerCut, WithCheckpointsAtIntervalsAndShutdowns) {
    check_checkpoints(256_KiB, true);
}
TEST(PowerCut, WithCheckpointsAndTheMapOnTheFlash) {
    check_checkpoints(1_MiB, false, true);
}
TEST(PowerCut, WithCheckpointsAllTheTimeAndTheMapOnTheFlash) {
    check_checkpoints(1, false, true);
}
TEST(PowerCut, WithCheckpointsAtShutdownsAndTheMapOnTheFlash) {
    check_checkpoints(0, true, true);
}
TEST(PowerCut, WithCheckpointsAtIntervalsAndShutdownsAndTheMapOnTheFlash) {
    check_checkpoints(256_KiB, true, true);
}

}  // namespace
}  // namespace ssdtlm
