// SPDX-License-Identifier: Apache-2.0
// The host's half of the netlist. It speaks NVMe, and knows about the device only what it reads from its registers:
//
//   Workload -> NvmeDriver -mmio_initiator->      register accesses
//                   |
//               HostMemory <- RootComplex <-dma_target-      what the device reads and writes, its MSI-X messages
//
// A PcieLink or the device itself is bound to the two sockets.
#pragma once

#include <string>
#include <systemc>
#include <tlm>

#include "host_pcie/driver/host_memory.h"
#include "host_pcie/driver/integrity_oracle.h"
#include "host_pcie/driver/nvme_driver.h"
#include "host_pcie/driver/root_complex.h"

namespace ssdtlm {

class Host : public sc_core::sc_module {
public:
    tlm::tlm_initiator_socket<> mmio_initiator;  ///< address = offset in BAR0; see NvmeDriver
    tlm::tlm_target_socket<> dma_target;         ///< address = host physical address; see RootComplex

    /// `stages`, `oracle` and `observer` may be null. Without them the device's stages are unknown, reads are not
    /// checked, and nobody observes. All arguments must outlive the host.
    Host(sc_core::sc_module_name name, Agenda& agenda, const HostConfig& config, Workload& workload,
         CommandTracker* stages, IntegrityOracle* oracle, CompletionObserver* observer);

    const HostConfig config;
    HostMemory memory;
    NvmeDriver driver;
    RootComplex root_complex;
};

}  // namespace ssdtlm
