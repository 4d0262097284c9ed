// SPDX-License-Identifier: Apache-2.0
// The wires of one channel. It forwards each sequence to the package whose chip enable is low, and forwards the answers
// back. It checks that sequences never overlap, and that tRHW lies between a data-out burst and the next command. It
// does not arbitrate and takes no time. The channel controller owns the bus, and sets the begin and end of each
// sequence.
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/tlm/at_interfaces.h"
#include "nand/onfi/nand_config.h"
#include "nand/onfi/onfi_payload.h"

namespace ssdtlm {

class OnfiBus : public sc_core::sc_module, private AtTarget<OnfiProtocol>, private AtInitiator<OnfiProtocol> {
public:
    OnfiBus(sc_core::sc_module_name name, const NandConfig& config);

    OnfiTargetSocket controller_target;
    /// Holds one socket for each way (chip enable).
    sc_core::sc_vector<OnfiInitiatorSocket> package_initiator;

    /// The power was lost, so the wires are idle.
    void restart() { free_at_ = SimTime{}; }

private:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void end_of_elaboration() override;
    tlm::tlm_sync_enum forward(OnfiExtension* onfi, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                               sc_core::sc_time& delay);
    tlm::tlm_sync_enum forward_any(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    [[noreturn]] void refuse(const OnfiExtension* onfi, unsigned phase) const;

    const Ps turnaround_;
    SimTime free_at_{};
    const std::uint32_t dies_;
    const std::uint32_t dies_per_package_;
    std::vector<tlm::tlm_fw_nonblocking_transport_if<>*> package_of_;  // by die in channel; behind the sockets
    tlm::tlm_bw_nonblocking_transport_if<>* controller_ = nullptr;
};

}  // namespace ssdtlm
