// SPDX-License-Identifier: Apache-2.0
// Log blocks at random: against a simulation of FAST that counts merges, copies and erases by itself, and against a map
// that says what each unit holds. And what it costs: write amplification of ascending, random and mixed writes.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/random/random.h"
#include "controller/mount/recovery.h"
#include "fast_simulation.h"
#include "hybrid_fixture.h"

namespace ssdtlm {
namespace {

using test::FastSimulation;
using test::HybridDevice;

/// A device and the simulations of its groups, which count their units from 0 in ascending order.
class Pair {
public:
    Pair(const NandGeometry& g, const FtlConfig& c) : d(c, g) {
        const std::uint32_t groups = d.ftl.shape().groups();
        of_group.resize(groups);
        for (std::uint32_t l = 0; l < d.ftl.logical_units(); ++l) {
            const std::uint32_t group = idx(d.logical().page_of(Lpa{l}).group);
            number.push_back(static_cast<int>(of_group[group].size()));
            of_group[group].push_back(Lpa{l});
        }
        for (std::uint32_t i = 0; i < groups; ++i)
            simulations.emplace_back(static_cast<int>(of_group[i].size()), static_cast<int>(g.units_per_page()),
                                     static_cast<int>(d.ftl.shape().pages()),
                                     static_cast<int>(c.fast.random_log_blocks));
        versions.resize(d.ftl.logical_units());
    }
    void write_page(const LogicalPage& p) {
        d.write(p);
        const std::uint32_t first = idx(d.logical().first_unit(p));
        simulations[idx(p.group)].write_page(number[first] / static_cast<int>(d.geometry.units_per_page()));
        for (std::uint32_t i = 0, n = d.logical().units(p); i < n; ++i) versions[first + i] = d.version - n + i + 1;
    }
    /// Not all of one page.
    void write_any(const std::vector<Lpa>& units) {
        const GroupId group = d.logical().page_of(units[0]).group;
        d.write(units);
        std::vector<int> numbers;
        for (const Lpa l : units) numbers.push_back(number[idx(l)]);
        simulations[idx(group)].write_any(numbers);
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
        FastSimulation::Counts n;
        for (std::uint32_t i = 0; i < simulations.size(); ++i) {
            d.merge(GroupId{i});
            const auto& c = simulations[i].counts();
            n.direct += c.direct, n.switches += c.switches, n.partial += c.partial, n.full += c.full,
                n.blocks += c.blocks, n.empty += c.empty;
            n.pages += c.pages, n.units += c.units, n.erased += c.erased;
        }
        const FtlCounters& c = d.ftl.counters();
        ASSERT_EQ(c.direct_blocks, n.direct);
        ASSERT_EQ(c.switch_merges, n.switches);
        ASSERT_EQ(c.partial_merges, n.partial);
        ASSERT_EQ(c.full_merges, n.full);
        ASSERT_EQ(c.full_merge_blocks, n.blocks);
        ASSERT_EQ(c.empty_logs, n.empty);
        ASSERT_EQ(c.gc_pages, n.pages);
        ASSERT_EQ(c.gc_units_moved, n.units);
        ASSERT_EQ(c.blocks_erased - c.victims, n.erased * d.ftl.shape().planes());  // victims are blocks of the journal
        ASSERT_NO_THROW(d.ftl.verify_books());
        for (std::uint32_t l = 0; l < versions.size(); ++l) {
            const Ppa at = d.ftl.lookup(Lpa{l});
            const std::uint32_t found = at == kUnmapped ? 0 : d.ftl.codec().version(d.flash.at(at));
            // Of a version only the last bits are kept.
            ASSERT_EQ(found, versions[l] == 0 ? 0 : d.ftl.codec().version(d.ftl.codec().make(Lpa{l}, versions[l])))
                << "unit " << l;
            ASSERT_EQ(at == kUnmapped, versions[l] == 0) << "unit " << l;
        }
    }
    HybridDevice d;
    std::vector<std::vector<Lpa>> of_group;
    std::vector<int> number;  // of a unit in its group
    std::vector<FastSimulation> simulations;
    std::vector<std::uint32_t> versions;  // that each unit holds; 0: nothing
};

TEST(HybridRandom, CountsAsASimulationOfFastDoes) {
    std::uint64_t full = 0, partial = 0, switches = 0, empty = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, 5);
        NandGeometry g = test::hybrid_geometry();
        g.planes_per_die = static_cast<std::uint32_t>(1 + random.below(3));
        g.channels = static_cast<std::uint32_t>(1 + random.below(3));
        g.pages_per_block = static_cast<std::uint32_t>(2 + random.below(7));
        g.page_bytes = 4096u << random.below(3);
        const auto logs = static_cast<std::uint32_t>(1 + random.below(5));
        FtlConfig c = test::hybrid_config(g, logs, random.percent(50) ? SuperblockSpan::die : SuperblockSpan::plane);
        g.blocks_per_plane = reserved_blocks(c, g) + 4 + static_cast<std::uint32_t>(random.below(10));
        c.user_capacity_bytes = (most_logical_units(c, g) - random.below(20)) * 4096;
        Pair pair(g, c);
        const std::uint32_t groups = pair.d.ftl.shape().groups(), per_page = g.units_per_page();
        const bool trims = random.percent(30);
        std::vector<LogicalPage> streams(groups * 2);
        for (std::uint32_t i = 0; i < streams.size(); ++i) streams[i] = {GroupId{i % groups}, 0, 0};
        const unsigned sequential = static_cast<unsigned>(random.below(101));
        for (int step = 0; step < 3000; ++step) {
            const GroupId group{static_cast<std::uint32_t>(random.below(groups))};
            const auto& units = pair.of_group[idx(group)];
            if (random.percent(
                    sequential)) {  // two ascending writes of a group; now and then one begins somewhere else
                LogicalPage& p = streams[random.below(2) * groups + idx(group)];
                p.group = group;
                if (random.percent(3)) p = pair.d.logical().page_of(units[random.below(units.size())]);
                if (random.percent(2)) p.page = 0;
                pair.write_page(p);
                if (++p.page == pair.d.logical().pages(group, p.block))
                    p = {group, (p.block + 1) % pair.d.logical().count(group), 0};
            } else if (trims && random.percent(10)) {
                const auto first = static_cast<std::uint32_t>(random.below(pair.versions.size()));
                pair.trim(Lpa{first}, std::min(static_cast<std::uint32_t>(1 + random.below(5)),
                                               static_cast<std::uint32_t>(pair.versions.size()) - first));
            } else if (per_page == 1 || random.percent(10)) {
                pair.write_page(pair.d.logical().page_of(
                    units[random.below(random.percent(50) ? units.size() : std::min<std::size_t>(units.size(), 9))]));
            } else {  // at random, not all units of a page
                std::set<std::uint32_t> which;
                const std::uint64_t n = 1 + random.below(per_page - 1);
                while (which.size() < n) which.insert(static_cast<std::uint32_t>(random.below(units.size())));
                std::vector<Lpa> some;
                for (const std::uint32_t u : which) some.push_back(units[u]);
                pair.write_any(some);
            }
            if (HasFatalFailure()) return;
            if (step % 500 == 499) pair.compare();
            if (HasFatalFailure()) return;
        }
        const FtlCounters& n = pair.d.ftl.counters();
        full += n.full_merges, partial += n.partial_merges, switches += n.switch_merges, empty += n.empty_logs;
    }
    std::printf("merges: %lu switch, %lu partial, %lu full, %lu logs without anything left\n", switches, partial, full,
                empty);
    EXPECT_GT(full, 1000u);
    EXPECT_GT(partial, 300u);
    EXPECT_GT(switches, 300u);
    EXPECT_GT(empty, 20u);
}

