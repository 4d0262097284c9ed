// SPDX-License-Identifier: Apache-2.0
// Presets of real drives against the figures that their makers publish, and against a formula that says why.
#include <cstdio>
#include <systemc>

#include "formula/reference.h"
#include "sim/config/config_loader.h"
#include "support/run_closed_loop.h"

namespace ssdtlm {
namespace {

struct Rates {
    double formula = 0, model = 0;
    void print(const char* what, double published) const {
        std::printf(
            "[   FIGURE ] wd-sn730-512g, 128 KiB sequential write %s: formula %.1f MB/s, model %.1f MB/s (%+.2f %%), "
            "published %.0f MB/s "
            "(%+.2f %%)\n",
            what, formula, model, 100 * (model / formula - 1), published, 100 * (model / published - 1));
        EXPECT_NEAR(model / formula, 1.0, 0.01);
        EXPECT_NEAR(model / published, 1.0, 0.01);
    }
};

// The dies bound it: each takes a row of both planes, then programs it; the other die of the channel has the bus then.
Rates sequential_write(const SsdConfig& c) {
    const NandGeometry& g = c.nand.geometry;
    NandConfig nand = c.nand;
    std::int64_t prefix = 0;
    if (c.ftl.slc.blocks != 0) {
        nand.t_program = {nand.slc.t_program};
        prefix = g.planes_per_die * nand.onfi.t_wc.count();
    }
    const double cycle = static_cast<double>(reference::program_cycle(nand, g.planes_per_die) + prefix) * 1e-12;
    ClosedLoop::Spec s;
    s.op = HostOp::write;
    s.pattern = ClosedLoop::Pattern::sequential;
    s.bytes = 131072;
    s.depth = 32;
    s.requests = 30000;  // 3.9 GB: less than the cache
    s.skip = 3000;       // the buffer fills first
    s.span = c.ftl.user_capacity_bytes / s.bytes * s.bytes;
    const auto r = run_closed_loop(c, s);
    const auto limiting = r["limiting"].get<std::string>();  // planes where they read on their own
    EXPECT_TRUE(limiting.find("die") != std::string::npos || limiting.find("plane") != std::string::npos) << limiting;
    return {static_cast<double>(g.planes()) * g.page_bytes / cycle * 1e-6, r["write"]["MB_per_s"].get<double>()};
}

TEST(Published, SequentialWriteOfTheSn730) {
    SsdConfig c = load_config({"wd-sn730-512g"}, {}).config;
    sequential_write(c).print("in its SLC cache", 2700);  // datasheet
    c.ftl.slc.blocks = 0;
    sequential_write(c).print("past it", 16 * 57);  // 16 dies of 57 MB/s: BiCS4 96-layer TLC (ISSCC 2018)
}

}  // namespace
}  // namespace ssdtlm
