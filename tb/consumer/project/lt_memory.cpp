// SPDX-License-Identifier: Apache-2.0
// A memory that only knows b_transport behind the model's DMA engine: what was written is read back.
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/tlm/agenda_process.h"
#include "common/tlm/lt_adapter.h"
#include "controller/dma/dma_engine.h"

struct Memory : sc_core::sc_module {
    tlm_utils::simple_target_socket<Memory> socket{"socket"};
    std::vector<unsigned char> bytes = std::vector<unsigned char>(65536);
    explicit Memory(sc_core::sc_module_name name) : sc_module(name) {
        socket.register_b_transport(this, &Memory::transport);
    }
    void transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
        unsigned char* at = bytes.data() + p.get_address();
        std::memcpy(p.is_write() ? at : p.get_data_ptr(), p.is_write() ? p.get_data_ptr() : at, p.get_data_length());
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        delay += sc_core::sc_time(100, sc_core::SC_NS);
    }
};

struct Client {
    ssdtlm::DmaEngine& dma;
    std::vector<std::uint8_t> out = std::vector<std::uint8_t>(4096, 7), in = std::vector<std::uint8_t>(4096);
    const ssdtlm::HostSegment segment{0x1000, 4096};
    explicit Client(ssdtlm::DmaEngine& d) : dma(d) {}
    void write() { dma.write_host(&segment, 1, out.data(), ssdtlm::DmaThen::to<&Client::written>(this)); }
    void written(ssdtlm::DmaEnd) { dma.read_host(&segment, 1, in.data(), {}); }
};

int sc_main(int, char*[]) {
    ssdtlm::Agenda agenda;
    ssdtlm::AgendaProcess process("process", agenda, false);
    ssdtlm::DmaEngine dma("dma", agenda, 65536);
    ssdtlm::LtTargetAdapter adapter("adapter", agenda);
    Memory memory("memory");
    dma.pcie_initiator.bind(adapter.model_target);
    adapter.lt_initiator.bind(memory.socket);
    Client client(dma);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    client.write();
    sc_core::sc_start();
    std::printf("%s at %s\n", client.in == client.out ? "read back" : "LOST",
                sc_core::sc_time_stamp().to_string().c_str());
    return client.in == client.out ? 0 : 1;
}
