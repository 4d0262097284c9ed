// SPDX-License-Identifier: Apache-2.0
// The host's NVMe driver as a SystemC module: one socket for register accesses, one entry for MSI-X messages, and
// inside it the kernel-free BringUp (controller on and off) and IoPath (commands). Models the driver's protocol and
// its CPU cost; no operating system around it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <systemc>
#include <tlm>

#include "common/tlm/doors.h"
#include "common/tlm/pooled_payload.h"
#include "host_pcie/driver/bring_up.h"
#include "host_pcie/driver/io_path.h"
#include "host_pcie/ports/interrupt_sink.h"

namespace ssdtlm {

class NvmeDriver : public sc_core::sc_module,
                   public InterruptSink,
                   private MmioPort,
                   private tlm::tlm_bw_transport_if<> {
public:
    /// Register accesses: 4 bytes, little-endian, address = offset in BAR0. Short AT base protocol.
    tlm::tlm_initiator_socket<> mmio_initiator;

    /// `device`, `oracle` and `observer` may be null, see IoPath. All that is given must outlive the driver.
    NvmeDriver(sc_core::sc_module_name name, Agenda& agenda, HostMemory& memory, const HostConfig& config,
               Workload& workload, CommandTracker* device, IntegrityOracle* oracle, CompletionObserver* observer);

    /// Begins bring-up at the agenda's present time; I/O follows by itself. Call once, when sockets are bound.
    void start();
    /// Submits nothing more (Ctrl-C); on_finished follows when the device has answered everything.
    void stop_submitting();
    /// Shuts the controller down. Precondition: finished().
    void shutdown();

    /// Bring-up is done, no I/O yet; epoch() is valid.
    void set_on_ready(std::function<void()> f) { on_ready_ = std::move(f); }
    /// The workload is done (or stopped) and everything completed; the time counts from epoch(). When stopped during
    /// bring-up it follows right after on_ready.
    void set_on_finished(std::function<void(SimTime)> f) { io_.set_on_finished(std::move(f)); }
    /// A controller reset is about to begin, the controller has stopped, it has started again. For whoever watches.
    enum class ResetStep { begins, stopped, started };
    /// What the drive's power comes from: called with false when it goes, and with true when it is back. Until then the
    /// driver touches no register, and nothing of what it sent before may arrive.
    /// Asked to switch it on while the drive is not off yet, because capacitors supply it, the switch says false: drive_is_off() follows.
    void set_power_switch(std::function<bool(bool on)> f) { power_switch_ = std::move(f); }
    void drive_is_off() {
        if (std::exchange(power_waits_, false)) power_returns(0);
    }
    /// The power goes now, as for host.power_cut_at; nothing happens while it is off. Between two entries of the agenda.
    /// Commands in the device are cancelled and submitted again when the controller has started again.
    void cut_power();
    bool powered() const { return powered_; }
    /// Losses of power so far.
    std::uint64_t power_cuts() const { return power_cuts_; }
    void set_on_reset(std::function<void(ResetStep)> f) { on_reset_ = std::move(f); }
    void set_on_shutdown(std::function<void()> f) { on_shutdown_ = std::move(f); }

    /// Absolute time at which bring-up ended; the workload's time zero.
    SimTime epoch() const { return io_.epoch(); }
    bool ready() const { return io_.started(); }
    bool finished() const { return io_.finished(); }
    const ControllerInfo& controller() const { return bring_up_.info(); }
    /// Controller resets that have ended.
    std::uint64_t resets() const { return resets_; }
    const DriverCounters& counters() const { return io_.counters(); }
    std::uint64_t outstanding() const { return io_.outstanding(); }
    std::uint64_t backlog() const { return io_.backlog(); }
    /// See IoPath.
    std::optional<PendingCommand> oldest() const { return io_.oldest(); }
    IoPath::Times times_of(std::uint16_t qid, std::uint16_t cid) const { return io_.times_of(qid, cid); }
    bool waits_for_nothing() const { return io_.waits_for_nothing(); }
    /// First error status in words, empty when there was none; counters().errors counts them.
    const std::string& first_error() const { return io_.first_error(); }
    const IoPath& io() const { return io_; }
    /// State for the watchdog.
    std::string dump() const;
    void dump(std::ostream& out) const override { out << dump(); }
    /// Between two entries of the agenda: nobody waits for nothing. Throws CheckFailed.
    void check_waiters() const {
        door_.check_waiters("host, register accesses");
        io_.check_waiters();
    }

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
    void bring_up(std::uint64_t);
    void started();
    void schedule_reset();
    void schedule_power_cut();
    void power_goes(std::uint64_t);
    void power_goes_now(std::uint64_t) { cut_power(); }
    void serves();
    void power_returns(std::uint64_t);
    void begin_reset(std::uint64_t);
    void report_reset(ResetStep step) {
        if (on_reset_) on_reset_(step);
    }
    void admin_handler(std::uint64_t) { bring_up_.admin_interrupt(); }

    Agenda& agenda_;
    InitiatorDoor<> door_;
    tlm::tlm_fw_transport_if<>* registers_ = nullptr;  // behind the socket
    const HostConfig& config_;
    IntegrityOracle* const oracle_;
    PooledPayloads<Store> stores_;
    PooledPayloads<Load> loads_;
    QueuePlan plan_;
    BringUp bring_up_;
    IoPath io_;
    std::function<void()> on_ready_;
    std::function<void()> on_shutdown_;
    std::function<void(ResetStep)> on_reset_;
    std::vector<Ps> reset_at_;  // in order
    std::size_t resets_ = 0;
    Agenda::Entry next_reset_;
    bool resetting_ = false;
    std::function<bool(bool)> power_switch_;
    std::vector<Ps> power_cut_at_;  // in order
    std::size_t scheduled_cuts_ = 0;
    std::uint64_t power_cuts_ = 0;
    bool powered_ = true;
    bool power_waits_ = false;    // it has come back, and the drive is not off yet
    bool shutting_down_ = false;  // or shut down
    bool serving_ = false;        // the controller takes commands, and nobody stops it
    bool cut_waits_ = false;      // for that: it is to be shut down before
    Agenda::Entry next_cut_;
    Agenda::Entry start_;
};

}  // namespace ssdtlm
