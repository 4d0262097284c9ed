// SPDX-License-Identifier: Apache-2.0
// Converts VCD to FST by GTKWave's vcd2fst. FST is for large waveforms, and GTKWave has its only writer.
#pragma once

#include <filesystem>

namespace ssdtlm {

/// Throws UserError when vcd2fst is not installed.
void require_vcd2fst();
/// Replaces `vcd` by a file with the same name and the extension .fst, and returns its path. Throws UserError when that
/// fails.
std::filesystem::path convert_to_fst(const std::filesystem::path& vcd);

}  // namespace ssdtlm
