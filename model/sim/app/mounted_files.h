// SPDX-License-Identifier: Apache-2.0
// Turns the files of a fio job file into a file system on the drive, where files.system names one.
#pragma once

#include <string>
#include <vector>

#include "host_files/files_workload.h"
#include "host_pcie/workload/fio/fio_job_file.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// Returns the mounts. They are empty without a file system, or where no job has files. Throws UserError when the file
/// system has no room for the files, or a job does what is not modelled on one.
std::vector<FilesWorkload::Mount> mounts_for(const SsdConfig& config, const FioJobFile& file, const FioDevice& device);

/// Corrects a note of a job file on where its files lie, which is only true of files side by side on the drive.
std::string note_on_file_system(std::string note, const std::string& system);

}  // namespace ssdtlm
