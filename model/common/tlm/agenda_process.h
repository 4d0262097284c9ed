// SPDX-License-Identifier: Apache-2.0
// Drains the Agenda inside a SystemC simulation. There are two ways of keeping step with the kernel.
//
// Whoever looks at the kernel's time between two entries must find it in step with the agenda's. So the process runs
// ahead only where nobody can look: within run() or run_for(), which know where the simulation ends (the kernel tells
// nobody the end of an sc_start), and while the netlist holds no process but this one.
#pragma once

#include <algorithm>
#include <exception>
#include <systemc>
#include <vector>

#include "common/tlm/agenda.h"
#include "common/tlm/sc_time_bridge.h"

namespace ssdtlm {

/// One SC_METHOD drains the whole calendar.
/// - run-ahead: entries are executed one after the other up to the end of the run; kernel time then jumps there. Where
///   that would show (above), the process keeps step by itself.
/// - lockstep: kernel time is always advanced to each entry's time. It is needed for what the kernel tells nobody
///   about: trace files (sc_trace) of a user, and processes that an entry spawns.
/// Both execute the same entries in the same order.
class AgendaProcess : public sc_core::sc_module, private AgendaKernel {
public:
    AgendaProcess(sc_core::sc_module_name name, Agenda& agenda, bool lockstep);

    /// As sc_start(), until the agenda is empty or stop() was called. A process that never ends (a clock) does not keep
    /// it going. Where processes of the netlist bring the work, the agenda may be empty from the start: use sc_start()
    /// there. An exception out of an entry is thrown again here.
    void run();
    /// As sc_start(duration), at full speed. Executes the entries before now + duration; then time is there. Throws as
    /// run() does.
    void run_for(Ps duration);

    /// Ends the simulation (sc_stop) after the running entry.
    void stop();
    bool stopped() const { return stopped_; }
    /// Throws the exception that left an entry and ended the simulation. Your own sc_start() reports it as the error
    /// "/ssdtlm/stopped" through SystemC's report handler, which throws by default, and its type is lost; this function
    /// keeps it.
    void rethrow_error() const {
        if (error_) std::rethrow_exception(error_);
    }

    /// Call it from a handler of a signal: the function of on_call() is called after the running entry, and after each
    /// one from then on.
    void call_soon() { called_ = break_ = true; }
    void on_call(void (*call)(void*), void* self) { on_call_ = {call, self}; }

    /// Calls `after` after every entry from now on, in the entry's time. It may change nothing of the model.
    void add_after_each(void (*after)(void*), void* self) {
        after_each_.push_back({after, self});
        update_break();
    }
    /// No longer calls what was added for `self`.
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
    bool lockstep_;                     // or another process was seen
    bool until_empty_ = false;          // within run()
    SimTime run_end_ = SimTime::min();  // within run() and run_for(); else before any time
    bool stopped_ = false;
    volatile bool break_ = false;   // the fast loop must be left: stopped_, called_, or somebody looks after each entry
    volatile bool called_ = false;  // by a handler of a signal
    Hook on_call_{};
    bool draining_ = false;
    std::vector<Hook> after_each_;
    SimTime wake_at_ = kNever;
    sc_core::sc_event wake_event_;
    std::exception_ptr error_;
};

}  // namespace ssdtlm
