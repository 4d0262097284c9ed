// SPDX-License-Identifier: Apache-2.0
// Rows with parity under random commands: the sum of each complete row is zero, and what cannot be read is read all the
// same, as long as one page of a row is concerned. Which pages those are is found here from the flash, without the
// organs that rebuild them.
#include <gtest/gtest.h>

#include <cstdio>

#include "controller/map/cached/pages/translation_contents.h"
#include "dftl_device.h"
#include "nand/array/random_faults.h"
#include "parity_rows.h"
#include "random_host.h"
#include "support/seeds.h"

namespace ssdtlm {
namespace {

/// Of so many dies, each of two planes.
DeviceShape parity_device(std::uint32_t dies, std::uint32_t page_bytes = 8192) {
    DeviceShape d = tiny_device(page_bytes);
    d.geometry.channels = dies;
    d.ftl.superblock = SuperblockSpan::drive;
    d.ftl.parity = Parity::die;
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
    return d;
}

void exercise(DeviceShape shape, const Mix& mix, std::uint64_t seed) {
    seed += seed_offset();
    SCOPED_TRACE("seed " + std::to_string(seed));
    shape.seed = seed;
    shape.bytes = seed % 2 == 0;
    if (seed % 3 == 0) shape.ftl.gc_frontier = GcFrontier::shared;
    if (seed % 5 == 0) shape.ftl.initial_state = InitialState::random;
    DeviceUnderTest d(shape);
    if (d.ftl.own_units() != 0) keep_translation_pages(d.ftl, d.spare);
    RandomHost host(d, mix, seed);
    ASSERT_NO_THROW(host.run()) << d.firmware.dump();
    ASSERT_NO_THROW(d.shut_down()) << d.firmware.dump();
    ASSERT_NO_THROW(d.read_all()) << d.firmware.dump();
    EXPECT_EQ(d.oracle.unverified(), 0u);
    EXPECT_GT(d.firmware.gc().victims(), 10u);
    ParityRows rows;
    ASSERT_NO_THROW(rows = check_parity_rows(d.spare, d.ftl.codec()));
    EXPECT_EQ(rows.stale, 0u);
    std::uint64_t pages = 0;
    for (std::uint32_t b = 0; b < shape.geometry.blocks(); ++b) pages += d.spare.next_page(BlockId{b});
    EXPECT_GT(rows.rows, pages / shape.geometry.dies() / 2) << "most rows are complete";
    EXPECT_EQ(d.parity_engine->counters().rebuilt + d.parity_engine->counters().not_rebuilt, 0u);
    // A row has one program of each plane of a die for parity, of as many others as there are other dies.
    const FtlCounters c = d.ftl.counters();
    const std::uint64_t data = c.host_pages + c.gc_pages + c.journal_pages + c.map_pages, dies = shape.geometry.dies();
    EXPECT_LE(c.parity_pages * (dies - 1), data);
    EXPECT_GE((c.parity_pages + 8 * shape.geometry.planes_per_die) * (dies - 1), data)
        << "of eight open superblocks a row is not full";
}

TEST(Parity, SumsOfZero) {
    Mix mix;
    mix.commands = 6000;
    for (std::uint32_t seed = 1; seed <= 10; ++seed)
        exercise(parity_device(2 + seed % 3, seed % 4 == 0 ? 16384 : 8192), mix, seed);
}

TEST(Parity, MapOnTheFlash) {
    Mix mix;
    mix.commands = 5000;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        DeviceShape d = parity_device(3);
        d.ftl.mapping = "dftl";
        d.ftl.map.granularity = seed % 2 == 0 ? MapGranularity::page : MapGranularity::entry;
        d.ftl.map.entry_bytes = 512;
        d.ftl.map.cache_bytes = 40 * std::uint64_t{seed % 2 == 0 ? d.geometry.unit_bytes : 2 * d.ftl.map.entry_bytes};
        d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
        exercise(d, mix, seed);
    }
}

struct Lost {
    std::uint64_t unreadable = 0, rebuilt = 0, not_rebuilt = 0, failed_reads = 0, units = 0;
};

/// Pages that cannot be read, and programs that fail.
void lose(DeviceShape shape, const Mix& mix, std::uint64_t seed, Lost& all) {
    seed += seed_offset();
    SCOPED_TRACE("seed " + std::to_string(seed));
    shape.seed = seed;
    shape.bytes = seed % 2 == 0;
    DeviceUnderTest d(shape);
    const RandomFaults faults(shape.faults, seed);
    const auto is_lost = [&](const PageAddress& a) {
        return faults.lost(a, d.spare.erase_count(shape.geometry.block_of(a)));
    };
    // A program: it holds nothing, which no other page of data does.
    const auto has_failed = [&](const PageAddress& a) {
        Spare spare[kMaxUnitsPerPage];
        d.spare.read_page(a, spare);
        return d.spare.record(a).kind == PageKind::user &&
               std::all_of(spare, spare + shape.geometry.units_per_page(), [](Spare s) { return s == kPadding; });
    };
    std::uint64_t unreadable = 0, expected = 0;
    d.flash.on_lost = [&](const PageAddress& page) {
        ++unreadable;
        const auto rest = others_of_row(shape.geometry, page);
        const bool complete = is_complete_row(d.spare, page),
                   alone = std::none_of(rest.begin(), rest.end(),
                                        [&](const PageAddress&a) { return is_lost(a) || has_failed(a); });
        expected += complete && alone;
        if (!complete || !alone) d.lost.cannot_read(page, complete);
    };
    RandomHost host(d, mix, seed);
    ASSERT_NO_THROW(host.run()) << d.firmware.dump();
    ASSERT_NO_THROW(d.shut_down()) << d.firmware.dump();
    for (std::uint32_t unit = 0; unit < d.ftl.logical_units(); ++unit) {
        const auto slot = d.read(std::uint64_t{unit} * d.blocks_per_unit(), d.blocks_per_unit());
        ASSERT_NO_THROW(d.drain()) << "unit " << unit;
        if (d.status(slot) != CommandStatus::success) ++all.units;
    }
    const ParityEngine::Counters& c = d.parity_engine->counters();
    EXPECT_EQ(c.rebuilt, expected) << "each page that is the only one of its row";
    EXPECT_FALSE(d.ftl.media().read_only);
    all.unreadable += unreadable;
    all.rebuilt += c.rebuilt;
    all.not_rebuilt += c.not_rebuilt;
    all.failed_reads += d.lost.failed_reads;
}

TEST(Parity, WhatCannotBeReadIsRebuilt) {
    Mix mix;
    mix.commands = 6000;
    Lost all;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        DeviceShape d = parity_device(4);
        d.faults.page_lost = 0.004 * static_cast<double>(1 + seed % 3);
        if (seed % 4 == 3) {
            d.ftl.spare_blocks = 12;
            d.geometry.blocks_per_plane += 12;
            d.faults.program_fails = 0.0004;
        }
        lose(d, mix, seed, all);
    }
    std::printf(
        "[   FIGURE ] %llu reads of pages that cannot be read, %llu rebuilt, %llu not; %llu commands failed, %llu "
        "units at the end\n",
        static_cast<unsigned long long>(all.unreadable), static_cast<unsigned long long>(all.rebuilt),
        static_cast<unsigned long long>(all.not_rebuilt), static_cast<unsigned long long>(all.failed_reads),
        static_cast<unsigned long long>(all.units));
    EXPECT_GT(all.rebuilt, 500u);
    EXPECT_GT(all.not_rebuilt, 0u) << "two of a row";
    EXPECT_GT(all.rebuilt, 10 * all.not_rebuilt);
}

}  // namespace
}  // namespace ssdtlm