// After each loss of power a new FTL finds what was written, knows which superblock plays which part, and goes on.
TEST(HybridRandom, GoesOnAfterLossesOfPower) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, 6);
        NandGeometry g = test::hybrid_geometry();
        g.channels = static_cast<std::uint32_t>(1 + random.below(2));
        g.page_bytes = 4096u << random.below(3);
        const FtlConfig c = test::hybrid_config(g, static_cast<std::uint32_t>(1 + random.below(3)),
                                                random.percent(50) ? SuperblockSpan::die : SuperblockSpan::plane);
        SpareArea flash(g);
        std::map<std::uint32_t, std::uint32_t> versions;
        std::uint32_t version = 0;
        for (int life = 0; life < 12; ++life) {
            Ftl ftl(c, g, flash, 1);
            if (life != 0) {
                Recovery(ftl).from_all_pages();
                ASSERT_NO_THROW(ftl.verify_books());
            }
            ASSERT_NO_FATAL_FAILURE(test::expect_written_last(ftl, flash, versions));
            const LogicalBlocks& logical = ftl.placement()->logical();
            LogicalPage stream;
            for (std::uint64_t step = 0, steps = random.below(400); step < steps; ++step) {
                LogicalPage p = logical.page_of(Lpa{static_cast<std::uint32_t>(random.below(ftl.logical_units()))});
                const bool whole = random.percent(60) || g.units_per_page() == 1;
                if (whole && random.percent(80)) p = stream;
                PageAddress a;
                while (ftl.placement()->take_pages(p.group, whole ? &p : nullptr, 1, &a) == 0)
                    ftl.placement()->merge_at_once(p.group);
                ASSERT_FALSE(ftl.media().read_only);
                Spare out[kMaxUnitsPerPage];
                std::fill_n(out, g.units_per_page(), kPadding);
                for (std::uint32_t s = 0; s < (whole ? logical.units(p) : 1); ++s) {
                    const Lpa l{idx(logical.first_unit(p)) + s};
                    out[s] = ftl.codec().make(l, ++version);
                    ftl.map_unit(l, g.ppa_of(a, s));
                    versions[idx(l)] = version;
                }
                flash.program_page(a, out, ftl.draw_record(a));
                ftl.host_page_programmed(a);
                if (p == stream && whole)
                    stream = ++p.page == logical.pages(p.group, p.block)
                                 ? logical.page_of(Lpa{static_cast<std::uint32_t>(random.below(ftl.logical_units()))})
                                 : p;
            }
        }
    }
}

