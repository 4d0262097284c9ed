// SPDX-License-Identifier: Apache-2.0
// From the files of a fio job file to a file system on the drive, where files.system names one.
#pragma once

#include <string>
#include <vector>

#include "host_files/files_workload.h"
#include "host_pcie/workload/fio/fio_job_file.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// Empty without a file system, or where no job has files. UserError when it has no room for them, or a job does what
/// is not modelled on one.
std::vector<FilesWorkload::Mount> mounts_for(const SsdConfig& config, const FioJobFile& file, const FioDevice& device);

/// What a job file says of where its files lie is true of files side by side on the drive.
std::string note_on_file_system(std::string note, const std::string& system);

}  // namespace ssdtlm
