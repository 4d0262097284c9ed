// SPDX-License-Identifier: Apache-2.0
// Each half without the other: the model's host with a drive that is none of the model's, behind a link and without
// one. (The model's device with a host of another make: foreign_host_test.cpp.) And both halves without a link.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "common/tlm/agenda_process.h"
#include "common/tlm/lt_adapter.h"
#include "examples/constant_device.h"
#include "host_pcie/link/pcie_link.h"
#include "sim/device/device.h"
#include "sim/host/host.h"
#include "support/closed_loop.h"
#include "support/devices.h"
#include "support/forked.h"

namespace ssdtlm::examples {
namespace {

constexpr std::uint64_t kBlocks = 65'536;
constexpr std::uint64_t kRequests = 1'000;
constexpr Ps kLatency{20us};

/// Each latency that was seen, and how often the stages did not add up to it.
struct Latencies final : CompletionObserver {
    std::set<Ps> seen;
    std::uint64_t reads = 0, unequal = 0;
    void on_complete(const HostRequest& r, SimTime issued, SimTime, SimTime now, const Timeline& t, bool) override {
        reads += r.op == HostOp::read;
        unequal += t.sum() != now - issued;
        seen.insert(now - issued);
    }
};

ClosedLoop::Spec mix(std::uint32_t depth, std::uint32_t bytes, unsigned write_percent, std::uint64_t span) {
    ClosedLoop::Spec s;
    s.depth = depth;
    s.bytes = bytes;
    s.write_percent = write_percent;
    s.requests = kRequests;
    s.span = span / bytes * bytes;
    return s;
}

/// The model's host, its driver shutting down at the end; nothing behind its sockets yet.
struct HostSide {
    Agenda agenda;
    AgendaProcess process{"agenda", agenda, false};
    Latencies latencies;
    ClosedLoop workload;
    IntegrityOracle oracle;
    bool shut_down = false;
    Host host;

    HostSide(const ClosedLoop::Spec& load, const IntegrityOracle::Geometry& blocks)
        : workload(load), oracle(blocks), host("host", agenda, HostConfig{}, workload, nullptr, &oracle, &latencies) {
        host.driver.set_on_finished([this](SimTime) { host.driver.shutdown(); });
        host.driver.set_on_shutdown([this] { shut_down = true; });
        host.driver.start();
    }
    /// What has to hold whatever the other half is; the latencies in picoseconds, one a line.
    std::string result() {
        process.rethrow_error();
        const DriverCounters& n = host.driver.counters();
        if (!shut_down || n.requests_completed != kRequests || n.errors != 0) return "not in order";
        if (latencies.unequal != 0) return "stages do not add up";
        if (oracle.blocks_checked() == 0 || oracle.unverified() != 0) return "reads were not checked";
        std::string text;
        for (const Ps l : latencies.seen) text += std::to_string(l.count()) + "\n";
        return text;
    }
};

IntegrityOracle::Geometry empty_drive() {
    IntegrityOracle::Geometry g;
    g.units = kBlocks / 8;
    return g;
}

/// Behind two adapters, since it is loosely timed.
struct OtherDevice {
    LtTargetAdapter registers;
    LtInitiatorAdapter memory;
    ConstantDevice device{"device", kBlocks, to_sc_time(kLatency)};

