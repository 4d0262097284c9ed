// SPDX-License-Identifier: Apache-2.0
// Runs a command that is written in Python as a child process. A run uses it before and after the simulation.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ssdtlm {

/// A file descriptor of the child.
struct ChildStream {
    int child;   ///< number in the child
    int parent;  ///< number in this process; -1: the null device
};

class PythonChild {
public:
    /// Starts `PYTHON -m MODULE WORDS...`. Throws UserError when it cannot be started. `command`: the name for this
    /// error ("ssdtlm run --report").
    PythonChild(const std::string& command, const std::string& module, const std::vector<std::string>& words,
                const std::vector<ChildStream>& streams = {});
    /// Waits for the end of the child.
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

/// Checks that Python has the packages for these purposes ("report"). Throws UserError with all that is missing, and
/// how to get it.
void check_python(const std::string& command, const std::vector<std::string>& what);

}  // namespace ssdtlm
