// SPDX-License-Identifier: Apache-2.0
// One simulation: the netlist, the workload, the results. There is one per process, because the SystemC kernel is
// global.
#pragma once

#include "sim/app/run_options.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// Returns the program's exit code (ExitCode). Throws UserError for a workload that cannot be used, CheckFailed for a
/// run whose results are wrong, Panic for a broken invariant; see panic_state.h for the state dump.
int run_simulation(const SsdConfig& config, const RunOptions& options);

/// Finds the errors that `run` would find: it builds the fresh device, and starts and stops it, without a command of
/// the workload. Throws as run_simulation() does. Without a workload in `options`, it checks the device alone.
void check_simulation(const SsdConfig& config, const RunOptions& options);

}  // namespace ssdtlm
