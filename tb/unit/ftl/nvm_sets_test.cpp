// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/allocation/nvm_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/random/random.h"
#include "controller/ftl/ftl_check.h"
#include "controller/precondition/precondition.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;
using testing::HasSubstr;

NandGeometry geometry() {
    NandGeometry g = test::small_geometry();
    g.channels = 4;
    g.dies_per_chip = 2;
    return g;
}

std::string problem(const std::string& text) {
    std::vector<Problem> out;
    NvmSets::check(out, "ftl.nvm_sets", text, geometry());
    EXPECT_LE(out.size(), 1u);
    return out.empty() ? "" : out[0].text();
}

TEST(NvmSets, HaveThePlanesThatTheyName) {
    const NandGeometry g = geometry();
    const NvmSets sets("C0-1, C2 W0,C2W1,  C3D0-0,C3D1", g);
    ASSERT_EQ(problem("C0-1, C2W0,C2W1,  C3D0-0,C3D1"), "");
    EXPECT_EQ(sets.count(), 5u);
    EXPECT_FALSE(sets.names_planes());
    for (std::uint32_t p = 0; p < g.planes(); ++p) {
        const DieId die = g.die_of(PlaneId{p});
        const std::uint32_t c = g.channel_of(die), w = g.die_in_channel(die) / 2, d = g.die_in_channel(die) % 2;
        EXPECT_EQ(sets.of(PlaneId{p}), c < 2 ? 0 : c == 2 ? 1 + w : 3 + d) << p;
    }
    EXPECT_THAT(sets.ranges(1000), testing::ElementsAre(0, 500, 625, 750, 875, 1000));
    EXPECT_TRUE(NvmSets("P0, P1", g).names_planes());
    EXPECT_FALSE(NvmSets("P0-1", g).names_planes());
    EXPECT_FALSE(NvmSets("", g).any());
}

TEST(NvmSets, SayWhatIsWrong) {
    EXPECT_THAT(problem("C0-3, "), HasSubstr("\"\" is no set of this drive"));
    for (const char* text :
         {"X0", "C", "C0-", "C1-0", "C0-4", "C0C1", "C99999999999999999999999", "C-1", "0", "C0-3;", "C0_3"})
        EXPECT_THAT(problem(text), HasSubstr(std::string("\"") + text +
                                             "\" is no set of this drive; sets like \"C0-1, C2W0\", of channels C0-3, "
                                             "ways W0-1, dies D0-1 and planes P0-1; "))
            << text;
    EXPECT_THAT(problem("C0-1, C3"), HasSubstr("C2W0D0P0 is in none of the sets; each plane in one set"));
    EXPECT_THAT(problem("C0-2, C1-3"), HasSubstr("C1W0D0P0 is in 2 of the sets"));
}

TEST(NvmSets, RefuseWhatTheyAreNotMadeFor) {
    NandGeometry g = geometry();
    g.blocks_per_plane = 64;
    FtlConfig c = test::small_config(g, 0.4);
    c.nvm_sets = "C0-1, C2-3";
    EXPECT_TRUE(check_ftl(c, g).empty());
    const auto refused = [&](FtlConfig f, const char* key) {
        const auto problems = check_ftl(f, g);
        ASSERT_FALSE(problems.empty()) << key;
        bool found = false;
        for (const Problem& p : problems) found = found || p.text().rfind(key, 0) == 0;
        EXPECT_TRUE(found) << key;
    };
    FtlConfig f = c;
    f.static_dimensions = "C";
    refused(f, "ftl.static_dimensions: \"C\" with ftl.nvm_sets");
    for (const SuperblockSpan span : {SuperblockSpan::die, SuperblockSpan::drive}) {
        f = c;
        f.superblock = span;
        f.nvm_sets = "P0, P1";
        refused(f, "ftl.superblock");
    }
    for (const char* mapping : {"fast", "block"}) {
        f = c;
        f.mapping = mapping;
        refused(f, "ftl.mapping");
    }
    f = c;
    f.initial_state = InitialState::analytic;
    refused(f, "precondition.state");
    f = c;
    f.nvm_sets = "C0";
    refused(f, "ftl.nvm_sets");
}

/// Full to the last unit that fits, from each state, overwritten: each unit stays with its set, and there is always
/// room for it.
TEST(NvmSets, EachKeepsItsUnitsInAFullDrive) {
    Random random(1);
    const char* const all[] = {"C0-1, C2-3", "C0, C1W0D0, C1W0D1, C1W1, C2-3", "W1, W0", "C0-3"};
    for (const char* text : all)
        for (const InitialState state : {InitialState::fresh, InitialState::sequential, InitialState::random})
            for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die}) {
                SCOPED_TRACE(std::string(text) + " " + std::to_string(static_cast<int>(state)) + " " +
                             std::to_string(static_cast<int>(span)));
                const NandGeometry g = geometry();
                FtlConfig c = test::small_config(g, 0.5, span);
                c.nvm_sets = text;
                c.initial_state = state;
                c.fill = random.percent(50) ? 1.0 : 0.63;
                c.overwrite = 1.5;
                c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
                Device d(c, g);
                Preconditioner(d.ftl).run();
                d.ftl.verify_books();
                const NvmSets sets(text, g);
                const std::uint64_t units = d.ftl.logical_units();
                const auto ranges = sets.ranges(units);
                const auto look = [&](std::uint64_t expected) {
                    std::uint64_t mapped = 0;
                    for (std::uint32_t set = 0; set < sets.count(); ++set)
                        for (std::uint64_t u = ranges[set]; u < ranges[set + 1]; ++u) {
                            const Lpa lpa{static_cast<std::uint32_t>(u)};
                            ASSERT_EQ(d.ftl.partitions().share_of(lpa), set);
                            const Ppa p = d.ftl.lookup(lpa);
                            if (p == kUnmapped) continue;
                            ++mapped;
                            ASSERT_EQ(sets.of(g.page_of(p).plane), set) << u;
                        }
                    EXPECT_EQ(mapped, expected);
                };
                look(state == InitialState::fresh ? 0
                                                  : static_cast<std::uint64_t>(c.fill * static_cast<double>(units)));
                const auto write = [&](std::uint64_t unit) {
                    std::vector<Lpa> one{Lpa{static_cast<std::uint32_t>(unit)}};
                    for (int i = 0; !d.write(one); ++i) {
                        ASSERT_LT(i, 100) << "no room for unit " << unit;
                        for (const GroupId group : d.ftl.partitions().groups(d.ftl.partitions().of(one[0])))
                            if (d.ftl.wants_collection(group)) d.collect(group);
                    }
                };
                for (std::uint64_t u = 0; u < units; ++u) write(u);
                look(units);
                // One set alone, then any.
                for (std::uint64_t i = 0; i < units; ++i) write(ranges[0] + random.below(ranges[1] - ranges[0]));
                for (std::uint64_t i = 0; i < units; ++i) write(random.below(units));
                look(units);
                d.ftl.verify_books();
            }
}

}  // namespace
}  // namespace ssdtlm
