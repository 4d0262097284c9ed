// SPDX-License-Identifier: Apache-2.0
// Puts the files of a fio job file on a file system, if files.system names one.
#pragma once

#include <string>
#include <vector>

#include "host_files/files_workload.h"
#include "host_pcie/workload/fio/fio_job_file.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// Returns the mounts; none without a file system, or if no job has files. Throws UserError when the file system has no
/// room for the files, or when a job does something that is not modelled on a file system.
std::vector<FilesWorkload::Mount> mounts_for(const SsdConfig& config, const FioJobFile& file, const FioDevice& device);

/// Corrects a note about where the files lie. The job file's note is right only for files side by side on the drive.
std::string note_on_file_system(std::string note, const std::string& system);

}  // namespace ssdtlm
