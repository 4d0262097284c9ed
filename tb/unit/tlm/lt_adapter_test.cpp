// SPDX-License-Identifier: Apache-2.0
// A loosely-timed CPU reads and writes registers of a loosely-timed device over the model's link, and the model's DMA
// engine works on a loosely-timed memory. Expected times from the link's formulas and the annotated delays.
#include "common/tlm/lt_adapter.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "common/report/error.h"
#include "common/tlm/agenda_process.h"
#include "controller/dma/dma_engine.h"
#include "host_pcie/link/link_rate.h"
#include "host_pcie/link/pcie_link.h"
#include "support/forked.h"

namespace ssdtlm {
namespace {

constexpr Ps kRegisterTime = 80ns;
constexpr Ps kMemoryTime = 300ns;

/// A user's target: 64 KiB that annotate a delay.
struct LtMemory : sc_core::sc_module {
    tlm_utils::simple_target_socket<LtMemory> socket;
    LtMemory(sc_core::sc_module_name name, Ps time) : sc_module(name), socket("socket"), delay_(time), bytes(65536) {
        socket.register_b_transport(this, &LtMemory::transport);
    }
    void transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
        if (p.get_address() + p.get_data_length() > bytes.size())
            return p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        unsigned char* at = bytes.data() + p.get_address();
        std::memcpy(p.is_write() ? at : p.get_data_ptr(), p.is_write() ? p.get_data_ptr() : at, p.get_data_length());
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        delay += to_sc_time(delay_);
    }
    Ps delay_;
    std::vector<unsigned char> bytes;
};

/// A user's initiator: two threads, payloads on the stack, time kept ahead in `delay`.
struct LtCpu : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<LtCpu> socket;
    std::vector<std::int64_t> ends;  // ps
    std::vector<std::uint32_t> values;
    std::vector<int> statuses;
    explicit LtCpu(sc_core::sc_module_name name) : sc_module(name), socket("socket") {
        SC_HAS_PROCESS(LtCpu);
        SC_THREAD(first);
        SC_THREAD(second);
    }
    void access(tlm::tlm_command command, std::uint64_t address, std::uint32_t value, sc_core::sc_time delay) {
        tlm::tlm_generic_payload p;
        p.set_command(command);
        p.set_address(address);
        p.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        p.set_data_length(4);
        p.set_streaming_width(4);
        socket->b_transport(p, delay);
        ends.push_back(static_cast<std::int64_t>((sc_core::sc_time_stamp() + delay).value()));
        values.push_back(value);
        statuses.push_back(p.get_response_status());
    }
    void first() {
        access(tlm::TLM_WRITE_COMMAND, 0x40, 77, sc_core::sc_time(1, sc_core::SC_US));  // posted: no waiting
        access(tlm::TLM_READ_COMMAND, 0x40, 0, sc_core::SC_ZERO_TIME);
    }
    void second() {
        wait(10, sc_core::SC_US);
        access(tlm::TLM_READ_COMMAND, 0x40, 0, sc_core::SC_ZERO_TIME);
        access(tlm::TLM_READ_COMMAND, 1 << 20, 0, sc_core::SC_ZERO_TIME);  // beyond the device
    }
};

struct Netlist : DmaClient {
    Agenda agenda;
    LinkConfig config;
    AgendaProcess process;
    LtCpu cpu{"cpu"};
    LtInitiatorAdapter cpu_adapter{"cpu_adapter", agenda};
    PcieLink link;
    LtTargetAdapter device_adapter{"device_adapter", agenda};
    LtMemory device{"device", kRegisterTime};
    LtTargetAdapter root_adapter{"root_adapter", agenda};
    LtMemory root{"root", kMemoryTime};  // the link's host side, unused by MMIO
    DmaEngine link_dma{"link_dma", agenda};
    DmaEngine dma{"dma", agenda};
    LtTargetAdapter memory_adapter{"memory_adapter", agenda};
    LtMemory memory{"memory", kMemoryTime};
    std::vector<std::int64_t> done;
    std::vector<std::uint8_t> out = std::vector<std::uint8_t>(20000, 5), in = std::vector<std::uint8_t>(20000);

    explicit Netlist(bool lockstep) : config(ideal()), process("process", agenda, lockstep), link("link", agenda, config) {
        cpu.socket.bind(cpu_adapter.lt_target);
        cpu_adapter.model_initiator.bind(link.host_target);
        link.device_initiator.bind(device_adapter.model_target);
        device_adapter.lt_initiator.bind(device.socket);
        link_dma.pcie_initiator.bind(link.device_target);
        link.host_initiator.bind(root_adapter.model_target);
        root_adapter.lt_initiator.bind(root.socket);
        dma.pcie_initiator.bind(memory_adapter.model_target);
        memory_adapter.lt_initiator.bind(memory.socket);
        agenda.post<&Netlist::write>(SimTime{} + 2us, this);
    }
    static LinkConfig ideal() {
        LinkConfig c;
        c.data_link_efficiency = 1.0;
        return c;
    }
    void write(std::uint64_t) {
        const HostSegment s{0x100, static_cast<std::uint32_t>(out.size())};
        dma.write_host(&s, 1, out.data(), this, 0);
    }
    void dma_done(std::uint64_t cookie, SimTime at) override {
        done.push_back(at.time_since_epoch().count());
        const HostSegment s{0x100, static_cast<std::uint32_t>(in.size())};
        if (cookie == 0) dma.read_host(&s, 1, in.data(), this, 1);
    }
};

std::string run(bool lockstep) {
    Netlist n(lockstep);
    sc_core::sc_start();
    n.process.rethrow_error();

    const Rate rate = link_rate(n.config);
    // MRd of 24 bytes on the wire, its completion of 20 + 4; MWr of 24 + 4 ahead of it.
    const Ps read = rate.time_for(24) + n.config.host_to_device_latency + kRegisterTime + rate.time_for(24) +
                    n.config.device_to_host_latency;
    std::string wrong;
    const auto expect = [&wrong](const char* what, std::int64_t model, std::int64_t formula) {
        if (model != formula) wrong += std::string(what) + ": " + std::to_string(model) + " ps, expected " + std::to_string(formula) + "\n";
    };
    expect("calls", static_cast<std::int64_t>(n.cpu.ends.size()), 4);
    if (!wrong.empty()) return wrong;
    expect("posted write", n.cpu.ends[0], Ps{1us}.count());
    expect("read behind it", n.cpu.ends[1], (Ps{1us} + rate.time_for(28) + read).count());
    expect("its value", n.cpu.values[1], 77);
    expect("read of the second thread", n.cpu.ends[2], (Ps{10us} + read).count());
    expect("its value", n.cpu.values[2], 77);
    expect("status", n.cpu.statuses[2], tlm::TLM_OK_RESPONSE);
    expect("status beyond the device", n.cpu.statuses[3] == tlm::TLM_OK_RESPONSE, 0);
    expect("DMA write", n.done.at(0), Ps{2us + kMemoryTime}.count());
    expect("DMA read", n.done.at(1), Ps{2us + 2 * kMemoryTime}.count());
    expect("DMA data", n.in == n.out, 1);
    return wrong;
}

TEST(LtAdapter, TimesAreThoseOfTheLinkAndTheAnnotations) { EXPECT_EQ(in_child([] { return run(true); }), ""); }

TEST(LtAdapter, InitiatorWantsLockstep) {
    try {
        in_child([] { return run(false); });
        FAIL() << "accepted";
    } catch (const std::runtime_error& e) {
        EXPECT_NE(std::string(e.what()).find("--set run.agenda=lockstep"), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace ssdtlm
