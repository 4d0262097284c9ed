// SPDX-License-Identifier: Apache-2.0
// Drains the Agenda inside a SystemC simulation, in one of two ways of keeping step with the kernel.
#pragma once

#include <algorithm>
#include <exception>
#include <vector>

#include <systemc>

#include "common/tlm/agenda.h"
#include "common/tlm/sc_time_bridge.h"

namespace ssdtlm {

/// One SC_METHOD drains the whole calendar.
/// - run-ahead: entries are executed while the kernel has no earlier pending activity, up to stop time;
///   kernel time then jumps only when it must.
/// - lockstep: kernel time is advanced to each entry's time; needed when native SystemC activity (RTL, pin
///   tracing, a user's own processes) must see it.
/// Both execute the same entries in the same order.
class AgendaProcess : public sc_core::sc_module {
public:
    AgendaProcess(sc_core::sc_module_name name, Agenda& agenda, bool lockstep);

    /// Ends the simulation (sc_stop) after the running entry.
    void stop();
    bool stopped() const { return stopped_; }
    /// An exception that left an entry ended the simulation; SystemC would lose its type. Call after sc_start().
    void rethrow_error() const {
        if (error_) std::rethrow_exception(error_);
    }

    /// Called after every entry from now on, in the entry's time. It may change nothing of the model.
    void add_after_each(void (*after)(void*), void* self) {
        after_each_.push_back({after, self});
        update_break();
    }
    /// No longer calls what was added for `self`.
    void remove_after_each(void* self) {
        after_each_.erase(std::remove_if(after_each_.begin(), after_each_.end(), [self](const Hook& h) { return h.self == self; }),
                          after_each_.end());
        update_break();
    }

private:
    struct Hook {
        void (*call)(void*);
        void* self;
    };
    void drain();
    void execute();
    void wake(SimTime at);
    void run_until(SimTime limit);
    bool run_watched(SimTime limit);
    void update_break() {
        break_ = stopped_ || !after_each_.empty();
        if (break_) agenda_.set_run_limit(Agenda::kNoClaims);
    }

    Agenda& agenda_;
    const bool lockstep_;
    bool stopped_ = false;
    bool break_ = false;  // the fast loop must be left: stopped_, or somebody looks after each entry
    bool draining_ = false;
    std::vector<Hook> after_each_;
    SimTime wake_at_ = kNever;
    sc_core::sc_event wake_event_;
    std::exception_ptr error_;
};

}  // namespace ssdtlm
