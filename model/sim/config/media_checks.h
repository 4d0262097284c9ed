// SPDX-License-Identifier: Apache-2.0
// Rules between the parameters of flash that fails, and with others.
#pragma once

#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// Precondition: the geometry and the FTL's parameters fit each other.
std::vector<Problem> check_media(const ResolvedConfig& resolved);

}  // namespace ssdtlm
