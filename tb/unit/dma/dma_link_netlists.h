// SPDX-License-Identifier: Apache-2.0
// DMA engine, link, root complex and host memory together, and MMIO from a small host to a small device. One
// elaboration holds a netlist per test, each with its own agenda; no simulation is started.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "common/random/random.h"
#include "common/tlm/sc_time_bridge.h"
#include "controller/dma/dma_engine.h"
#include "host_pcie/driver/root_complex.h"
#include "host_pcie/link/link_rate.h"
#include "host_pcie/link/pcie_link.h"

namespace ssdtlm {

/// Issues MMIO and notes when the answers come.
struct Host : sc_core::sc_module, InterruptSink {
    tlm_utils::simple_initiator_socket<Host> mmio_initiator;
    Agenda& agenda;
    std::vector<SimTime> answers;
    std::vector<tlm::tlm_response_status> statuses;
    std::vector<std::pair<SimTime, std::uint32_t>> interrupts;
    /// How it ends a response: by the return value, with END_RESP at once, or by a call later.
    enum class Ends { completes, at_once, later };
    Ends ends = Ends::completes;
    std::deque<tlm::tlm_generic_payload*> open;

    Host(sc_core::sc_module_name name, Agenda& a) : sc_module(name), mmio_initiator("mmio_initiator"), agenda(a) {
        mmio_initiator.register_nb_transport_bw(this, &Host::backward);
    }
    void access(tlm::tlm_generic_payload& p, tlm::tlm_command command, std::uint64_t address, void* data,
                unsigned bytes) {
        p.set_command(command);
        p.set_address(address);
        p.set_data_ptr(static_cast<unsigned char*>(data));
        p.set_data_length(bytes);
        p.set_streaming_width(bytes);
        p.set_byte_enable_ptr(nullptr);
        p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay;
        const auto status = mmio_initiator->nb_transport_fw(p, phase, delay);
        if (status == tlm::TLM_COMPLETED)
            note(p);
        else
            ASSERT_TRUE(status == tlm::TLM_UPDATED && phase == tlm::END_REQ);
    }
    void note(tlm::tlm_generic_payload& p) {
        answers.push_back(agenda.now());
        statuses.push_back(p.get_response_status());
    }
    tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
        if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
        note(p);
        EXPECT_TRUE(open.empty());  // response exclusion rule
        if (ends == Ends::completes) return tlm::TLM_COMPLETED;
        if (ends == Ends::at_once) {
            phase = tlm::END_RESP;
            return tlm::TLM_UPDATED;
        }
        open.push_back(&p);
        agenda.post(agenda.now() + 10ns, Then::to<&Host::end_response>(this));
        return tlm::TLM_ACCEPTED;
    }
    void end_response() {
        auto* p = open.front();
        open.pop_front();
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_core::sc_time delay;
        mmio_initiator->nb_transport_fw(*p, phase, delay);
    }
    void interrupt(std::uint64_t, std::uint32_t data) override { interrupts.emplace_back(agenda.now(), data); }
};

/// Register file that can answer in every way the base protocol allows.
struct Device : sc_core::sc_module {
    enum class Style { at_once, short_form, long_form, annotated };
    tlm_utils::simple_target_socket<Device> mmio_target;
    Agenda& agenda;
    Style style = Style::at_once;
    Ps think{};
    std::map<std::uint64_t, std::uint32_t> registers;
    std::vector<SimTime> arrivals;
    std::deque<tlm::tlm_generic_payload*> open;

