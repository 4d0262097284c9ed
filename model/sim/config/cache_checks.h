// SPDX-License-Identifier: Apache-2.0
// Checks that write buffer, read cache and host fit together.
#pragma once

#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// Returns whether caches start filled with precondition.fill_caches = auto. They do for a state that writes of a host
/// have made, unless another setting forbids it.
bool caches_start_filled(const SsdConfig& config);
/// Returns the problems. Precondition: the geometry is right.
std::vector<Problem> check_caches(const ResolvedConfig& resolved);

}  // namespace ssdtlm
