// SPDX-License-Identifier: Apache-2.0
// The files that the user names for a run to write, next to its results.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/app/run_options.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// Throws UserError if a file that the run writes is one that it reads, or if two of those that it writes are the same.
/// `devices` are the words of the command line that name devices.
void check_output_paths(const SsdConfig& config, const RunOptions& options, const std::vector<std::string>& devices);

/// True if prepare_output_directory() makes this folder, or finds it: `folder` is that of the results or above it.
bool comes_with_results(const std::filesystem::path& folder, const std::string& output_directory);

}  // namespace ssdtlm