    explicit OtherDevice(Agenda& agenda) : registers("registers", agenda), memory("memory", agenda) {
        registers.lt_initiator.bind(device.registers);
        device.memory.bind(memory.lt_target);
    }
};

std::string without_link(std::uint32_t depth, std::uint32_t bytes) {
    return in_child([&] {
        HostSide h(mix(depth, bytes, 50, kBlocks * 512), empty_drive());
        OtherDevice other(h.agenda);
        h.host.mmio_initiator.bind(other.registers.model_target);
        other.memory.model_initiator.bind(h.host.dma_target);
        sc_core::sc_start();
        return h.result();
    });
}

// Nothing takes time but the device: each latency is its own, to the picosecond.
TEST(Halves, HostWithADeviceOfAnotherMake) {
    for (const std::uint32_t depth : {1u, 7u, 64u})
        for (const std::uint32_t bytes : {4096u, 8192u, 262'144u})  // one PRP, two, a list; more than MDTS is split
            EXPECT_EQ(without_link(depth, bytes), std::to_string(kLatency.count()) + "\n") << depth << " x " << bytes;
}

TEST(Halves, HostAndADeviceOfAnotherMakeAtALink) {
    const auto at_a_link = [](std::uint32_t generation) {
        return in_child([&] {
            HostSide h(mix(1, 4096, 0, kBlocks * 512), empty_drive());
            OtherDevice other(h.agenda);
            LinkConfig config;
            config.generation = generation;
            PcieLink link("link", h.agenda, config);
            h.host.mmio_initiator.bind(link.host_target);
            link.device_initiator.bind(other.registers.model_target);
            other.memory.model_initiator.bind(link.device_target);
            link.host_initiator.bind(h.host.dma_target);
            sc_core::sc_start();
            return h.result();
        });
    };
    const auto only = [](const std::string& text) {
        EXPECT_EQ(text.find('\n'), text.size() - 1) << "one after the other, all take the same time, but: " << text;
        return Ps{std::stoll(text)};
    };
    const Ps slow = only(at_a_link(1)), fast = only(at_a_link(4));
    // Doorbell, SQE and its completions, data, CQE, message: the wires of generation 4 move 7.877 times as many bytes.
    EXPECT_GT(fast, kLatency);
    EXPECT_GT(slow, fast);
    EXPECT_LT(slow, kLatency + Ps{10us});
    std::printf("[   FIGURE ] a device of 20 us: %.3f us at a link of generation 1, %.3f us at one of generation 4\n",
                to_microseconds(slow), to_microseconds(fast));
}

// Register accesses and transfers then take no time, and all else does what it does. The device knows nothing of the
// host, nor of its configuration.
TEST(Halves, BothWithoutALink) {
    DeviceConfig c = grid(2, 2, 2);
    c.nand.geometry.blocks_per_plane = 32;
    c.nand.geometry.pages_per_block = 16;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 100 * 55 / 4096 * 4096;
    c.ftl.buffer_bytes = 64_KiB;
    const std::string victims = in_child([&] {
        Agenda agenda;
        AgendaProcess process("agenda", agenda, false);
        Device device("device", agenda, c, ContentsConfig{});
        Ftl& ftl = *device.controller.ftl;
        IntegrityOracle::Geometry g;
        g.units = ftl.logical_units();
        g.filled_units = ftl.mapped_units();
        g.version_bits = ftl.codec().version_bits();
        IntegrityOracle oracle(g);
        Latencies latencies;
        ClosedLoop::Spec load = mix(16, 4096, 70, c.ftl.user_capacity_bytes);
        load.requests = 4'000;
        ClosedLoop workload(load);
        Host host("host", agenda, HostConfig{}, workload, &device.controller.stages, &oracle, &latencies);
        host.mmio_initiator.bind(device.nvme().mmio_target);
        device.nvme().dma_initiator.bind(host.dma_target);
        host.driver.set_on_finished([&](SimTime) { host.driver.shutdown(); });
        host.driver.set_on_shutdown([&] { device.controller.firmware->stop_gc(); });
        host.driver.start();
        process.run();
        device.nvme().controller.check_books();
        ftl.verify_books();
        if (latencies.unequal != 0 || host.driver.counters().requests_completed != load.requests)
            return std::string("not in order");
        if (oracle.blocks_checked() < latencies.reads || host.driver.counters().errors != 0)
            return std::string("reads were not checked");
        return std::to_string(device.controller.firmware->gc().victims());
    });
    EXPECT_GT(std::stoi(victims), 10);
}

// What a search for the map finds is kept only where the power may go: a device of one's own says so first.
TEST(Halves, ALossOfPowerThatWasNotSaid) {
    DeviceConfig c = grid(1, 1);
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 2;
    for (const auto& [mapping, said] : {std::pair{"dftl", false}, {"dftl", true}, {"page", false}, {"page", true}}) {
        c.ftl.mapping = mapping;
        const std::string end = in_child([&] {
            Agenda agenda;
            ContentsConfig contents;
            contents.outlives_power = said;
            Device device("device", agenda, c, contents);
            try {
                device.power_off(0);
            } catch (const CheckFailed&) {
                return std::string("refused");
            }
            return std::string("off");
        });
        EXPECT_EQ(end, said ? "off" : "refused");
    }
}

}  // namespace
}  // namespace ssdtlm::examples
