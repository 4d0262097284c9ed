// SPDX-License-Identifier: Apache-2.0
// Reads a native fio job file (fio 3.33): sections, [global] inheritance, comments, include, ${ENVIRONMENT} variables;
// or fio's options on a command line. All problems of the jobs on this device are reported together.
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
    std::string path;  ///< names the text in messages and anchors include
    std::string text;
    std::vector<FioArgument> arguments;  ///< before the file; up to the first --name they are defaults of all jobs
    bool arguments_last = false;         ///< instead: at the end of each job, in place of what it says
    std::vector<std::string> sections;   ///< --section: only these, and [global]; empty: all
};

struct FioJobFile {
    std::string path;
    std::vector<FioJob> jobs;         ///< one per clone, in fio's order; jobs[i].index == i
    std::vector<FioFilePlace> files;  ///< by address
    std::vector<FioFill> fills;       ///< files that are written before the jobs start
    FioOptionTexts global_options;
    /// Digest of the sections taken, in their order, with options under their first names, includes and variables
    /// resolved. Comments and the device do not count.
    std::string digest;
    std::vector<std::string> notes;     ///< what the user should know: ignored options, where files lie
    std::vector<std::string> warnings;  ///< what is probably not meant: capped depths, KiB of 1000 bytes

    /// Facts for the fio-shaped report, one entry per clone.
    std::vector<FioReportJob> report_jobs() const;
};

/// Reads the jobs. Throws UserError with every problem.
FioJobFile parse_fio_jobs(const FioJobText& jobs, const FioDevice& device);
FioJobFile load_fio_job_file(const std::string& path, const FioDevice& device);
/// As parse_fio_jobs(), for text in memory.
FioJobFile parse_fio_job_text(const std::string& text, const std::string& path, const FioDevice& device);

/// True: a text that begins like this is a fio job file. Its first line that says anything is a section, an include or
/// a fio option with a value.
bool looks_like_fio_jobs(std::string_view begin);

}  // namespace ssdtlm
