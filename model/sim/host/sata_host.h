// SPDX-License-Identifier: Apache-2.0
// A host with a Serial ATA drive: the host's half, a host bus adapter behind its PCIe link, and the link to the drive.
//
//   Workload -> AhciDriver -mmio_initiator->  PcieLink  -> AhciHba -- SataLink -- the drive's front end
//                   |                                        |
//               HostMemory <- RootComplex <-  PcieLink  <-dma_initiator
#pragma once

#include <systemc>

#include "host_pcie/driver/host_memory.h"
#include "host_pcie/driver/integrity_oracle.h"
#include "host_pcie/driver/root_complex.h"
#include "host_sata/ahci/ahci_hba.h"
#include "host_sata/driver/ahci_driver.h"
#include "host_sata/link/sata_link.h"

namespace ssdtlm {

struct SataHostConfig {
    AhciDriverConfig driver;
    AhciConfig adapter;
};

class SataHost : public sc_core::sc_module {
public:
    /// `stages`, `oracle` and `observer` may be null, see IoPath. All arguments must outlive the host.
    SataHost(sc_core::sc_module_name name, Agenda& agenda, const HostConfig& host, const SataHostConfig& sata,
             const SataLinkConfig& link, Workload& workload, CommandTracker* stages, IntegrityOracle* oracle,
             CompletionObserver* observer);

    /// Configuration of the I/O path. The latency of interrupts is in the driver's own handler.
    const HostConfig config;
    HostMemory memory;
    AhciDriver driver;
    RootComplex root_complex;
    AhciHba adapter;
    SataLink sata_link;
};

}  // namespace ssdtlm
