// SPDX-License-Identifier: Apache-2.0
// The contents of a run's directory: result.json (failed.json), latency.csv, latency_bins.csv, wall_clock.json; and the
// text summary. timeseries.csv is written while the run goes (time_series.h). Everything but wall_clock.json is a
// function of configuration, workload and seed, byte for byte.
#pragma once

#include <string>

#include "sim/results/result_files.h"
#include "sim/results/run_summary.h"

namespace ssdtlm {

/// `resolved_config`: TOML text of the whole effective configuration. A run that failed has failed.json in place of
/// result.json: the same, with "failure" before it. Throws OutputError when a file cannot be written.
void add_results(ResultFiles& files, const RunSummary& summary, const std::string& resolved_config);
std::string result_json(const RunSummary& summary, const std::string& resolved_config);
std::string wall_clock_json(const RunSummary& summary);
/// The latency breakdown for a terminal.
std::string summary_text(const RunSummary& summary);

}  // namespace ssdtlm
