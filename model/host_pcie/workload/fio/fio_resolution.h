// SPDX-License-Identifier: Apache-2.0
// The steps from the text of a job file to jobs on a device.
#pragma once

#include <string>
#include <vector>

#include "host_pcie/workload/fio/fio_job_file.h"
#include "host_pcie/workload/fio/fio_layout.h"
#include "host_pcie/workload/fio/fio_options.h"

namespace ssdtlm {

/// The contents of one section.
struct FioSection {
    std::string name;
    std::string where;  ///< place of its header
    FioSettings settings;
};

/// File `index` of job clone `job` is file `file` of the layout.
struct FioFileUse {
    std::uint32_t job;
    std::size_t index;
    std::size_t file;
};

struct FioResolution {
    FioJobFile& file;
    const FioDevice& device;
    std::vector<Problem>& problems;
    FioLayout layout;
    std::vector<FioFileUse> uses;
};

/// Turns a section into its clones, appended to file.jobs (fio_resolve.cpp).
void resolve_fio_section(const FioSection& section, FioResolution& where);
/// Checks, after all sections, that no job of a flow waits for one that waits for its end.
void check_fio_flows(FioResolution& where);

/// Finds files or drive, region and pass size of one clone (fio_place.cpp). Files get their addresses in
/// place_fio_files(). Returns false after a problem.
bool place_fio_job(FioJob& job, const FioSection& section, FioResolution& where);
/// Decides, after all sections, where the files lie and which are written first.
void place_fio_files(FioResolution& where);

}  // namespace ssdtlm
