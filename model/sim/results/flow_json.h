// SPDX-License-Identifier: Apache-2.0
// The flows of a run in result.json and on the terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/results/run_summary.h"

namespace ssdtlm {

/// Adds "flows", "interference" and "flow_waits". It adds nothing for one flow.
void add_flows_json(nlohmann::ordered_json& result, const RunSummary& summary);
std::string flows_text(const RunSummary& summary);
/// Reads the flows of a result.json. Throws UserError naming the file when it holds none.
std::vector<FlowFigures> flows_of_json(const std::string& file);

}  // namespace ssdtlm
