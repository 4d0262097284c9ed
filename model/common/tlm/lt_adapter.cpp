// SPDX-License-Identifier: Apache-2.0
#include "common/tlm/lt_adapter.h"

#include "common/report/error.h"
#include "common/tlm/sc_time_bridge.h"

namespace ssdtlm {

template class BasicLtTargetAdapter<tlm::tlm_base_protocol_types>;

LtInitiatorAdapter::LtInitiatorAdapter(sc_core::sc_module_name name, Agenda& agenda)
    : sc_module(name),
      lt_target("lt_target"),
      model_initiator("model_initiator"),
      agenda_(agenda),
      door_(agenda, *this) {
    lt_target.register_b_transport(this, &LtInitiatorAdapter::transport);
    model_initiator.bind(door_);
}

void LtInitiatorAdapter::transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
    agenda_.in_step();

    Call* call = nullptr;
    tlm::tlm_generic_payload& p = payloads_.acquire(call);
    call->answered = false;
    p.set_command(payload.get_command());
    p.set_address(payload.get_address());
    p.set_data_ptr(payload.get_data_ptr());
    p.set_data_length(payload.get_data_length());
    p.set_streaming_width(payload.get_streaming_width());
    p.set_byte_enable_ptr(payload.get_byte_enable_ptr());
    p.set_byte_enable_length(payload.get_byte_enable_length());
    p.set_dmi_allowed(false);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);

    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time none = sc_core::SC_ZERO_TIME;
    if (target_->nb_transport_fw(p, phase, none) != tlm::TLM_COMPLETED)
        while (!call->answered) sc_core::wait(call->answered_event);
    payload.set_response_status(p.get_response_status());
    delay = sc_core::SC_ZERO_TIME;
    p.release();
}

tlm::tlm_sync_enum LtInitiatorAdapter::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                       sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    require_lockstep();
    Call& call = *payload.get_extension<Call>();
    call.answered = true;
    call.answered_event.notify();
    return tlm::TLM_COMPLETED;
}

/// Throws UserError if the agenda is ahead of the kernel, because the thread would then see a time that is too early.
void LtInitiatorAdapter::require_lockstep() const {
    if (agenda_.now() <= to_sim_time(sc_core::sc_time_stamp())) return;
    throw UserError(Problem{name(), "a b_transport initiator is connected while the agenda runs ahead of SystemC",
                            "run.agenda = \"lockstep\"", "add --set run.agenda=lockstep"});
}

}  // namespace ssdtlm
