// SPDX-License-Identifier: Apache-2.0
// Rules between parameters. Each parameter by itself has been checked by the table.
#pragma once

#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// Returns all problems at once. If there are none, the device can be built.
std::vector<Problem> check_config(const ResolvedConfig& resolved);

}  // namespace ssdtlm
