// SPDX-License-Identifier: Apache-2.0
// Capacities, map, buffer, latencies and write amplification, by other ways than the program's.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formula/reference.h"
#include "sim/derive/steady_figures.h"
#include "sim/device/capacitors.h"
#include "support/devices.h"
#include "unit/derive/derived.h"

namespace ssdtlm {
namespace {

using ::testing::HasSubstr;

TEST(Derive, Capacities) {
    SsdConfig c = table3_small();
    const std::uint64_t raw = std::uint64_t{8} * 4 * 2 * 2 * 64 * 256 * 8192;
    c.ftl.user_capacity_bytes = raw / 5 * 4;
    const Figures f = capacity_figures(c);
    EXPECT_EQ(value_of(f, "raw_capacity"), static_cast<double>(raw));
    EXPECT_EQ(value_of(f, "user_capacity"), static_cast<double>(raw / 5 * 4));
    EXPECT_NEAR(value_of(f, "over_provisioning"), 25, 1e-6);
    EXPECT_LT(value_of(f, "over_provisioning_in_use"), 25);
}

TEST(Derive, MapInMemoryAndInACache) {
    SsdConfig c = table3_small();
    const double units = static_cast<double>(c.ftl.user_capacity_bytes) / 4096;
    EXPECT_EQ(value_of(map_figures(c), "map_in_dram"), units * 4);
    EXPECT_EQ(figure_of(map_figures(c), "map_covered"), nullptr);
    c.ftl.mapping = "dftl";
    c.ftl.map.cache_bytes = 1 << 20;
    // An entry of 4 bytes has its number beside it.
    EXPECT_NEAR(value_of(map_figures(c), "map_covered"), 100.0 * (1 << 20) / 8 / units, 1e-9);
    c.ftl.map.granularity = MapGranularity::page;
    EXPECT_NEAR(value_of(map_figures(c), "map_covered"), 100.0 * (1 << 20) / 4 / units, 1e-9);
    c.ftl.map.cache_bytes = 1 << 30;
    EXPECT_EQ(value_of(map_figures(c), "map_covered"), 100);
}

TEST(Derive, TimeOfTheBuffer) {
    SsdConfig c = table3_small();
    c.ftl.buffer_bytes = 64u << 20;
    const Ceilings writes = ceilings_of(c, derived_works()[1]);
    const double link = iops_of(writes, "link to device"), die = iops_of(writes, "die");
    ASSERT_GT(link, die);
    EXPECT_NEAR(value_of(buffer_figures(c), "buffer_fills_in"), (64 << 20) / ((link - die) * 131072), 1e-9);
    c.nand.t_program = {Ps{1'000'000}};
    c.nand.onfi.megatransfers = 4000;
    EXPECT_EQ(figure_of(buffer_figures(c), "buffer_fills_in"), nullptr);
    EXPECT_THAT(buffer_figures(c).left_out.front(), HasSubstr("it does not, as the flash takes"));
}

TEST(Derive, CapacitorsWhereTheyProtect) {
    SsdConfig c = table3_small();
    EXPECT_EQ(figure_of(buffer_figures(c), "capacitor_energy"), nullptr);
    c.ftl.buffer_mode = BufferMode::power_protected;
    EXPECT_EQ(value_of(buffer_figures(c), "capacitor_energy"), capacitors_of(c).joules);
    EXPECT_EQ(value_of(buffer_figures(c), "capacitor_time"), to_seconds(capacitors_of(c).time));
}

TEST(Derive, LatencyOfAReadIsTheReference) {
    for (const std::uint32_t generation : {3u, 4u}) {
        SsdConfig c = table3_small();
        c.link.generation = generation;
        c.ecc.decode_time = Ps{3'000'000};
        const double formula = static_cast<double>(reference::unloaded_read(c, 4096)) * 1e-12;
        EXPECT_NEAR(value_of(latency_figures(c), "read_4k"), formula, 20e-12);  // the reference rounds each step up
    }
}

TEST(Derive, LatencyIsLeftOutWhereNoFormulaHolds) {
    SsdConfig c = table3_small();
    c.ftl.buffer_mode = BufferMode::write_through;
    EXPECT_EQ(figure_of(latency_figures(c), "write_4k"), nullptr);
    EXPECT_NE(figure_of(latency_figures(c), "read_4k"), nullptr);
    c.front_end.kind = "raw";
    EXPECT_EQ(figure_of(latency_figures(c), "write_4k"), nullptr);
    EXPECT_NE(figure_of(latency_figures(c), "read_4k"), nullptr);
    EXPECT_THAT(latency_figures(c).left_out.front(), HasSubstr("write_through"));
}

// A table that was simulated by a program of its own, and by formula.
TEST(Derive, WriteAmplificationOfUniformWrites) {
    struct Row {
        double spare, greedy_256, greedy_64, best_of_10, best_of_2, random, oldest;
    };
    const Row table[] = {{0.07, 7.595, 6.999, 7.828, 10.584, 15.286, 7.817},
                         {0.125, 4.602, 4.383, 4.730, 6.305, 9.000, 4.680},
                         {0.28, 2.461, 2.402, 2.520, 3.274, 4.571, 2.481}};
    using Kind = ChoiceLaw::Kind;
    for (const Row& row : table) {
        const double density = 1 / (1 + row.spare);
        const auto best = [&](std::uint32_t drawn, std::uint32_t n) {
            return write_amplification({Kind::best_of, drawn, n}, n, density);
        };
        EXPECT_NEAR(best(ChoiceLaw::kAll, 256) / row.greedy_256, 1, 2e-3);
        EXPECT_NEAR(best(ChoiceLaw::kAll, 64) / row.greedy_64, 1, 2e-3);
        EXPECT_NEAR(best(10, 256) / row.best_of_10, 1, 2e-3);
        EXPECT_NEAR(best(2, 256) / row.best_of_2, 1, 2e-3);
        EXPECT_NEAR(write_amplification({Kind::oldest, 1, 0}, 256, density) / row.oldest, 1, 2e-3);
    }
}

TEST(Derive, SteadyStateIsLeftOutWhereNoFormulaHolds) {
    SsdConfig c = table3_small();
    EXPECT_GT(value_of(steady_state_figures(c), "write_amplification"), 1);
    EXPECT_GT(value_of(steady_state_figures(c), "steady_random_write_iops"), 0);
    const auto left_out = [](const SsdConfig& device) {
        const Figures f = steady_state_figures(device);
        EXPECT_TRUE(f.of.empty());
        return f.left_out.empty() ? "" : f.left_out.front();
    };
    SsdConfig d = c;
    d.ftl.gc_policy = "cost_benefit";
    EXPECT_THAT(left_out(d), HasSubstr("gc.policy"));
    d = c;
    d.ftl.mapping = "fast";
    EXPECT_THAT(left_out(d), HasSubstr("log blocks"));
    d = c;
    d.ftl.mapping = "dftl";
    EXPECT_THAT(left_out(d), HasSubstr("translation pages"));
    d = c;
    d.ftl.slc.blocks = 4;
    EXPECT_THAT(left_out(d), HasSubstr("SLC"));
}

TEST(Derive, TextAndJsonSayTheSame) {
    const SsdConfig c = table3_small();
    const Derived d = derive(c);
    const std::string text = derived_text(c, d);
    const auto json = nlohmann::json::parse(derived_json(c, d));
    EXPECT_EQ(json["figures"]["capacity"]["values"]["raw_capacity"]["value"], value_of(d.groups[0], "raw_capacity"));
    ASSERT_EQ(json["ceilings"].size(), 4u);
    for (const Ceilings& set : d.ceilings) {
        EXPECT_THAT(text, HasSubstr(set.work.name));
        const auto& said = json["ceilings"][set.work.name];
        ASSERT_EQ(said["resources"].size(), set.of.size());
        for (std::size_t i = 0; i < set.of.size(); ++i) {
            EXPECT_EQ(said["resources"][i]["iops"], set.of[i].iops);
            EXPECT_THAT(text, HasSubstr(set.of[i].formula));
            if (set.of[i].least) {
                EXPECT_EQ(said["least"], set.of[i].resource);
            }
            EXPECT_GE(set.of[i].iops, iops_of(set, said["least"].get<std::string>()));
        }
    }
}

}  // namespace
}  // namespace ssdtlm
