// SPDX-License-Identifier: Apache-2.0
// The NVMe controller as a SystemC module: BAR0 behind a TLM-2.0 socket, everything else in NvmeController.
#pragma once

#include <systemc>

#include <tlm>

#include "controller/nvme/controller.h"

namespace ssdtlm {

class NvmeFrontEnd : public sc_core::sc_module, public NvmeController, private tlm::tlm_fw_transport_if<> {
public:
    /// BAR0: the payload's address is the offset from the start of the BAR, length 4 or 8. An access takes no time
    /// and is completed in the call (TLM_COMPLETED, response OK), by nb_transport_fw and by b_transport alike.
    tlm::tlm_target_socket<> mmio_target;

    NvmeFrontEnd(const sc_core::sc_module_name& name, Agenda& agenda, DmaPort& dma, CommandTracker& tracker,
                 const NvmeConfig& config, const NvmeDevice& device);

    using NvmeController::dump;
    void dump(std::ostream& out) const override { out << NvmeController::dump(); }

private:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    void access(tlm::tlm_generic_payload& payload);
};

}  // namespace ssdtlm
