// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/nvme_driver.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/report/error.h"
#include "common/tlm/agenda_process.h"
#include "fake_controller.h"
#include "fake_workload.h"
#include "support/forked.h"

namespace ssdtlm {
namespace {

/// The fake controller behind a socket: answers each access 100 ns later, unless the power goes before.
struct Device : sc_core::sc_module {
    tlm_utils::simple_target_socket<Device> mmio_target{"mmio_target"};
    Agenda& agenda;
    FakeController& core;
    std::vector<tlm::tlm_generic_payload*> waiting;
    std::size_t accesses = 0;
    std::uint64_t losses = 0;  // of power

    Device(sc_core::sc_module_name name, Agenda& a, FakeController& c) : sc_module(name), agenda(a), core(c) {
        mmio_target.register_nb_transport_fw(this, &Device::fw);
    }
    tlm::tlm_sync_enum fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        EXPECT_EQ(phase, tlm::BEGIN_REQ);
        EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
        EXPECT_EQ(p.get_data_length(), 4u);
        EXPECT_TRUE(p.has_mm());
        p.acquire();
        ++accesses;
        waiting.push_back(&p);
        agenda.post(agenda.now() + FakeController::kMmio, Then::to<&Device::respond>(this, losses));
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void power_goes() {
        ++losses;
        waiting.clear();
    }
    void respond(std::uint64_t life) {
        if (life != losses) return;
        tlm::tlm_generic_payload& p = *waiting.front();
        waiting.erase(waiting.begin());
        const auto offset = static_cast<std::uint32_t>(p.get_address());
        if (p.is_write()) {
            core.store(offset, nvme::load<std::uint32_t>(p.get_data_ptr()));
        } else {
            nvme::store(p.get_data_ptr(), core.load(offset));
        }
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        EXPECT_EQ(mmio_target->nb_transport_bw(p, phase, delay), tlm::TLM_COMPLETED);
        p.release();
    }
};

/// A driver over the fake controller, and a workload of three reads 1 ms, 8.2 ms and 30 ms after its epoch.
struct Bench {
    explicit Bench(const HostConfig& c) : config(c) {
        core.ready_time = 500us;
        for (const Ps at : {Ps{1ms}, Ps{8'200us}, Ps{30ms}}) workload.add(HostOp::read, 0, 4096, SimTime{at});
        driver.mmio_initiator.bind(device.mmio_target);
        core.set_interrupt([this](std::uint64_t address, std::uint32_t data) { driver.interrupt(address, data); });
        driver.set_on_finished([this](SimTime) { driver.shutdown(); });
        driver.set_on_shutdown([this] { down = true; });
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    static HostConfig small() {
        HostConfig c;
        c.queue_pairs = 1;
        c.queue_entries = 16;
        return c;
    }
    /// What it did, and beside it what was to be done; "" if both are the same.
    std::string compare(const std::string& expected) const {
        std::string wrong = text == expected ? "" : text + "expected:\n" + expected;
        if (!down || workload.outcomes.size() != 3) wrong += "the workload has not ended\n";
        for (const Outcome& o : workload.outcomes)
            if (!o.ok) wrong += "a read failed\n";
        return wrong;
    }
    Ps since_epoch() const { return agenda.now() - driver.epoch(); }
    static std::string line(const char* what, Ps at) { return what + std::to_string(at.count()) + " ps\n"; }

    const HostConfig config;
    Agenda agenda;
    HostMemory memory{1_GiB};
    CommandTracker tracker;
    FakeController core{agenda, memory, tracker};
    Device device{"device", agenda, core};
    ListWorkload workload;
    NvmeDriver driver{"driver", agenda, memory, config, workload, &tracker, nullptr, nullptr};
    bool down = false;
    std::string text;
};

/// When the power went and when it was back, by the driver's power switch.
std::string power_times() {
    HostConfig config = Bench::small();
    config.power_off_time = 1ms;
    // In any order, while it is off, and while the controller starts.
    config.power_cut_at = {20ms, 3ms, 7ms, 3'500us, 12ms};
    const std::vector<Ps> by_hand{10ms, 10'500us};
    Bench b(config);
    b.driver.set_power_switch([&b](bool on) {
        if (!b.driver.powered()) b.text += Bench::line(on ? "on " : "off ", b.since_epoch());
        if (!on) b.device.power_goes();
        return true;
    });
    b.driver.set_on_ready([&] {
        for (const Ps at : by_hand) b.agenda.post(b.driver.epoch() + at, Then::to<&NvmeDriver::cut_power>(&b.driver));
    });
    b.driver.start();
    b.agenda.run();

    std::vector<Ps> due = config.power_cut_at;
    due.push_back(by_hand[0]);  // the other finds it off
    std::sort(due.begin(), due.end());
    Ps on{};
    std::string expected;
    for (const Ps at : due) {
        const Ps off = std::max(at, on);
        on = off + config.power_off_time;
        expected += Bench::line("off ", off) + Bench::line("on ", on);
    }
    return b.compare(expected) +
           (b.driver.power_cuts() == due.size() ? "" : std::to_string(b.driver.power_cuts()) + " losses\n");
}

/// The same with a shutdown before, and nobody who checks the data.
std::string power_after_shutdowns() {
    HostConfig config = Bench::small();
    config.power_off_time = 1ms;
    config.power_cut_at = {3ms, 12ms};
    config.power_cut_shutdown = true;
    Bench b(config);
    std::uint64_t shut_down = 0;
    b.driver.set_power_switch([&](bool on) {
        if (on) return true;
        shut_down += (b.core.load(nvme::kRegCsts) & nvme::Csts::kShstMask) == nvme::Csts::kShstComplete;
        b.device.power_goes();
        return true;
    });
    b.driver.start();
    b.agenda.run();
    const std::string wrong = b.compare("");
    return wrong +
           (shut_down == 2 && b.driver.power_cuts() == 2
                ? ""
                : std::to_string(shut_down) + " shutdowns, " + std::to_string(b.driver.power_cuts()) + " losses\n");
}

/// When resets began. How long one takes is the controller's matter.
std::string reset_times() {
    HostConfig config = Bench::small();
    config.reset_at = {9ms, 2ms, 2'100us, 25ms};  // in any order, and during another
    Bench b(config);
    std::vector<Ps> due = config.reset_at;
    std::sort(due.begin(), due.end());
    std::string expected;
    Ps free{};
    b.driver.set_on_reset([&](NvmeDriver::ResetStep step) {
        if (step == NvmeDriver::ResetStep::begins) {
            b.text += Bench::line("reset ", b.since_epoch());
            if (b.driver.resets() < due.size())
                expected += Bench::line("reset ", std::max(due[b.driver.resets()], free));
        } else if (step == NvmeDriver::ResetStep::started) {
            free = b.since_epoch();
        }
    });
    b.driver.start();
    b.agenda.run();
    return b.compare(expected) +
           (b.driver.resets() == due.size() ? "" : std::to_string(b.driver.resets()) + " resets\n");
}

TEST(NvmeDriver, LosesItsPowerAtTheTimesGivenOrWhenItIsBack) {
    EXPECT_EQ(in_child(power_times), "");
}

TEST(NvmeDriver, LosesItsPowerAfterAShutdown) {
    EXPECT_EQ(in_child(power_after_shutdowns), "");
}

TEST(NvmeDriver, ResetsAtTheTimesGivenOrAfterTheOneUnderWay) {
    EXPECT_EQ(in_child(reset_times), "");
}

TEST(NvmeDriver, RefusesBlocksWithMetadata) {
    EXPECT_EQ(in_child([] {
                  Bench b(Bench::small());
                  b.core.metadata_bytes = 8;
                  b.driver.start();
                  try {
                      b.agenda.run();
                  } catch (const CheckFailed& e) {
                      return std::string(e.what());
                  }
                  return std::string("it started");
              }),
              "the driver has no buffers for blocks with metadata");
}

TEST(NvmeDriver, BringsUpRunsAndShutsDownOverItsSocket) {
    Agenda agenda;
    AgendaProcess process("agenda", agenda, true);  // lockstep: kernel time can be compared
    HostMemory memory(1_GiB);
    CommandTracker tracker;
    HostConfig config;
    config.queue_pairs = 2;
    config.queue_entries = 16;
    FakeController core(agenda, memory, tracker);
    core.blocks = 8192;
    core.filled_units = 512;
    Device device("device", agenda, core);
    RandomWorkload workload(3, 4, 4, 3000, core.blocks, 64, 512);
    IntegrityOracle oracle(IntegrityOracle::Geometry{1024, 4096, 512, core.filled_units, 8});
    NvmeDriver driver("driver", agenda, memory, config, workload, &tracker, &oracle, nullptr);
    driver.mmio_initiator.bind(device.mmio_target);
    core.set_interrupt([&](std::uint64_t address, std::uint32_t data) { driver.interrupt(address, data); });

    bool ready = false, down = false;
    SimTime finished{};
    driver.set_on_ready([&] {
        ready = true;
        EXPECT_EQ(driver.epoch(), agenda.now());
        EXPECT_EQ(driver.counters().requests_issued, 0u);
    });
    driver.set_on_finished([&](SimTime t) {
        finished = t;
        driver.shutdown();
    });
    driver.set_on_shutdown([&] { down = true; });
    driver.start();
    EXPECT_FALSE(driver.ready());
    EXPECT_NE(driver.dump().find("bring-up"), std::string::npos);
    sc_core::sc_start();

    EXPECT_TRUE(ready);
    EXPECT_TRUE(driver.finished());
    EXPECT_TRUE(down);
    EXPECT_EQ(workload.done, 3000u);
    EXPECT_EQ(workload.failed, 0u);
    EXPECT_GT(finished, SimTime{});
    EXPECT_EQ(driver.controller().blocks, 8192u);
    EXPECT_EQ(driver.counters().errors, 0u);
    EXPECT_EQ(core.log.front(), "R 001C");
    EXPECT_EQ(core.log.back(), "R 001C");
    EXPECT_TRUE(device.waiting.empty());
    EXPECT_GT(oracle.blocks_checked(), 10000u);
    EXPECT_EQ(sc_core::sc_time_stamp(), to_sc_time(agenda.now()));
}

}  // namespace
}  // namespace ssdtlm

int sc_main(int, char**) {
    return 0;
}
