// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/nvme_driver.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include "common/tlm/agenda_process.h"
#include "fake_controller.h"
#include "fake_workload.h"

namespace ssdtlm {
namespace {

/// The fake controller behind a socket: answers each access 100 ns later.
struct Device : sc_core::sc_module {
    tlm_utils::simple_target_socket<Device> mmio_target{"mmio_target"};
    Agenda& agenda;
    FakeController& core;
    std::vector<tlm::tlm_generic_payload*> waiting;
    std::size_t accesses = 0;

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
        agenda.post<&Device::respond>(agenda.now() + FakeController::kMmio, this);
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void respond(std::uint64_t) {
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

int sc_main(int, char**) { return 0; }
