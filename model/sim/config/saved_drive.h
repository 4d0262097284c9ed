// SPDX-License-Identifier: Apache-2.0
// Identifies the drive in a file by a text. The text has a line for each parameter that shapes the saved state. All
// other parameters may differ when the file is read: times, the host, the link, and the course of garbage collection.
#pragma once

#include <string>
#include <vector>

#include "sim/sim_config.h"

namespace ssdtlm {

/// The text for a file that holds this drive.
std::string saved_drive_text(const SsdConfig& config);
/// A sentence for each parameter that had another value when the drive of this text was saved.
std::vector<std::string> differences_from_saved(const SsdConfig& config, const std::string& text);

}  // namespace ssdtlm
