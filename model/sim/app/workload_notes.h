// SPDX-License-Identifier: Apache-2.0
// Notes on what was given for a workload and has no effect on it: options of traces, and what the host would do for
// tenants and streams.
#pragma once

#include <string>
#include <vector>

#include "host_pcie/workload/fio/fio_job.h"
#include "host_pcie/workload/trace/trace_reader.h"
#include "host_pcie/workload/trace/trace_workload.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// `given`: names of the options that stand on the command line, "--replay-depth".
std::vector<std::string> notes_on_trace_options(const std::vector<std::string>& given, const Trace& trace,
                                                const TraceReplayOptions& replay);

/// `jobs`: those of fio. `tenants`: of the workload. `contexts`: whom an I/O scheduler tells apart.
std::vector<std::string> notes_on_host(const SsdConfig& config, const std::vector<FioJob>& jobs, std::size_t tenants,
                                       std::size_t contexts);

/// Parameters of [workload.NAME] that are set for a workload other than `used`.
std::vector<std::string> notes_on_generators(const ResolvedConfig& resolved, const std::vector<std::string>& used);

}  // namespace ssdtlm
