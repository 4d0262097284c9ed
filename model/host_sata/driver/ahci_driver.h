// SPDX-License-Identifier: Apache-2.0
// The host's driver of a Serial ATA drive behind an AHCI adapter, as a SystemC module. It has one socket for register
// accesses and one entry for messages. Inside are AhciControl (start, shutdown, errors) and AhciQueue (commands), below
// HostDriver, which need no kernel. The interrupt handler is that of Linux (ahci_single_level_irq_intr(),
// ahci_port_intr()): it reads IS and PxIS, acknowledges PxIS, reads PxSACT (or PxCI if no command is queued),
// acknowledges IS, and takes the commands that have ended.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <systemc>
#include <tlm>
#include <utility>

#include "host_pcie/driver/host_driver.h"
#include "host_pcie/driver/mmio_initiator.h"
#include "host_pcie/ports/interrupt_sink.h"
#include "host_sata/driver/ahci_control.h"
#include "host_sata/driver/ahci_memory.h"
#include "host_sata/driver/ahci_queue.h"

namespace ssdtlm {

class AhciDriver : public sc_core::sc_module,
                   public HostDriver,
                   public InterruptSink,
                   private DriveControl,
                   private MmioClient {
public:
    /// Address of the adapter's messages: the x86 interrupt window, the first local APIC.
    static constexpr std::uint64_t kMessageAddress = 0xFEE00000;
    static constexpr std::uint32_t kMessageData = 0;

    /// Register accesses; see MmioInitiator.
    tlm::tlm_initiator_socket<> mmio_initiator;

    /// `host` configures the I/O path, with an interrupt_latency of 0: the handler of this driver has that latency.
    /// `device`, `oracle` and `observer` may be null, see IoPath. All arguments must outlive the driver.
    AhciDriver(sc_core::sc_module_name name, Agenda& agenda, HostMemory& memory, const HostConfig& host,
               Ps interrupt_latency, const AhciDriverConfig& config, Workload& workload, CommandTracker* device,
               IntegrityOracle* oracle, CompletionObserver* observer);

    using HostDriver::shutdown;
    using HostDriver::start;
    const AhciControl& control() const { return control_; }
    const AhciQueue& queue() const { return queue_; }
    void dump(std::ostream& out) const override { out << state(); }
    void interrupt(std::uint64_t address, std::uint32_t data) override;

private:
    enum class Step : std::uint8_t { global, port, active };

    void start(std::function<void()> done) override {
        control_.start([this, done = std::move(done)] {
            plan().deal_one();
            done();
        });
    }
    void shutdown(std::function<void()> done) override { control_.stop(std::move(done)); }
    void stop(std::function<void()> done) override { control_.stop(std::move(done)); }
    void reset(bool shutdown_first, std::function<void()> stopped, std::function<void()> done) override {
        control_.reset(shutdown_first, std::move(stopped), std::move(done));
    }
    void power_lost() override { control_.power_lost(); }
    const DriveInfo& info() const override { return control_.info(); }
    const char* doing() const override { return control_.doing(); }
    void check_accesses() const override { mmio_.check_waiters("host, register accesses"); }
    void end_of_elaboration() override { mmio_.bound(); }
    void handle();
    void read(Step step, std::uint32_t offset);
    void mmio_read_done(std::uint32_t value) override;

    Agenda& agenda_;
    MmioInitiator mmio_;
    const Ps interrupt_latency_;
    const AhciDriverConfig config_;
    AhciMemory commands_;
    AhciQueue queue_;
    AhciControl control_;

    bool handling_ = false;
    bool again_ = false;  // another message came meanwhile
    Step step_ = Step::global;
    std::uint32_t status_ = 0;       // IS
    std::uint32_t port_status_ = 0;  // PxIS
    std::uint32_t asked_ = 0;        // slots in the drive when the registers were read
};

}  // namespace ssdtlm
