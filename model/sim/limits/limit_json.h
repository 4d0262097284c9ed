// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/results/run_summary.h"

namespace ssdtlm {

/// Returns "limit" of result.json: the verdict and its evidence.
nlohmann::ordered_json limit_json(const RunSummary& s);

}  // namespace ssdtlm
