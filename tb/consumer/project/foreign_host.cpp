// SPDX-License-Identifier: Apache-2.0
// The model's device and link below a host of another make, which copies a block.
#include "examples/foreign_host.h"

#include <cstdio>

#include "common/tlm/agenda_process.h"
#include "common/tlm/lt_adapter.h"
#include "host_pcie/link/pcie_link.h"
#include "sim/config/config_loader.h"
#include "sim/device/device.h"

struct Copier final : ssdtlm::examples::ForeignHost {
    using ForeignHost::ForeignHost;
    bool copied = false;
    void work() override {
        Bytes data(block_bytes, 'x'), found(block_bytes);
        copied = write_blocks(0, data) == 0 && read_blocks(0, found) == 0 && write_blocks(8, found) == 0 &&
                 read_blocks(8, found) == 0 && found == data;
    }
};

int sc_main(int, char*[]) {
    const ssdtlm::SsdConfig config = ssdtlm::load_config({DEVICE}, {"run.data=bytes"}).config;
    ssdtlm::Agenda agenda;
    ssdtlm::AgendaProcess process("agenda", agenda, false);
    ssdtlm::Device device("device", agenda, config, config.run);
    ssdtlm::PcieLink link("link", agenda, config.link);
    ssdtlm::LtInitiatorAdapter register_adapter("register_adapter", agenda);
    ssdtlm::LtTargetAdapter memory_adapter("memory_adapter", agenda);
    Copier host("host");
    host.registers.bind(register_adapter.lt_target);
    register_adapter.model_initiator.bind(link.host_target);
    link.device_initiator.bind(device.nvme().mmio_target);
    device.nvme().dma_initiator.bind(link.device_target);
    link.host_initiator.bind(memory_adapter.model_target);
    memory_adapter.lt_initiator.bind(host.memory);
    sc_core::sc_start();
    std::printf("foreign host: %s, %llu wrong addresses\n", host.copied ? "copied" : "LOST",
                static_cast<unsigned long long>(host.wrong_addresses));
    return host.copied ? 0 : 1;
}
