// SPDX-License-Identifier: Apache-2.0
// A trace as fio's report sees it: one job, described with the options of fio's own trace replay (read_iolog).
#pragma once

#include <vector>

#include "host_pcie/workload/report/fio_report_job.h"
#include "host_pcie/workload/trace/trace_workload.h"

namespace ssdtlm {

/// One entry per job of the workload, reported together as one. `bs` is the most frequent request size.
std::vector<FioReportJob> trace_report_jobs(const TraceWorkload& workload);

}  // namespace ssdtlm
