// SPDX-License-Identifier: Apache-2.0
// Two flows of random reads on one drive, as Tavakkol et al. (MQSim, FAST '18) measure them: slow-down over the depth
// of the second one (their Fig. 8), and what the fetch window does to it (Fig. 12). Beside the figures of the released
// simulator (CMU-SAFARI/MQSim 7ec40e3), which was run with the same flows, and those that the paper prints.
//
// What MQSim does otherwise is set here:
// - A chip takes a command only when it is idle, so a chip is a die here (dies_per_chip = 1).
// - All data that wait for the bus go before commands (scheduler.bus_order = data_first).
// - Firmware and DRAM take no time with the cache off, and no spare bytes are transferred.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "host_pcie/workload/flows_workload.h"
#include "host_pcie/workload/limited_workload.h"
#include "sim/config/config_loader.h"
#include "sim/results/flow_metrics.h"
#include "sim/simulation.h"
#include "support/closed_loop.h"
#include "support/forked.h"

namespace ssdtlm {
namespace {

/// Few blocks: reads do not care, and the drive is built at once.
SsdConfig device(std::uint32_t ways, std::uint32_t window) {
    return load_config(
               {"mqsim-table3"},
               {"nand.geometry.dies_per_chip=1", "nand.geometry.ways=" + std::to_string(ways),
                "nand.geometry.blocks_per_plane=64", "ftl.user_capacity=" + std::to_string(ways) + "GB",
                "nand.geometry.unit_size=8KiB", "scheduler.bus_order=data_first", "buffer.mode=write_through",
                "buffer.size=64MiB", "firmware.read_command=0", "firmware.map_lookup=0", "firmware.flash_issue=0",
                "nand.transfer_spare=false", "dram.bandwidth=1TB/s", "dram.access_latency=0s", "host.tenants=by_job",
                "host.queue_pairs=2", "run.slowest=0", "nvme.fetch_window=" + std::to_string(window)})
        .config;
}

struct Pair {
    std::vector<FlowFigures> shared;
    FlowFigures first, second;  // alone
    double slowdown(int i) const { return *change_of(shared[i], i == 0 ? first : second).slowdown; }
    Interference all() const { return *interference_of({change_of(shared[0], first), change_of(shared[1], second)}); }
};

/// In so many half seconds flow 1 ends enough requests.
std::uint32_t few(const SsdConfig& config, std::array<std::uint32_t, 2> depths) {
    return depths[0] == 0 || config.nvme.fetch_window <= 16 ? 1 : std::max(1u, depths[1] / 32);
}

/// From half a second on, longer where flow 1 ends few requests in that time. Depth 0: that flow has no requests.
std::vector<FlowFigures> run(const SsdConfig& config, std::uint32_t bytes, std::array<std::uint32_t, 2> depths,
                             bool sequential = false) {
    const std::string text = in_child([&] {
        std::vector<FlowsWorkload::Flow> flows;
        for (std::uint64_t i = 0; i < 2; ++i) {
            ClosedLoop::Spec s;
            s.bytes = bytes;
            s.depth = depths[i] == 0 ? 1 : depths[i];
            s.requests = depths[i] == 0 ? 0 : 100'000'000;
            s.span = config.ftl.user_capacity_bytes / 8192 * 8192;
            s.seed = 11 + i;
            s.skip = 100ull * s.depth;
            if (sequential) {
                s.pattern = ClosedLoop::Pattern::sequential;
            } else if (bytes < 8192) {  // aligned to pages, as the files of the release do
                s.pattern = ClosedLoop::Pattern::list;
                Random random(s.seed);
                for (int n = 0; n < 200'000; ++n) s.offsets.push_back(random.below(s.span / 8192) * 8192);
            }
            flows.push_back({std::make_unique<ClosedLoop>(s), 0});
        }
        FlowsWorkload both(std::move(flows));
        LimitedWorkload::Limits limits;
        limits.until = SimTime{std::chrono::milliseconds(500) * few(config, depths)};
        LimitedWorkload workload(both, limits);
        Simulation::Options options;
        Simulation simulation(config, workload, options);
        std::string numbers;
        for (const FlowFigures& f : simulation.run().flows)
            numbers += std::to_string(f.commands) + " " + std::to_string(f.response_ps) + " " +
                       std::to_string(f.active_s) + " ";
        return numbers;
    });
    std::vector<FlowFigures> flows(2);
    unsigned long long commands[2] = {};
    long long ps[2] = {};
    EXPECT_EQ(std::sscanf(text.c_str(), "%llu %lld %lf %llu %lld %lf", &commands[0], &ps[0], &flows[0].active_s,
                          &commands[1], &ps[1], &flows[1].active_s),
              6);
    for (int i = 0; i < 2; ++i) {
        flows[i].commands = commands[i];
        flows[i].response_ps = ps[i];
    }
    return flows;
}

Pair pair_of(const SsdConfig& config, std::uint32_t bytes, std::uint32_t first, std::uint32_t second,
             bool sequential = false) {
    return {run(config, bytes, {first, second}, sequential), run(config, bytes, {first, 0}, sequential)[0],
            run(config, bytes, {0, second}, sequential)[1]};
}

struct Row {
    std::uint32_t depth;
    double slowdown_1, slowdown_2, fairness;  // the released simulator's
};

void compare(const char* figure, const SsdConfig& config, std::uint32_t bytes, std::uint32_t first,
             const std::vector<Row>& rows, double alone_us, const char* paper) {
    std::printf("%s, depth of flow 1: %u; ours, MQSim's (flow 1 alone: %.0f us)%s\n", figure, first, alone_us, paper);
    for (const Row& row : rows) {
        const Pair p = pair_of(config, bytes, first, row.depth);
        std::printf(
            "[   FIGURE ] depth %3u: S_1 %.3f (%.2f, %+.1f %%), S_2 %.3f (%.2f), F %.3f (%.3f), WS %.2f, alone %.1f "
            "and "
            "%.1f us, flow 2 %.1f kIOPS\n",
            row.depth, p.slowdown(0), row.slowdown_1, 100 * (p.slowdown(0) / row.slowdown_1 - 1), p.slowdown(1),
            row.slowdown_2, p.all().fairness, row.fairness, p.all().weighted_speedup, p.first.response_us(),
            p.second.response_us(), p.shared[1].iops() * 1e-3);
        EXPECT_NEAR(p.slowdown(0) / row.slowdown_1, 1, 0.05) << row.depth;
        EXPECT_NEAR(p.slowdown(1) / row.slowdown_2, 1, 0.05) << row.depth;
        EXPECT_NEAR(p.first.response_us() / alone_us, 1, 0.05);
    }
}

TEST(MqsimFlows, Figure8) {
    compare("Fig. 8", device(4, 512), 8192, 2,
            {{2, 1.05, 1.05, 1.00},
             {4, 1.10, 1.05, .95},
             {8, 1.22, 1.06, .87},
             {16, 1.50, 1.06, .70},
             {32, 2.21, 1.05, .47},
             {64, 3.85, 1.03, .27},
             {128, 7.09, 1.02, .14},
             {256, 13.9, 1.01, .073}},
            105, "; the paper's S_1 at depth 256: 14.4");
}

// The files of the release have requests of 4 KiB and half of the chips.
TEST(MqsimFlows, Figure12WideWindow) {
    compare("Fig. 12, fetch window 1024", device(2, 1024), 4096, 8,
            {{8, 1.32, 1.32, 1.00},
             {16, 1.68, 1.28, .76},
             {32, 2.46, 1.21, .49},
             {64, 4.11, 1.12, .27},
             {128, 7.51, 1.06, .14},
             {256, 13.9, 1.03, .074}},
            114, "");
}

TEST(MqsimFlows, Figure12NarrowWindow) {
    std::vector<Row> rows{{8, 1.32, 1.32, 1.00}, {16, 1.68, 1.28, .76}};
    for (const std::uint32_t depth : {32u, 64u, 128u, 256u}) rows.push_back({depth, 1.69, 1.28, .76});
    compare("Fig. 12, fetch window 16", device(2, 16), 4096, 8, rows, 114, "");
}

// As the paper says: sequential reads of 4 KiB, all chips. The slow-downs of flow 1 are the release's, to a quarter.
TEST(MqsimFlows, Figure12AsInThePaper) {
    const std::vector<std::array<double, 3>> rows{{8, 1.02, 1.02},  {16, 1.45, 1.45},  {32, 1.92, 1.45},
                                                  {64, 2.86, 1.45}, {128, 4.80, 1.45}, {256, 7.52, 1.45}};
    double before = 0;
    for (const auto& row : rows) {
        const auto depth = static_cast<std::uint32_t>(row[0]);
        const double wide = pair_of(device(4, 1024), 4096, 8, depth, true).slowdown(0);
        const double narrow = pair_of(device(4, 16), 4096, 8, depth, true).slowdown(0);
        std::printf("[   FIGURE ] depth %3u: S_1 %.2f (%.2f), with a fetch window of 16 %.2f (%.2f)\n", depth, wide,
                    row[1], narrow, row[2]);
        EXPECT_GT(wide, before) << depth;
        before = wide;
        EXPECT_NEAR(wide / row[1], 1, 0.25) << depth;
        EXPECT_NEAR(narrow / row[2], 1, 0.25) << depth;
    }
}

}  // namespace
}  // namespace ssdtlm
