// SPDX-License-Identifier: Apache-2.0
// Block mapping: merges counted against sequences worked out by hand, at random against a simulation that counts by
// itself, and write amplification against a formula. A logical block is 8 pages of 2 units, where nothing else is said.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "block_simulation.h"
#include "common/random/random.h"
#include "controller/mount/recovery.h"
#include "hybrid_fixture.h"

namespace ssdtlm {
namespace {

using test::BlockSimulation;
using test::hybrid_of;
using test::HybridDevice;

/// Merges, and the traffic that they make.
using Merges = BlockSimulation::Counts;
/// Erased in superblocks; victims are those of the journal.
Merges merges_of(const FtlCounters& c, std::uint32_t planes) {
    return {c.direct_blocks, c.switch_merges,  c.partial_merges,
            c.gc_pages,      c.gc_units_moved, (c.blocks_erased - c.victims) / planes};
}

struct BlockMapping : ::testing::Test {
    NandGeometry g = test::hybrid_geometry();
    HybridDevice d{test::block_config(g), g};
    FtlCounters before = d.ftl.counters();

    /// Since the last time.
    Merges merges() {
        d.merge(GroupId{0});
        EXPECT_NO_THROW(d.ftl.verify_books());
        const FtlCounters n = d.since(before);
        EXPECT_EQ(n.full_merges + n.full_merge_blocks + n.empty_logs, 0u);
        before = d.ftl.counters();
        return merges_of(n, 2);
    }
    void write_pages(std::uint32_t block, std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t p = from; p < to; ++p) d.write(block, p);
    }
    void write_unit(std::uint32_t block, std::uint32_t n) { d.write({d.unit(block, n)}); }
    SuperblockId holds(std::uint32_t block, std::uint32_t n) const {
        return d.ftl.shape().superblock_of(d.ftl.lookup(d.unit(block, n)));
    }
};

TEST_F(BlockMapping, AnAscendingWriteIsDirectAndThenSwitched) {
    write_pages(0, 0, 8);
    write_pages(1, 0, 8);
    EXPECT_EQ(merges(), (Merges{2, 0, 0, 0, 0, 0}));
    const SuperblockId old = hybrid_of(d.ftl).data_block(GroupId{0}, 0);
    write_pages(0, 0, 7);
    EXPECT_EQ(merges(), Merges{});
    d.write(0, 7);
    EXPECT_EQ(merges(), (Merges{0, 1, 0, 0, 0, 1}));
    EXPECT_EQ(d.ftl.superblock(old).state, BlockState::free);
}

TEST_F(BlockMapping, WhatIsInFrontAndBehindIsCopied) {
    for (std::uint32_t block = 0; block < 2; ++block) write_pages(block, 0, 8);
    merges();
    d.write(0, 3);  // pages 0 to 2 first
    EXPECT_EQ(merges(), (Merges{0, 0, 0, 3, 6, 0}));
    d.write(0, 4);  // goes on
    d.write(0, 6);  // with page 5 in front
    EXPECT_EQ(merges(), (Merges{0, 0, 0, 1, 2, 0}));
    d.write(1, 0);  // page 7 of block 0
    EXPECT_EQ(merges(), (Merges{0, 0, 1, 1, 2, 1}));
    d.write(1, 0);  // the same page again: pages 1 to 7 behind the first
    EXPECT_EQ(merges(), (Merges{0, 0, 1, 7, 14, 1}));
    d.write(1, 7);  // pages 1 to 6; it is the last one
    EXPECT_EQ(merges(), (Merges{0, 0, 1, 6, 12, 1}));
    EXPECT_EQ(hybrid_of(d.ftl).sequential_log(GroupId{0}), kNoSuperblock);
}

TEST_F(BlockMapping, APageWrittenInPartTakesItsOtherUnitsAlong) {
    write_pages(0, 0, 8);
    merges();
    write_unit(0, 5);  // the second of page 2: pages 0 and 1, and the unit 4
    EXPECT_EQ(merges(), (Merges{0, 0, 0, 2, 5, 0}));
    EXPECT_EQ(holds(0, 4), holds(0, 5));
    EXPECT_EQ(d.geometry.slot_of(d.ftl.lookup(d.unit(0, 5))), 1u);
    EXPECT_EQ(d.geometry.slot_of(d.ftl.lookup(d.unit(0, 4))), 0u);
    write_unit(0, 4);  // its other one: pages 3 to 7; then pages 0 and 1 again, and the unit 5
    EXPECT_EQ(merges(), (Merges{0, 0, 1, 7, 15, 1}));
    for (std::uint32_t p = 3; p < 8; ++p) d.write(0, p);
    EXPECT_EQ(merges(), (Merges{0, 0, 1, 0, 0, 1}));  // not all of it is the host's
}

TEST_F(BlockMapping, WhatWasNeverWrittenIsPadding) {
    write_unit(0, 6);  // pages 0 to 2 of padding, and a unit of it in page 3
    EXPECT_EQ(merges(), (Merges{0, 0, 0, 3, 0, 0}));
    EXPECT_EQ(d.ftl.counters().pad_units(2), 7u);
    write_unit(1, 0);  // nothing behind page 3 of block 0
    EXPECT_EQ(merges(), (Merges{0, 0, 1, 0, 0, 0}));
    EXPECT_EQ(d.ftl.lookup(d.unit(0, 5)), kUnmapped);
    write_unit(2, 0);
    EXPECT_EQ(merges(), (Merges{1, 0, 0, 0, 0, 0}));
}

TEST_F(BlockMapping, WhatWasDeallocatedIsPaddingToo) {
    write_pages(0, 0, 8);
    merges();
    d.write(0, 1);
    d.ftl.trim(d.unit(0, 5), 2);   // in pages 2 and 3
    d.ftl.trim(d.unit(0, 14), 2);  // the last page
    write_unit(0, 7);              // pages 2 with the unit 4; unit 6 is not there any more
    EXPECT_EQ(merges(), (Merges{0, 0, 0, 2, 3, 0}));
    d.write(1, 0);  // pages 4 to 6
    EXPECT_EQ(merges(), (Merges{0, 0, 1, 3, 6, 1}));
}

// What was read for a page that is not written any more, or of which other units are written, is read again.
TEST_F(BlockMapping, WhatWasReadForAPageIsForThisPageOnly) {
    write_pages(0, 0, 8);
    HybridMap& map = hybrid_of(d.ftl);
    PageAddress a;
    const LogicalPage page{GroupId{0}, 0, 0};
    ASSERT_FALSE(map.take_part(page, 1, a));
    ASSERT_TRUE(map.demanded(GroupId{0}) && map.begin(GroupId{0}) && map.reads_rest(GroupId{0}));
    map.forget_rest(GroupId{0});
    map.end_run(GroupId{0});
    EXPECT_FALSE(map.take_part(page, 1, a));
    d.merge(GroupId{0});
    EXPECT_FALSE(map.take_part(page, 2, a));
    d.merge(GroupId{0});
    EXPECT_TRUE(map.take_part(page, 2, a));
    EXPECT_TRUE(map.rest_taken(GroupId{0}));
    EXPECT_FALSE(map.rest_taken(GroupId{0}));
}

/// A device and the simulations of its groups, which count their units from 0 in ascending order.
class Pair {
public:
    Pair(const NandGeometry& g, const FtlConfig& c)
        : d(c, g), of_group(d.ftl.shape().groups()), versions(d.ftl.logical_units()) {
        for (std::uint32_t l = 0; l < versions.size(); ++l) {
            auto& units = of_group[idx(d.logical().page_of(Lpa{l}).group)];
            number.push_back(static_cast<int>(units.size()));
            units.push_back(Lpa{l});
        }
        for (const auto& units : of_group)
            simulations.emplace_back(static_cast<int>(units.size()), static_cast<int>(g.units_per_page()),
                                     static_cast<int>(d.ftl.shape().pages()));
    }
    /// The units of the page whose bits are set.
    void write(const LogicalPage& p, std::uint32_t slots) {
        std::vector<Lpa> units;
        std::set<int> numbers;
        for (std::uint32_t i = 0; i < d.logical().units(p); ++i) {
            if ((slots >> i & 1u) == 0) continue;
            units.push_back(Lpa{idx(d.logical().first_unit(p)) + i});
            numbers.insert(number[idx(units.back())]);
        }
        if (units.empty()) return;
        d.write(units);
        simulations[idx(p.group)].write(numbers);
        for (std::size_t i = 0; i < units.size(); ++i)
            versions[idx(units[i])] = d.version - static_cast<std::uint32_t>(units.size() - i) + 1;
    }
    void trim(Lpa first, std::uint32_t n) {
        d.ftl.trim(first, n);
        for (std::uint32_t i = 0; i < n; ++i) {
            const Lpa l{idx(first) + i};
            simulations[idx(d.logical().page_of(l).group)].trim(number[idx(l)]);
            versions[idx(l)] = 0;
        }
    }
    void compare() {
        Merges n;
        for (std::uint32_t i = 0; i < simulations.size(); ++i) {
            d.merge(GroupId{i});
            const Merges& c = simulations[i].counts();
            n.direct += c.direct, n.switches += c.switches, n.merges += c.merges, n.pages += c.pages,
                n.units += c.units, n.erased += c.erased;
        }
        ASSERT_EQ(merges_of(d.ftl.counters(), d.ftl.shape().planes()), n);
        ASSERT_EQ(d.ftl.counters().full_merges, 0u);
        ASSERT_NO_THROW(d.ftl.verify_books());
        for (std::uint32_t l = 0; l < versions.size(); ++l) {
            const Ppa at = d.ftl.lookup(Lpa{l});
            ASSERT_EQ(at == kUnmapped, versions[l] == 0) << "unit " << l;
            if (at == kUnmapped) continue;
            // Of a version only the last bits are kept.
            ASSERT_EQ(d.ftl.codec().version(d.flash.at(at)),
                      d.ftl.codec().version(d.ftl.codec().make(Lpa{l}, versions[l])))
                << "unit " << l;
            ASSERT_EQ(d.geometry.slot_of(at), d.logical().slot_of(Lpa{l})) << "unit " << l;
        }
    }
    HybridDevice d;
    std::vector<std::vector<Lpa>> of_group;
    std::vector<int> number;  // of a unit in its group
    std::vector<BlockSimulation> simulations;
    std::vector<std::uint32_t> versions;  // that each unit holds; 0: nothing
};

TEST(BlockMappingRandom, CountsAsASimulationDoes) {
    std::uint64_t direct = 0, switches = 0, merged = 0, units = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, 15);
        NandGeometry g = test::hybrid_geometry();
        g.planes_per_die = static_cast<std::uint32_t>(1 + random.below(3));
        g.channels = static_cast<std::uint32_t>(1 + random.below(3));
        g.pages_per_block = static_cast<std::uint32_t>(2 + random.below(7));
        g.page_bytes = 4096u << random.below(3);
        FtlConfig c = test::block_config(g, random.percent(50) ? SuperblockSpan::die : SuperblockSpan::plane);
        g.blocks_per_plane = reserved_blocks(c, g) + 4 + static_cast<std::uint32_t>(random.below(10));
        c.user_capacity_bytes = (most_logical_units(c, g) - random.below(20)) * 4096;
        Pair pair(g, c);
        const LogicalBlocks& logical = pair.d.logical();
        const std::uint32_t groups = pair.d.ftl.shape().groups();
        const bool trims = random.percent(30);
        const unsigned ascending = static_cast<unsigned>(random.below(101)),
                       whole = static_cast<unsigned>(random.below(101));
        std::vector<LogicalPage> streams;
        for (std::uint32_t i = 0; i < groups; ++i) streams.push_back({GroupId{i}, 0, 0});
        for (int step = 0; step < 2000; ++step) {
            LogicalPage& stream = streams[random.below(groups)];
            LogicalPage p = stream;
            const auto& of_group = pair.of_group[idx(p.group)];
            if (trims && random.percent(10)) {
                const auto first = static_cast<std::uint32_t>(random.below(pair.versions.size()));
                pair.trim(Lpa{first}, std::min(static_cast<std::uint32_t>(1 + random.below(5)),
                                               static_cast<std::uint32_t>(pair.versions.size()) - first));
                continue;
            }
            const bool goes_on = random.percent(ascending);
            if (goes_on && random.percent(3)) p = logical.page_of(of_group[random.below(of_group.size())]);
            if (goes_on && random.percent(2)) p.page = 0;
            if (!goes_on)
                p = logical.page_of(of_group[random.below(
                    random.percent(50) ? of_group.size() : std::min<std::size_t>(of_group.size(), 9))]);
            pair.write(
                p, random.percent(whole) ? ~0u : static_cast<std::uint32_t>(random.below(1u << g.units_per_page())));
            if (goes_on)
                stream = p.page + 1 < logical.pages(p.group, p.block)
                             ? LogicalPage{p.group, p.block, p.page + 1}
                             : LogicalPage{p.group, (p.block + 1) % logical.count(p.group), 0};
            if (step % 400 == 399) pair.compare();
            if (HasFatalFailure()) return;
        }
        const FtlCounters& n = pair.d.ftl.counters();
        direct += n.direct_blocks, switches += n.switch_merges, merged += n.partial_merges, units += n.gc_units_moved;
    }
    std::printf("data blocks: %lu direct, %lu switched, %lu merged, with %lu units copied\n", direct, switches, merged,
                units);
    EXPECT_GT(direct, 20u);
    EXPECT_GT(switches, 500u);
    EXPECT_GT(merged, 10000u);
}

