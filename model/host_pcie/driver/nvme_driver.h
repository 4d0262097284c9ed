// SPDX-License-Identifier: Apache-2.0
// The host's NVMe driver as a SystemC module: one socket for register accesses, one entry for MSI-X messages, and
// inside it the kernel-free BringUp (controller on and off) and NvmeQueues (commands), below HostDriver. Models the
// driver's protocol and its CPU cost; no operating system around it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>

#include "common/tlm/doors.h"
#include "common/tlm/pooled_payload.h"
#include "host_pcie/driver/bring_up.h"
#include "host_pcie/driver/host_driver.h"
#include "host_pcie/driver/nvme_queues.h"
#include "host_pcie/ports/interrupt_sink.h"

namespace ssdtlm {

class NvmeDriver : public sc_core::sc_module,
                   public HostDriver,
                   public InterruptSink,
                   private DriveControl,
                   private MmioPort,
                   private MemoryWatcher,
                   private tlm::tlm_bw_transport_if<> {
public:
    /// Register accesses: 4 bytes, little-endian, address = offset in BAR0. Short AT base protocol.
    tlm::tlm_initiator_socket<> mmio_initiator;

    /// `device`, `oracle` and `observer` may be null, see IoPath. All that is given must outlive the driver.
    NvmeDriver(sc_core::sc_module_name name, Agenda& agenda, HostMemory& memory, const HostConfig& config,
               Workload& workload, CommandTracker* device, IntegrityOracle* oracle, CompletionObserver* observer);

    using HostDriver::shutdown;
    using HostDriver::start;
    const ControllerInfo& controller() const { return bring_up_.info(); }
    /// State for the watchdog.
    std::string dump() const { return state(); }
    void dump(std::ostream& out) const override { out << dump(); }
    void interrupt(std::uint64_t address, std::uint32_t data) override;

private:
    /// One register access with its data. Only the address differs from one store to the next, so the other attributes
    /// that neither interconnect nor target may change are set when the payload is made.
    struct Access : tlm::tlm_generic_payload {
        explicit Access(tlm::tlm_command command) {
            set_up(*this, command, 0, reinterpret_cast<unsigned char*>(&value), sizeof value);
        }
        void aim(std::uint32_t offset) {
            set_address(offset);
            set_dmi_allowed(false);
            set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        }
        std::uint32_t value = 0;
    };
    struct Store : Access {
        Store() : Access(tlm::TLM_WRITE_COMMAND) {}
    };
    struct Load : Access {
        Load() : Access(tlm::TLM_READ_COMMAND) {}
        MmioClient* client = nullptr;
    };

    void start(std::function<void()> done) override;
    void shutdown(std::function<void()> done) override { bring_up_.shutdown(std::move(done)); }
    void stop(std::function<void()> done) override { bring_up_.stop(std::move(done)); }
    void reset(bool shutdown_first, std::function<void()> stopped, std::function<void()> done) override {
        bring_up_.reset(shutdown_first, std::move(stopped), std::move(done));
    }
    void power_lost() override;
    const DriveInfo& info() const override { return bring_up_.info(); }
    const char* doing() const override { return bring_up_.doing(); }
    void check_accesses() const override { door_.check_waiters("host, register accesses"); }
    void write32(std::uint32_t offset, std::uint32_t value) override;
    void read32(std::uint32_t offset, MmioClient& client) override;
    bool send(tlm::tlm_generic_payload& access);
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}  // has none
    void end_of_elaboration() override { registers_ = door_.towards(mmio_initiator.operator->()); }
    void store_done(Store& store);
    void load_done(Load& load);
    void load_done_at_once(std::uint64_t load);
    void written(std::uint64_t address) override { interrupted(queues_.completing(address)); }
    void admin_handler(std::uint64_t) { bring_up_.admin_interrupt(); }

    Agenda& agenda_;
    InitiatorDoor<> door_;
    tlm::tlm_fw_transport_if<>* registers_ = nullptr;  // behind the socket
    HostMemory& memory_;
    const HostConfig& config_;
    PooledPayloads<Store> stores_;
    PooledPayloads<Load> loads_;
    BringUp bring_up_;
    NvmeQueues queues_;
};

}  // namespace ssdtlm
