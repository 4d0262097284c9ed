// SPDX-License-Identifier: Apache-2.0
// The effect of SIGINT, SIGTERM and SIGHUP depends on what the program is doing. Signals are for the whole process, and
// so is this.
//
// - Before anything has begun (files are read, a job is parsed), the program ends at once.
// - While the drive is being built and preconditioned, no step can be ended in order, and there are no results yet. A
//   text that was written beforehand gets its name, temporary files are removed, and the program ends at once.
// - While the simulation runs, it is told after the present entry of the agenda, and ends itself. If a step takes
//   longer than kPatience, the program ends as during preconditioning.
// - While results are written, they are completed.
//
// In each case a child in Python is told as well. A second signal ends the program at once, whatever it is doing.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace ssdtlm {

class Interrupts {
public:
    /// Catches signals from now on; nothing has begun. Call it once.
    static void catch_all();
    /// True: a signal has come.
    static bool any();

    /// Actions if a signal ends the run.
    struct Abandoned {
        std::filesystem::path text, named;   ///< the first has been written, and gets the second's name
        std::vector<std::string> temporary;  ///< files that go
        std::string said;                    ///< on standard error
    };
    /// The drive is being built.
    static void building(Abandoned abandoned);
    /// The simulation runs: `tell` is called by the handler.
    static void running(Abandoned abandoned, void (*tell)(void*), void* self);
    static void writing();

    /// The child that is told of signals; 0: there is none.
    static void tell(pid_t child);
    /// Holds signals back while a child is begun.
    class HeldBack {
    public:
        HeldBack();
        ~HeldBack();
        HeldBack(const HeldBack&) = delete;
        HeldBack& operator=(const HeldBack&) = delete;

    private:
        sigset_t before_{};  // others may hold them back, too
    };
};

}  // namespace ssdtlm
