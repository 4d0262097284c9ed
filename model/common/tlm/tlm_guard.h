// SPDX-License-Identifier: Apache-2.0
// Guards stand at the model's sockets. The module that is bound outside may use all that the base protocol allows:
// processes and times of its own, annotated delays, and answers in any form. The module inside knows only the short
// form of the protocol. It is called in an entry of the agenda, or with the agenda in step. Its BEGIN_REQ has no delay,
// and the answer is TLM_COMPLETED or END_REQ at once. The answer to BEGIN_RESP is TLM_COMPLETED. Two modules of one
// agenda call each other directly, past their guards, so guards cost nothing in most runs.
#pragma once

#include <deque>
#include <string>
#include <systemc>
#include <tlm>

#include "common/containers/pool.h"
#include "common/report/error.h"
#include "common/tlm/agenda.h"
#include "common/tlm/sc_time_bridge.h"

namespace ssdtlm {

/// The base of both guards. A call with an annotated delay takes effect at its time, in an entry of the agenda. Calls
/// of equal time take effect in the order in which they were made.
class TlmGuard {
public:
    TlmGuard(const TlmGuard&) = delete;
    TlmGuard& operator=(const TlmGuard&) = delete;

    const Agenda& agenda() const { return agenda_; }

protected:
    explicit TlmGuard(Agenda& agenda) : agenda_(agenda) {}
    ~TlmGuard() = default;

    bool comes_later(const sc_core::sc_time& delay) const { return delay.value() != 0 || calls_.in_use() != 0; }
    void post(tlm::tlm_generic_payload& payload, tlm::tlm_phase_enum phase, const sc_core::sc_time& delay);
    std::size_t calls() const { return calls_.in_use(); }
    void forget_calls() { calls_.release_all(); }
    /// Throws CheckFailed if calls wait for the end of a phase that is not open, because it will never end.
    static void check_held(const std::string& where, const char* what, std::size_t held, bool open);

    Agenda& agenda_;

private:
    virtual void takes_effect(tlm::tlm_generic_payload& payload, tlm::tlm_phase_enum phase) = 0;
    void run(std::uint64_t call);

    struct Call {
        tlm::tlm_generic_payload* payload = nullptr;
        tlm::tlm_phase_enum phase = tlm::UNINITIALIZED_PHASE;
    };
    Pool<Call> calls_;  // calls that have not yet taken effect
};

template <class Types>
class InitiatorGuard;

/// A guard at a target socket. For the initiator outside it is the target. For the module it is the initiator, once
/// towards() has been called.
template <class Types = tlm::tlm_base_protocol_types>
class TargetGuard final : public TlmGuard,
                          public tlm::tlm_fw_transport_if<Types>,
                          public tlm::tlm_bw_transport_if<Types> {
public:
    using Forward = tlm::tlm_fw_transport_if<Types>;
    using Backward = tlm::tlm_bw_transport_if<Types>;

    /// `takes_delays`: a request with an annotated delay goes to the module at once. The module calls later() if it
    /// cannot use it.
    TargetGuard(Agenda& agenda, Forward& module, bool takes_delays = false)
        : TlmGuard(agenda), module_(module), takes_delays_(takes_delays) {}

    Forward& module() { return module_; }
    /// Brings the request to the module again when its delay has passed. Returns TLM_UPDATED with END_REQ for that
    /// time.
    tlm::tlm_sync_enum later(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
        post(payload, tlm::BEGIN_REQ, delay);
        phase = tlm::END_REQ;  // the delay stays, so that phase is at its time
        return tlm::TLM_UPDATED;
    }
    /// Returns the interface to which the module sends its responses. `bound`: the interface to which the socket is
    /// bound. It gets one response at a time.
    Backward* towards(Backward* bound);
    /// Forgets all transactions under way.
    void restart() {
        forget_calls();
        held_.clear();
        response_open_ = false;
    }
    std::size_t held() const { return held_.size(); }
    void check_waiters(const std::string& where) const { check_held(where, "response", held(), response_open_); }

    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override { return module_.transport_dbg(payload); }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
        return module_.get_direct_mem_ptr(payload, dmi);
    }
    /// Called by the module.
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
        outside_->invalidate_direct_mem_ptr(first, last);
    }

private:
    void takes_effect(tlm::tlm_generic_payload& payload, tlm::tlm_phase_enum phase) override;
    void response_ended() {
        response_open_ = false;
        send();
    }
    void send();

    Forward& module_;
    const bool takes_delays_;
    Backward* outside_ = nullptr;
    std::deque<tlm::tlm_generic_payload*> held_;  // responses that wait for the open one
    bool response_open_ = false;                  // a response was sent, and its END_RESP has not come
    bool sending_ = false;
};

