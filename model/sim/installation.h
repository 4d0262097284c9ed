// SPDX-License-Identifier: Apache-2.0
// Where this program's presets, job files and Python package may be.
#pragma once

#include <filesystem>
#include <vector>

namespace ssdtlm {

/// Prefixes whose share/ssdtlm belongs to this program: that of the executable, then that of the library which it was
/// linked with.
std::vector<std::filesystem::path> installations();
/// From then on `prefix` is that of the library; empty: it was not installed.
void set_library_prefix(const std::filesystem::path& prefix);

}  // namespace ssdtlm
