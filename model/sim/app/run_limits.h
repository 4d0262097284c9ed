// SPDX-License-Identifier: Apache-2.0
// The options --stop-after-time and --stop-after-commands.
#pragma once

#include <string>
#include <vector>

#include "common/report/error.h"
#include "host_pcie/workload/limited_workload.h"

namespace ssdtlm {

/// The texts as typed; "" when an option is not given.
struct RunLimitTexts {
    std::string time;      ///< "2s"
    std::string commands;  ///< "10k": k, M, G are powers of 1000, Ki, Mi, Gi of 1024
};

/// Reads the limits. Mistakes are appended to `problems`.
LimitedWorkload::Limits parse_run_limits(const RunLimitTexts& texts, std::vector<Problem>& problems);

/// The reason why the workload ended, for result.json and the summary: "workload", or the option as typed.
std::string ended_by(LimitedWorkload::Reached reached, const RunLimitTexts& texts);

}  // namespace ssdtlm
