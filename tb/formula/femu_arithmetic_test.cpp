// SPDX-License-Identifier: Apache-2.0
// The femu-4g preset's rules with gc.charge_time = false against FEMU's arithmetic (femu.h): where every page of the
// host goes, which lines are collected and when, when each LUN is available, and the counts. What FEMU does not have
// (link, host) decides only when an operation is given to the flash, which is taken from the run; commands are compared
// one by one in the order in which they reach it.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <tuple>
#include <variant>

#include "controller/gc/gc_probe.h"
#include "formula/femu.h"
#include "sim/config/config_loader.h"
#include "sim/simulation.h"
#include "support/closed_loop.h"
#include "support/forked.h"

namespace ssdtlm {
namespace {

struct FlashWork {
    FlashOp op = FlashOp::read;
    std::uint32_t die = 0;
    std::int64_t place = 0;  ///< line * pages of a line + page
    std::int64_t lpn = 0;
    std::uint64_t number = 0;  ///< of the page, drawn when it took its place
    SimTime given{}, ended{};
};
struct Victim {
    std::uint32_t line = 0;
    bool ended = false;
    std::uint32_t valid = 0;  ///< pages that are moved
};
using Event = std::variant<FlashWork, Victim>;

/// In order: what the firmware gives to the flash, and what is collected.
class Watch final : public SsdTaps, public GcProbe, private FlashPort {
public:
    FlashPort& flash(FlashPort& backend) override {
        backend_ = &backend;
        return *this;
    }
    void victim_chosen(SuperblockId victim) override {
        events.emplace_back(Victim{idx(victim), false, system_->device.controller.ftl->superblock(victim).valid});
    }
    void victim_ended(SuperblockId victim) override { events.emplace_back(Victim{idx(victim), true}); }
    void look_at(const SsdSystem& system) { system_ = &system; }
    std::vector<Event> events;

private:
    void submit(FlashTransaction& t) override {
        const SuperblockShape& shape = system_->device.controller.ftl->shape();
        const NandGeometry& g = system_->config.nand.geometry;
        FlashWork w;
        w.op = t.op;
        w.die = idx(t.die);
        const std::uint32_t in_row = w.die % g.ways * g.channels + w.die / g.ways;
        w.place = std::int64_t{t.address.block} * shape.pages() + std::int64_t{t.address.page} * g.dies() + in_row;
        if (t.op == FlashOp::program) {
            w.lpn = idx(system_->device.controller.ftl->codec().lpa(t.spare[0]));
            w.number = t.record.number;
        }
        w.given = system_->agenda.now();
        then_[&t] = {t.then, events.size()};
        t.then = Then::to<&Watch::ended>(this, t);
        events.emplace_back(w);
        backend_->submit(t);
    }
    void ended(FlashTransaction& t) {
        const auto [then, event] = then_.at(&t);
        then_.erase(&t);
        FlashWork& w = std::get<FlashWork>(events[event]);
        w.ended = system_->agenda.now();
        w.lpn = idx(system_->device.controller.ftl->codec().lpa(t.spare[0]));
        t.then = then;
        then();
    }
    FlashPort* backend_ = nullptr;
    const SsdSystem* system_ = nullptr;
    std::map<FlashTransaction*, std::pair<Then, std::size_t>> then_;
};

struct Case {
    const char* name;
    ClosedLoop::Pattern pattern;
    std::uint32_t bytes, depth;
    unsigned write_percent;
    std::uint32_t user_lines;  ///< of 64
    std::uint64_t requests;
    bool forced;  ///< collection is, now and then
};

/// Lines of 2 x 8 x 16 pages.
SsdConfig small_femu(const Case& c) {
    return load_config({"femu-4g"},
                       {"nand.geometry.pages_per_block=16", "nand.geometry.blocks_per_plane=64", "gc.charge_time=false",
                        "ftl.user_capacity=" + std::to_string(c.user_lines * 256 * 4096) + "B", "run.integrity=true"})
        .config;
}

std::int64_t length_of(const SsdConfig& c, FlashOp op) {
    return op == FlashOp::read ? c.nand.t_read[0].count() : c.nand.t_program[0].count();
}

/// Programs and victims in the order in which they took their pages: a program that has its page leaves the DRAM before
/// it reaches the flash, and meanwhile something may be collected, whose moved pages take the numbers in between.
std::vector<Event> in_order_of_pages(const std::vector<Event>& events) {
    std::map<std::uint64_t, FlashWork> programs;
    for (const Event& e : events)
        if (const FlashWork* w = std::get_if<FlashWork>(&e); w != nullptr && w->op == FlashOp::program)
            programs[w->number] = *w;
    std::vector<Event> out;
    std::uint64_t last = programs.empty() ? 0 : programs.begin()->first - 1;
    const auto take = [&](auto at) {
        last = at->first;
        out.emplace_back(at->second);
        programs.erase(at);
    };
    for (const Event& e : events) {
        if (const Victim* v = std::get_if<Victim>(&e)) {
            while (!v->ended && v->valid != 0 && programs.count(last + 1) != 0) take(programs.begin());
            out.push_back(e);
            if (!v->ended) last += v->valid;
        } else if (const FlashWork& w = std::get<FlashWork>(e); w.op == FlashOp::read) {
            out.push_back(e);
        } else {
            while (!programs.empty() && programs.begin()->first <= w.number) take(programs.begin());
        }
    }
    return out;
}

void compare(const Case& test, const SsdConfig& config, const std::vector<Event>& events, const FtlCounters& counters,
             const std::vector<std::int64_t>& busy) {
    const NandGeometry& g = config.nand.geometry;
    Femu femu{g.channels,
              g.ways,
              g.pages_per_block,
              g.blocks_per_plane,
              config.ftl.gc_soft_free_blocks,
              config.ftl.gc_hard_free_blocks,
              256 / 8};
    const std::uint64_t units = config.ftl.user_capacity_bytes / g.unit_bytes;
    femu.power_on(units);
    for (std::uint64_t lpn = 0; lpn < units; ++lpn) femu.put(lpn);  // precondition.state
    std::uint64_t reads = 0, writes = 0, waits = 0, forced = 0;
    std::vector<std::int64_t> used(g.dies());
    for (const Event& e : in_order_of_pages(events)) {
        if (const Victim* v = std::get_if<Victim>(&e)) {
            if (v->ended) {
                femu.erase(v->line);
                continue;
            }
            ASSERT_LE(femu.free.size(), femu.soft) << "collected above the soft threshold";
            const bool must = femu.free.size() <= femu.hard;
            forced += must;
            ASSERT_EQ(femu.victim(must), v->line) << "after " << reads + writes << " operations";
            femu.move_out_of(v->line);
            continue;
        }
        const FlashWork& w = std::get<FlashWork>(e);
        if (w.op == FlashOp::program) {
            ASSERT_EQ(femu.put(static_cast<std::uint64_t>(w.lpn)), w.place) << "page " << writes << " of the host";
            ++writes;
        } else {
            ASSERT_EQ(w.op, FlashOp::read);
            // Deeper, a write may have taken its page that has not reached the flash.
            if (test.depth == 1) {
                ASSERT_EQ(femu.map[static_cast<std::size_t>(w.lpn)], w.place) << "read of page " << w.lpn;
            }
            ++reads;
        }
    }
    std::uint64_t n = 0;
    for (const Event& e : events) {
        if (std::holds_alternative<Victim>(e)) continue;
        const FlashWork& w = std::get<FlashWork>(e);
        ASSERT_EQ(femu.die(static_cast<std::uint32_t>(w.place % femu.per_line())), w.die);
        waits += femu.available[w.die] > w.given.time_since_epoch().count();
        used[w.die] += length_of(config, w.op);
        ASSERT_EQ(femu.run(w.die, w.given.time_since_epoch().count(), length_of(config, w.op)),
                  w.ended.time_since_epoch().count())
            << "operation " << n << ": the LUN is available";
        ++n;
    }
    std::printf(
        "[   FIGURE ] %s: %llu reads and %llu programs of the host, %llu of them behind others; %llu lines erased, "
        "%llu of them forced, %llu pages moved\n",
        test.name, static_cast<unsigned long long>(reads), static_cast<unsigned long long>(writes),
        static_cast<unsigned long long>(waits), static_cast<unsigned long long>(femu.erased),
        static_cast<unsigned long long>(forced), static_cast<unsigned long long>(femu.moved));
    EXPECT_EQ(counters.gc_units_moved, femu.moved);
    EXPECT_EQ(counters.blocks_erased, femu.erased * g.dies());
    EXPECT_EQ(counters.host_pages, units + writes);
    EXPECT_EQ(busy, used);
    EXPECT_GT(femu.erased, 100u);
    EXPECT_EQ(forced != 0, test.forced);
    EXPECT_GT(waits + (test.bytes < 65536), 0u) << "two pages of a command on one LUN";
    EXPECT_GT(waits + (test.depth == 1), 0u);
}

/// After every command one line, if it is worth it: nothing that has to be collected is left.
void expect_collected(const std::vector<Event>& events, const SsdConfig& config, std::uint64_t pages_per_command) {
    const NandGeometry& g = config.nand.geometry;
    Femu femu{g.channels,
              g.ways,
              g.pages_per_block,
              g.blocks_per_plane,
              config.ftl.gc_soft_free_blocks,
              config.ftl.gc_hard_free_blocks,
              256 / 8};
    const std::uint64_t units = config.ftl.user_capacity_bytes / g.unit_bytes;
    femu.power_on(units);
    for (std::uint64_t lpn = 0; lpn < units; ++lpn) femu.put(lpn);  // precondition.state
    std::uint64_t pages = 0;
    bool collected = true;
    for (const Event& e : in_order_of_pages(events)) {
        if (const Victim* v = std::get_if<Victim>(&e)) {
            if (v->ended) {
                femu.erase(v->line);
            } else {
                femu.move_out_of(v->line);
                collected = true;
            }
            continue;
        }
        const FlashWork& w = std::get<FlashWork>(e);
        if (pages++ % pages_per_command == 0) {
            ASSERT_TRUE(collected || femu.free.size() > femu.soft || femu.victim(false) < 0)
                << "a command began, and after the one before nothing was collected, with " << femu.free.size()
                << " free lines";
            collected = false;
        }
        if (w.op == FlashOp::program) femu.put(static_cast<std::uint64_t>(w.lpn));
    }
}

class FemuArithmetic : public testing::TestWithParam<Case> {};

TEST_P(FemuArithmetic, IsThatOfTheModel) {
    const Case test = GetParam();
    const std::string wrong = in_child([&test] {
        const SsdConfig config = small_femu(test);
        const std::uint64_t span = config.ftl.user_capacity_bytes / test.bytes * test.bytes;
        ClosedLoop::Spec fill;
        fill.op = HostOp::write;
        fill.bytes = test.bytes;
        fill.depth = test.depth;
        fill.pattern = test.pattern;
        fill.span = span;
        fill.requests = test.requests;
        fill.write_percent = test.write_percent;
        ClosedLoop workload(fill);
        Watch watch;
        Simulation::Options options;
        options.taps = &watch;
        Simulation simulation(config, workload, options);
        watch.look_at(simulation.system());
        simulation.system().device.controller.firmware->set_probe(&watch);
        const RunSummary r = simulation.run();
        for (const BookLine& b : r.books) EXPECT_TRUE(b.balances()) << b.name;
        simulation.system().device.controller.ftl->verify_books();
        std::vector<std::int64_t> busy;
        for (std::uint32_t d = 0; d < config.nand.geometry.dies(); ++d) {
            std::int64_t sum = 0;
            for (const auto t : simulation.system().device.controller.backend.die_busy(DieId{d})) sum += t;
            busy.push_back(sum);
        }
        compare(test, config, watch.events, simulation.system().device.controller.ftl->counters(), busy);
        if (test.depth == 1) expect_collected(watch.events, config, test.bytes / 4096);
        return std::string(testing::Test::HasFailure() ? "see above" : "");
    });
    EXPECT_EQ(wrong, "");
}

INSTANTIATE_TEST_SUITE_P(
    , FemuArithmetic,
    testing::Values(Case{"sequential_4k", ClosedLoop::Pattern::sequential, 4096, 1, 100, 48, 60000, false},
                    Case{"sequential_128k", ClosedLoop::Pattern::sequential, 131072, 1, 100, 48, 3000, false},
                    Case{"random_4k", ClosedLoop::Pattern::random, 4096, 1, 100, 40, 60000, false},
                    Case{"random_16k_half_reads", ClosedLoop::Pattern::random, 16384, 1, 50, 40, 40000, false},
                    Case{"random_16k_8_deep", ClosedLoop::Pattern::random, 16384, 8, 50, 40, 40000, false},
                    Case{"random_4k_full", ClosedLoop::Pattern::random, 4096, 1, 100, 57, 60000, true}),
    [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace ssdtlm
