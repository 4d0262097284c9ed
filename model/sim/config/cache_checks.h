// SPDX-License-Identifier: Apache-2.0
// What write buffer, read cache and the host that they serve have to agree on.
#pragma once

#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// What precondition.fill_caches = auto means: true for a state that a host's writes have led to, unless something else
/// in the configuration forbids it.
bool caches_start_filled(const SsdConfig& config);
/// Precondition: the geometry is right.
std::vector<Problem> check_caches(const ResolvedConfig& resolved);

}  // namespace ssdtlm
