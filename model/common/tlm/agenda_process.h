// SPDX-License-Identifier: Apache-2.0
// Runs the entries of an Agenda in a SystemC simulation. There are two ways to keep step with the kernel.
//
// Any process that looks at the kernel's time between two entries must find the agenda's time there. So the agenda runs
// ahead only while nobody can look. This is so within run() or run_for(), which know where the simulation ends, as long
// as this is the only process of the netlist. A plain sc_start() does not tell its end.
#pragma once

#include <algorithm>
#include <exception>
#include <systemc>
#include <vector>

#include "common/tlm/agenda.h"
#include "common/tlm/sc_time_bridge.h"

namespace ssdtlm {

/// One SC_METHOD runs all entries of the agenda.
/// - run-ahead: entries run one after the other up to the end of the run. Then the kernel's time jumps there. If
///   somebody could see that, the process keeps step instead.
/// - lockstep: the kernel's time always advances to the time of each entry. It is needed for observers that this
///   process cannot find: trace files (sc_trace) of a user, and processes that an entry spawns.
/// Both ways run the same entries in the same order.
class AgendaProcess : public sc_core::sc_module, private AgendaKernel {
public:
    AgendaProcess(sc_core::sc_module_name name, Agenda& agenda, bool lockstep);

    /// Runs the simulation until the agenda is empty or stop() was called. A process that never ends, such as a clock,
    /// does not prolong it. Use sc_start() if other processes bring the work, because the agenda may then be empty from
    /// the start. An exception that leaves an entry is thrown again here.
    void run();
    /// Runs the simulation like sc_start(duration), but may run ahead. It runs the entries before now + duration, and
    /// then the time is there. It throws as run() does.
    void run_for(Ps duration);

    /// Ends the simulation (sc_stop) after the running entry.
    void stop();
    bool stopped() const { return stopped_; }
    /// Throws the exception that left an entry and ended the simulation. A plain sc_start() reports it as the error
    /// "/ssdtlm/stopped" through SystemC's report handler, which throws by default. The type of the exception is lost
    /// there, but not here.
    void rethrow_error() const {
        if (error_) std::rethrow_exception(error_);
    }

    /// Call it from a signal handler. The function of on_call() is then called after the running entry, and after each
    /// entry from then on.
    void call_soon() { called_ = break_ = true; }
    void on_call(void (*call)(void*), void* self) { on_call_ = {call, self}; }

    /// Calls after(self) after every entry from now on, at the time of the entry. It must not change the model.
    void add_after_each(void (*after)(void*), void* self) {
        after_each_.push_back({after, self});
        update_break();
    }
    /// Removes the functions that were added for `self`.
    void remove_after_each(void* self) {
        after_each_.erase(
            std::remove_if(after_each_.begin(), after_each_.end(), [self](const Hook& h) { return h.self == self; }),
            after_each_.end());
        update_break();
    }

private:
    struct Hook {
        void (*call)(void*) = nullptr;
        void* self = nullptr;
    };
    void drain();
    void execute();
    bool may_run_ahead();
    void wake(SimTime at) override;
    SimTime time(SimTime agenda) override;
    void refuse_early(SimTime agenda) const;
    void report_error() const;
    void run_until(SimTime limit);
    bool run_watched(SimTime limit);
    void update_break() {
        break_ = stopped_ || called_ || !after_each_.empty();
        if (break_) agenda_.set_run_limit(Agenda::kNoClaims);
    }

    Agenda& agenda_;
    bool lockstep_;                     // set by the user, or because another process was found
    bool until_empty_ = false;          // within run()
    SimTime run_end_ = SimTime::min();  // end of run() or run_for(); outside of them before any time
    bool stopped_ = false;
    volatile bool break_ = false;   // the fast loop must be left: stopped_, called_, or functions in after_each_
    volatile bool called_ = false;  // call_soon() was called, by a signal handler
    Hook on_call_{};
    bool draining_ = false;
    std::vector<Hook> after_each_;
    SimTime wake_at_ = kNever;
    sc_core::sc_event wake_event_;
    std::exception_ptr error_;
};

}  // namespace ssdtlm
