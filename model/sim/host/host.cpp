// SPDX-License-Identifier: Apache-2.0
#include "sim/host/host.h"

namespace ssdtlm {

Host::Host(sc_core::sc_module_name name, Agenda& agenda, const HostConfig& c, Workload& workload,
           CommandTracker* stages, IntegrityOracle* oracle, CompletionObserver* observer)
    : sc_module(name),
      mmio_initiator("mmio_initiator"),
      dma_target("dma_target"),
      config(c),
      driver("driver", agenda, memory, config, workload, stages, oracle, observer),
      root_complex("root_complex", agenda, memory, &driver) {
    driver.mmio_initiator.bind(mmio_initiator);
    dma_target.bind(root_complex.link_target);
}

}  // namespace ssdtlm
