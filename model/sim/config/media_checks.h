// SPDX-License-Identifier: Apache-2.0
// Checks the parameters of failing flash against each other and against other parameters.
#pragma once

#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// Returns the problems. Precondition: the geometry and the FTL's parameters fit each other.
std::vector<Problem> check_media(const ResolvedConfig& resolved);

}  // namespace ssdtlm
