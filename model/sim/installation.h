// SPDX-License-Identifier: Apache-2.0
// The places in which presets, job files and the Python package of this program may be.
#pragma once

#include <filesystem>
#include <vector>

namespace ssdtlm {

/// The prefixes whose share/ssdtlm belongs to this program: that of the executable, then that of the library with which
/// it was linked.
std::vector<std::filesystem::path> installations();
/// Sets the prefix of the library; empty: it was not installed.
void set_library_prefix(const std::filesystem::path& prefix);

}  // namespace ssdtlm
