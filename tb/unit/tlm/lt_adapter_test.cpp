// SPDX-License-Identifier: Apache-2.0
// A loosely-timed CPU reads and writes registers of a loosely-timed device over the model's link, and the model's DMA
// engine works on a loosely-timed memory. Expected times from the link's formulas and the annotated delays.
#include "common/tlm/lt_adapter.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
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

struct Netlist {
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
    DmaEngine link_dma{"link_dma", agenda, 64_KiB};
    DmaEngine dma{"dma", agenda, 64_KiB};
    LtTargetAdapter memory_adapter{"memory_adapter", agenda};
    LtMemory memory{"memory", kMemoryTime};
    std::vector<std::int64_t> done;
    std::vector<std::uint8_t> out = std::vector<std::uint8_t>(4096, 5), in = std::vector<std::uint8_t>(4096);

    explicit Netlist(bool lockstep)
        : config(ideal()), process("process", agenda, lockstep), link("link", agenda, config) {
        cpu.socket.bind(cpu_adapter.lt_target);
        cpu_adapter.model_initiator.bind(link.host_target);
        link.device_initiator.bind(device_adapter.model_target);
        device_adapter.lt_initiator.bind(device.socket);
        link_dma.pcie_initiator.bind(link.device_target);
        link.host_initiator.bind(root_adapter.model_target);
        root_adapter.lt_initiator.bind(root.socket);
        dma.pcie_initiator.bind(memory_adapter.model_target);
        memory_adapter.lt_initiator.bind(memory.socket);
        agenda.post(SimTime{} + 2us, Then::to<&Netlist::write>(this));
    }
    static LinkConfig ideal() {
        LinkConfig c;
        c.data_link_efficiency = 1.0;
        return c;
    }
    void write() {
        const HostSegment s{0x1000, static_cast<std::uint32_t>(out.size())};
        dma.write_host(&s, 1, out.data(), DmaThen::to<&Netlist::dma_done>(this, 0));
    }
    void dma_done(std::uint64_t number, DmaEnd end) {
        done.push_back(end.at.time_since_epoch().count());
        const HostSegment s{0x1000, static_cast<std::uint32_t>(in.size())};
        if (number == 0) dma.read_host(&s, 1, in.data(), DmaThen::to<&Netlist::dma_done>(this, 1));
    }
};

std::string run(bool lockstep) {
    Netlist n(lockstep);
    n.process.run_for(1s);

    const Rate rate = link_rate(n.config);
    // MRd of 24 bytes on the wire, its completion of 20 + 4; MWr of 24 + 4 ahead of it.
    const Ps read = rate.time_for(24) + n.config.host_to_device_latency + kRegisterTime + rate.time_for(24) +
                    n.config.device_to_host_latency;
    std::string wrong;
    const auto expect = [&wrong](const char* what, std::int64_t model, std::int64_t formula) {
        if (model != formula)
            wrong +=
                std::string(what) + ": " + std::to_string(model) + " ps, expected " + std::to_string(formula) + "\n";
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

/// A target of the base protocol that can answer in every way it allows.
struct AtTarget : sc_core::sc_module {
    enum class Style { at_once, response_at_once, short_form, long_form };
    tlm_utils::simple_target_socket<AtTarget> socket;
    AtTarget(sc_core::sc_module_name name, Agenda& a, Style s)
        : sc_module(name), socket("socket"), agenda(a), style(s) {
        socket.register_nb_transport_fw(this, &AtTarget::forward);
    }
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
        SSDTLM_CHECK(!request_open, "a request before the end of the one before");
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        if (style == Style::at_once || style == Style::response_at_once) {
            delay += to_sc_time(Ps{10ns});
            phase = tlm::BEGIN_RESP;
            return style == Style::at_once ? tlm::TLM_COMPLETED : tlm::TLM_UPDATED;
        }
        open.push_back(&p);
        agenda.post(agenda.now() + 20ns, Then::to<&AtTarget::respond>(this));
        if (style == Style::long_form) {
            request_open = true;
            agenda.post(agenda.now() + 5ns, Then::to<&AtTarget::end_request>(this));
            return tlm::TLM_ACCEPTED;
        }
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void call_back(tlm::tlm_generic_payload& p, tlm::tlm_phase phase) {
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->nb_transport_bw(p, phase, delay);
    }
    void end_request() {
        request_open = false;
        call_back(*open.back(), tlm::END_REQ);
    }
    void respond() {
        auto* p = open.front();
        open.pop_front();
        call_back(*p, tlm::BEGIN_RESP);
    }
    Agenda& agenda;
    const Style style;
    bool request_open = false;
    std::deque<tlm::tlm_generic_payload*> open;
};

/// An initiator of the base protocol that ends each response 10 ns after its begin, and one request in one call.
struct AtInitiator : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<AtInitiator> socket;
    AtInitiator(sc_core::sc_module_name name, Agenda& a) : sc_module(name), socket("socket"), agenda(a) {
        socket.register_nb_transport_bw(this, &AtInitiator::backward);
        agenda.post(SimTime{}, Then::to<&AtInitiator::start>(this));
    }
    void start() {
        for (auto& p : payloads) {
            p.set_read();
            p.set_data_ptr(data);
            p.set_data_length(4);
            p.set_streaming_width(4);
            call(p, tlm::BEGIN_REQ);
        }
    }
    void call(tlm::tlm_generic_payload& p, tlm::tlm_phase phase) {
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->nb_transport_fw(p, phase, delay);
    }
    tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& p, tlm::tlm_phase&, sc_core::sc_time&) {
        SSDTLM_CHECK(answering == nullptr, "a response before the end of the one before");
        answering = &p;
        begins.push_back((agenda.now() - SimTime{}).count());
        agenda.post(agenda.now() + 10ns, Then::to<&AtInitiator::end_response>(this));
        return tlm::TLM_ACCEPTED;
    }
    void end_response() {
        auto* p = answering;
        answering = nullptr;
        call(*p, tlm::END_RESP);
    }
    Agenda& agenda;
    unsigned char data[4] = {};
    tlm::tlm_generic_payload payloads[3];
    tlm::tlm_generic_payload* answering = nullptr;
    std::vector<std::int64_t> begins;
};

