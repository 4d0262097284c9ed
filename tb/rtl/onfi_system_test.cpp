// SPDX-License-Identifier: Apache-2.0
// The whole SSD with some of its channels on the Verilated ONFI sequencer: data, books and stages are right, every
// channel's pins pass the checker, and at queue depth 1 a command differs from the timing model's by its roundings.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>

#include "nand/pins/pin_checker.h"
#include "sim/simulation.h"
#include "support/devices.h"
#include "support/run_closed_loop.h"

namespace ssdtlm {
namespace {

class Checkers final : public PinListener {
public:
    Checkers(Simulation& simulation, const SsdConfig& config) {
        for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch) {
            channels.emplace_back(config.nand);
            simulation.system().device.controller.backend.channel(ch).play_pins(config.nand, *this);
        }
    }
    void pins(std::uint16_t channel, const PinSequence& sequence) override { channels[channel].check(sequence); }

    std::deque<PinChecker> channels;
};

/// Small enough for collection within a few thousand requests.
SsdConfig small(std::uint32_t planes, std::uint32_t luns, std::uint32_t megatransfers) {
    SsdConfig c = table3_small();
    NandGeometry& g = c.nand.geometry;
    g.channels = 2;
    g.ways = 2;
    g.dies_per_chip = luns;
    g.planes_per_die = planes;
    g.blocks_per_plane = 24;
    g.pages_per_block = std::max(24 / (planes * luns), 6u);
    c.nand.onfi.interface = OnfiInterface::nv_ddr3;
    c.nand.onfi.megatransfers = megatransfers;
    c.ftl.user_capacity_bytes = g.raw_bytes() / 100 * 45 / 4096 * 4096;
    c.ftl.buffer_bytes = 64 * g.page_bytes;
    return c;
}

struct Shape {
    const char* name;
    std::uint32_t planes, luns, megatransfers;
    bool independent;
    bool suspends = false;
    bool slc = false;  // with a cache of blocks in SLC mode
};

class Shapes : public ::testing::TestWithParam<Shape> {};

TEST_P(Shapes, PinsOfEveryChannelAreLegal) {
    const Shape& shape = GetParam();
    SsdConfig config = small(shape.planes, shape.luns, shape.megatransfers);
    config.nand.independent_plane_read = shape.independent;
    if (shape.slc) config.nand.geometry.blocks_per_plane += config.ftl.slc.blocks = 4;
    if (shape.suspends)  // the sequencer plays none
        config.scheduler.suspend = "for_reads";
    else
        config.channel.rtl_sequencer = {1};
    const std::string text = in_child([&] {
        ClosedLoop::Spec spec;
        spec.span = config.ftl.user_capacity_bytes;
        spec.depth = 16;
        spec.requests = 5000;
        spec.write_percent = 70;
        ClosedLoop workload(spec);
        Simulation simulation(config, workload, {});
        Checkers checkers(simulation, config);
        const RunSummary r = simulation.run();
        for (const BookLine& b : r.books)
            if (!b.balances()) throw CheckFailed("books: " + b.name);
        simulation.system().device.controller.ftl->verify_books();
        nlohmann::json j;
        for (PinChecker& c : checkers.channels) {
            c.finish();
            nlohmann::json seen{{"sequences", c.sequences()}, {"strobes", c.strobes()}, {"report", c.report()}};
            for (const unsigned opcode : {0x30, 0x32, 0x10, 0x11, 0xD0, 0xD1, 0xE0, 0x61, 0xD2, 0x84, 0x13, 0xA2})
                seen["commands"][std::to_string(opcode)] = c.commands(static_cast<std::uint8_t>(opcode));
            j.push_back(seen);
        }
        return j.dump();
    });
    const auto j = nlohmann::json::parse(text);
    ASSERT_EQ(j.size(), 2u);
    for (const auto& channel : j) {
        EXPECT_EQ(channel["report"].get<std::string>(), "");
        EXPECT_GT(channel["sequences"].get<int>(), 1000);
        const auto count = [&](unsigned opcode) { return channel["commands"][std::to_string(opcode)].get<int>(); };
        for (const unsigned opcode : {0x30, 0x10, 0xD0}) EXPECT_GT(count(opcode), 2) << opcode;
        if (shape.planes * shape.luns > 1) {
            EXPECT_GT(count(0xE0), 10);
        }
        if (shape.planes > 1) {
            EXPECT_GT(count(0x11), 5);
            EXPECT_GT(count(0xD1), 5);
        }
        for (const unsigned opcode : {0x61, 0xD2, 0x84, 0x13}) EXPECT_EQ(count(opcode) > 5, shape.suspends) << opcode;
        EXPECT_EQ(count(0xA2) > 100, shape.slc);
        EXPECT_GE(count(0x61), count(0xD2));  // an erase may end before it stops, or with the run
        EXPECT_GE(count(0x84), count(0x13));
    }
}

INSTANTIATE_TEST_SUITE_P(OnfiSystem, Shapes,
                         ::testing::Values(Shape{"OnePlane", 1, 1, 1600, false}, Shape{"TwoLuns", 1, 2, 533, false},
                                           Shape{"FourPlanes", 4, 1, 1200, false},
                                           Shape{"IndependentPlanes", 4, 2, 2400, true},
                                           Shape{"Suspends", 1, 2, 1200, false, true},
                                           Shape{"SuspendsOfPlanes", 4, 1, 1200, true, true},
                                           Shape{"SlcCache", 1, 2, 1200, false, false, true},
                                           Shape{"SlcCacheOfPlanes", 4, 1, 1600, true, false, true},
                                           Shape{"SuspendsWithSlcCache", 4, 1, 1200, true, true, true}),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(OnfiSystem, AReadDiffersByTheSequencersRounding) {
    SsdConfig config = small(1, 1, 333);
    ClosedLoop::Spec spec;
    spec.span = config.ftl.user_capacity_bytes;
    spec.requests = 50;
    const auto tlm = run_closed_loop(config, spec);
    config.channel.rtl_sequencer = {0, 1};
    const auto rtl = run_closed_loop(config, spec);
    const Ps clock = Clock::hertz(config.channel.sequencer_hertz).period();
    for (const char* key : {"exact_min_ps", "exact_max_ps"}) {
        const Ps more{rtl[key].get<std::int64_t>() - tlm[key].get<std::int64_t>()};
        EXPECT_GE(more, -clock) << key;  // the issue is whole clocks: only the burst is rounded
        EXPECT_LE(more, clock) << key;
    }
}

}  // namespace
}  // namespace ssdtlm