/// A guard at an initiator socket. For the target outside it is the initiator. For the module it is the target, once
/// towards() has been called.
template <class Types = tlm::tlm_base_protocol_types>
class InitiatorGuard final : public TlmGuard,
                             public tlm::tlm_bw_transport_if<Types>,
                             public tlm::tlm_fw_transport_if<Types> {
public:
    using Forward = tlm::tlm_fw_transport_if<Types>;
    using Backward = tlm::tlm_bw_transport_if<Types>;

    InitiatorGuard(Agenda& agenda, Backward& module) : TlmGuard(agenda), module_(module) {}

    Backward& module() { return module_; }
    /// Returns the interface to which the module sends its requests. `bound`: the interface to which the socket is
    /// bound. It gets one request at a time.
    Forward* towards(Forward* bound);
    /// Forgets all transactions under way.
    void restart() {
        forget_calls();
        held_.clear();
        request_ = nullptr;
    }
    std::size_t held() const { return held_.size(); }
    void check_waiters(const std::string& where) const { check_held(where, "request", held(), request_ != nullptr); }

    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
        module_.invalidate_direct_mem_ptr(first, last);
    }
    /// Called by the module.
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
        outside_->b_transport(payload, delay);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override { return outside_->transport_dbg(payload); }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
        return outside_->get_direct_mem_ptr(payload, dmi);
    }

private:
    void takes_effect(tlm::tlm_generic_payload& payload, tlm::tlm_phase_enum phase) override {
        arrives(payload, phase);
    }
    struct Request {
        tlm::tlm_generic_payload* payload;
        SimTime at;  // when it takes effect
    };
    tlm::tlm_sync_enum arrives(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase);
    bool forward(tlm::tlm_generic_payload& payload, SimTime at);
    void send_held();

    Backward& module_;
    Forward* outside_ = nullptr;
    tlm::tlm_generic_payload* request_ = nullptr;  // the request whose END_REQ has not come
    std::deque<Request> held_;
};

/// Returns the module behind `bound` if `bound` is a guard on the same agenda, and if the agenda allows direct calls.
/// Else it returns `bound`.
template <class Types>
tlm::tlm_fw_transport_if<Types>* straight(tlm::tlm_fw_transport_if<Types>* bound, const Agenda& agenda) {
    auto* const guard = dynamic_cast<TargetGuard<Types>*>(bound);
    return guard != nullptr && &guard->agenda() == &agenda && agenda.calls_straight() ? &guard->module() : bound;
}
template <class Types>
tlm::tlm_bw_transport_if<Types>* straight(tlm::tlm_bw_transport_if<Types>* bound, const Agenda& agenda) {
    auto* const guard = dynamic_cast<InitiatorGuard<Types>*>(bound);
    return guard != nullptr && &guard->agenda() == &agenda && agenda.calls_straight() ? &guard->module() : bound;
}

// ---------------------------------------------------------------------------------------------------------------

template <class Types>
auto TargetGuard<Types>::towards(Backward* bound) -> Backward* {
    outside_ = bound;
    Backward* const module = straight<Types>(bound, agenda_);
    return module != bound ? module : this;
}

template <class Types>
tlm::tlm_sync_enum TargetGuard<Types>::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                       sc_core::sc_time& delay) {
    agenda_.in_step();
    const bool ends_response = phase == tlm::END_RESP && response_open_;
    if (!comes_later(delay)) {
        if (!ends_response) return module_.nb_transport_fw(payload, phase, delay);
        response_ended();
        return tlm::TLM_COMPLETED;
    }
    SSDTLM_CHECK(ends_response || phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    if (!ends_response)
        return takes_delays_ && calls() == 0 ? module_.nb_transport_fw(payload, phase, delay)
                                             : later(payload, phase, delay);
    post(payload, tlm::END_RESP, delay);
    return tlm::TLM_COMPLETED;
}

template <class Types>
void TargetGuard<Types>::takes_effect(tlm::tlm_generic_payload& payload, tlm::tlm_phase_enum phase) {
    if (phase == tlm::END_RESP) return response_ended();
    tlm::tlm_phase begin = tlm::BEGIN_REQ;
    sc_core::sc_time none;
    if (module_.nb_transport_fw(payload, begin, none) != tlm::TLM_COMPLETED) return;
    tlm::tlm_phase response = tlm::BEGIN_RESP;
    nb_transport_bw(payload, response, none);
}

template <class Types>
void TargetGuard<Types>::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (delay.value() != 0) sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    agenda_.in_step();
    module_.b_transport(payload, delay);
}

