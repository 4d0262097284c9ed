// SPDX-License-Identifier: Apache-2.0
// Writes the files of a run's folder: result.json (failed.json), latency.csv, latency_bins.csv and wall_clock.json, and
// the text summary. timeseries.csv is written during the run (time_series.h). All files but wall_clock.json are a
// function of configuration, workload and seed, byte for byte.
#pragma once

#include <string>

#include "sim/results/result_files.h"
#include "sim/results/run_summary.h"

namespace ssdtlm {

/// `resolved_config`: TOML text of the whole effective configuration. A run that failed has failed.json in place of
/// result.json, with "failure" in addition. Throws OutputError when a file cannot be written.
void add_results(ResultFiles& files, const RunSummary& summary, const std::string& resolved_config);
std::string result_json(const RunSummary& summary, const std::string& resolved_config);
std::string wall_clock_json(const RunSummary& summary);
/// The latency breakdown for a terminal.
std::string summary_text(const RunSummary& summary);

}  // namespace ssdtlm
