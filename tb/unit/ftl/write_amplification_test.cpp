// SPDX-License-Identifier: Apache-2.0
// Steady-state write amplification of uniform random page writes against the closed formula and against an independent
// simulator. One plane of 4096 blocks, 256 pages, unit = page, separate open blocks for host and GC data.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "common/random/random.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;

/// Principal branch of Lambert's W for -1/e < x < 0.
double lambert_w0(double x) {
    double w = x > -0.3 ? x * (1 - x) : -1 + std::sqrt(2 * (1 + std::exp(1.0) * x));
    for (int i = 0; i < 50; ++i) {
        const double e = std::exp(w);
        w -= (w * e - x) / (e * (w + 1));
    }
    return w;
}
/// Greedy, uniform, b pages per block, alpha = physical / logical (Desnoyers, SYSTOR 2012).
double greedy_formula(double alpha, double b) {
    const double k = (1 + 1 / (2 * b)) * alpha;
    const double x0 = 0.5 - b / alpha * lambert_w0(-k * std::exp(-k));
    return b / (b - (x0 - 1));
}

struct Point {
    double over_provisioning;  ///< (physical - logical) / logical
    double simulated;          ///< independent simulator, same structure with one block in reserve
};
class UniformGreedy : public testing::TestWithParam<Point> {};
INSTANTIATE_TEST_SUITE_P(Op, UniformGreedy, testing::Values(Point{0.07, 7.6385}, Point{0.125, 4.618}, Point{0.28, 2.465}),
                         [](const auto& p) { return "Op" + std::to_string(std::lround(1000 * p.param.over_provisioning)); });

TEST_P(UniformGreedy, MatchesFormulaAndSimulator) {
    NandGeometry g;
    g.blocks_per_plane = 4096;
    g.pages_per_block = 256;
    FtlConfig c;
    const auto logical =
        static_cast<std::uint64_t>(static_cast<double>(g.pages()) / (1 + GetParam().over_provisioning));
    c.user_capacity_bytes = logical * g.unit_bytes;
    c.gc_hard_free_blocks = 2;
    c.gc_soft_free_blocks = 3;
    c.initial_state = InitialState::sequential;
    Device d(c, g);
    d.ftl.precondition();
    Random random(5);
    const auto started = std::chrono::steady_clock::now();
    std::vector<Lpa> unit(1);
    const auto overwrite = [&](std::uint64_t pages) {
        for (std::uint64_t i = 0; i < pages; ++i) {
            unit[0] = Lpa{static_cast<std::uint32_t>(random.below(logical))};
            while (!d.write(unit)) ASSERT_TRUE(d.collect(PlaneId{0}));  // GC only when the host cannot go on
        }
    };
    overwrite(4 * logical);
    const FtlCounters before = d.ftl.counters();
    overwrite(2 * logical);
    const FtlCounters window = d.ftl.counters() - before;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    const double wa = window.write_amplification(1);
    const double formula = greedy_formula(static_cast<double>(g.pages()) / static_cast<double>(logical), 256);
    std::printf("OP %4.1f %%: WA %.4f, simulator %.4f (%+.2f %%), formula %.4f (%+.2f %%), %.0f ns per host page\n",
                100 * GetParam().over_provisioning, wa, GetParam().simulated, 100 * (wa / GetParam().simulated - 1), formula,
                100 * (wa / formula - 1), 1e9 * seconds / (6.0 * static_cast<double>(logical)));
    EXPECT_NEAR(wa / GetParam().simulated, 1.0, 0.02);
    EXPECT_NEAR(wa / formula, 1.0, 0.02);
    d.ftl.verify_books();
}

}  // namespace
}  // namespace ssdtlm
