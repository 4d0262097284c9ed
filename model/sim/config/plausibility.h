// SPDX-License-Identifier: Apache-2.0
// Values that are allowed, and that no drive has: notes for `config check`.
#pragma once

#include <string>
#include <vector>

#include "sim/config/config_loader.h"

namespace ssdtlm {

/// A sentence for each value outside the range that parts and drives have, with the range and its source.
std::vector<std::string> notes_on_plausibility(const ResolvedConfig& resolved);

}  // namespace ssdtlm
