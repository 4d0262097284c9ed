// SPDX-License-Identifier: Apache-2.0
// The RTL scheduler in the whole SSD: alone, a read waits for its pipeline and for nothing else; under load it grants
// in the order of the C++ policy that is given the same cycles.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "formula/reference.h"
#include "support/devices.h"
#include "support/run_closed_loop.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kRequests = 400;
/// From the edge that takes the request: one cycle to take the question, one for the die, one for the request, two
/// more.
constexpr std::int64_t kPipeline = 1 + 1 + 1 + 2;

bool before_flash(Stage s) {
    return s == Stage::host_queue || s == Stage::submit || s == Stage::arbitration || s == Stage::fetch ||
           s == Stage::firmware_wait || s == Stage::firmware || s == Stage::mapping;
}

/// Every command's stages, as text, except for the scheduler's; that one checked against the clock.
class Stages final : public CompletionObserver {
public:
    explicit Stages(const SsdConfig& c)
        : clock_(Clock::hertz(c.scheduler.clock_hz)), clocked_(c.scheduler.implementation != "tlm") {}
    void on_complete(const HostRequest&, SimTime, SimTime, SimTime, const Timeline& t, bool) override {
        std::string line;
        SimTime asked = t.start();
        t.for_each([&](Stage s, std::int64_t ps) {
            if (before_flash(s)) asked += Ps{ps};
            if (s != Stage::scheduler) line += std::string(stage_name(s)) + " " + std::to_string(ps) + ", ";
        });
        std::int64_t expected = 0;
        if (clocked_) {
            std::uint64_t edge = 1;  // the first one behind the question, by search
            while (SimTime{clock_.cycles(edge)} <= asked) edge += edge_step(edge, asked);
            expected = (SimTime{clock_.cycles(edge + kPipeline)} - asked).count();
        }
        const std::int64_t scheduler = t.of(Stage::scheduler).count();
        if (scheduler != expected) ++wrong;
        min = std::min(min, scheduler);
        max = std::max(max, scheduler);
        ++lines[line];
    }
    std::map<std::string, std::uint64_t> lines;
    std::uint64_t wrong = 0;
    std::int64_t min = INT64_MAX, max = 0;

private:
    std::uint64_t edge_step(std::uint64_t edge, SimTime t) const {
        const auto left =
            static_cast<std::uint64_t>((t - SimTime{clock_.cycles(edge)}).count() / clock_.period().count());
        return left > 1 ? left - 1 : 1;
    }
    const Clock clock_;
    const bool clocked_;
};

nlohmann::json alone(const SsdConfig& c) {
    return nlohmann::json::parse(in_child([&] {
        ClosedLoop::Spec s;
        s.requests = kRequests;
        s.span = c.ftl.user_capacity_bytes / s.bytes * s.bytes;
        ClosedLoop workload(s);
        Stages stages(c);
        Simulation::Options options;
        options.workload_name = "closed loop";
        options.observer = &stages;
        Simulation simulation(c, workload, options);
        simulation.run();
        nlohmann::json j;
        j["stages"] = stages.lines;
        j["wrong"] = stages.wrong;
        j["min"] = stages.min;
        j["max"] = stages.max;
        return j.dump();
    }));
}

class AloneInTheDevice : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(AloneInTheDevice, WaitsForThePipelineAndNothingElse) {
    SsdConfig c = table3_small();
    c.scheduler.clock_hz = GetParam();
    const auto tlm = alone(c);
    ASSERT_EQ(tlm["stages"].size(), 1u) << "a read alone takes the same time each time";
    EXPECT_EQ(tlm["wrong"], 0u);
    for (const char* implementation : {"tlm_clocked", "rtl", "compare"}) {
        c.scheduler.implementation = implementation;
        const auto j = alone(c);
        EXPECT_EQ(j["wrong"], 0u) << implementation;
        EXPECT_EQ(j["stages"], tlm["stages"]) << implementation << ": another stage differs";
        const double period = 1e12 / static_cast<double>(GetParam());
        EXPECT_GT(j["min"].get<double>(), kPipeline * period);
        EXPECT_LE(j["max"].get<double>(), (kPipeline + 1) * period + 1);
        std::printf(
            "[   FIGURE ] %lu MHz, %s: scheduler %.3f .. %.3f ns for each of %lu reads, by formula; other stages as in "
            "tlm\n",
            GetParam() / 1'000'000, implementation, j["min"].get<double>() / 1000, j["max"].get<double>() / 1000,
            kRequests);
    }
}

INSTANTIATE_TEST_SUITE_P(Clocks, AloneInTheDevice,
                         ::testing::Values(200'000'000u, 333'000'000u, 400'000'000u, 500'000'000u));

/// Everything in result.json: latencies to the picosecond, counters, times.
std::string load(SsdConfig c, const char* implementation, unsigned write_percent, std::uint32_t depth) {
    c.scheduler.implementation = implementation;
    ClosedLoop::Spec s;
    s.depth = depth;
    s.write_percent = write_percent;
    s.requests = 20'000;
    s.bytes = write_percent == 0 ? 4096 : 16384;
    s.span = c.ftl.user_capacity_bytes / s.bytes * s.bytes;
    auto j = run_closed_loop(c, s);
    // What differs between two equal runs, or names the implementation.
    for (const char* key : {"wall_clock", "configuration", "config"}) j.erase(key);
    return j.dump(1);
}

TEST(UnderLoad, EqualCyclesEqualResults) {
    for (const bool independent : {false, true}) {
        for (const unsigned writes : {0u, 40u, 100u}) {
            SsdConfig c = table3_small();
            c.nand.independent_plane_read = independent;
            c.scheduler.queue_depth = writes == 40 ? 16 : 256;  // requests are held back, too
            const std::string clocked = load(c, "tlm_clocked", writes, 64);
            EXPECT_EQ(load(c, "rtl", writes, 64), clocked) << writes << " % writes, independent planes " << independent;
            EXPECT_EQ(load(c, "compare", writes, 64), clocked);
            EXPECT_NE(load(c, "tlm", writes, 64), clocked) << "cycles are not free";
        }
    }
}

TEST(UnderLoad, LockstepGivesTheSameResults) {
    SsdConfig c = table3_small();
    const std::string ahead = load(c, "rtl", 40, 32);
    c.run.agenda = AgendaMode::lockstep;
    EXPECT_EQ(load(c, "rtl", 40, 32), ahead);
}

}  // namespace
}  // namespace ssdtlm
