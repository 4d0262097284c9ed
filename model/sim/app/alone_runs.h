// SPDX-License-Identifier: Apache-2.0
// run --alone: runs each flow without the others, before all of them run together. Each of these runs is a process of
// its own, because a process can have one SystemC simulation only. Its results are in the folder alone/FLOW below those
// of the run.
#pragma once

#include <string>
#include <vector>

#include "sim/app/run_options.h"
#include "sim/results/flow_metrics.h"
#include "sim/sim_config.h"

namespace ssdtlm {

struct AloneRuns {
    int code = 0;                    ///< exit code of the first run that failed; 0: none failed
    std::vector<FlowFigures> flows;  ///< by flow; empty if a run failed
};

/// Runs the flows one after the other. `flows`: their names, by tenant. It says on standard error which flow runs,
/// unless the run is quiet.
AloneRuns run_alone(const SsdConfig& config, const RunOptions& options, const std::vector<std::string>& flows);

}  // namespace ssdtlm
