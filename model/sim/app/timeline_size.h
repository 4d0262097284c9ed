// SPDX-License-Identifier: Apache-2.0
// Estimates the size of a timeline, to warn before it fills a disk.
#pragma once

#include <string>

#include "sim/app/run_options.h"
#include "sim/app/workload_source.h"

namespace ssdtlm {

/// Rough number of bytes of trace.json for a workload of this amount.
std::uint64_t timeline_bytes(const WorkloadAmount& amount);

/// A warning for a timeline of a gigabyte or more. Empty: the timeline is small, its end is given, or nobody knows how
/// much the workload does.
std::string timeline_warning(const RunOptions& options, const WorkloadAmount& amount);

}  // namespace ssdtlm
