// SPDX-License-Identifier: Apache-2.0
// Makes a Workload from `--workload` or options of fio. It may be a fio job file, a block trace, or a generated
// workload. It also has the facts for the report in fio's format.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/report/all_problems.h"
#include "host_files/files_workload.h"
#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/fio/fio_workload.h"
#include "host_pcie/workload/generated_workload.h"
#include "host_pcie/workload/report/fio_report_job.h"
#include "sim/app/run_options.h"
#include "sim/config/config_loader.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// The amount of work of a workload; 0 if it is not known before the end.
struct WorkloadAmount {
    std::uint64_t ios = 0, bytes = 0;
};

struct WorkloadSource {
    std::unique_ptr<Workload> workload;
    std::vector<FioReportJob> report_jobs;
    FioOptionTexts global_options;
    std::string digest;  ///< of the workload without device and seed; 16 hexadecimal digits
    WorkloadAmount amount;
    std::vector<std::string> notes;
    std::vector<std::string> warnings;  ///< shown before the run
    /// The part of `workload` that is fio jobs, with the number of its first job.
    struct FioPart {
        FioWorkload* workload;
        std::uint32_t first_job;
    };
    std::vector<FioPart> fio;
    std::vector<GeneratedWorkload*> generated;
    std::vector<FilesWorkload::Mount> mounts;  ///< file systems between `workload` and the drive
    std::vector<std::string> flows;            ///< names of the flows, by tenant
};

/// Finds out what kind the workloads are. It finds those that come with the program by name, tells a fio job from a
/// block trace by its content, and reads standard input for "-". Throws UserError for options that belong to another
/// kind.
void recognise_workload(RunOptions& options);
/// Gives several flows queue pairs of their own, unless the device or --set says otherwise. Call it before all other
/// sources.
void add_flow_defaults(ConfigLoader& loader, const RunOptions& options);
/// The name of the workload in the results.
std::string workload_title(const RunOptions& options);

/// Opens the workload. Throws UserError with all problems of the file. `namespace_bytes`: capacity of the device.
WorkloadSource open_workload(const SsdConfig& config, const RunOptions& options, std::uint64_t namespace_bytes);

/// Opens the workload of precondition.workload. Its random numbers differ from those of the run, so the same job in
/// both places makes different I/O. The result is empty without such a workload, and for a saved drive. Throws
/// UserError as open_workload() does, and for a workload that only ends by time.
WorkloadSource open_precondition_workload(const SsdConfig& config, std::uint64_t namespace_bytes);

/// Opens the workload of a run, and the workload that preconditions the drive. Their problems are added to `problems`.
/// Without a workload in `options`, `played` is empty.
struct WorkloadSources {
    WorkloadSources(const SsdConfig& config, const RunOptions& options, AllProblems& problems);
    WorkloadSource played, before;
};

/// Throws UserError with the mistakes that the workload has on any device. It is for a run whose device cannot be used.
/// It does not check a trace, because it would have to read all of it.
void check_workload_alone(const RunOptions& options);

/// Returns a path from which the file can be read several times. For a fifo it is the path of a copy, which exists
/// until the program ends.
std::string readable_twice(const std::string& path);

}  // namespace ssdtlm
