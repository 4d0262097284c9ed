// SPDX-License-Identifier: Apache-2.0
// `run --report` writes the report of a run, as `ssdtlm report` does. It looks for the necessary tools before the run.
#pragma once

#include "sim/app/run_options.h"

namespace ssdtlm {

/// Throws UserError with all reasons why the report could not be written.
void check_report(const RunOptions& options);

/// Writes the report of a run that ended with `code`. Returns the exit code of the program. A run that failed has no
/// report, as with `ssdtlm report`.
int write_report(const RunOptions& options, int code);

/// Says that a failed run has no report, and removes the report that an earlier run left in the folder.
void no_report(const RunOptions& options);

}  // namespace ssdtlm
