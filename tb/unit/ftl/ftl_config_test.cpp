// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/ftl/ftl_check.h"
#include "controller/map/cached/pages/translation_sizes.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

TEST(FtlCheck, AcceptsADeviceThatFits) {
    const NandGeometry g = test::small_geometry();
    EXPECT_TRUE(check_ftl(test::small_config(g, 0.7), g).empty());
}

TEST(FtlCheck, FindsAllProblemsAtOnce) {
    const NandGeometry g = test::small_geometry();
    FtlConfig c = test::small_config(g, 0.7);
    c.mapping = "pge";
    c.gc_policy = "lazy";
    c.allocation = "CWDX";
    c.gc_hard_free_blocks = 0;
    c.gc_soft_free_blocks = 0;
    c.fill = 1.5;
    c.overwrite = -1;
    EXPECT_EQ(check_ftl(c, g).size(), 7u);
    SpareArea flash(g);
    try {
        Ftl ftl(c, g, flash, 1);
        FAIL() << "accepted";
    } catch (const UserError& e) {
        EXPECT_EQ(e.problems().size(), 7u);
        EXPECT_NE(std::string(e.what()).find("did you mean page?"), std::string::npos) << e.what();
    }
}

/// The same of flash that is programmed in two steps.
TEST(FtlCheck, TwoStepsRefuseWhatTheyAreNotMadeFor) {
    NandGeometry g = test::small_geometry();
    g.blocks_per_plane = 64;
    g.two_step = true;
    FtlConfig c = test::small_config(g, 0.3, SuperblockSpan::drive);
    EXPECT_TRUE(check_ftl(c, g).empty());
    c.parity = Parity::die;
    c.gc_frontier = GcFrontier::shared;
    c.gc_pace = "yield";
    c.checkpoint_at_shutdown = true;
    c.most_spread = 3;
    c.refresh_reads = 100;
    c.slc.blocks = 2;
    c.precondition_workload = "job.fio";
    const std::size_t with_parity_beside_a_cache = 1;
    EXPECT_EQ(check_ftl(c, g).size(), 8u + with_parity_beside_a_cache);
    c = test::small_config(g, 0.3);
    c.mapping = "dftl";
    c.gc_charge_time = false;
    g.bits_per_cell = 3;
    g.pages_per_block = 15;
    EXPECT_EQ(check_ftl(c, g).size(), 4u);
    // Closing word lines costs room that others have.
    g = test::small_geometry();
    const std::uint64_t one = most_logical_units(test::small_config(g, 0.3), g);
    g.two_step = true;
    EXPECT_EQ(most_logical_units(test::small_config(g, 0.3), g), one / 61 * 44)
        << "of 64 units in a block 20 may be left, five pages, in place of 3";
}

/// What is asked for beside log blocks, all at once, and each with a way out.
TEST(FtlCheck, LogBlocksRefuseWhatTheyAreNotMadeFor) {
    NandGeometry g = test::small_geometry();
    g.blocks_per_plane = 64;
    FtlConfig c = test::small_config(g, 0.3);
    c.mapping = "fast";
    EXPECT_TRUE(check_ftl(c, g).empty());
    c.static_dimensions = "CW";
    c.placement = Placement::first_idle;
    c.most_spread = 3;
    c.gc_pace = "yield";
    c.gc_idle_after = Ps{1};
    c.checkpoint_interval_bytes = 1 << 20;
    c.checkpoint_at_shutdown = true;
    c.fast.random_log_blocks = 0;
    EXPECT_EQ(check_ftl(c, g).size(), 8u);
    c = test::small_config(g, 0.3);
    c.mapping = "fast";
    c.stream_frontiers = 1;
    EXPECT_EQ(check_ftl(c, g).size(), 1u);
    c.stream_frontiers = 0;
    c.slc.blocks = 1;
    g.bits_per_cell = 2;
    const auto problems = check_ftl(c, g);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].text(),
              "slc.blocks: 1 with ftl.mapping = \"fast\"; 0: log blocks take the pages of the host; set slc.blocks = "
              "0, or ftl.mapping = \"page\"");
    c.mapping = "block";
    c.fast.random_log_blocks = 0;  // says nothing
    c.checkpoint_at_shutdown = true;
    const auto of_block = check_ftl(c, g);
    ASSERT_EQ(of_block.size(), 2u);
    EXPECT_EQ(of_block[0].text(),
              "slc.blocks: 1 with ftl.mapping = \"block\"; 0: replacement blocks take the pages of the host; set "
              "slc.blocks = 0, or ftl.mapping = \"page\"");
}

