// SPDX-License-Identifier: Apache-2.0
// Writes a run's directory: result.json, latency.csv, timeseries.csv, wall_clock.json; and the text summary.
// Everything but wall_clock.json is a function of configuration, workload and seed, byte for byte.
#pragma once

#include <filesystem>
#include <string>

#include "sim/results/run_summary.h"
#include "sim/results/time_series.h"

namespace ssdtlm {

/// `resolved_config`: TOML text of the whole effective configuration. Throws UserError when a file cannot be written.
void write_results(const std::filesystem::path& directory, const RunSummary& summary, const TimeSeries& series,
                   const std::string& resolved_config);
std::string result_json(const RunSummary& summary, const std::string& resolved_config);
std::string wall_clock_json(const RunSummary& summary);
/// The breakdown for a terminal.
std::string summary_text(const RunSummary& summary);
void write_text_file(const std::filesystem::path& path, const std::string& text);

}  // namespace ssdtlm
