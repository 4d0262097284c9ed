// SPDX-License-Identifier: Apache-2.0
// The commands that are written in Python (python/ssdtlm): this process becomes `PYTHON -m ssdtlm ...`, so that signals
// and exit codes need no passing on. A run needs no Python, but for its report (python_child).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/report/error.h"

namespace ssdtlm {

/// Finds the interpreter. In this order: SSDTLM_PYTHON; the environment that `binary` or its library is installed in;
/// the build tree's (`make python`); the one of `ssdtlm python setup`; python3.
std::string find_python(const std::filesystem::path& binary);

/// The folder that holds the Python package that came with `binary` or its library: in the wheel, in an installation,
/// or in the source tree. Empty when there is none.
std::filesystem::path find_python_package(const std::filesystem::path& binary);

/// The words of `PYTHON -m MODULE WORDS...`, which is what runs `command` ("ssdtlm compare"); the environment of this
/// process is set so that it finds package and program. Throws UserError when the package is not there.
std::vector<std::string> python_line(const std::string& command, const std::string& module,
                                     const std::vector<std::string>& words);

/// The problem of a Python that cannot be started. `number`: the system's error.
Problem no_python(const std::string& command, const std::string& python, int number);

/// Turns this process into Python. Throws UserError if Python cannot be started. `words`: "compare", "a", "b", ...
[[noreturn]] void become_python(const std::vector<std::string>& words);

}  // namespace ssdtlm