// After each loss of power a new FTL finds what was written, knows which superblock plays which part, and goes on.
TEST(BlockMappingRandom, GoesOnAfterLossesOfPower) {
    std::uint64_t merged = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, 16);
        NandGeometry g = test::hybrid_geometry();
        g.channels = static_cast<std::uint32_t>(1 + random.below(2));
        g.page_bytes = 4096u << random.below(3);
        const FtlConfig c = test::block_config(g, random.percent(50) ? SuperblockSpan::die : SuperblockSpan::plane);
        SpareArea flash(g);
        std::map<std::uint32_t, std::uint32_t> versions;
        std::uint32_t version = 0;
        for (int life = 0; life < 20; ++life) {
            Ftl ftl(c, g, flash, 1);
            if (life != 0) {
                Recovery(ftl).from_all_pages();
                ASSERT_NO_THROW(ftl.verify_books());
            }
            ASSERT_NO_FATAL_FAILURE(test::expect_written_last(ftl, flash, versions));
            const LogicalBlocks& logical = ftl.placement()->logical();
            for (std::uint64_t step = 0, steps = random.below(100); step < steps; ++step) {
                const LogicalPage p =
                    logical.page_of(Lpa{static_cast<std::uint32_t>(random.below(ftl.logical_units()))});
                const bool whole = random.percent(50) || logical.units(p) == 1;
                const auto slot = static_cast<std::uint32_t>(random.below(logical.units(p)));
                const std::uint32_t slots = whole ? ~0u : 1u << slot;
                PageAddress a;
                while (!(whole ? ftl.placement()->take_pages(p.group, &p, 1, &a) != 0
                               : ftl.placement()->take_part(p, slots, a)))
                    ftl.placement()->merge_at_once(p.group);
                ASSERT_FALSE(ftl.media().read_only);
                Spare out[kMaxUnitsPerPage];
                std::fill_n(out, g.units_per_page(), kPadding);
                for (std::uint32_t s = 0; s < logical.units(p); ++s) {
                    if ((slots >> s & 1u) == 0) continue;
                    const Lpa l{idx(logical.first_unit(p)) + s};
                    out[s] = ftl.codec().make(l, ++version);
                    ftl.map_unit(l, g.ppa_of(a, s));
                    versions[idx(l)] = version;
                }
                ftl.placement()->program_part(p, slots, a, out);
            }
            merged += ftl.counters().full_merges;
        }
    }
    EXPECT_GT(merged, 100u);  // replacement blocks that were open when the power went
}