    Device(sc_core::sc_module_name name, Agenda& a) : sc_module(name), mmio_target("mmio_target"), agenda(a) {
        mmio_target.register_nb_transport_fw(this, &Device::forward);
    }
    void perform(tlm::tlm_generic_payload& p) {
        if (p.get_data_length() != 4) return p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        auto& r = registers[p.get_address()];
        if (p.is_write())
            std::memcpy(&r, p.get_data_ptr(), 4);
        else
            std::memcpy(p.get_data_ptr(), &r, 4);
        p.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        EXPECT_EQ(phase, tlm::BEGIN_REQ);
        arrivals.push_back(agenda.now());
        perform(p);
        if (style == Style::at_once) return tlm::TLM_COMPLETED;
        if (style == Style::annotated) {
            delay += to_sc_time(think);
            return tlm::TLM_COMPLETED;
        }
        EXPECT_TRUE(style == Style::short_form || open.empty());  // request exclusion rule
        open.push_back(&p);
        agenda.post(agenda.now() + think, Then::to<&Device::respond>(this));
        if (style == Style::long_form) return tlm::TLM_ACCEPTED;
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void respond() {
        auto* p = open.front();
        open.pop_front();
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay;
        EXPECT_EQ(mmio_target->nb_transport_bw(*p, phase, delay), tlm::TLM_COMPLETED);
    }
};

inline LinkConfig ideal(std::uint32_t generation = 3) {
    LinkConfig c;
    c.generation = generation;
    c.data_link_efficiency = 1.0;
    return c;
}

struct System {
    System(const std::string& name, const LinkConfig& c, std::uint64_t read_window_bytes = 1u << 20)
        : config(c),
          rate(link_rate(c)),
          memory(1_GiB),
          host((name + "_host").c_str(), agenda),
          device((name + "_device").c_str(), agenda),
          root((name + "_root").c_str(), agenda, memory, &host),
          link((name + "_link").c_str(), agenda, config),
          dma((name + "_dma").c_str(), agenda, read_window_bytes) {
        host.mmio_initiator.bind(link.host_target);
        link.device_initiator.bind(device.mmio_target);
        dma.pcie_initiator.bind(link.device_target);
        link.host_initiator.bind(root.link_target);
    }
    DmaThen then(std::uint64_t number) { return DmaThen::to<&System::ended>(this, number); }
    void ended(std::uint64_t number, DmaEnd end) {
        if (end.failed) return failed.push_back(number);
        done.push_back({number, agenda.now(), end.at});
        if (on_done) on_done(number, end.at);
    }
    void write(std::uint64_t address, std::vector<std::uint8_t>& data, std::uint64_t cookie = 0) {
        const HostSegment s{address, static_cast<std::uint32_t>(data.size())};
        dma.write_host(&s, 1, data.data(), then(cookie));
    }
    void read(std::uint64_t address, std::vector<std::uint8_t>& data, std::uint64_t cookie = 0) {
        const HostSegment s{address, static_cast<std::uint32_t>(data.size())};
        dma.read_host(&s, 1, data.data(), then(cookie));
    }
    Ps wire(std::uint64_t bytes) const { return rate.time_for(bytes); }
    Ps round_trip() const {
        return config.device_to_host_latency + config.root_complex_latency + config.host_to_device_latency;
    }
    SimTime at_host(std::uint64_t bytes) const { return SimTime{} + wire(bytes) + config.device_to_host_latency; }
    SimTime at_device(std::uint64_t bytes) const { return SimTime{} + wire(bytes) + config.host_to_device_latency; }

    struct Done {
        std::uint64_t cookie;
        SimTime called, at;
    };
    LinkConfig config;
    Rate rate;
    Agenda agenda;
    HostMemory memory;
    Host host;
    Device device;
    RootComplex root;
    PcieLink link;
    DmaEngine dma;
    std::vector<Done> done;
    std::vector<std::uint64_t> failed;
    std::function<void(std::uint64_t, SimTime)> on_done;
};

inline std::vector<std::uint8_t> pattern(std::size_t n, std::uint64_t seed) {
    std::vector<std::uint8_t> v(n);
    Random r(seed);
    for (auto& b : v) b = static_cast<std::uint8_t>(r.next());
    return v;
}

/// All netlists must exist before elaboration ends.
class DmaLink : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        for (const char* name : {"write", "read", "read4k", "order", "mmio", "mmio_forms", "example", "endless",
                                 "segments", "bulk", "failure", "plain", "spare"})
            systems()[name] = std::make_unique<System>(name, ideal());
        for (const char* name : {"example4", "endless4"}) systems()[name] = std::make_unique<System>(name, ideal(4));
        LinkConfig one_tag = ideal();
        one_tag.read_tags = 1;
        systems()["one_tag"] = std::make_unique<System>("one_tag", one_tag);
        systems()["one_tag_sqe"] = std::make_unique<System>("one_tag_sqe", one_tag);
        LinkConfig eight_tags = ideal();
        eight_tags.read_tags = 8;
        systems()["eight_tags"] = std::make_unique<System>("eight_tags", eight_tags);
        LinkConfig slow_completer = ideal();
        slow_completer.completion_payload_bytes = 64;
        systems()["cpl64"] = std::make_unique<System>("cpl64", slow_completer);
        LinkConfig in_parts = ideal();
        in_parts.read_tags = 2;
        in_parts.max_read_request_bytes = 128;
        in_parts.upstream_nonposted_headers = 1;
        systems()["enables"] = std::make_unique<System>("enables", in_parts);
        LinkConfig few = ideal();
        few.upstream_nonposted_headers = 3;
        systems()["few_credits"] = std::make_unique<System>("few_credits", few);
        for (std::uint32_t tags : {4u, 16u, 32u, 64u}) {
            LinkConfig c = ideal(5);
            c.read_tags = tags;
            systems()["tags" + std::to_string(tags)] = std::make_unique<System>("tags" + std::to_string(tags), c);
        }
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    static std::map<std::string, std::unique_ptr<System>>& systems() {
        static std::map<std::string, std::unique_ptr<System>> all;
        return all;
    }
    static System& get(const std::string& name) { return *systems().at(name); }
};

inline constexpr std::uint64_t kBase = HostMemory::kBase;

}  // namespace ssdtlm
