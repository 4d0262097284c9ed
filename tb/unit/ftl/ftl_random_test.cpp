// SPDX-License-Identifier: Apache-2.0
// Random writes, trims, overlapping programs and GC against a model that only knows what the host wrote.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <tuple>

#include "common/random/random.h"
#include "controller/precondition/precondition.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;

struct RunningProgram {
    PageAddress page;
    std::vector<Spare> data;
    PageRecord record;
};

enum class With { nothing, slc, partitions, partitions_and_slc, streams, partitions_and_streams, sets };
constexpr const char* kWith[] = {"",     "_slc", "_partitions", "_partitions_slc", "_streams", "_partitions_streams",
                                 "_sets"};
class FtlRandom : public testing::TestWithParam<std::tuple<std::string, SuperblockSpan, With>> {};
INSTANTIATE_TEST_SUITE_P(All, FtlRandom,
                         testing::Combine(testing::ValuesIn(VictimPolicies::instance().names()),
                                          testing::Values(SuperblockSpan::plane, SuperblockSpan::die),
                                          testing::Values(With::nothing, With::slc, With::partitions,
                                                          With::partitions_and_slc, With::streams,
                                                          With::partitions_and_streams, With::sets)),
                         [](const auto& p) {
                             return std::get<0>(p.param) +
                                    (std::get<1>(p.param) == SuperblockSpan::die ? "_die" : "_plane") +
                                    kWith[static_cast<std::size_t>(std::get<2>(p.param))];
                         });

