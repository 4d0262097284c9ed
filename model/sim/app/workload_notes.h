// SPDX-License-Identifier: Apache-2.0
// Notes on options that have no effect on a workload: options of traces, and settings of the host for tenants and
// streams.
#pragma once

#include <string>
#include <vector>

#include "host_pcie/workload/fio/fio_job.h"
#include "host_pcie/workload/trace/trace_reader.h"
#include "host_pcie/workload/trace/trace_workload.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// `given`: names of the options on the command line, "--replay-depth".
std::vector<std::string> notes_on_trace_options(const std::vector<std::string>& given, const Trace& trace,
                                                const TraceReplayOptions& replay);

/// `jobs`: the jobs of fio. `tenants`: the number of the workload's tenants. `contexts`: the number of contexts that an
/// I/O scheduler tells apart.
std::vector<std::string> notes_on_host(const SsdConfig& config, const std::vector<FioJob>& jobs, std::size_t tenants,
                                       std::size_t contexts);

/// Parameters of [workload.NAME] that are set for a workload other than `used`.
std::vector<std::string> notes_on_generators(const ResolvedConfig& resolved, const std::vector<std::string>& used);

}  // namespace ssdtlm
