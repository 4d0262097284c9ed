// SPDX-License-Identifier: Apache-2.0
// One simulation: the netlist, the workload, the results. Once per process: the SystemC kernel is global.
#pragma once

#include "sim/app/run_options.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// Returns the program's exit code (ExitCode). Throws UserError for a workload that cannot be used, CheckFailed for a
/// run whose results are wrong, Panic for a broken invariant; see panic_state.h for the state dump.
int run_simulation(const SsdConfig& config, const RunOptions& options);

}  // namespace ssdtlm
