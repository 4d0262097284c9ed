// SPDX-License-Identifier: Apache-2.0
// run --alone: runs each flow without the others, before all of them run together. A run is a process of its own, since
// SystemC knows one simulation. Its results are in the folder alone/FLOW below those of the run.
#pragma once

#include <string>
#include <vector>

#include "sim/app/run_options.h"
#include "sim/results/flow_metrics.h"
#include "sim/sim_config.h"

namespace ssdtlm {

struct AloneRuns {
    int code = 0;                    ///< of the first that did not end in order
    std::vector<FlowFigures> flows;  ///< by flow, when all did
};

/// `flows`: names, by tenant. It says on standard error which flow runs, unless the run is quiet.
AloneRuns run_alone(const SsdConfig& config, const RunOptions& options, const std::vector<std::string>& flows);

}  // namespace ssdtlm
