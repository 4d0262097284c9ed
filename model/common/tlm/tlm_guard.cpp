// SPDX-License-Identifier: Apache-2.0
#include "common/tlm/tlm_guard.h"

namespace ssdtlm {

void TlmGuard::post(tlm::tlm_generic_payload& payload, tlm::tlm_phase_enum phase, const sc_core::sc_time& delay) {
    Call& call = calls_.acquire();
    call = Call{&payload, phase};
    agenda_.post(agenda_.now() + to_sim_time(delay).time_since_epoch(),
                 Then::to<&TlmGuard::run>(this, Pool<Call>::handle_of(call).number()));
}

void TlmGuard::run(std::uint64_t number) {
    Call* const found = calls_.find(Handle<Call>::of(number));
    if (found == nullptr) return;  // restart() has dropped the call
    const Call call = *found;
    calls_.release(*found);
    takes_effect(*call.payload, call.phase);
}

void TlmGuard::check_held(const std::string& where, const char* what, std::size_t held, bool open) {
    if (held != 0 && !open)
        throw CheckFailed(where + ": " + std::to_string(held) + " " + what + "s are held back, and no " + what +
                          " is open whose end would send them");
}

}  // namespace ssdtlm
