// SPDX-License-Identifier: Apache-2.0
// Rules between the parameters of garbage collection, and between these and others.
#pragma once

#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

std::vector<Problem> check_collection(const ResolvedConfig& resolved);

}  // namespace ssdtlm
