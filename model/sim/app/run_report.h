// SPDX-License-Identifier: Apache-2.0
// `run --report` writes the report of a run, as `ssdtlm report` does. The tools that it needs are looked for before the
// run.
#pragma once

#include "sim/app/run_options.h"

namespace ssdtlm {

/// Throws UserError with everything that would keep the report from being written.
void check_report(const RunOptions& options);

/// Writes the report of a run that ended with `code`. Returns the exit code of the whole. A run that failed has no
/// report, as with `ssdtlm report`.
int write_report(const RunOptions& options, int code);

/// Called for a run that failed: says so, and removes the report that an earlier run left in the folder.
void no_report(const RunOptions& options);

}  // namespace ssdtlm
