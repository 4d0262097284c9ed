// SPDX-License-Identifier: Apache-2.0
// What write buffer, read cache and the host that they serve have to agree on.
#pragma once

#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// Precondition: the geometry is right.
std::vector<Problem> check_caches(const ResolvedConfig& resolved);

}  // namespace ssdtlm
