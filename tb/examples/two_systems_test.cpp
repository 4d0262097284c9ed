// SPDX-License-Identifier: Apache-2.0
// Two SSDs in one SystemC simulation, each with its own agenda, configuration and workload. Each must do what it does
// in a program of its own, to the picosecond: nothing of one drive is kept where another finds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "adapter/rtl_schedulers.h"
#include "sim/ssd_system.h"
#include "support/closed_loop.h"
#include "support/devices.h"
#include "support/forked.h"

namespace ssdtlm::examples {
namespace {

/// A ClosedLoop of which every completion is written down.
class Recorded final : public Workload {
public:
    explicit Recorded(const ClosedLoop::Spec& spec) : loop_(spec) {}
    Next next(SimTime now) override { return loop_.next(now); }
    void completed(const HostRequest& r, SimTime issued, SimTime submitted, SimTime now, bool ok) override {
        text += std::to_string(r.tag) + ' ' + std::to_string((issued - SimTime{}).count()) + ' ' +
                std::to_string((submitted - SimTime{}).count()) + ' ' + std::to_string((now - SimTime{}).count()) +
                (ok ? " ok\n" : " failed\n");
        loop_.completed(r, issued, submitted, now, ok);
    }
    std::uint32_t jobs() const override { return loop_.jobs(); }
    std::uint32_t depth(std::uint32_t job) const override { return loop_.depth(job); }
    double progress(SimTime now) const override { return loop_.progress(now); }
    bool measuring(const HostRequest& r, SimTime now) const override { return loop_.measuring(r, now); }

    std::string text;

private:
    ClosedLoop loop_;
};

/// One SSD with all that belongs to it.
struct Drive {
    Recorded workload;
    SsdSystem ssd;

