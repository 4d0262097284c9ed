// SPDX-License-Identifier: Apache-2.0
// Preconditioned caches are as a long run leaves them: the first writes of a run find a unit in the write buffer, and
// wait for room in it, as often as the last ones.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/simulation.h"
#include "support/closed_loop.h"
#include "support/devices.h"
#include "support/forked.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kPart = 100'000, kParts = 6;

/// Of kPart writes.
struct Part {
    double hits = 0, stalls = 0, wait = 0;  ///< shares of the writes, and s
};

class Parts final : public CompletionObserver {
public:
    void watch(const WriteBuffer& buffer) { buffer_ = &buffer; }
    void on_complete(const HostRequest&, SimTime, SimTime, SimTime, const Timeline& line, bool) override {
        const double waited = to_seconds(line.of(Stage::buffer));
        now_.stalls += waited > 10e-6;  // the way through the DRAM is less than 1 us
        now_.wait += waited;
        if (++count_ % kPart != 0 || count_ > kPart * kParts) return;
        const std::uint64_t hits = buffer_->coalesced();
        parts[count_ / kPart - 1] = {static_cast<double>(hits - hits_) / kPart, now_.stalls / kPart, now_.wait / kPart};
        hits_ = hits;
        now_ = {};
    }
    std::array<Part, kParts> parts;

private:
    const WriteBuffer* buffer_ = nullptr;
    std::uint64_t count_ = 0, hits_ = 0;
    Part now_;
};

std::array<Part, kParts> run(InitialState state, bool filled) {
    SsdConfig c = table3_small();
    NandGeometry& g = c.nand.geometry;
    g.channels = 2;
    g.ways = 2;
    g.planes_per_die = 2;
    g.blocks_per_plane = 96;
    g.pages_per_block = 128;
    c.ftl.superblock = SuperblockSpan::die;
    c.ftl.user_capacity_bytes = static_cast<std::uint64_t>(static_cast<double>(g.units()) / 1.2) * g.unit_bytes;
    c.ftl.initial_state = state;
    c.ftl.overwrite = 3.0;
    c.ftl.buffer_bytes = 32768ull * g.unit_bytes;
    c.ftl.caches_filled = filled;
    const auto j = nlohmann::json::parse(in_child([&] {
        ClosedLoop::Spec spec;
        spec.op = HostOp::write;
        spec.bytes = g.unit_bytes;
        spec.depth = 64;
        spec.requests = kPart * kParts;
        spec.span = c.ftl.user_capacity_bytes / g.unit_bytes * g.unit_bytes;
        ClosedLoop workload(spec);
        Parts parts;
        Simulation::Options options;
        options.observer = &parts;
        Simulation simulation(c, workload, options);
        parts.watch(simulation.system().device.controller.firmware->buffer());
        simulation.run();
        nlohmann::json out;
        for (const Part& p : parts.parts) out.push_back({p.hits, p.stalls, p.wait});
        return out.dump();
    }));
    std::array<Part, kParts> parts;
    for (std::size_t i = 0; i < kParts; ++i) parts[i] = {j[i][0], j[i][1], j[i][2]};
    return parts;
}

TEST(WarmCaches, FirstWritesFindThemAsTheLastOnes) {
    for (const InitialState state : {InitialState::random, InitialState::analytic}) {
        const auto parts = run(state, true);
        const Part &first = parts.front(), &last = parts.back();
        std::printf(
            "  %s: found in the buffer %.4f, at the end %.4f (%+.1f %%); waited for room %.4f, %.4f; for %.1f and %.1f "
            "us\n",
            state == InitialState::random ? "random" : "analytic", first.hits, last.hits,
            100 * (first.hits / last.hits - 1), first.stalls, last.stalls, 1e6 * first.wait, 1e6 * last.wait);
        EXPECT_NEAR(first.hits / last.hits, 1, 0.03);
        EXPECT_NEAR(first.stalls / last.stalls, 1, 0.03);
        EXPECT_NEAR(first.wait / last.wait, 1, 0.05);
    }
    const Part cold = run(InitialState::random, false).front();
    std::printf("  empty at the start: %.4f, %.4f\n", cold.hits, cold.stalls);
    EXPECT_LT(cold.stalls, 0.9);
}

}  // namespace
}  // namespace ssdtlm
