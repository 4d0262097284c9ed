// SPDX-License-Identifier: Apache-2.0
// The examples in a whole SSD: two flashes of a user under garbage collection and the integrity check, and a user's
// sc_main that runs the SSD in slices, beside a clock of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>

#include "examples/own_flash_ssd.h"
#include "support/closed_loop.h"
#include "support/devices.h"
#include "support/forked.h"

namespace ssdtlm::examples {
namespace {

SsdConfig small_device() {
    SsdConfig c = grid(2, 2, 2);
    c.nand.geometry.blocks_per_plane = 32;
    c.nand.geometry.pages_per_block = 32;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 100 * 62 / 4096 * 4096;
    c.ftl.buffer_bytes = 256_KiB;
    return c;
}

ClosedLoop::Spec mixed(const SsdConfig& c, std::uint64_t requests) {
    ClosedLoop::Spec s;
    s.depth = 16;
    s.write_percent = 70;
    s.requests = requests;
    s.span = c.ftl.user_capacity_bytes / s.bytes * s.bytes;
    return s;
}

/// Every completion with its times.
struct History final : CompletionObserver {
    std::string text;
    std::uint64_t reads = 0;
    void on_complete(const HostRequest& r, SimTime issued, SimTime submitted, SimTime now, const Timeline&,
                     bool) override {
        reads += r.op == HostOp::read;
        std::ostringstream line;
        line << r.tag << ' ' << issued.time_since_epoch().count() << ' ' << submitted.time_since_epoch().count() << ' '
             << now.time_since_epoch().count() << '\n';
        text += line.str();
    }
};

/// The SSD of the model; `slice` 0: in one call.
std::string sliced(Ps slice, bool with_clock) {
    return in_child([&] {
        const SsdConfig c = small_device();
        ClosedLoop workload(mixed(c, 3'000));
        History history;
        SsdSystem ssd("ssd", c, workload, &history);
        bool finished = false;
        ssd.host.driver.set_on_finished([&](SimTime) { finished = true; });
        std::unique_ptr<sc_core::sc_clock> clock;
        if (with_clock) clock = std::make_unique<sc_core::sc_clock>("clock", 1, sc_core::SC_US);
        ssd.host.driver.start();
        if (slice == Ps{0}) ssd.process.run();
        for (SimTime end{}; slice != Ps{0} && !finished;) {
            end += slice;
            sc_core::sc_start(to_sc_time(slice));
            if (sc_core::sc_time_stamp() != to_sc_time(end) || ssd.agenda.now() > end)
                return std::string("a slice did not end where it should");
        }
        return history.text;
    });
}

/// Runs to the end: the history, and what became of the data.
template <class Ssd>
std::string outcome(Ssd& ssd, const SsdController& controller, const IntegrityOracle& oracle, const History& history) {
    ssd.host.driver.start();
    ssd.process.run();
    controller.ftl->verify_books();
    return history.text + std::to_string(controller.firmware->gc().victims()) + " victims collected, " +
           std::to_string(oracle.blocks_checked()) + " blocks checked, " +
           std::to_string(ssd.host.driver.counters().errors) + " errors\n";
}

TEST(WholeSsd, InSlicesAndBesideAClockAsInOneCall) {
    const std::string whole = sliced(Ps{0}, false);
    ASSERT_EQ(std::count(whole.begin(), whole.end(), '\n'), 3'000);
    for (const Ps slice : {Ps{1us}, Ps{10us}, Ps{77'777'777}, Ps{1ms}})
        EXPECT_EQ(sliced(slice, false), whole) << slice.count();
    EXPECT_EQ(sliced(Ps{100us}, true), whole);
    EXPECT_EQ(sliced(Ps{0}, true), whole);
}

// The loosely-timed flash annotates what NandPackage takes, so no command may see a difference, with blocks in SLC mode
// or without.
TEST(WholeSsd, LooselyTimedFlashGivesTheTimesOfThePackages) {
    for (const std::uint32_t slc_blocks : {0u, 4u}) {
        SsdConfig c = small_device();
        c.nand.geometry.bits_per_cell = 2;
        c.nand.t_read = {Ps{50us}, Ps{75us}};  // by page type
        c.nand.t_program = {Ps{400us}, Ps{900us}};
        c.nand.geometry.blocks_per_plane += c.ftl.slc.blocks = slc_blocks;
        const std::string packages = in_child([&] {
            ClosedLoop workload(mixed(c, 20'000));
            History history;
            SsdSystem ssd("ssd", c, workload, &history);
            ssd.host.driver.set_on_finished([&](SimTime) { ssd.host.driver.shutdown(); });
            ssd.host.driver.set_on_shutdown([&] { ssd.device.controller.firmware->stop_gc(); });
            return outcome(ssd, ssd.device.controller, *ssd.oracle, history);
        });
        const std::string loose = in_child([&] {
            ClosedLoop workload(mixed(c, 20'000));
            History history;
            LtFlashSsd ssd("ssd", c, workload, &history);
            return outcome(ssd, ssd.controller, ssd.oracle, history);
        });
        ASSERT_EQ(std::count(packages.begin(), packages.end(), '\n'), 20'001);
        EXPECT_TRUE(loose == packages)
            << "the first difference is in line "
            << 1 + std::count(loose.begin(),
                              std::mismatch(loose.begin(), loose.end(), packages.begin(), packages.end()).first, '\n');
        const std::string end = loose.substr(loose.rfind('\n', loose.size() - 2) + 1);
        EXPECT_NE(end.find("0 victims"), 0u) << "pages were moved and blocks erased";
        EXPECT_NE(end.find(", 0 errors"), std::string::npos) << end;
        std::printf(
            "[   FIGURE ] 20000 requests on LtFlash with %u blocks in SLC mode, each at the picosecond of NandPackage; "
            "%s",
            slc_blocks, end.c_str());
    }
}

// Last: it leaves this process with a simulation that was run.
TEST(WholeSsd, OwnFlashKeepsTheDataThroughGarbageCollection) {
    const SsdConfig c = small_device();
    ClosedLoop workload(mixed(c, 20'000));
    History history;
    OwnFlashSsd ssd("ssd", c, 60us, workload, &history);
    ssd.host.driver.start();
    ssd.process.run();
    EXPECT_EQ(std::count(history.text.begin(), history.text.end(), '\n'), 20'000);
    EXPECT_EQ(ssd.host.driver.counters().errors, 0u);
    EXPECT_TRUE(ssd.controller.firmware->idle());
    ssd.controller.ftl->verify_books();
    EXPECT_GT(ssd.controller.firmware->gc().victims(), 100u) << "pages were moved and blocks erased";
    EXPECT_GT(ssd.oracle.blocks_checked(), history.reads / 2);
    std::printf("[   FIGURE ] 20000 requests on ConstantFlash, %llu victims collected, %llu blocks checked\n",
                static_cast<unsigned long long>(ssd.controller.firmware->gc().victims()),
                static_cast<unsigned long long>(ssd.oracle.blocks_checked()));
    // The kernel's own dump of an object is not hidden.
    std::ostringstream kernel;
    ssd.controller.backend.dump(kernel);
    ssd.link.dump(kernel);
    static_cast<const sc_core::sc_object&>(ssd.host.driver).dump(kernel);
    EXPECT_NE(kernel.str().find("ssd.controller.backend: idle"), std::string::npos) << kernel.str();
}

}  // namespace
}  // namespace ssdtlm::examples
