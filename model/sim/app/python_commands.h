// SPDX-License-Identifier: Apache-2.0
// Runs the commands that are written in Python (python/ssdtlm). This process becomes `PYTHON -m ssdtlm ...`, so it need
// not pass on signals and exit codes. A run needs Python only for its report and its live view (python_child).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/report/error.h"

namespace ssdtlm {

/// Finds the interpreter. It tries in this order: SSDTLM_PYTHON; the environment in which `binary` or its library is
/// installed; that of the build tree (`make python`); that of `ssdtlm python setup`; python3.
std::string find_python(const std::filesystem::path& binary);

/// The folder of the Python package that came with `binary` or its library: in the wheel, in an installation, or in the
/// source tree. It is empty if there is none.
std::filesystem::path find_python_package(const std::filesystem::path& binary);

/// Returns the command line `PYTHON -m MODULE WORDS...` that runs `command` ("ssdtlm compare"). It also sets the
/// environment of this process, so that Python finds package and program. Throws UserError when the package is missing.
std::vector<std::string> python_line(const std::string& command, const std::string& module,
                                     const std::vector<std::string>& words);

/// The problem when Python cannot be started. `number`: the system's error.
Problem no_python(const std::string& command, const std::string& python, int number);

/// Turns this process into Python. Throws UserError if Python cannot be started. `words`: "compare", "a", "b", ...
[[noreturn]] void become_python(const std::vector<std::string>& words);

}  // namespace ssdtlm
