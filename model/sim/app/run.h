// SPDX-License-Identifier: Apache-2.0
// Runs one simulation: it builds the netlist, plays the workload, and writes the results. A process can run only one,
// because the SystemC kernel is global.
#pragma once

#include "sim/app/run_options.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// Returns the program's exit code (ExitCode). Throws UserError for a workload that cannot be used, CheckFailed for
/// wrong results, and Panic for a broken invariant. panic_state.h has the state after a failure.
int run_simulation(const SsdConfig& config, const RunOptions& options);

/// Finds the mistakes that `run` would find. It builds the fresh device, starts it and stops it, without commands of
/// the workload. It throws as run_simulation() does. Without a workload in `options` it checks the device alone.
void check_simulation(const SsdConfig& config, const RunOptions& options);

}  // namespace ssdtlm
