// SPDX-License-Identifier: Apache-2.0
// Estimates the size of a timeline, to warn before it fills a disk.
#pragma once

#include <string>

#include "sim/app/run_options.h"
#include "sim/app/workload_source.h"

namespace ssdtlm {

/// The approximate size of trace.json in bytes for this amount of work.
std::uint64_t timeline_bytes(const WorkloadAmount& amount);

/// Returns a warning for a timeline of a gigabyte or more. It is empty if the timeline is small, if its end is given,
/// or if the amount of work is not known.
std::string timeline_warning(const RunOptions& options, const WorkloadAmount& amount);

}  // namespace ssdtlm
