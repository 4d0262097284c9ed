// SPDX-License-Identifier: Apache-2.0
// The answers of a module that speaks only the short AT form to the rest of the base protocol. So it can implement the
// transport interfaces itself and be bound to its own sockets without an adapter. `Types`: the sockets' protocol
// traits, with the payload of the base protocol.
#pragma once

#include <tlm>

namespace ssdtlm {

/// A target. It refuses b_transport (its time passes in the agenda), and has no debug access and no direct memory.
template <class Types>
class AtTarget : public tlm::tlm_fw_transport_if<Types> {
public:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) override {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
};

/// An initiator. It has no direct memory to give up.
template <class Types>
class AtInitiator : public tlm::tlm_bw_transport_if<Types> {
public:
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

}  // namespace ssdtlm
