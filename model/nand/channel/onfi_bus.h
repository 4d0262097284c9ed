// SPDX-License-Identifier: Apache-2.0
// The wires of one channel: forwards each sequence to the package whose chip enable is low and the answers back, and
// checks that two sequences never overlap and that tRHW lies between a data-out burst and the next command. It does
// not arbitrate and takes no time: the channel controller owns the bus and stamps each sequence's begin and end.
#pragma once

#include <cstdint>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "nand/onfi/nand_config.h"
#include "nand/onfi/onfi_payload.h"

namespace ssdtlm {

class OnfiBus : public sc_core::sc_module {
public:
    OnfiBus(sc_core::sc_module_name name, const NandConfig& config);

    tlm_utils::simple_target_socket<OnfiBus> controller_target;
    /// One per way (chip enable).
    sc_core::sc_vector<tlm_utils::simple_initiator_socket<OnfiBus>> package_initiator;

private:
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);

    std::vector<std::uint8_t> way_of_;  // by die in channel
    const Ps turnaround_;
    SimTime free_at_{};
};

}  // namespace ssdtlm
