// SPDX-License-Identifier: Apache-2.0
// Steady-state write amplification of random page writes, measured through the public interface of Ftl, against closed
// formulas and against an independent simulator. One plane of 4096 blocks of 256 pages, or several planes of as many
// superblocks of as many pages; unit = page, separate open blocks for host and GC data.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "controller/precondition/precondition.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm::test {

/// Principal branch of Lambert's W for -1/e < x < 0.
inline double lambert_w0(double x) {
    double w = x > -0.3 ? x * (1 - x) : -1 + std::sqrt(2 * (1 + std::exp(1.0) * x));
    for (int i = 0; i < 50; ++i) {
        const double e = std::exp(w);
        w -= (w * e - x) / (e * (w + 1));
    }
    return w;
}
/// Greedy, uniform, b pages per block, alpha = physical / logical (Desnoyers, SYSTOR 2012).
inline double greedy_formula(double alpha, double b) {
    const double k = (1 + 1 / (2 * b)) * alpha;
    const double x0 = 0.5 - b / alpha * lambert_w0(-k * std::exp(-k));
    return b / (b - (x0 - 1));
}

/// FIFO, uniform, or hot/cold: a share `writes` of the writes goes to a share `pages` of the pages (1, 1: uniform).
/// Solves A = 1 + sum r / (exp(alpha r / (f A)) - 1) by bisection; uniform gives alpha / (alpha + W0(-alpha e^-alpha)).
inline double fifo_formula(double alpha, double writes, double pages) {
    const auto missing = [&](double a) {
        double sum = 1 + writes / std::expm1(alpha * writes / (pages * a));
        if (pages < 1) sum += (1 - writes) / std::expm1(alpha * (1 - writes) / ((1 - pages) * a));
        return sum - a;
    };
    double low = 1, high = 1000;
    for (int i = 0; i < 100; ++i) (missing((low + high) / 2) > 0 ? low : high) = (low + high) / 2;
    return low;
}

/// Uniformly random victims among the blocks with an invalid page, uniform writes. A block waits for its first invalid
/// page, then an exponential time, which leaves a share (1 - 1/b) / alpha of it valid. (Were full blocks collected too:
/// alpha / (alpha - 1).)
inline double random_formula(double alpha, double b) {
    return alpha / (alpha - 1 + 1 / b);
}

struct Point {
    const char* policy;
    double over_provisioning;  ///< (physical - logical) / logical
    double hot_writes;         ///< share of the writes that go to ...
    double hot_pages;          ///< ... this share of the pages; 1, 1: uniform
    double simulated;          ///< independent simulator, same structure with one block in reserve; 0: none
    double formula;            ///< 0: none known
    double warm_up;            ///< host writes before the measurement, in multiples of the logical size
    std::uint32_t planes = 1;  ///< of a superblock, which has 256 pages whatever it spans
    double measured = 2;       ///< host writes of the measurement, in multiples of the logical size
    double tolerance = 0.02;
    std::uint32_t more_in_reserve = 0;  ///< blocks on top of the 4096, for what is compared keeps fewer in reserve
    PolicyValues settings{};
};
inline std::string name_of(const Point& p) {
    return std::string(p.policy) + "_op" + std::to_string(std::lround(1000 * p.over_provisioning)) + "_hot" +
           std::to_string(std::lround(100 * p.hot_writes)) +
           (p.planes == 1 ? "" : "_planes" + std::to_string(p.planes)) +
           (p.settings.empty()
                ? ""
                : "_" + p.settings.begin()->first + std::to_string(std::get<std::int64_t>(p.settings.begin()->second)));
}

/// Runs the point and compares; prints what it measured.
inline void check_steady_state(const Point& point) {
    NandGeometry g;
    g.blocks_per_plane = 4096 + point.more_in_reserve;
    g.planes_per_die = point.planes;
    g.pages_per_block = 256 / point.planes;
    FtlConfig c;
    c.superblock = SuperblockSpan::die;
    const auto logical = static_cast<std::uint64_t>((4096.0 * 256) / (1 + point.over_provisioning));
    c.user_capacity_bytes = logical * g.unit_bytes;
    c.gc_policy = point.policy;
    c.gc_policies[point.policy] = point.settings;
    c.gc_hard_free_blocks = 2;
    c.gc_soft_free_blocks = 3;
    c.initial_state = InitialState::sequential;
    Device d(c, g);
    Preconditioner(d.ftl).run();
    Random random(5);
    const auto hot = static_cast<std::uint64_t>(point.hot_pages * static_cast<double>(logical));
    const auto started = std::chrono::steady_clock::now();
    std::vector<Lpa> unit;
    const auto overwrite = [&](double multiples) {
        const auto pages = static_cast<std::uint64_t>(multiples * static_cast<double>(logical));
        for (std::uint64_t i = 0; i < pages; ++i) {
            const bool is_hot = hot == logical || random.unit() < point.hot_writes;
            unit.assign(
                1, Lpa{static_cast<std::uint32_t>(is_hot ? random.below(hot) : hot + random.below(logical - hot))});
            while (!d.write(unit)) ASSERT_TRUE(d.collect(GroupId{0}));  // GC only when the host cannot go on
        }
    };
    overwrite(point.warm_up);
    const FtlCounters before = d.ftl.counters();
    overwrite(point.measured);
    const FtlCounters window = d.ftl.counters() - before;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    const double wa = window.unit_write_amplification(1);
    std::printf("%-26s WA %.4f", name_of(point).c_str(), wa);
    if (point.simulated != 0)
        std::printf(", simulator %.4f (%+.2f %%)", point.simulated, 100 * (wa / point.simulated - 1));
    if (point.formula != 0) std::printf(", formula %.4f (%+.2f %%)", point.formula, 100 * (wa / point.formula - 1));
    std::printf(", %.0f ns per host page\n",
                1e9 * seconds / ((point.warm_up + point.measured) * static_cast<double>(logical)));
    if (point.simulated != 0) {
        EXPECT_NEAR(wa / point.simulated, 1.0, point.tolerance);
    }
    if (point.formula != 0) {
        EXPECT_NEAR(wa / point.formula, 1.0, point.tolerance);
    }
    // Each victim's valid pages are written again, and what is won are the others.
    const double share =
        static_cast<double>(window.victim_valid_units) / (g.pages_per_block * static_cast<double>(window.victims));
    EXPECT_NEAR(wa * (1 - share), 1.0, 0.005);
    d.ftl.verify_books();
}

}  // namespace ssdtlm::test
