// SPDX-License-Identifier: Apache-2.0
// Adapters that bind a user's loosely-timed modules (b_transport) to the model's sockets (base protocol, time in the
// agenda). Both adapters pass on address, command, data, byte enables and response status. Extensions reach a target,
// but those of an initiator are not passed on. There is neither DMI nor debug transport.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <systemc>
#include <tlm>

#include "common/containers/pool.h"
#include "common/report/error.h"
#include "common/tlm/agenda.h"
#include "common/tlm/at_interfaces.h"
#include "common/tlm/payload_pool.h"
#include "common/tlm/sc_time_bridge.h"
#include "common/tlm/tlm_guard.h"

namespace ssdtlm {

/// Binds an LT target to an initiator socket of the model, for instance a memory in place of the root complex:
///   dma.pcie_initiator.bind(adapter.model_target);  adapter.lt_initiator.bind(memory.socket);
///
/// The adapter calls b_transport() when a request comes, and responds after the delay that the target annotated. The
/// target must not call wait(): it runs in the model's one SC_METHOD, so SystemC would end the simulation with an
/// error. Requests may overlap; a target that serves one at a time must annotate the time in its queue. The adapter
/// works in run-ahead and in lockstep. The target gets the payload itself, with its extensions.
///
/// `Types`: the protocol traits of both sockets. BasicLtTargetAdapter<OnfiProtocol> is for a loosely-timed flash.
template <class Types>
class BasicLtTargetAdapter : public sc_core::sc_module, private AtTarget<Types> {
public:
    tlm::tlm_target_socket<32, Types> model_target;
    tlm_utils::simple_initiator_socket<BasicLtTargetAdapter, 32, Types> lt_initiator;

    BasicLtTargetAdapter(sc_core::sc_module_name name, Agenda& agenda);

private:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void respond(std::uint64_t response);
    void end_of_elaboration() override { initiator_ = door_.towards(model_target.operator->()); }

    Agenda& agenda_;
    TargetGuard<Types> door_;
    tlm::tlm_bw_transport_if<Types>* initiator_ = nullptr;  // what the socket is bound to
    struct Response {
        tlm::tlm_generic_payload* payload = nullptr;
    };
    Pool<Response> responses_;  // responses that are still to be sent
};
/// The adapter for the base protocol, behind PCIe sockets.
using LtTargetAdapter = BasicLtTargetAdapter<tlm::tlm_base_protocol_types>;

/// Binds an LT initiator (an SC_THREAD that calls b_transport) to a target socket of the model, for instance a user's
/// CPU to the link's MMIO socket:
///   cpu.socket.bind(adapter.lt_target);  adapter.model_initiator.bind(link.host_target);
///
/// b_transport() first waits for the delay that comes with the call. It returns with delay 0 when the response is
/// there. Several threads may call at once. Their processes must see each response at its time, so AgendaProcess finds
/// them and keeps step. A thread that it cannot find, because an entry spawned it while the agenda runs ahead, gets a
/// UserError.
class LtInitiatorAdapter : public sc_core::sc_module, private AtInitiator<tlm::tlm_base_protocol_types> {
public:
    tlm_utils::simple_target_socket<LtInitiatorAdapter> lt_target;
    tlm::tlm_initiator_socket<> model_initiator;

    LtInitiatorAdapter(sc_core::sc_module_name name, Agenda& agenda);

private:
    /// One call of b_transport. The extension stays with its payload, so the event is created once per payload of the
    /// pool.
    struct Call : tlm::tlm_extension<Call> {
        sc_core::sc_event answered_event;
        bool answered = false;

        // A call under way cannot be copied.
        tlm::tlm_extension_base* clone() const override { return nullptr; }
        void copy_from(const tlm::tlm_extension_base&) override {}
    };
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void require_lockstep() const;
    void end_of_elaboration() override { target_ = door_.towards(model_initiator.operator->()); }

    Agenda& agenda_;
    InitiatorGuard<> door_;
    tlm::tlm_fw_transport_if<>* target_ = nullptr;  // what the socket is bound to
    PayloadPool<Call> payloads_;
};

template <class Types>
BasicLtTargetAdapter<Types>::BasicLtTargetAdapter(sc_core::sc_module_name name, Agenda& agenda)
    : sc_module(name),
      model_target("model_target"),
      lt_initiator("lt_initiator"),
      agenda_(agenda),
      door_(agenda, *this) {
    model_target.bind(door_);
}

template <class Types>
tlm::tlm_sync_enum BasicLtTargetAdapter<Types>::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                                tlm::tlm_phase& phase, sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    if (payload.has_mm()) payload.acquire();
    sc_core::sc_time until = sc_core::SC_ZERO_TIME;
    lt_initiator->b_transport(payload, until);
    Response& response = responses_.acquire();
    response.payload = &payload;
    agenda_.post(agenda_.now() + to_sim_time(until).time_since_epoch(),
                 Then::to<&BasicLtTargetAdapter::respond>(this, Pool<Response>::handle_of(response).number()));
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

template <class Types>
void BasicLtTargetAdapter<Types>::respond(std::uint64_t number) {
    Response& response = responses_.at(number);
    tlm::tlm_generic_payload* const payload = response.payload;
    responses_.release(response);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const bool managed = payload->has_mm();  // without a memory manager the payload may be gone after the call
    initiator_->nb_transport_bw(*payload, phase, delay);
    if (managed) payload->release();
}

extern template class BasicLtTargetAdapter<tlm::tlm_base_protocol_types>;

}  // namespace ssdtlm
