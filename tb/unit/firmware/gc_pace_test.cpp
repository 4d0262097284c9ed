// SPDX-License-Identifier: Apache-2.0
// How fast garbage collection goes: the contract of every pace, what tokens pay for, and the firmware under each pace.
// SSDTLM_TEST_SEED in the environment moves all seeds, for long searches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "controller/gc/paces.h"
#include "controller/slc/fold_pace.h"
#include "random_host.h"
#include "support/seeds.h"

namespace ssdtlm {
namespace {

SuperblockShape shape_of(const DeviceShape& d) {
    return {d.geometry, d.ftl.superblock};
}

TEST(GcPace, EveryRegisteredOneKeepsTheContract) {
    const DeviceShape device = tiny_device();
    const SuperblockShape shape = shape_of(device);
    for (const std::string& name : GcPaces::instance().names()) {
        SCOPED_TRACE(name);
        FtlConfig config = device.ftl;
        config.gc_pace = name;
        const auto pace = make_gc_pace(config, shape);
        if (pace == nullptr) continue;  // full speed
        Random random(5 + seed_offset(), 1);
        std::uint32_t held = 0, refused = 0;
        for (int victim = 0; victim < 300; ++victim) {
            const auto valid = static_cast<std::uint32_t>(random.below(shape.units() + 1));
            const GroupId group{static_cast<std::uint32_t>(random.below(shape.groups()))};
            pace->begun(group, valid, shape.units());
            std::uint64_t started = 0, finished = 0;
            while (finished < valid) {
                if (random.percent(40))
                    pace->host_wrote(group, 1 + static_cast<std::uint32_t>(random.below(4)),
                                     {3 + static_cast<std::uint32_t>(random.below(3)), 4, 2});
                if (pace->holds_host(group, finished)) {
                    ++held;
                    ASSERT_TRUE(pace->may_move(group, finished, 1)) << "the host waits for a collection that is paused";
                }
                if (!pace->may_move(group, started, 1)) ++refused;
                if (started < valid && (pace->may_move(group, started, 1) || random.percent(10))) ++started;
                if (finished < started) ++finished;
            }
        }
        std::printf("%s: the host is held %u times, collection %u times\n", name.c_str(), held, refused);
        EXPECT_GT(refused, 100u);
    }
}

TEST(GcPace, OnlyOneNameMeansFullSpeed) {
    const DeviceShape device = tiny_device();
    FtlConfig config = device.ftl;
    EXPECT_EQ(make_gc_pace(config, shape_of(device)), nullptr);
    config.gc_pace = "token";
    EXPECT_THROW(make_gc_pace(config, shape_of(device)), UserError);
}

TEST(GcPace, TokensPayForWhatKeepsTheFreeBlocks) {
    const DeviceShape device = tiny_device();  // 2 planes of 2 units a page
    FtlConfig config = device.ftl;
    config.gc_pace = "tokens";
    config.gc_policies["tokens"] = {{"ahead", Value{std::int64_t{3}}}, {"most", Value{std::int64_t{16}}}};
    const auto pace = make_gc_pace(config, shape_of(device));
    const GroupId group{0};
    // Moves that these units of the host pay for, with so many free blocks between the thresholds 8 and 3.
    const auto paid = [&](std::uint32_t valid, std::uint32_t units, std::uint32_t host, std::uint32_t free) {
        pace->begun(group, valid, units);
        pace->host_wrote(group, host, {free, 8, 3});
        std::uint64_t n = 0;
        while (pace->may_move(group, n, 1)) ++n;
        return n;
    };
    EXPECT_EQ(paid(48, 64, 16, 6), 48u)
        << "3 moves gain a unit: as many as there are in the victim, for what it gives back";
    EXPECT_EQ(paid(32, 64, 10, 6), 10u);
    EXPECT_EQ(paid(48, 64, 16, 4), 80u) << "5/3 of it, towards the middle";
    EXPECT_EQ(paid(48, 64, 16, 8), 16u) << "1/3";
    EXPECT_EQ(paid(48, 64, 16, 9), 0u);
    EXPECT_EQ(paid(64, 64, 2, 6), 32u) << "nothing to gain: the most for each";
    EXPECT_EQ(paid(0, 64, 16, 6), 0u) << "nothing to be moved";
    // 3 pages of each of 2 planes, 2 units each: 12 units behind.
    pace->begun(group, 32, 64);
    pace->host_wrote(group, 12, {6, 8, 3});
    EXPECT_TRUE(pace->holds_host(group, 0));
    EXPECT_FALSE(pace->holds_host(group, 1));
}

// What the host writes pays for what folding makes free, whatever was valid in it; debts go on from victim to victim.
TEST(GcPace, FoldingMakesFreeWhatTheHostPaysFor) {
    const DeviceShape device = tiny_device();
    const SuperblockShape shape = shape_of(device);
    const GroupId group{0};
    const std::uint32_t ahead = 3, behind = ahead * shape.units() / shape.pages() * shape.planes(), units = 64;
    for (const std::uint32_t percent : {50u, 100u, 200u})
        for (const std::uint32_t valid : {64u, 32u, 1u}) {
            bool short_of_room = true;
            FoldPace pace(shape, percent, ahead, [&](GroupId, bool folds) { return folds && short_of_room; });
            pace.begun(group, valid, units);
            EXPECT_FALSE(pace.holds_host(group, 0)) << "nothing is owed";
            const auto needed = [&](std::uint32_t host) {  // moves until the host goes on
                pace.host_wrote(group, host, {});
                std::uint32_t n = 0;
                while (pace.holds_host(group, n)) ++n;
                return n;
            };
            const std::uint32_t host = 40, owed = host * percent / 100, due = owed >= behind ? owed - behind + 1 : 0;
            EXPECT_EQ(needed(host), std::min(valid, (due * valid + units - 1) / units))
                << percent << " %, " << valid << " valid";
            EXPECT_TRUE(pace.may_move(group, 0, 1));
            EXPECT_FALSE(pace.holds_host(group, valid)) << "nothing is left to wait for";
            pace.ended(group);
            pace.begun(group, units, units);
            const std::uint32_t left = owed > units ? owed - units : 0;
            EXPECT_EQ(pace.holds_host(group, 0), behind <= left);
            short_of_room = false;
            pace.host_wrote(group, 1, {});
            EXPECT_FALSE(pace.holds_host(group, 0));
        }
}

struct Setting {
    const char* pace;
    std::int64_t ahead, most;
    Ps idle_after;
};
const Setting kSettings[] = {{"yield", 8, 16, Ps{}},
                             {"yield", 8, 16, Ps{1'000'000}},
                             {"tokens", 8, 16, Ps{}},
                             {"tokens", 1, 1, Ps{}},
                             {"tokens", 1, 16, Ps{50'000'000}},
                             {"tokens", 4096, 1000, Ps{}},
                             {"full", 8, 16, Ps{1'000'000'000}}};

DeviceShape paced(DeviceShape d, const Setting& s) {
    d.ftl.gc_pace = s.pace;
    d.ftl.gc_policies["tokens"] = {{"ahead", Value{s.ahead}}, {"most", Value{s.most}}};
    d.ftl.gc_idle_after = s.idle_after;
    d.ftl.gc_idle_free_blocks = d.ftl.gc_soft_free_blocks + 3;
    return d;
}

void exercise(DeviceShape shape, const Mix& mix, std::uint64_t seed, std::uint64_t& pauses,
              unsigned* read_only = nullptr) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    shape.seed = seed;
    if (seed % 2 == 0) {
        shape.ftl.stream_frontiers = 2;
        shape.geometry.blocks_per_plane += 4;
    }
    DeviceUnderTest device(shape);
    RandomHost host(device, mix, seed);
    ASSERT_NO_THROW(host.run()) << device.firmware.dump();
    ASSERT_NO_THROW(device.shut_down()) << device.firmware.dump();
    ASSERT_NO_THROW(device.read_all()) << device.firmware.dump();
    pauses += device.firmware.gc().pacing().pauses();
    if (read_only != nullptr) *read_only += device.ftl.media().read_only;
}

TEST(GcPace, RandomCommandsUnderEach) {
    for (const Setting& s : kSettings) {
        SCOPED_TRACE(std::string(s.pace) + " ahead " + std::to_string(s.ahead) + " most " + std::to_string(s.most) +
                     " idle after " + std::to_string(s.idle_after.count()) + " ps");
        std::uint64_t pauses = 0;
        for (std::uint64_t seed = 1 + seed_offset(); seed < 1 + seed_offset() + 4; ++seed) {
            Mix m;
            m.commands = 6000;
            DeviceShape d = paced(tiny_device(), s);
            d.ftl.superblock = seed % 2 == 0 ? SuperblockSpan::die : SuperblockSpan::plane;
            d.bytes = seed % 3 == 0;
            exercise(d, m, seed, pauses);
            // Several dies, of which the host uses those that are not held.
            d.geometry.channels = 3;
            d.geometry.blocks_per_plane = 14;
            d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
            d.ftl.buffer_bytes = 12 * 4096;
            exercise(d, m, seed, pauses);
        }
        std::printf("%-6s ahead %4ld most %4ld idle after %10ld ps: %lu pauses\n", s.pace, s.ahead, s.most,
                    static_cast<long>(s.idle_after.count()), pauses);
        EXPECT_GE(pauses, s.pace == std::string("full") ? 0u : 100u);
    }
}

// Pages that fail, and drives that become read-only in the midst of it.
TEST(GcPace, RandomFailuresUnderEach) {
    unsigned read_only = 0;
    for (const Setting& s : kSettings) {
        SCOPED_TRACE(std::string(s.pace) + " ahead " + std::to_string(s.ahead));
        std::uint64_t pauses = 0;
        for (std::uint64_t seed = 1 + seed_offset(); seed < 1 + seed_offset() + 6; ++seed) {
            Mix m;
            m.commands = 4000;
            DeviceShape d = paced(tiny_device(), s);
            d.ftl.spare_blocks = 6;
            if (seed % 2 == 0) {  // one die's failure makes the drive read-only, and with it those that are paused
                d.geometry.channels = 3;
                d.geometry.blocks_per_plane = 16;
                d.ftl.spare_blocks = 0;
            }
            d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
            d.faults.program_fails = seed % 2 == 0 ? 0.0005 : 0.003;
            d.faults.erase_fails = 0.005;
            d.faults.page_lost = 0.001;
            exercise(d, m, seed, pauses, &read_only);
        }
    }
    std::printf("%u of 42 drives read-only at the end\n", read_only);
    EXPECT_GT(read_only, 5u);
}

/// GC programs one after the other without one of the host's between them, at most, while the host always wants to
/// write; from the 20th victim on.
std::uint32_t longest_without_host(const DeviceShape& shape, std::uint32_t& fewest_free) {
    DeviceUnderTest d(shape);
    std::uint32_t run = 0, longest = 0;
    fewest_free = 1000;
    d.flash.on_program = [&](const FlashTransaction& t) {
        run = t.cls == FlashClass::gc_write ? run + 1 : 0;
        if (d.firmware.gc().victims() < 40) return;
        longest = std::max(longest, run);
        if (t.cls == FlashClass::host_write) fewest_free = std::min(fewest_free, d.ftl.free_blocks(GroupId{0}));
    };
    Mix m;
    m.read = m.trim = m.zeroes = m.flush = 0;
    m.write = 100;
    m.fua = 0;
    m.hot = 0;
    m.units = 4;
    m.commands = 60000;
    RandomHost host(d, m, 1 + seed_offset());
    host.run();
    d.shut_down();
    return longest;
}

TEST(GcPace, TokensMakeManyShortWaitsOfOneLong) {
    DeviceShape d = tiny_device();
    d.geometry.blocks_per_plane = 48;
    d.ftl.superblock = SuperblockSpan::die;
    d.ftl.gc_soft_free_blocks = 8;
    d.ftl.gc_hard_free_blocks = 3;
    d.ftl.gc_max_inflight_pages = 2;
    d.ftl.initial_state = InitialState::random;
    d.ftl.user_capacity_bytes = 34ull * 2 * 16 * 8192;
    d.ftl.buffer_bytes = 16 * 4096;
    std::uint32_t full_free = 0, tokens_free = 0;
    const std::uint32_t full = longest_without_host(d, full_free);
    d.ftl.gc_pace = "tokens";
    d.ftl.gc_policies["tokens"] = {{"ahead", Value{std::int64_t{2}}}};
    const std::uint32_t tokens = longest_without_host(d, tokens_free);
    std::printf(
        "programs of collection without one of the host's: at most %u at full speed, %u with tokens; fewest free "
        "blocks %u and %u\n",
        full, tokens, full_free, tokens_free);
    EXPECT_LT(2 * tokens, full);
    EXPECT_LT(full_free, d.ftl.gc_hard_free_blocks);
    EXPECT_GE(tokens_free, d.ftl.gc_hard_free_blocks);
}

TEST(GcPace, AnIdleDriveCollectsUntilTheHostComesBack) {
    for (const char* pace : {"full", "yield"}) {
        SCOPED_TRACE(pace);
        const Ps idle_after{100'000'000'000}, a_while{20'000'000'000};
        DeviceShape shape = tiny_device();
        shape.ftl.gc_pace = pace;
        shape.ftl.gc_idle_after = idle_after;
        shape.ftl.gc_idle_free_blocks = 9;
        shape.ftl.superblock = SuperblockSpan::die;
        shape.ftl.initial_state = InitialState::fresh;
        shape.ftl.user_capacity_bytes = 12ull * 2 * 16 * 8192;  // of 24 blocks a plane
        DeviceUnderTest d(shape);
        const auto run_for = [&d](Ps time) {
            for (const SimTime end = d.agenda.now() + time; d.agenda.run_one(end);) d.firmware.check_waiters();
        };
        const auto victims = [&d] { return d.firmware.gc().victims() / 2; };
        Random random(3 + seed_offset(), 7);
        while (d.ftl.free_blocks(GroupId{0}) > 6) {
            d.write(random.below(d.ftl.logical_units()) * d.blocks_per_unit(), d.blocks_per_unit(), true);
            run_for(a_while);
            ASSERT_EQ(d.outstanding(), 0u);
        }
        EXPECT_EQ(victims(), 0u);
        run_for(idle_after / 2);
        EXPECT_EQ(victims(), 0u) << "before the drive is idle";
        while (victims() == 0) ASSERT_TRUE(d.agenda.run_one(kNever));
        // The host comes back: what was begun goes on or makes way.
        bool paused = false;
        for (int n = 0; n < 3; ++n) {
            d.write(0, d.blocks_per_unit(), true);
            while (d.outstanding() != 0) {
                d.agenda.step();
                d.firmware.check_waiters();
                paused = paused || d.firmware.gc().pacing().paused(GroupId{0});
            }
        }
        EXPECT_EQ(paused, shape.ftl.gc_pace == "yield");
        EXPECT_LE(victims(), 2u) << "the host is there";
        d.run();
        std::printf("%s: %lu victims in the next pause, %u free blocks\n", pace, victims(),
                    d.ftl.free_blocks(GroupId{0}));
        EXPECT_GE(d.ftl.free_blocks(GroupId{0}), 9u);
        d.shut_down();
    }
}

}  // namespace
}  // namespace ssdtlm
