// SPDX-License-Identifier: Apache-2.0
// Reads a job file of fio 3.33, with sections, inheritance from [global], comments, include, and ${ENVIRONMENT}
// variables. It also reads options of fio on a command line. All problems of the jobs on this device are reported
// together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host_pcie/workload/fio/fio_job.h"
#include "host_pcie/workload/fio/fio_layout.h"

namespace ssdtlm {

/// One "--name=value" of a command line, without the dashes.
struct FioArgument {
    std::string name;
    std::optional<std::string> value;
};

/// The source of jobs: a file, options, or both.
struct FioJobText {
    std::string path;  ///< names the text in messages; include is relative to it
    std::string text;
    std::vector<FioArgument> arguments;  ///< come before the file; up to the first --name they are defaults
    bool arguments_last = false;         ///< they come at the end of each job instead, and replace its options
    std::vector<std::string> sections;   ///< --section: only these, and [global]; empty: all
};

struct FioJobFile {
    std::string path;
    std::vector<FioJob> jobs;         ///< one per clone, in fio's order; jobs[i].index == i
    std::vector<FioFilePlace> files;  ///< by address
    std::vector<FioFill> fills;       ///< files that are written before the jobs start
    FioOptionTexts global_options;
    /// The digest of the used sections in their order. Options have their first names, and includes and variables are
    /// resolved. Comments and the device do not count.
    std::string digest;
    std::vector<std::string> notes;     ///< such as ignored options, and where files lie
    std::vector<std::string> warnings;  ///< such as capped depths, and KiB of 1000 bytes

    /// Facts for the fio-shaped report, one entry per clone.
    std::vector<FioReportJob> report_jobs() const;
};

/// Reads the jobs. Throws UserError with every problem.
FioJobFile parse_fio_jobs(const FioJobText& jobs, const FioDevice& device);
FioJobFile load_fio_job_file(const std::string& path, const FioDevice& device);
/// Reads jobs from a text in memory.
FioJobFile parse_fio_job_text(const std::string& text, const std::string& path, const FioDevice& device);

/// True: a text with this beginning is a fio job file. Its first line that is neither empty nor a comment is a section,
/// an include, or an option of fio with a value.
bool looks_like_fio_jobs(std::string_view begin);

}  // namespace ssdtlm