// Each plane keeps free ones, log blocks and room for the journal; with one block less for data the capacity is one
// less.
TEST(FtlCheck, LogBlocksAreNoneOfTheCapacity) {
    NandGeometry g = test::small_geometry();
    g.blocks_per_plane = 64;
    for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die})
        for (const std::uint32_t logs : {0u, 1u, 9u}) {
            FtlConfig c = test::small_config(g, 0.3, span);
            c.mapping = logs == 0 ? "block" : "fast";
            c.fast.random_log_blocks = logs;
            // An entry takes 16 bytes: 1,024 in a page. 32,768 units: 32 pages, twice, and two more; over the groups,
            // and one: 18 or 10, in superblocks of 32 or 16 pages; one is open, and one is collected.
            const std::uint64_t journal = 1 + 2, reserve = 3 + 3 + logs + 1 + journal;
            EXPECT_EQ(reserved_blocks(c, g), reserve);
            EXPECT_EQ(most_logical_units(c, g), 8 * (64 - reserve) * 16 * 4);
        }
}

/// Where the problems are.
std::vector<std::string> places(const FtlConfig& c, const NandGeometry& g) {
    std::vector<std::string> all;
    for (const Problem& p : check_ftl(c, g)) all.push_back(p.text().substr(0, p.text().find(": ")));
    return all;
}