/// `blocks` logical blocks of `pages` pages, all written; a page programmed for each of the host's, and what is copied
/// for it.
double amplification(std::uint32_t blocks, std::uint32_t pages, std::uint32_t per_page) {
    NandGeometry g = test::hybrid_geometry();
    g.page_bytes = 4096 * per_page;
    g.pages_per_block = pages / 2;
    FtlConfig c = test::block_config(g);
    g.blocks_per_plane = reserved_blocks(c, g) + blocks;
    c.user_capacity_bytes = most_logical_units(c, g) * 4096;
    c.initial_state = InitialState::sequential;
    HybridDevice d(c, g);
    EXPECT_EQ(d.logical().count(GroupId{0}), blocks);
    Random random(7, 17);
    const FtlCounters before = d.ftl.counters();
    for (int i = 0; i < 20000; ++i) d.write({Lpa{static_cast<std::uint32_t>(random.below(d.ftl.logical_units()))}});
    const FtlCounters n = d.since(before);
    return static_cast<double>(n.host_pages + n.gc_pages) / 20000;
}

// A write of one unit programs its page. Where another logical block was written before, all other n - 1 pages are
// copied: those behind what was written before, and those in front of this. In the same one (1 in B) a page behind it,
// (n - 1) / 2n of the cases, saves n copies.
TEST(BlockMappingRandom, AWriteOfOneUnitProgramsALogicalBlock) {
    for (const auto& [blocks, pages, per_page] :
         {std::tuple{4u, 8u, 1u}, {16u, 32u, 1u}, {16u, 32u, 4u}, {3u, 128u, 2u}}) {
        const double n = pages, formula = 1 + (n - 1) * (1 - 1.0 / (2 * blocks)),
                     found = amplification(blocks, pages, per_page);
        std::printf(
            "[   FIGURE ] block mapping, %u logical blocks of %u pages of %u units: pages programmed for a random "
            "write of one unit: formula %.3f, model %.3f\n",
            blocks, pages, per_page, formula, found);
        EXPECT_NEAR(found / formula, 1, 0.01);
    }
}

}  // namespace
}  // namespace ssdtlm
