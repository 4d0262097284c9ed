// SPDX-License-Identifier: Apache-2.0
#include "common/tlm/agenda_process.h"

#include "common/report/error.h"

namespace ssdtlm {

void check_kernel_resolution() {
    const auto resolution = sc_core::sc_get_time_resolution();
    if (resolution != sc_core::sc_time(1, sc_core::SC_PS))
        throw UserError(Problem{"SystemC kernel", "time resolution is " + resolution.to_string(), "1 ps",
                                "do not call sc_set_time_resolution(), or set it to 1 ps"});
}

AgendaProcess::AgendaProcess(sc_core::sc_module_name name, Agenda& agenda, bool lockstep)
    : sc_module(name), agenda_(agenda), lockstep_(lockstep), wake_event_("wake") {
    check_kernel_resolution();
    SC_HAS_PROCESS(AgendaProcess);
    SC_METHOD(drain);
    sensitive << wake_event_;
    agenda_.set_wake([](void* self, SimTime at) { static_cast<AgendaProcess*>(self)->wake(at); }, this);
}

void AgendaProcess::stop() {
    stopped_ = true;
    update_break();
    if (!draining_) sc_core::sc_stop();
}

void AgendaProcess::wake(SimTime at) {
    if (draining_ || at >= wake_at_) return;
    wake_at_ = at;
    wake_event_.notify(to_sc_time(at) - sc_core::sc_time_stamp());
}

/// With the hooks. False: nothing is left to run.
__attribute__((noinline)) bool AgendaProcess::run_watched(SimTime limit) {
    while (break_ && !stopped_) {
        if (!agenda_.run_one(limit)) return false;
        for (std::size_t i = 0; i < after_each_.size(); ++i) after_each_[i].call(after_each_[i].self);  // one may remove itself
    }
    return !stopped_;
}

void AgendaProcess::run_until(SimTime limit) {
    do {
        if (!break_) agenda_.set_run_limit(limit);
        while (!break_)
            if (!agenda_.run_one(limit)) return;
    } while (run_watched(limit));
}

void AgendaProcess::execute() {
    const SimTime kernel = to_sim_time(sc_core::sc_time_stamp());
    if (lockstep_) {
        run_until(kernel);
        return;
    }
    // Only this process runs until it returns, so the kernel's next activity stays where it is. An entry that notifies
    // an event of its own needs lockstep.
    const SimTime limit = sc_core::sc_pending_activity_at_future_time()
                              ? kernel + to_sim_time(sc_core::sc_time_to_pending_activity()).time_since_epoch()
                              : kNever;
    run_until(limit);
}

void AgendaProcess::drain() {
    draining_ = true;
    agenda_.set_wake(nullptr, nullptr);
    try {
        execute();
    } catch (...) {
        error_ = std::current_exception();
        stopped_ = true;
    }
    draining_ = false;
    agenda_.set_run_limit(Agenda::kNoClaims);
    agenda_.set_wake([](void* self, SimTime at) { static_cast<AgendaProcess*>(self)->wake(at); }, this);
    wake_at_ = kNever;
    if (stopped_)
        sc_core::sc_stop();
    else if (!agenda_.empty())
        wake(agenda_.next_time());
}

}  // namespace ssdtlm
