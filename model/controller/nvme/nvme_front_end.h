// SPDX-License-Identifier: Apache-2.0
// The NVMe controller as a SystemC module: BAR0 behind a TLM-2.0 socket, everything else in NvmeController.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>

#include "common/tlm/tlm_guard.h"
#include "controller/nvme/controller.h"
#include "controller/ports/drive_facts.h"

namespace ssdtlm {

class NvmeFrontEnd : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
public:
    /// BAR0. The payload's address is the offset from the start of the BAR, and its length is 4 or 8. An access takes
    /// no time and is completed in the call (TLM_COMPLETED, response OK), by nb_transport_fw and by b_transport alike.
    /// With an annotated delay the access is made at that time: BEGIN_RESP follows then, and b_transport waits.
    tlm::tlm_target_socket<> mmio_target;

    NvmeFrontEnd(const sc_core::sc_module_name& name, Agenda& agenda, DmaPort& dma, CommandTracker& tracker,
                 const NvmeConfig& config, const DriveFacts& device, bool signed_data = true);

    /// Carries out a loss of power. A new controller replaces this one and has to be bound again. The data of the SMART
    /// log survive; the loss counts as an unsafe shutdown unless a shutdown came before. `host_commands` is the number
    /// of I/O commands whose completion has reached the host. Precondition: the agenda holds no entry of the controller
    /// any more.
    void restart(std::uint64_t host_commands);
    /// The host has lost its power, and this side has not yet: what the host has sent is gone. The precondition of
    /// restart() applies.
    void host_is_gone() {
        door_.restart();
        controller_->host_is_gone();
    }

    // See NvmeController.
    void state(Snapshot& s) { controller_->state(s); }
    bool is_as_configured() const { return controller_->is_as_configured(); }
    void reset_function(std::function<void()> stopped) { controller_->reset_function(std::move(stopped)); }
    void bind(CommandSink& sink) { controller_->bind(sink); }
    CompletionSink& completions() { return controller_->completions(); }
    void bind_health(std::function<DeviceHealth()> health) { controller_->bind_health(std::move(health)); }
    void health_changed() { controller_->health_changed(); }
    void drive_is_starting() { controller_->drive_is_starting(); }
    void drive_is_up() { controller_->drive_is_up(); }
    std::uint8_t critical_warning() const { return controller_->critical_warning(); }
    const NvmeCounters& counters() const { return controller_->counters(); }
    const NvmeRegisters& registers() const { return controller_->registers(); }
    const QueueSet& queues() const { return controller_->queues(); }
    const SubmissionFetch& fetch() const { return controller_->fetch(); }
    std::uint32_t in_firmware() const { return controller_->in_firmware(); }
    std::string dump() const { return controller_->dump(); }
    void dump(std::ostream& out) const override { out << dump(); }
    void check_waiters() const {
        door_.check_waiters(name());
        controller_->check_waiters();
    }
    void check_books() const { controller_->check_books(); }

private:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    void end_of_elaboration() override { door_.towards(mmio_target.operator->()); }
    void access(tlm::tlm_generic_payload& payload);

    Agenda& agenda_;
    TargetGuard<> door_;
    DmaPort& dma_;
    CommandTracker& tracker_;
    const NvmeConfig config_;
    const DriveFacts device_;
    const bool signed_data_;
    std::optional<NvmeController> controller_;
};

}  // namespace ssdtlm
