// SPDX-License-Identifier: Apache-2.0
// fio's own options on the command line of `ssdtlm run`, such as --rw=randread --bs=4k. They have fio's names and
// meanings.
#pragma once

#include <string>
#include <vector>

#include "host_pcie/workload/fio/fio_job_file.h"

namespace ssdtlm {

/// Removes fio's options from `words` and returns them in order. `own`: the program's own options with their dashes,
/// which stay in `words`.
std::vector<FioArgument> take_fio_arguments(std::vector<std::string>& words, const std::vector<std::string>& own);

}  // namespace ssdtlm
