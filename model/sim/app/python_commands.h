// SPDX-License-Identifier: Apache-2.0
// The commands that are written in Python (python/ssdtlm): this process becomes `PYTHON -m ssdtlm ...`, so that signals and
// exit codes need no passing on. A run needs no Python.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ssdtlm {

/// The interpreter: SSDTLM_PYTHON; the environment that `binary` is installed in; the build tree's (`make python`); the one
/// of `ssdtlm python setup`; python3.
std::string find_python(const std::filesystem::path& binary);

/// The folder that holds the Python package that came with `binary`: in the wheel, in an installation, or in the source
/// tree. Empty when there is none.
std::filesystem::path find_python_package(const std::filesystem::path& binary);

/// Does not return when Python can be started. Throws UserError. `words`: "compare", "a", "b", ...
[[noreturn]] void become_python(const std::vector<std::string>& words);

}  // namespace ssdtlm
