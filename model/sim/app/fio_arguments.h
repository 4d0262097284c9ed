// SPDX-License-Identifier: Apache-2.0
// fio's own options among the words of `ssdtlm run`: --rw=randread --bs=4k, with fio's names and meaning.
#pragma once

#include <string>
#include <vector>

#include "host_pcie/workload/fio/fio_job_file.h"

namespace ssdtlm {

/// Takes fio's options out of `words`, in order. `own`: names of the program's own options, with their dashes; they
/// stay.
std::vector<FioArgument> take_fio_arguments(std::vector<std::string>& words, const std::vector<std::string>& own);

}  // namespace ssdtlm
