// SPDX-License-Identifier: Apache-2.0
// Notes for runs and for `config check` on values that are allowed, but that no drive has.
#pragma once

#include <string>
#include <vector>

#include "sim/config/config_loader.h"

namespace ssdtlm {

/// Returns a sentence for each value outside the range that parts and drives have, with the range and its source.
std::vector<std::string> notes_on_plausibility(const ResolvedConfig& resolved);

}  // namespace ssdtlm
