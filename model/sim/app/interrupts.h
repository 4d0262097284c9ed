// SPDX-License-Identifier: Apache-2.0
// Handles SIGINT, SIGTERM and SIGHUP. Their effect depends on what the program is doing. All of it is static, because
// signals are for the whole process.
//
// - Before anything has begun (files are read, a job is parsed), the program ends at once.
// - While the drive is built and preconditioned, there are no results, and no step can be stopped. A text that was
//   written beforehand gets its name, temporary files are removed, and the program ends at once.
// - While the simulation runs, it ends itself after the present entry of the agenda. If this takes longer than
//   kPatienceMicroseconds, the program ends as during preconditioning.
// - While results are written, they are completed.
//
// In each case the signal is passed on to a child process. A second signal ends the program at once, except for SIGHUP.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace ssdtlm {

class Interrupts {
public:
    /// Catches signals from now on. Call it once, before anything has begun.
    static void catch_all();
    /// True: a signal has come.
    static bool any();

    /// What to do if a signal ends the run at once.
    struct Abandoned {
        std::filesystem::path text, named;   ///< `text` was written before, and is renamed to `named`
        std::vector<std::string> temporary;  ///< files to remove
        std::string said;                    ///< message for standard error
    };
    /// The drive is built from now on.
    static void building(Abandoned abandoned);
    /// The simulation runs from now on. The handler calls tell(self).
    static void running(Abandoned abandoned, void (*tell)(void*), void* self);
    static void writing();

    /// Sets the child to which signals are passed on; 0: there is none.
    static void tell(pid_t child);
    /// Blocks signals as long as it lives, for instance while a child is started.
    class HeldBack {
    public:
        HeldBack();
        ~HeldBack();
        HeldBack(const HeldBack&) = delete;
        HeldBack& operator=(const HeldBack&) = delete;

    private:
        sigset_t before_{};  // the caller may block signals as well
    };
};

}  // namespace ssdtlm