// Each way in which pages and mapping units do not fit, alone; the other checks, which would divide by it, are left
// out.
TEST(FtlCheck, APageHoldsWholeUnits) {
    const NandGeometry fits = test::small_geometry();
    const FtlConfig c = test::small_config(fits, 0.7);
    const auto with = [&](std::uint32_t page_bytes, std::uint32_t unit_bytes) {
        NandGeometry g = fits;
        g.page_bytes = page_bytes;
        g.unit_bytes = unit_bytes;
        return places(c, g);
    };
    const std::vector<std::string> refused{"nand.geometry.page_size"};
    EXPECT_EQ(with(16384, 0), refused);
    EXPECT_EQ(with(0, 4096), refused);
    EXPECT_EQ(with(4096, 8192), refused);
    EXPECT_EQ(with(10'000, 4096), refused) << "two units and a part";
    EXPECT_EQ(with((kMaxUnitsPerPage + 1) * 512, 512), refused);
    EXPECT_NE(with(kMaxUnitsPerPage * 512, 512), refused);
    EXPECT_NE(with(4096, 4096), refused);
}

TEST(FtlCheck, EachLimitFromBothSides) {
    const NandGeometry g = test::small_geometry();
    const FtlConfig base = test::small_config(g, 0.5);
    using Places = std::vector<std::string>;
    FtlConfig c = base;
    for (const auto& [hard, soft, refused] : {std::tuple{2u, 3u, Places{}},
                                              {1u, 2u, Places{}},
                                              {0u, 2u, Places{"gc.hard_free_blocks"}},
                                              {2u, 2u, Places{"gc.soft_free_blocks"}},
                                              {3u, 2u, Places{"gc.soft_free_blocks"}}}) {
        c = base;
        c.gc_hard_free_blocks = hard;
        c.gc_soft_free_blocks = soft;
        EXPECT_EQ(places(c, g), refused) << hard << " " << soft;
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [fill, allowed] :
         {std::pair{0.0, true}, {1.0, true}, {-0.001, false}, {1.001, false}, {nan, false}}) {
        c = base;
        c.fill = fill;
        EXPECT_EQ(places(c, g), allowed ? Places{} : Places{"precondition.fill"}) << fill;
    }
    for (const auto& [overwrite, allowed] : {std::pair{0.0, true}, {7.0, true}, {-0.001, false}, {nan, false}}) {
        c = base;
        c.overwrite = overwrite;
        EXPECT_EQ(places(c, g), allowed ? Places{} : Places{"precondition.overwrite"}) << overwrite;
    }
    c = base;
    c.user_capacity_bytes = 0;
    EXPECT_EQ(places(c, g), Places{"ftl.user_capacity"});
    c.user_capacity_bytes = 1;
    EXPECT_EQ(places(c, g), Places{});
}

TEST(FtlCheck, MappingUnitsHaveTheirNumber) {
    // 2^32 - 1 = 3 * 5 * 17 * 257 * 65537 is the number of no unit.
    NandGeometry g = test::small_geometry();
    g.channels = 17;
    g.ways = g.dies_per_chip = g.planes_per_die = 1;
    g.blocks_per_plane = 65537;
    g.pages_per_block = 257;
    g.unit_bytes = 4096;
    g.page_bytes = 15 * 4096;
    FtlConfig c = test::small_config(test::small_geometry(), 0.5);
    ASSERT_EQ(g.units(), 0xFFFF'FFFFu);
    EXPECT_EQ(places(c, g), std::vector<std::string>{"nand.geometry"});
    --g.channels;
    EXPECT_EQ(places(c, g), std::vector<std::string>{});
}

TEST(FtlCheck, CapacityLeavesRoomForTheThresholds) {
    const NandGeometry g = test::small_geometry();
    FtlConfig c = test::small_config(g, 0.5);
    const std::uint64_t most = most_logical_units(c, g);
    // 3 + 1 free and 2 open blocks of 24; a block may keep up to 3 of 64 units that are invalid.
    EXPECT_EQ(most, 8u * (24 - 6) * 61);
    c.user_capacity_bytes = most * g.unit_bytes;
    EXPECT_TRUE(check_ftl(c, g).empty());
    c.user_capacity_bytes += 1;  // a part of one more unit
    EXPECT_EQ(check_ftl(c, g).size(), 1u);
    c.gc_soft_free_blocks = 30;
    EXPECT_EQ(most_logical_units(c, g), 0u);
    EXPECT_EQ(check_ftl(c, g).size(), 1u);
    // In general. One more block is open when blocks are levelled, and spare ones take the place of others.
    for (const std::uint32_t soft : {2u, 3u, 5u, 19u})
        for (const std::uint32_t spread : {0u, 1u, 10u})
            for (const std::uint32_t spare : {0u, 1u, 4u})
                for (const std::uint32_t units_per_page : {1u, 4u}) {
                    NandGeometry other = g;
                    other.page_bytes = units_per_page * g.unit_bytes;
                    c.gc_soft_free_blocks = soft;
                    c.most_spread = spread;
                    c.spare_blocks = spare;
                    const std::uint64_t kept = soft + 1 + (spread == 0 ? 2 : 3) + spare;
                    const std::uint64_t full_of_invalid = 16 * units_per_page - (units_per_page - 1);
                    EXPECT_EQ(most_logical_units(c, other), kept > 24 ? 0 : 8 * (24 - kept) * full_of_invalid)
                        << soft << " " << spread << " " << spare << " " << units_per_page;
                }
}

// The most that fits: it and its translation pages, but not one unit more.
TEST(FtlCheck, CapacityLeavesRoomForTranslationPages) {
    const NandGeometry g = test::small_geometry();
    FtlConfig c = test::small_config(g, 0.5);
    for (const std::uint32_t soft : {3u, 4u, 7u, 20u})
        for (const std::uint32_t entry_bytes : {4u, 8u, 256u, g.unit_bytes}) {
            SCOPED_TRACE(std::to_string(soft) + " " + std::to_string(entry_bytes));
            c.map.entry_bytes = entry_bytes;
            c.mapping = "page";
            c.gc_soft_free_blocks = soft + 1;  // as many blocks kept as with one open for translation pages
            const std::uint64_t all = most_logical_units(c, g);
            c.mapping = "dftl";
            c.gc_soft_free_blocks = soft;
            const std::uint64_t most = most_logical_units(c, g), entries = entries_per_translation_page(c, g);
            const auto with_map = [entries](std::uint64_t n) { return n + (n + entries - 1) / entries; };
            EXPECT_LE(with_map(most), all);
            EXPECT_GE(with_map(most + 2) + 1, all) << "as good as all of it";
        }
}

}  // namespace
}  // namespace ssdtlm