/// Pages programmed for a page of the host, on one die with 64 logical blocks, in steady state.
double amplification(std::uint32_t logs, const std::string& job) {
    NandGeometry g = test::hybrid_geometry();
    g.page_bytes = 4096;
    g.pages_per_block = 16;
    FtlConfig c = test::hybrid_config(g, logs);
    g.blocks_per_plane = reserved_blocks(c, g) + 64;
    c.user_capacity_bytes = most_logical_units(c, g) * 4096;
    c.initial_state = InitialState::sequential;
    HybridDevice d(c, g);
    Random random(7, 7);
    std::uint32_t at = 0;
    FtlCounters before = d.ftl.counters();
    const auto units = static_cast<std::uint32_t>(d.ftl.logical_units());
    for (std::uint32_t i = 0; i < 4 * units; ++i) {
        if (i == units) before = d.ftl.counters();
        const bool ascending = job == "ascending" || (job == "mixed" && random.percent(90));
        const auto l = ascending ? at++ % units : static_cast<std::uint32_t>(random.below(units));
        d.write(d.logical().page_of(Lpa{l}));
    }
    return d.since(before).unit_write_amplification(1);
}

TEST(HybridRandom, WriteAmplification) {
    for (const std::uint32_t logs : {1u, 4u, 16u, 32u}) {
        const double ascending = amplification(logs, "ascending"), random = amplification(logs, "random"),
                     mixed = amplification(logs, "mixed");
        std::printf(
            "[   FIGURE ] write amplification with %2u random log blocks for 64 data blocks: ascending %.3f, random "
            "%.2f, nine in ten ascending %.2f\n",
            logs, ascending, random, mixed);
        EXPECT_EQ(ascending, 1.0);
        // Of L logs' room of n pages, each full merge copies at most one data block for each page in the oldest log,
        // and one at least.
        EXPECT_GT(random, 2.0);
        EXPECT_LT(random, 1.0 + 32 + 1);
        EXPECT_LT(mixed, random);
    }
    EXPECT_LT(amplification(32, "random"), amplification(1, "random"));
}

}  // namespace
}  // namespace ssdtlm
