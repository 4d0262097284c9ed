// SPDX-License-Identifier: Apache-2.0
// Converts VCD to FST by GTKWave's vcd2fst. Large waveforms are kept in FST, and its only writer is GTKWave's.
#pragma once

#include <filesystem>

namespace ssdtlm {

/// Throws UserError when vcd2fst is not there.
void require_vcd2fst();
/// Replaces `vcd` by a file of that name with the extension .fst. Throws UserError when that fails.
std::filesystem::path convert_to_fst(const std::filesystem::path& vcd);

}  // namespace ssdtlm
