// SPDX-License-Identifier: Apache-2.0
// Loosely-timed modules of a user (b_transport) at the model's sockets (base protocol, time in the agenda). Both
// adapters carry address, command, data, byte enables and response status; extensions stay on their side. DMI and
// debug transport are not offered.
#pragma once

#include <deque>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "common/containers/pool.h"
#include "common/tlm/agenda.h"
#include "common/tlm/payload_pool.h"

namespace ssdtlm {

/// An LT target behind one of the model's initiator sockets, for instance a memory in place of the root complex:
///   dma.pcie_initiator.bind(adapter.model_target);  adapter.lt_initiator.bind(memory.socket);
///
/// b_transport() is called when the request comes; the response follows after the delay that it annotated. It must not
/// wait(): it runs inside the model's one SC_METHOD, and SystemC would end the simulation with an error. Requests
/// overlap freely; a target with a queue annotates its own. Works in run-ahead and in lockstep.
class LtTargetAdapter : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<LtTargetAdapter> model_target;
    tlm_utils::simple_initiator_socket<LtTargetAdapter> lt_initiator;

    LtTargetAdapter(sc_core::sc_module_name name, Agenda& agenda);

private:
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void respond_at(SimTime at, tlm::tlm_generic_payload& payload);
    void respond(std::uint64_t response);

    Agenda& agenda_;
    struct Response {
        tlm::tlm_generic_payload* payload = nullptr;
    };
    Pool<Response> responses_;  // to come at their times
    std::deque<tlm::tlm_generic_payload*> held_back_;  // while a response is open
    bool response_open_ = false;
};

/// An LT initiator (an SC_THREAD that calls b_transport) at one of the model's target sockets, for instance a user's
/// CPU at the link's MMIO socket:
///   cpu.socket.bind(adapter.lt_target);  adapter.model_initiator.bind(link.host_target);
///
/// b_transport() returns when the response is there, with delay 0; a delay that comes with the call is waited for
/// first. Several threads may call at once. Their processes must see each response when it happens; AgendaProcess finds
/// them and keeps step. A thread that it could not see (spawned by an entry of an agenda that runs ahead) is a UserError.
class LtInitiatorAdapter : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<LtInitiatorAdapter> lt_target;
    tlm_utils::simple_initiator_socket<LtInitiatorAdapter> model_initiator;

    LtInitiatorAdapter(sc_core::sc_module_name name, Agenda& agenda);

private:
    /// One call of b_transport. The extension is sticky, so its event is created once per payload of the pool.
    struct Call : tlm::tlm_extension<Call> {
        sc_core::sc_event answered_event;
        sc_core::sc_time response_at;
        bool answered = false;

        // Nobody may copy a call that is under way.
        tlm::tlm_extension_base* clone() const override { return nullptr; }
        void copy_from(const tlm::tlm_extension_base&) override {}
    };
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void end_request();
    void require_lockstep() const;

    Agenda& agenda_;
    PayloadPool<Call> payloads_;
    const tlm::tlm_generic_payload* requesting_ = nullptr;  // its request has not ended (base protocol exclusion)
    sc_core::sc_event request_ended_;
};

}  // namespace ssdtlm
