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

namespace {

/// True: these objects, or objects below them, include a process other than `own` that has not ended.
bool other_process(const std::vector<sc_core::sc_object*>& objects, const sc_core::sc_process_handle& own) {
    for (sc_core::sc_object* object : objects) {
        const sc_core::sc_process_handle process(object);
        if (process.valid() && process != own && !process.terminated()) return true;
        if (other_process(object->get_child_objects(), own)) return true;
    }
    return false;
}

}  // namespace

AgendaProcess::AgendaProcess(sc_core::sc_module_name name, Agenda& agenda, bool lockstep)
    : sc_module(name), agenda_(agenda), lockstep_(lockstep), wake_event_("wake") {
    check_kernel_resolution();
    SC_HAS_PROCESS(AgendaProcess);
    SC_METHOD(drain);
    sensitive << wake_event_;
    agenda_.sleep_in(this);
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

SimTime AgendaProcess::time(SimTime agenda) {
    const SimTime now = to_sim_time(sc_core::sc_time_stamp());
    if (agenda > now && !stopped_) refuse_early(agenda);
    return now;
}

/// Throws UserError if a process calls the model while the agenda runs ahead. It was not there when the run began.
void AgendaProcess::refuse_early(SimTime agenda) const {
    const sc_core::sc_process_handle caller = sc_core::sc_get_current_process_handle();
    if (!caller.valid()) return;  // the call is between two sc_start(), after a run that was stopped
    throw UserError(Problem{caller.name(),
                            "calls at " + sc_core::sc_time_stamp().to_string() +
                                ", while the agenda runs ahead of SystemC, at " + to_sc_time(agenda).to_string(),
                            "run.agenda = \"lockstep\"",
                            "add --set run.agenda=lockstep, or construct AgendaProcess with lockstep"});
}

/// Runs entries, and calls the hooks after each. Returns false if the run has ended.
__attribute__((noinline)) bool AgendaProcess::run_watched(SimTime limit) {
    while (break_ && !stopped_) {
        if (!agenda_.run_one(limit)) return false;
        if (called_ && on_call_.call != nullptr) on_call_.call(on_call_.self);
        for (std::size_t i = 0; i < after_each_.size(); ++i)
            after_each_[i].call(after_each_[i].self);  // a hook may remove itself
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
    run_until(may_run_ahead() ? run_end_ : to_sim_time(sc_core::sc_time_stamp()));
}

/// Says whether the agenda may run ahead. The search for other processes costs little: this process is woken once per
/// run, and lockstep_ stays set once a process was found.
bool AgendaProcess::may_run_ahead() {
    if (lockstep_ || run_end_ == SimTime::min()) return false;
    lockstep_ = other_process(sc_core::sc_get_top_level_objects(), sc_core::sc_get_current_process_handle());
    return !lockstep_;
}

void AgendaProcess::run() {
    until_empty_ = true;
    run_end_ = kNever;
    sc_core::sc_start();
    run_end_ = SimTime::min();
    until_empty_ = false;
    rethrow_error();
}

void AgendaProcess::run_for(Ps duration) {
    run_end_ = to_sim_time(sc_core::sc_time_stamp()) + duration - Ps{1};
    sc_core::sc_start(to_sc_time(duration));
    run_end_ = SimTime::min();
    rethrow_error();
}

/// Reports the exception through the kernel, because only the kernel reaches the caller of sc_start(). By default the
/// report is thrown out of sc_start().
void AgendaProcess::report_error() const {
    try {
        std::rethrow_exception(error_);
    } catch (const std::exception& e) {
        SC_REPORT_ERROR("/ssdtlm/stopped", e.what());
    } catch (...) {
        SC_REPORT_ERROR("/ssdtlm/stopped", "an entry of the agenda threw what is no std::exception");
    }
}

void AgendaProcess::drain() {
    draining_ = true;
    agenda_.sleep_in(nullptr);
    try {
        execute();
    } catch (...) {
        error_ = std::current_exception();
        stopped_ = true;
    }
    draining_ = false;
    agenda_.set_run_limit(Agenda::kNoClaims);
    agenda_.sleep_in(this);
    wake_at_ = kNever;
    if (stopped_) {
        sc_core::sc_stop();
        if (error_ && run_end_ == SimTime::min()) report_error();
    } else if (!agenda_.empty())
        wake(agenda_.next_time());
    else if (agenda_.now() > to_sim_time(sc_core::sc_time_stamp()))
        wake(agenda_.now());  // brings the kernel's time to the end of the run
    else if (until_empty_ && lockstep_)
        sc_core::sc_pause();
}

}  // namespace ssdtlm
