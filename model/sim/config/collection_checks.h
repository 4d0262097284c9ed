// SPDX-License-Identifier: Apache-2.0
// Checks the parameters of garbage collection against each other and against other parameters.
#pragma once

#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

std::vector<Problem> check_collection(const ResolvedConfig& resolved);

}  // namespace ssdtlm
