// SPDX-License-Identifier: Apache-2.0
// Reads a native fio job file (fio 3.33): sections, [global] inheritance, comments, include, ${ENVIRONMENT} variables.
// All problems of the file and of its jobs on this device are reported together.
#pragma once

#include <string>
#include <vector>

#include "host_pcie/workload/fio_job.h"
#include "host_pcie/workload/fio_options.h"

namespace ssdtlm {

struct FioJobFile {
    std::string path;
    std::vector<FioJob> jobs;  ///< one per clone, in fio's order; jobs[i].index == i
    FioOptionTexts global_options;
    std::vector<std::string> notes;  ///< what the user should know: ignored options, capped depths

    /// What the fio-shaped report needs, one per clone.
    std::vector<FioReportJob> report_jobs() const;
};

/// Throws UserError with every problem.
FioJobFile load_fio_job_file(const std::string& path, const FioDevice& device);
/// The same for text in memory; `path` names it in messages and anchors include.
FioJobFile parse_fio_job_text(const std::string& text, const std::string& path, const FioDevice& device);

/// Turns what one section says into its clones, appended to `jobs` (fio_resolve.cpp).
struct FioSection {
    std::string name;
    std::string where;  ///< of its header
    FioSettings settings;
};
void resolve_fio_section(const FioSection& section, const FioDevice& device, std::vector<FioJob>& jobs,
                         std::vector<std::string>& notes, std::vector<Problem>& problems);

}  // namespace ssdtlm
