// SPDX-License-Identifier: Apache-2.0
// Checks that write buffer, read cache and the host that they serve agree.
#pragma once

#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// The meaning of precondition.fill_caches = auto: true for a state that a host's writes have led to, unless something
/// else in the configuration forbids it.
bool caches_start_filled(const SsdConfig& config);
/// Returns the problems. Precondition: the geometry is right.
std::vector<Problem> check_caches(const ResolvedConfig& resolved);

}  // namespace ssdtlm
