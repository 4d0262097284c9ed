// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/nvme_driver.h"

#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

NvmeDriver::NvmeDriver(sc_core::sc_module_name name, Agenda& agenda, HostMemory& memory, const HostConfig& config,
                       Workload& workload, CommandTracker* device, IntegrityOracle* oracle,
                       CompletionObserver* observer)
    : sc_module(name),
      HostDriver(agenda, config, workload, *this, queues_, device, oracle, observer),
      mmio_initiator("mmio_initiator"),
      agenda_(agenda),
      mmio_(agenda, mmio_initiator),
      memory_(memory),
      config_(config),
      bring_up_(agenda, memory, config, plan(), mmio_),
      queues_(memory, config, mmio_) {}

void NvmeDriver::start(std::function<void()> done) {
    bring_up_.start([this, done = std::move(done)] {
        for (const DriveNamespace& n : bring_up_.info().namespaces)
            if (n.metadata_bytes != 0) throw CheckFailed("the driver has no buffers for blocks with metadata");
        if (queues_.count() == 0) {
            queues_.take(bring_up_.info(), bring_up_.take_queues());
            if (config_.completion == CompletionBy::poll)
                memory_.watch(queues_.completions_begin(), queues_.completions_end(), *this);
        }
        done();
    });
}

void NvmeDriver::power_lost() {
    bring_up_.power_lost();
    mmio_.restart();
}

void NvmeDriver::interrupt(std::uint64_t address, std::uint32_t data) {
    const auto vector = static_cast<std::uint16_t>(data);
    SSDTLM_CHECK(data <= 0xFFFF && address == msi_address(vector), "MSI-X message that the driver never programmed");
    if (vector != 0) return interrupted(vector);
    agenda_.post(agenda_.now() + config_.interrupt_latency, Then::to<&NvmeDriver::admin_handler>(this));
}

}  // namespace ssdtlm
