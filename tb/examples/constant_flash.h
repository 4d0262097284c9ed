// SPDX-License-Identifier: Apache-2.0
// A user's flash in place of one channel's bus and packages: every operation of every die takes the same time, from its
// last command cycle on (tWB is part of it). It keeps no contents: data out leaves the caller's spare areas as they are.
#pragma once

#include <systemc>
#include <tlm_utils/simple_target_socket.h>

#include "common/tlm/agenda.h"
#include "nand/onfi/onfi_payload.h"

namespace ssdtlm::examples {

class ConstantFlash : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<ConstantFlash> controller_target;

    ConstantFlash(sc_core::sc_module_name name, Agenda& agenda, Ps busy)
        : sc_module(name), controller_target("controller_target"), agenda_(agenda), busy_(busy) {
        controller_target.register_nb_transport_fw(this, &ConstantFlash::forward);
    }

private:
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
        const auto& onfi = *payload.get_extension<OnfiExtension>();
        // Data out ends with its last cycle; the other sequences when R/B# rises.
        const SimTime end = onfi.bus_end + (onfi.sequence == OnfiSequence::read_out ? Ps{} : busy_);
        agenda_.post<&ConstantFlash::respond>(end, this, reinterpret_cast<std::uintptr_t>(&payload));
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void respond(std::uint64_t payload) {
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        controller_target->nb_transport_bw(*reinterpret_cast<tlm::tlm_generic_payload*>(payload), phase, delay);
    }

    Agenda& agenda_;
    const Ps busy_;
};

}  // namespace ssdtlm::examples
