// SPDX-License-Identifier: Apache-2.0
// The host's NVMe driver as a SystemC module. It has a socket for register accesses, and a function for MSI-X messages.
// It consists of BringUp (start and stop of the controller) and NvmeQueues (commands), below HostDriver; these are
// kernel-free. It models the protocol of the driver and its CPU cost, but no operating system.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>

#include "host_pcie/driver/bring_up.h"
#include "host_pcie/driver/host_driver.h"
#include "host_pcie/driver/mmio_initiator.h"
#include "host_pcie/driver/nvme_queues.h"
#include "host_pcie/ports/interrupt_sink.h"

namespace ssdtlm {

class NvmeDriver : public sc_core::sc_module,
                   public HostDriver,
                   public InterruptSink,
                   private DriveControl,
                   private MemoryWatcher {
public:
    /// Register accesses: 4 bytes, little-endian, address = offset in BAR0. The socket uses the short AT form of the
    /// base protocol.
    tlm::tlm_initiator_socket<> mmio_initiator;

    /// `device`, `oracle` and `observer` may be null, see IoPath. All arguments must outlive the driver.
    NvmeDriver(sc_core::sc_module_name name, Agenda& agenda, HostMemory& memory, const HostConfig& config,
               Workload& workload, CommandTracker* device, IntegrityOracle* oracle, CompletionObserver* observer);

    using HostDriver::shutdown;
    using HostDriver::start;
    const ControllerInfo& controller() const { return bring_up_.info(); }
    /// Text for the watchdog.
    std::string dump() const { return state(); }
    void dump(std::ostream& out) const override { out << dump(); }
    void interrupt(std::uint64_t address, std::uint32_t data) override;

private:
    void start(std::function<void()> done) override;
    void shutdown(std::function<void()> done) override { bring_up_.shutdown(std::move(done)); }
    void stop(std::function<void()> done) override { bring_up_.stop(std::move(done)); }
    void reset(bool shutdown_first, std::function<void()> stopped, std::function<void()> done) override {
        bring_up_.reset(shutdown_first, std::move(stopped), std::move(done));
    }
    void power_lost() override;
    const DriveInfo& info() const override { return bring_up_.info(); }
    const char* doing() const override { return bring_up_.doing(); }
    void check_accesses() const override { mmio_.check_waiters("host, register accesses"); }
    void end_of_elaboration() override { mmio_.bound(); }
    void written(std::uint64_t address) override { interrupted(queues_.completing(address)); }
    void admin_handler() { bring_up_.admin_interrupt(); }

    Agenda& agenda_;
    MmioInitiator mmio_;
    HostMemory& memory_;
    const HostConfig& config_;
    BringUp bring_up_;
    NvmeQueues queues_;
};

}  // namespace ssdtlm
