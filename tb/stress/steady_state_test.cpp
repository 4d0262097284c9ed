// SPDX-License-Identifier: Apache-2.0
// Uniformly random overwrites of a full device, in time and with everything that time brings (the host goes on writing
// while a victim is emptied), against the closed formula of greedy collection. The device starts where the untimed
// preconditioning has left it, so a difference between the two ways of collecting garbage would show as a jump.
#include "unit/ftl/steady_state.h"

#include <cstdio>

#include "stress.h"
#include "support/closed_loop.h"

namespace ssdtlm {
namespace {

/// Counters of the FTL at equal distances of completed commands.
class Windows final : public CompletionObserver {
public:
    Windows(std::uint64_t commands, std::uint32_t windows) : every_(commands / windows) {}
    void watch(const Ftl& ftl) {
        ftl_ = &ftl;
        at_.push_back(ftl.counters());
    }
    void on_complete(const HostRequest&, SimTime, SimTime, SimTime, const Timeline&, bool) override {
        if (++commands_ % every_ == 0) at_.push_back(ftl_->counters());
    }
    double amplification(std::size_t from, std::size_t to, std::uint32_t units_per_page) const {
        return (at_[to] - at_[from]).unit_write_amplification(units_per_page);
    }
    /// From what the victims held: unlike the count of pages, it does not see blocks taken from the stock of free ones,
    /// which the timed collection uses until it has caught up with the host.
    double victims_say(std::size_t from, std::size_t to, std::uint32_t units_per_block) const {
        const FtlCounters d = at_[to] - at_[from];
        return 1 / (1 - static_cast<double>(d.victim_valid_units) / static_cast<double>(d.victims) / units_per_block);
    }
    std::size_t size() const { return at_.size() - 1; }

private:
    std::uint64_t every_;
    std::uint64_t commands_ = 0;
    const Ftl* ftl_ = nullptr;
    std::vector<FtlCounters> at_;
};

struct Point {
    double over_provisioning;
    std::uint32_t page_bytes;
    std::uint32_t queue_depth;
    std::uint32_t planes = 1;  ///< in one superblock
};

class SteadyState : public testing::TestWithParam<Point> {};

TEST_P(SteadyState, WriteAmplificationFollowsTheFormulaFromTheFirstWriteOn) {
    constexpr std::uint32_t kWindows = 8;
    SsdConfig c = grid(2, 4);
    NandGeometry& g = c.nand.geometry;
    g.blocks_per_plane = 512;
    g.planes_per_die = GetParam().planes;
    g.pages_per_block = 64;
    g.page_bytes = GetParam().page_bytes;
    c.ftl.superblock = SuperblockSpan::die;
    c.ftl.gc_soft_free_blocks = 4;
    c.ftl.gc_hard_free_blocks = 2;
    const auto logical =
        static_cast<std::uint64_t>(static_cast<double>(g.units()) / (1 + GetParam().over_provisioning));
    c.ftl.user_capacity_bytes = logical * g.unit_bytes;
    c.ftl.initial_state = InitialState::random;
    c.ftl.overwrite = 4.0;
    c.ftl.buffer_bytes = 256 * 4096;  // small: what replaces a buffered unit is not a random overwrite of flash
    c.run.seed = 5;
    ClosedLoop::Spec spec;
    spec.op = HostOp::write;
    spec.depth = GetParam().queue_depth;
    spec.requests = logical / kWindows * kWindows;
    spec.span = logical * g.unit_bytes;
    spec.seed = 9;
    const auto j = nlohmann::json::parse(in_child([&] {
        ClosedLoop workload(spec);
        Windows windows(spec.requests, kWindows);
        Simulation::Options options;
        options.observer = &windows;
        Simulation simulation(c, workload, options);
        const Ftl& ftl = *simulation.system().device.controller.ftl;
        windows.watch(ftl);
        const RunSummary r = simulation.run();
        for (const BookLine& b : r.books)
            if (!b.balances()) throw CheckFailed("books: " + b.name);
        ftl.verify_books();
        std::uint64_t free_blocks = 0;
        for (std::uint32_t p = 0; p < g.planes(); ++p) free_blocks += ftl.free_blocks(PlaneId{p});
        return nlohmann::json{{"first", windows.victims_say(0, 1, g.units_per_block())},
                              {"last", windows.victims_say(kWindows - 1, kWindows, g.units_per_block())},
                              {"all", windows.amplification(0, windows.size(), g.units_per_page())},
                              {"free", free_blocks},
                              {"rate", static_cast<double>(r.commands_all) / r.wall_seconds},
                              {"cpu_rate", static_cast<double>(r.commands_all) / r.cpu_seconds},
                              {"events", static_cast<double>(r.agenda_events) / static_cast<double>(r.commands_all)}}
            .dump();
    }));
    // Free blocks hold no data, and the two open ones of each plane are half empty on average.
    const double blocks = g.blocks() - j["free"].get<double>() - g.planes();
    const double alpha = blocks * g.units_per_block() / static_cast<double>(logical);
    const double formula = test::greedy_formula(alpha, g.units_per_block() * g.planes_per_die);
    const double all = j["all"], first = j["first"], last = j["last"];
    std::printf(
        "  over-provisioning %.3f (%.3f without free blocks), page %u B, planes %u, depth %u: write amplification "
        "%.4f, formula "
        "%.4f (%+.2f %%); of the victims, first eighth %.4f, last %.4f; %.0f writes per second, %.0f per CPU second, "
        "%.1f events each\n",
        GetParam().over_provisioning, alpha - 1, g.page_bytes, g.planes_per_die, spec.depth, all, formula,
        100 * (all / formula - 1), first, last, j["rate"].get<double>(), j["cpu_rate"].get<double>(),
        j["events"].get<double>());
    EXPECT_NEAR(all / formula, 1.0, 0.03);
    EXPECT_NEAR(first / last, 1.0, 0.03);
}

INSTANTIATE_TEST_SUITE_P(Points, SteadyState,
                         testing::Values(Point{0.28, 4096, 32}, Point{0.28, 8192, 256}, Point{0.125, 4096, 256},
                                         Point{0.28, 4096, 64, 2}));

}  // namespace
}  // namespace ssdtlm
