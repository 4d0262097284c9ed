// SPDX-License-Identifier: Apache-2.0
// Base classes for modules that use only the short AT form of the base protocol. They answer all other calls of the
// transport interfaces. So a module can implement the interfaces itself, and be bound to its own sockets without an
// adapter. `Types`: the protocol traits of the sockets, with the payload of the base protocol.
#pragma once

#include <tlm>

namespace ssdtlm {

/// A target. It refuses b_transport, because its time passes in the agenda. It has no debug access and no direct
/// memory.
template <class Types>
class AtTarget : public tlm::tlm_fw_transport_if<Types> {
public:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) override {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
};

/// An initiator. It has no direct memory, so it ignores an invalidation.
template <class Types>
class AtInitiator : public tlm::tlm_bw_transport_if<Types> {
public:
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

}  // namespace ssdtlm
