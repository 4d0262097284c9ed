// SPDX-License-Identifier: Apache-2.0
// Presets of real drives against the figures that their makers publish, and against a formula that says why.
#include <cstdio>
#include <systemc>

#include "formula/reference.h"
#include "sim/config/config_loader.h"
#include "support/run_closed_loop.h"

namespace ssdtlm {
namespace {

// The dies bound it: each takes a row of both planes, then programs it; the other die of the channel has the bus then.
TEST(Published, SequentialWriteOfTheSn730) {
    constexpr double kDatasheet = 2700;  // MB/s
    const SsdConfig c = load_config({"wd-sn730-512g"}, {}).config;
    const NandGeometry& g = c.nand.geometry;
    const double cycle = static_cast<double>(reference::program_cycle(c.nand, g.planes_per_die)) * 1e-12;
    const double formula = static_cast<double>(g.planes()) * g.page_bytes / cycle * 1e-6;
    ClosedLoop::Spec s;
    s.op = HostOp::write;
    s.pattern = ClosedLoop::Pattern::sequential;
    s.bytes = 131072;
    s.depth = 32;
    s.requests = 30000;  // 3.9 GB: within the cache
    s.skip = 3000;       // the buffer fills first
    s.span = c.ftl.user_capacity_bytes / s.bytes * s.bytes;
    const auto r = run_closed_loop(c, s);
    const double model = r["write"]["MB_per_s"].get<double>();
    std::printf("[   FIGURE ] wd-sn730-512g, 128 KiB sequential write: a row of %u pages each %.1f us, formula %.1f MB/s, model "
                "%.1f MB/s (%+.2f %%), datasheet %.0f MB/s (%+.2f %%)\n",
                g.planes_per_die, cycle * 1e6, formula, model, 100 * (model / formula - 1), kDatasheet,
                100 * (model / kDatasheet - 1));
    EXPECT_NEAR(model / formula, 1.0, 0.01);
    EXPECT_NEAR(model / kDatasheet, 1.0, 0.01);
    EXPECT_NE(r["limiting"].get<std::string>().find("die"), std::string::npos) << r["limiting"];
}

}  // namespace
}  // namespace ssdtlm
