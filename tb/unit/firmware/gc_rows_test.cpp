// SPDX-License-Identifier: Apache-2.0
// Garbage collection hands over whole rows of pages, which can become one multi-plane program each, wherever a victim
// left the row that it was filling.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <vector>

#include "random_host.h"

namespace ssdtlm {
namespace {

struct Rows {
    std::uint64_t rows = 0, cut = 0, at_once = 0;
};

/// Programs that one step of a core hands over belong to one row, and end it, but for the last of a victim and where
/// nothing of a page was in use any more.
void count_rows(DeviceUnderTest& d, std::uint64_t seed, Rows& sum) {
    const SuperblockShape& shape = d.ftl.shape();
    struct Batch {
        SimTime at{Ps{-1}};
        std::uint64_t victim = 0;
        PageAddress last{};
    };
    std::map<std::uint32_t, Batch> batches;
    std::map<std::uint64_t, std::uint64_t> cut_of;  // by collection
    const auto ends = [&](const Batch& b) {
        if (b.victim != 0 && (idx(b.last.plane) + 1) % shape.planes() != 0) ++cut_of[b.victim];
    };
    d.flash.on_program = [&](const FlashTransaction& t) {
        if (t.cls != FlashClass::gc_write) return;
        Batch& b = batches[idx(shape.group_of(t.address.plane))];
        if (b.at == d.agenda.now()) {
            ASSERT_EQ(t.address.page, b.last.page) << "programs of two rows are handed over at once";
            ++sum.at_once;
        } else {
            ends(b);
            ++sum.rows;
        }
        b = {d.agenda.now(), t.owner, t.address};
    };
    Mix m;
    m.read = 5;
    m.write = 90;
    m.trim = m.zeroes = 1;
    m.flush = 3;
    m.hot = 5;
    m.commands = 3000;
    RandomHost host(d, m, seed);
    ASSERT_NO_THROW(host.run()) << d.firmware.dump();
    ASSERT_NO_THROW(d.shut_down()) << d.firmware.dump();
    std::uint64_t more = 0;
    for (const auto& [victim, cut] : cut_of) {
        more += cut - 1;
        sum.cut += cut;
    }
    EXPECT_LE(more * d.ftl.geometry().units_per_page(), d.ftl.counters().gc_units_stale);
}

TEST(GcRows, AreHandedOverWholeButTheLastOfAVictim) {
    Rows sum;
    for (const std::uint32_t planes : {2u, 3u, 4u}) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            SCOPED_TRACE(std::to_string(planes) + " planes, seed " + std::to_string(seed));
            DeviceShape s = tiny_device();
            s.geometry.planes_per_die = planes;
            s.ftl.superblock = SuperblockSpan::die;
            s.ftl.gc_max_inflight_pages = static_cast<std::uint32_t>(2 + seed);
            s.firmware.clock_hz = 20'000'000;  // rows wait for the core together
            s.ftl.user_capacity_bytes = most_logical_units(s.ftl, s.geometry) * s.geometry.unit_bytes;
            s.seed = seed;
            DeviceUnderTest d(s);
            count_rows(d, seed, sum);
        }
    }
    std::printf("%llu rows, %llu of them cut, %llu pages joined to one before\n",
                static_cast<unsigned long long>(sum.rows), static_cast<unsigned long long>(sum.cut),
                static_cast<unsigned long long>(sum.at_once));
    EXPECT_GT(sum.rows, 1000u);
    EXPECT_GT(sum.cut, 100u);
    EXPECT_GT(sum.at_once, sum.rows);
}

// What is moved goes into the DRAM and out of it, like what the host writes.
TEST(GcRows, MovedDataPassTheDramTwice) {
    DeviceShape shape = tiny_device();
    for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die}) {
        shape.ftl.superblock = span;
        DeviceUnderTest d(shape);
        std::uint64_t passed = 0, programmed = 0;
        d.dram.on_access = [&passed](const DramPiece& p) { passed += p.bytes; };
        d.flash.on_program = [&](const FlashTransaction& t) {
            for (std::uint32_t i = 0; i < shape.geometry.units_per_page(); ++i)
                programmed += t.spare[i] == kPadding ? 0 : shape.geometry.unit_bytes;
        };
        Mix m;
        m.read = m.trim = m.zeroes = 0;
        m.write = 98;
        m.flush = 2;
        m.whole = 100;
        m.commands = 6000;
        RandomHost host(d, m, 5);
        ASSERT_NO_THROW(host.run()) << d.firmware.dump();
        ASSERT_NO_THROW(d.shut_down()) << d.firmware.dump();
        const std::uint64_t moved = d.flash.bytes[static_cast<std::size_t>(FlashClass::gc_read)];
        const std::uint64_t written = d.firmware.host_units_written() * shape.geometry.unit_bytes;
        EXPECT_GT(moved, written / 4);
        EXPECT_EQ(passed, written + moved + programmed);
    }
}

// A unit that the host writes again while its page is being read is nowhere in the pages that garbage collection
// programs.
TEST(GcRows, WhatIsWrittenAgainMeanwhileTakesNoPlace) {
    DeviceShape shape = tiny_device();
    shape.ftl.flush_depth_per_die = 64;
    shape.ftl.buffer_bytes = 512 * 4096;
    shape.slots = 256;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        shape.seed = seed;
        DeviceUnderTest d(shape);
        Random random(seed);
        std::uint32_t moved = 0, padded = 0;
        const auto write = [&](std::uint32_t unit) {
            d.write(std::uint64_t{unit} * d.blocks_per_unit(), d.blocks_per_unit());
        };
        while (d.firmware.gc().active() == 0) {
            write(static_cast<std::uint32_t>(random.below(d.ftl.logical_units())));
            while (d.firmware.gc().active() == 0 && d.agenda.run_one(kNever)) continue;
        }
        d.flash.hold = true;
        while (d.agenda.run_one(kNever)) continue;
        const SuperblockId victim = d.ftl.shape().superblock_of(d.firmware.gc().last_victim());
        const std::uint32_t before = d.ftl.superblock(victim).valid;
        for (std::uint32_t unit = 0; unit < d.ftl.logical_units() && d.has_room(); unit += 2) {
            const Ppa at = d.ftl.lookup(Lpa{unit});
            if (at != kUnmapped && d.ftl.shape().superblock_of(at) == victim) write(unit);
            while (d.agenda.run_one(kNever)) continue;
        }
        ASSERT_LT(d.ftl.superblock(victim).valid, before) << d.firmware.dump();
        d.flash.on_program = [&](const FlashTransaction& t) {
            for (std::uint32_t s = 0; s < shape.geometry.units_per_page() && t.cls == FlashClass::gc_write; ++s)
                ++(t.spare[s] == kPadding ? padded : moved);
        };
        d.flash.release();
        while (d.firmware.gc().active() != 0 && d.agenda.run_one(kNever)) continue;
        ASSERT_NO_THROW(d.drain()) << d.firmware.dump();
        EXPECT_GT(moved, 0u);
        EXPECT_EQ(d.ftl.counters().gc_units_stale, 0u) << "units were programmed, or padded, that were written again";
        ASSERT_NO_THROW(d.shut_down());
    }
}

}  // namespace
}  // namespace ssdtlm
