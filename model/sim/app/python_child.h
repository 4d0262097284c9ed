// SPDX-License-Identifier: Apache-2.0
// A command written in Python as a process beside this one. A run uses it before and after the simulation.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ssdtlm {

/// One of the child's descriptors.
struct ChildStream {
    int child;   ///< in the new process
    int parent;  ///< in this one; -1: the null device
};

class PythonChild {
public:
    /// Starts `PYTHON -m MODULE WORDS...`. Throws UserError, which names `command` ("ssdtlm run --report").
    PythonChild(const std::string& command, const std::string& module, const std::vector<std::string>& words,
                const std::vector<ChildStream>& streams = {});
    /// Waits for the end.
    ~PythonChild() { wait(); }
    PythonChild(const PythonChild&) = delete;
    PythonChild& operator=(const PythonChild&) = delete;

    /// Waits for the end of the child. Returns its exit code, or 128 plus the number of the signal that ended it.
    int wait();
    pid_t pid() const { return pid_; }

private:
    pid_t pid_ = -1;
    int code_ = 0;
};

/// Checks that Python has what these commands need ("report"). Throws UserError with all that is missing, and how to
/// get it.
void check_python(const std::string& command, const std::vector<std::string>& what);

}  // namespace ssdtlm