    Drive(const char* name, const SsdConfig& c, const ClosedLoop::Spec& load)
        : workload(load), ssd(name, c, workload, nullptr) {
        ssd.host.driver.set_on_finished([this](SimTime) { ssd.host.driver.shutdown(); });
        ssd.host.driver.set_on_shutdown([this] { ssd.device.controller.firmware->stop_gc(); });
        ssd.host.driver.start();
    }
    /// After the run: every completion, counter, book and block's wear, and what the integrity check saw.
    std::string result() {
        ssd.process.rethrow_error();
        ssd.device.controller.ftl->verify_books();
        std::string all = workload.text;
        const auto add = [&all](const std::string& what, std::uint64_t n) {
            all += what + ' ' + std::to_string(n) + '\n';
        };
        for (const auto& [name, n] : ssd.counters()) add(name, n);
        for (const BookLine& b : ssd.books(FtlCounters{})) add(b.name, b.left);
        for (const auto& [erases, blocks] : ssd.blocks_by_erases())
            add("blocks erased " + std::to_string(erases), blocks);
        add("blocks checked", ssd.oracle->blocks_checked());
        add("idle", ssd.device.controller.firmware->idle());
        add("ends at", static_cast<std::uint64_t>((ssd.agenda.now() - SimTime{}).count()));
        return all;
    }
};

struct Plan {
    SsdConfig config;
    ClosedLoop::Spec load;
};

SsdConfig small(SsdConfig c, std::uint64_t seed) {
    c.nand.geometry.blocks_per_plane = 32;
    c.nand.geometry.pages_per_block = 32;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 100 * 62 / 4096 * 4096;
    c.ftl.buffer_bytes = 256_KiB;
    c.run.seed = seed;
    return c;
}

ClosedLoop::Spec mixed(const SsdConfig& c, std::uint64_t requests, unsigned write_percent, std::uint32_t depth) {
    ClosedLoop::Spec s;
    s.depth = depth;
    s.write_percent = write_percent;
    s.requests = requests;
    s.span = c.ftl.user_capacity_bytes / s.bytes * s.bytes;
    s.seed = c.run.seed + 10;
    return s;
}

/// Collects garbage under writes.
Plan writer() {
    Plan s{small(grid(2, 2, 2), 1), {}};
    s.load = mixed(s.config, 6'000, 70, 16);
    return s;
}

/// Other geometry, superblocks, link and flash; pages fail; the scheduler is clocked, in RTL where there is Verilator.
Plan reader() {
    Plan s{small(grid(4, 1), 2), {}};
    SsdConfig& c = s.config;
    c.link.generation = 4;
    c.nand.t_read = {Ps{40us}};
    c.ftl.superblock = SuperblockSpan::plane;
    c.faults.read_once = 0.01;
    c.faults.page_lost = 0.002;
    c.host.queue_pairs = 2;
    c.scheduler.implementation = rtl_schedulers().empty() ? "tlm_clocked" : "rtl";
    s.load = mixed(c, 4'000, 20, 8);
    return s;
}

std::string alone(const Plan& s) {
    return in_child([&] {
        Drive drive("drive", s.config, s.load);
        drive.ssd.process.run();
        return drive.result();
    });
}

/// Both results, joined. `run` simulates to the end of both.
template <class Run>
std::string together(const Plan& a, const Plan& b, Run run) {
    return in_child([&] {
        Drive left("left", a.config, a.load), right("right", b.config, b.load);
        run(left.ssd, right.ssd);
        return left.result() + "---\n" + right.result();
    });
}

/// Which lines differ would fill pages.
std::string first_difference(const std::string& a, const std::string& b) {
    const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (x == a.end() && y == b.end()) return "";
    const auto line = std::count(a.begin(), x, '\n') + 1;
    return "line " + std::to_string(line) + ": " + std::string(x, std::min(a.end(), x + 60)) + " | " +
           std::string(y, std::min(b.end(), y + 60));
}

TEST(TwoSystems, InOneProgramDoAsInTwo) {
    const Plan a = writer(), b = reader();
    const std::string one = alone(a), other = alone(b), expected = one + "---\n" + other;
    ASSERT_GT(std::count(one.begin(), one.end(), '\n'), 6'000);
    ASSERT_NE(one.find("\ngc_victims "), std::string::npos);
    ASSERT_EQ(one.find("\ngc_victims 0\n"), std::string::npos);
    ASSERT_EQ(one.find(" failed\n"), std::string::npos);
    ASSERT_NE(other.find(" failed\n"), std::string::npos) << "the failing drive has to fail";

    const auto start = [](SsdSystem&, SsdSystem&) { sc_core::sc_start(); };
    EXPECT_EQ(first_difference(together(a, b, start), expected), "");
    // The order of construction decides nothing.
    EXPECT_EQ(first_difference(together(b, a, start), other + "---\n" + one), "");
    const auto slices = [](SsdSystem& left, SsdSystem& right) {
        while (!left.agenda.empty() || !right.agenda.empty()) sc_core::sc_start(77'777, sc_core::SC_NS);
    };
    EXPECT_EQ(first_difference(together(a, b, slices), expected), "");
    // run() of the one takes the other along; what is left of that, its own run() does.
    const auto agendas = [](SsdSystem& left, SsdSystem& right) {
        left.process.run();
        if (!right.agenda.empty()) right.process.run();
    };
    EXPECT_EQ(first_difference(together(a, b, agendas), expected), "");
    EXPECT_EQ(first_difference(together(a, b, [&](SsdSystem& l, SsdSystem& r) { agendas(r, l); }), expected), "");
    // Twins: the same drive twice.
    EXPECT_EQ(first_difference(together(b, b, start), other + "---\n" + other), "");

    std::printf(
        "[   FIGURE ] %llu and %llu completions and all counters, started in 5 ways and as twins: as in two programs "
        "(scheduler of the second: %s)\n",
        static_cast<unsigned long long>(a.load.requests), static_cast<unsigned long long>(b.load.requests),
        b.config.scheduler.implementation.c_str());
}

}  // namespace
}  // namespace ssdtlm::examples