template <class Types>
tlm::tlm_sync_enum TargetGuard<Types>::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                                       sc_core::sc_time&) {
    held_.push_back(&payload);
    send();
    return tlm::TLM_COMPLETED;
}

template <class Types>
void TargetGuard<Types>::send() {
    if (sending_) return;  // an outer call runs the loop and goes on
    sending_ = true;
    while (!response_open_ && !held_.empty()) {
        tlm::tlm_generic_payload& payload = *held_.front();
        held_.pop_front();
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay;
        response_open_ = true;
        const tlm::tlm_sync_enum status = outside_->nb_transport_bw(payload, phase, delay);
        if (status == tlm::TLM_ACCEPTED || (status == tlm::TLM_UPDATED && phase != tlm::END_RESP)) continue;
        if (delay.value() == 0)
            response_open_ = false;
        else
            post(payload, tlm::END_RESP, delay);
    }
    sending_ = false;
}

template <class Types>
auto InitiatorGuard<Types>::towards(Forward* bound) -> Forward* {
    outside_ = bound;
    Forward* const module = straight<Types>(bound, agenda_);
    return module != bound ? module : this;
}

template <class Types>
tlm::tlm_sync_enum InitiatorGuard<Types>::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                          sc_core::sc_time& delay) {
    agenda_.in_step();
    if (!comes_later(delay)) return arrives(payload, phase);
    const bool ends_request = phase == tlm::END_REQ;
    SSDTLM_CHECK(ends_request || phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    post(payload, ends_request ? tlm::END_REQ : tlm::BEGIN_RESP, delay);
    return ends_request ? tlm::TLM_ACCEPTED : tlm::TLM_COMPLETED;  // the delay stays, so that phase is at its time
}

template <class Types>
tlm::tlm_sync_enum InitiatorGuard<Types>::arrives(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) {
    const bool open = request_ == &payload;  // a response ends the request as well
    const bool ends_request = phase == tlm::END_REQ && outside_ != nullptr;
    sc_core::sc_time none;
    const tlm::tlm_sync_enum status = ends_request ? tlm::TLM_ACCEPTED : module_.nb_transport_bw(payload, phase, none);
    if (open) {
        request_ = nullptr;
        send_held();
    }
    return status;
}

template <class Types>
tlm::tlm_sync_enum InitiatorGuard<Types>::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                          sc_core::sc_time& delay) {
    const SimTime at = agenda_.now() + to_sim_time(delay).time_since_epoch();
    delay = sc_core::SC_ZERO_TIME;
    phase = tlm::END_REQ;
    if (request_ != nullptr) {
        held_.push_back({&payload, at});
        return tlm::TLM_UPDATED;
    }
    const bool answered = forward(payload, at);
    send_held();  // sends requests that came within that call
    return answered ? tlm::TLM_COMPLETED : tlm::TLM_UPDATED;
}

/// Sends a request. Returns true if it is answered. Else the response comes, or has come, by nb_transport_bw().
template <class Types>
bool InitiatorGuard<Types>::forward(tlm::tlm_generic_payload& payload, SimTime at) {
    request_ = &payload;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    const SimTime now = agenda_.now();
    sc_core::sc_time delay = at > now ? to_sc_time(at - now) : sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum status = outside_->nb_transport_fw(payload, phase, delay);
    if (status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) {
        if (status == tlm::TLM_UPDATED) {
            tlm::tlm_phase end = tlm::END_RESP;
            sc_core::sc_time then = delay;
            outside_->nb_transport_fw(payload, end, then);
        }
        request_ = nullptr;
        if (delay.value() == 0) return true;
        post(payload, tlm::BEGIN_RESP, delay);
    } else if (status == tlm::TLM_UPDATED && request_ == &payload) {
        if (delay.value() == 0)
            request_ = nullptr;
        else
            post(payload, tlm::END_REQ, delay);
    }
    return false;
}

template <class Types>
void InitiatorGuard<Types>::send_held() {
    while (request_ == nullptr && !held_.empty()) {
        const Request next = held_.front();
        held_.pop_front();
        if (!forward(*next.payload, next.at)) continue;
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time none;
        module_.nb_transport_bw(*next.payload, phase, none);
    }
}

}  // namespace ssdtlm