TEST_P(FtlRandom, AgreesWithAMap) {
    NandGeometry g = test::small_geometry();
    FtlConfig c = test::small_config(g, 0.68, std::get<1>(GetParam()));
    c.gc_policy = std::get<0>(GetParam());
    const With with = std::get<2>(GetParam());
    c.slc.blocks = with == With::slc || with == With::partitions_and_slc ? 3 : 0;
    c.slc.dynamic_blocks = with == With::partitions_and_slc ? 4 : 0;
    if (with == With::partitions) c.static_dimensions = c.superblock == SuperblockSpan::plane ? "CWDP" : "CWD";
    if (with == With::partitions_and_slc || with == With::partitions_and_streams) c.static_dimensions = "C";
    if (with == With::sets)
        c.nvm_sets = c.superblock == SuperblockSpan::plane ? "C0W0P0, C0W0P1, C0W1, C1" : "C0W0, C0W1, C1";
    c.stream_frontiers = with == With::streams ? 3 : with == With::partitions_and_streams ? 1 : 0;
    g.blocks_per_plane += c.slc.blocks + (c.slc.dynamic_blocks != 0) + 2 * c.stream_frontiers;
    Device d(c, g);
    std::map<std::uint32_t, std::uint32_t> model;  // unit -> version
    std::deque<RunningProgram> running;
    Random random(21);
    const auto finish_one = [&] {
        const RunningProgram& p = running.front();
        d.flash.program_page(p.page, p.data.data(), p.record);
        d.ftl.host_page_programmed(p.page);
        running.pop_front();
    };
    const auto logical = d.ftl.logical_units();
    for (int i = 0; i < 60000; ++i) {
        const auto lpa =
            static_cast<std::uint32_t>(random.percent(50) ? random.below(logical) : random.below(logical / 8));
        const auto stream =
            static_cast<std::uint8_t>(c.stream_frontiers == 0 ? 0 : random.below(c.stream_frontiers + 2));
        if (random.percent(3)) {
            EXPECT_EQ(d.ftl.trim(Lpa{lpa}), model.erase(lpa) == 1);
        } else {
            PageAddress a;
            const std::uint32_t partition = d.ftl.partitions().of(Lpa{lpa}, stream);
            while (d.ftl.allocate_host_pages(1, &a, false, partition) == 0) {
                while (!running.empty()) finish_one();
                bool any = false;
                for (std::uint32_t p = 0; p < d.ftl.shape().groups(); ++p) any |= d.collect(GroupId{p});
                ASSERT_TRUE(any) << "no space and nothing to collect";
            }
            RunningProgram program{a, std::vector<Spare>(g.units_per_page(), kPadding), d.ftl.draw_record(a)};
            for (std::uint32_t s = 0; s < 1 + random.below(g.units_per_page()); ++s) {
                const auto unit = static_cast<std::uint32_t>((lpa + s) % logical);
                if (d.ftl.partitions().of(Lpa{unit}, stream) != partition) break;
                const std::uint32_t version = (model[unit] + 1) & d.ftl.codec().version_mask();
                model[unit] = version;
                program.data[s] = d.ftl.codec().make(Lpa{unit}, version);
                d.map(Lpa{unit}, g.ppa_of(a, s));
            }
            running.push_back(std::move(program));
        }
        while (running.size() > 12) finish_one();
        const GroupId group{static_cast<std::uint32_t>(random.below(d.ftl.shape().groups()))};
        if (d.ftl.wants_collection(group) && random.percent(30)) d.collect(group);
        if (i % 5000 == 0) d.ftl.verify_books();
    }
    while (!running.empty()) finish_one();
    d.ftl.verify_books();
    EXPECT_EQ(d.ftl.mapped_units(), model.size());
    for (std::uint32_t l = 0; l < logical; ++l) {
        const auto m = model.find(l);
        const Ppa p = d.ftl.lookup(Lpa{l});
        ASSERT_EQ(p == kUnmapped, m == model.end()) << l;
        if (p == kUnmapped) continue;
        ASSERT_EQ(d.flash.at(p), d.ftl.codec().make(Lpa{l}, m->second)) << l;
        ASSERT_EQ(d.ftl.partitions().share_of(d.ftl.shape().group_of(g.page_of(p).plane)),
                  d.ftl.partitions().share_of(Lpa{l}))
            << l;
    }
    const FtlCounters& k = d.ftl.counters();
    EXPECT_GT(k.blocks_erased, 500u);
    EXPECT_EQ(k.gc_units_stale, 0u);  // GC runs in one step here
    EXPECT_EQ(k.gc_units_moved + d.journal_pages_renewed * g.units_per_page(), k.victim_valid_units);
    EXPECT_GT(k.journal_pages, 100u);
    EXPECT_EQ(k.slc_pages > 1000, c.slc.blocks != 0);
    EXPECT_EQ(k.slc_victims > 20, c.slc.blocks != 0);
    EXPECT_EQ(k.host_pages, k.host_pages_allocated);
    EXPECT_EQ((k.host_pages + k.gc_pages) * g.units_per_page(), k.host_units + k.gc_units_moved + k.pad_units(4));
}

TEST(FtlSkew, OverwritingThePlaneOfOneRegionNeverBlocksTheDevice) {
    // All data of one plane is overwritten again and again: it moves to the other planes, which run full of valid data.
    const NandGeometry g = test::small_geometry();
    FtlConfig c = test::small_config(g, 0.71);
    c.initial_state = InitialState::sequential;
    Device d(c, g);
    Preconditioner(d.ftl).run();
    std::vector<std::uint32_t> of_plane;
    for (std::uint32_t l = 0; l < d.ftl.logical_units(); ++l) {
        if (g.page_of(d.ftl.lookup(Lpa{l})).plane == PlaneId{3}) of_plane.push_back(l);
    }
    Random random(1);
    for (int i = 0; i < 40000; ++i) {
        std::vector<Lpa> units;
        for (int s = 0; s < 4; ++s) units.push_back(Lpa{of_plane[random.below(of_plane.size())]});
        while (!d.write(units)) {
            bool any = false;
            for (std::uint32_t p = 0; p < d.ftl.shape().groups(); ++p) any |= d.collect(GroupId{p});
            ASSERT_TRUE(any) << "no space and nothing to collect after " << i << " pages";
        }
    }
    d.ftl.verify_books();
}

}  // namespace
}  // namespace ssdtlm
