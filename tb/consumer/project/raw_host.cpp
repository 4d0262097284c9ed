// SPDX-License-Identifier: Apache-2.0
// A netlist of one's own around the front end of few_at_a_time.cpp: the drive is a plain TLM-2.0 target. A
// loosely-timed thread writes blocks and reads them back.
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/tlm/agenda_process.h"
#include "common/tlm/lt_adapter.h"
#include "controller/raw/raw_front_end.h"
#include "sim/config/config_loader.h"
#include "sim/device/device.h"

struct Host : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Host> socket{"socket"};
    std::uint64_t requests = 0, wrong = 0;

    explicit Host(sc_core::sc_module_name name) : sc_module(name) {
        SC_HAS_PROCESS(Host);
        SC_THREAD(work);
    }
    void work() {
        std::vector<unsigned char> data(4096), found(4096);
        for (std::uint64_t i = 0; i < 1000; ++i) {
            std::fill(data.begin(), data.end(), static_cast<unsigned char>(i * 7 + 1));
            request(tlm::TLM_WRITE_COMMAND, i * 4096, data);
            request(tlm::TLM_READ_COMMAND, i * 4096, found);
            wrong += data != found;
        }
    }
    void request(tlm::tlm_command command, std::uint64_t address, std::vector<unsigned char>& data) {
        tlm::tlm_generic_payload p;
        p.set_command(command);
        p.set_address(address);
        p.set_data_ptr(data.data());
        p.set_data_length(static_cast<unsigned>(data.size()));
        p.set_streaming_width(static_cast<unsigned>(data.size()));
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->b_transport(p, delay);
        wait(delay);
        requests += p.is_response_ok();
    }
};

int sc_main(int, char*[]) {
    const ssdtlm::SsdConfig config =
        ssdtlm::load_config({DEVICE}, {"frontend.kind=few_at_a_time", "run.data=bytes"}).config;
    ssdtlm::Agenda agenda;
    ssdtlm::AgendaProcess process("process", agenda, false);
    ssdtlm::Device device("device", agenda, config, config.run);
    ssdtlm::LtInitiatorAdapter adapter("adapter", agenda);
    Host host("host");
    host.socket.bind(adapter.lt_target);
    adapter.model_initiator.bind(device.controller.front_end_as<ssdtlm::RawFrontEnd>().target);
    sc_core::sc_start();
    std::printf("raw host: %llu requests, %llu blocks wrong\n", static_cast<unsigned long long>(host.requests),
                static_cast<unsigned long long>(host.wrong));
    return host.requests == 2000 && host.wrong == 0 ? 0 : 1;
}
