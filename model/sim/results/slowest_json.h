// SPDX-License-Identifier: Apache-2.0
// Writes slowest.json from the commands that SlowestCommands kept.
#pragma once

#include <string>
#include <vector>

#include "sim/results/slowest_commands.h"

namespace ssdtlm {

/// The names of the flows, by tenant from 0 on, and the flow of each job. Both are empty if there is one flow.
struct SlowestFlows {
    std::vector<std::string> names;
    std::vector<std::uint32_t> of_job;
};

/// Returns the text, with one line for each command. Times are in ps from the start of the workload. Operations,
/// collections and commands have their numbers in trace.json; resources have the names of its tracks.
std::string slowest_json(const std::vector<SlowestCommands::Kept>& commands, const Occupancy::Size& device,
                         const SlowestFlows& flows = {});

}  // namespace ssdtlm
