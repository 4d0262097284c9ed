// SPDX-License-Identifier: Apache-2.0
// Which drive a file holds. Its text names the parameters that decide what a drive remembers, one a line; all others
// may be different where it is read: times, the host, the link, how garbage collection goes on.
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
