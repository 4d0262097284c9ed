// SPDX-License-Identifier: Apache-2.0
// The flows of a run in result.json and on the terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/results/run_summary.h"

namespace ssdtlm {

/// Adds "flows", "interference" and "flow_waits", if there are several flows.
void add_flows_json(nlohmann::ordered_json& result, const RunSummary& summary);
std::string flows_text(const RunSummary& summary);
/// Reads the flows of a result.json. Throws UserError with the file's name when it has none.
std::vector<FlowFigures> flows_of_json(const std::string& file);

}  // namespace ssdtlm