std::string run_forms(AtTarget::Style style) {
    struct TwoReads : sc_core::sc_module {  // two threads that read at time 0
        tlm_utils::simple_initiator_socket<TwoReads> socket;
        std::vector<std::int64_t> ends;
        explicit TwoReads(sc_core::sc_module_name name) : sc_module(name), socket("socket") {
            SC_HAS_PROCESS(TwoReads);
            SC_THREAD(read_a);
            SC_THREAD(read_b);
        }
        void read_a() { read(); }
        void read_b() { read(); }
        void read() {
            tlm::tlm_generic_payload p;
            unsigned char data[4];
            p.set_read();
            p.set_data_ptr(data);
            p.set_data_length(4);
            p.set_streaming_width(4);
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            socket->b_transport(p, delay);
            if (p.is_response_ok()) ends.push_back(static_cast<std::int64_t>(sc_core::sc_time_stamp().value()));
        }
    };
    Agenda agenda;
    AgendaProcess process("process", agenda, true);
    TwoReads reads("reads");
    LtInitiatorAdapter initiator_adapter("initiator_adapter", agenda);
    AtTarget target("target", agenda, style);
    AtInitiator initiator("initiator", agenda);
    LtTargetAdapter target_adapter("target_adapter", agenda);
    LtMemory memory("memory", 30ns);
    reads.socket.bind(initiator_adapter.lt_target);
    initiator_adapter.model_initiator.bind(target.socket);
    initiator.socket.bind(target_adapter.model_target);
    target_adapter.lt_initiator.bind(memory.socket);
    sc_core::sc_start();
    process.rethrow_error();
    std::string text;
    for (const auto v : reads.ends) text += std::to_string(v) + " ";
    text += "|";
    for (const auto v : initiator.begins) text += " " + std::to_string(v);
    return text;
}

TEST(LtAdapter, TimesAreThoseOfTheLinkAndTheAnnotations) {
    EXPECT_EQ(in_child([] { return run(true); }), "");
}

// Left: when the two reads return. Right: when the initiator that ends its responses late hears of each.
TEST(LtAdapter, EveryFormOfTheBaseProtocol) {
    const auto forms = [](AtTarget::Style style) { return in_child([style] { return run_forms(style); }); };
    EXPECT_EQ(forms(AtTarget::Style::at_once), "10000 10000 | 30000 40000 50000");
    EXPECT_EQ(forms(AtTarget::Style::response_at_once), "10000 10000 | 30000 40000 50000");
    EXPECT_EQ(forms(AtTarget::Style::short_form), "20000 20000 | 30000 40000 50000");
    EXPECT_EQ(forms(AtTarget::Style::long_form), "20000 25000 | 30000 40000 50000");  // the second request waits 5 ns
}

// The adapter's caller is a thread: the agenda finds it and keeps step, where it would else run ahead.
TEST(LtAdapter, TheAgendaKeepsStepWithAnInitiatorByItself) {
    EXPECT_EQ(in_child([] { return run(false); }), "");
}

}  // namespace
}  // namespace ssdtlm
