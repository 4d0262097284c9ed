// SPDX-License-Identifier: Apache-2.0
// What may be bound to what. As it stands, this compiles: our own sockets, and a user's from tlm_utils, on both kinds
// of bus. With MIXED, each line that ends in `refused` binds ONFI to PCIe and must be an error of the compiler.
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <systemc>

#include "common/tlm/lt_adapter.h"
#include "controller/channel_ctrl/channel_controller.h"
#include "controller/dma/dma_engine.h"
#include "host_pcie/link/pcie_link.h"
#include "nand/channel/onfi_bus.h"
#include "nand/package/nand_package.h"

namespace ssdtlm {

struct Users : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Users> host;
    tlm_utils::simple_target_socket<Users> memory;
    tlm_utils::simple_initiator_socket<Users, 32, OnfiProtocol> controller;
    tlm_utils::simple_target_socket<Users, 32, OnfiProtocol> flash;
    tlm_utils::passthrough_target_socket<Users, 32, OnfiProtocol> passthrough;
    tlm_utils::multi_passthrough_target_socket<Users, 32, OnfiProtocol> any_channel;
};

void bind(Users& mine, ChannelController& channel, OnfiBus& bus, NandPackage& package, PcieLink& link, DmaEngine& dma,
          LtTargetAdapter& memory_adapter) {
    channel.onfi_initiator.bind(bus.controller_target);
    channel.onfi_initiator.bind(mine.flash);
    channel.onfi_initiator.bind(mine.passthrough);
    channel.onfi_initiator.bind(mine.any_channel);
    bus.package_initiator[0].bind(package.bus_target);
    bus.package_initiator[0].bind(mine.flash);
    mine.controller.bind(bus.controller_target);
    // PCIe stays with the base protocol: a host or memory of any make knows it.
    mine.host.bind(link.host_target);
    link.host_initiator.bind(mine.memory);
    dma.pcie_initiator.bind(mine.memory);
    dma.pcie_initiator.bind(memory_adapter.model_target);
#ifdef MIXED
    channel.onfi_initiator.bind(link.device_target);           // refused
    channel.onfi_initiator.bind(mine.memory);                  // refused
    channel.onfi_initiator.bind(memory_adapter.model_target);  // refused
    bus.package_initiator[0].bind(link.host_target);           // refused
    dma.pcie_initiator.bind(bus.controller_target);            // refused
    link.host_initiator.bind(mine.flash);                      // refused
    mine.host.bind(package.bus_target);                        // refused
    mine.controller.bind(link.host_target);                    // refused
#endif
}

}  // namespace ssdtlm
