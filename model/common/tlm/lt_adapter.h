// SPDX-License-Identifier: Apache-2.0
// Loosely-timed modules of a user (b_transport) at the model's sockets (base protocol, time in the agenda). Both
// adapters carry address, command, data, byte enables and response status; extensions reach a target, and stay on the side
// of an initiator. DMI and debug transport are not offered.
#pragma once

#include <deque>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "common/containers/pool.h"
#include "common/report/error.h"
#include "common/tlm/agenda.h"
#include "common/tlm/payload_pool.h"
#include "common/tlm/sc_time_bridge.h"

namespace ssdtlm {

/// An LT target behind one of the model's initiator sockets, for instance a memory in place of the root complex:
///   dma.pcie_initiator.bind(adapter.model_target);  adapter.lt_initiator.bind(memory.socket);
///
/// b_transport() is called when the request comes; the response follows after the delay that it annotated. It must not
/// wait(): it runs inside the model's one SC_METHOD, and SystemC would end the simulation with an error. Requests
/// overlap freely; a target with a queue annotates its own. Works in run-ahead and in lockstep. The target sees the
/// payload itself, extensions included.
///
/// `Types`: the protocol traits of both sockets. BasicLtTargetAdapter<OnfiProtocol> stands before a loosely-timed flash.
template <class Types>
class BasicLtTargetAdapter : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<BasicLtTargetAdapter, 32, Types> model_target;
    tlm_utils::simple_initiator_socket<BasicLtTargetAdapter, 32, Types> lt_initiator;

    BasicLtTargetAdapter(sc_core::sc_module_name name, Agenda& agenda);

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
/// Of the base protocol: behind PCIe sockets.
using LtTargetAdapter = BasicLtTargetAdapter<tlm::tlm_base_protocol_types>;

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

template <class Types>
BasicLtTargetAdapter<Types>::BasicLtTargetAdapter(sc_core::sc_module_name name, Agenda& agenda)
    : sc_module(name), model_target("model_target"), lt_initiator("lt_initiator"), agenda_(agenda) {
    model_target.register_nb_transport_fw(this, &BasicLtTargetAdapter::forward);
}

template <class Types>
tlm::tlm_sync_enum BasicLtTargetAdapter<Types>::forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                        sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) {  // an initiator that uses the long form
        response_open_ = false;
        if (!held_back_.empty()) {
            tlm::tlm_generic_payload* next = held_back_.front();
            held_back_.pop_front();
            respond_at(agenda_.now(), *next);
        }
        return tlm::TLM_COMPLETED;
    }
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    if (payload.has_mm()) payload.acquire();
    sc_core::sc_time until = delay;
    lt_initiator->b_transport(payload, until);
    const SimTime at = agenda_.now() + to_sim_time(until).time_since_epoch();
    respond_at(at, payload);
    phase = tlm::END_REQ;
    delay = sc_core::SC_ZERO_TIME;
    return tlm::TLM_UPDATED;
}

template <class Types>
void BasicLtTargetAdapter<Types>::respond_at(SimTime at, tlm::tlm_generic_payload& payload) {
    Response& response = responses_.acquire();
    response.payload = &payload;
    agenda_.post<&BasicLtTargetAdapter::respond>(at, this, Pool<Response>::handle_of(response).number());
}

template <class Types>
void BasicLtTargetAdapter<Types>::respond(std::uint64_t number) {
    Response& response = responses_.at(number);
    tlm::tlm_generic_payload* const payload = response.payload;
    responses_.release(response);
    if (response_open_) {
        held_back_.push_back(payload);
        return;
    }
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const bool managed = payload->has_mm();  // without a memory manager it may be gone when the call returns
    const auto status = model_target->nb_transport_bw(*payload, phase, delay);
    response_open_ = !(status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::END_RESP));
    if (managed) payload->release();
}

extern template class BasicLtTargetAdapter<tlm::tlm_base_protocol_types>;

}  // namespace ssdtlm
