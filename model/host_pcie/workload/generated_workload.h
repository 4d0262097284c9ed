// SPDX-License-Identifier: Apache-2.0
// Workloads that the program generates, by name: `ssdtlm run DEVICE -w NAME`, with the parameters of [workload.NAME]. A
// workload that fio can describe is a job file instead (configs/workload). To add a workload, write one file with a
// class and an object that registers it (common/config/policy_registry.h), and add it to the build list.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/policy_registry.h"
#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/report/fio_report_job.h"

namespace ssdtlm {

class GeneratedWorkload : public Workload {
public:
    /// The text of each job in fio.json, in the order of HostRequest::job.
    virtual std::vector<FioReportJob> report_jobs() const = 0;
    /// Sentences about the result, after the run.
    virtual std::vector<std::string> outcomes() const = 0;
};

/// The drive for which a generator makes its workload.
struct GeneratorSetup {
    std::uint64_t capacity = 0;  ///< bytes of the namespace
    std::uint32_t lba_bytes = 512;
    std::uint64_t seed = 0;
};
/// All generators that are linked into the program. Makers throw UserError with all reasons why the device cannot carry
/// the workload.
using WorkloadGenerators = PolicyRegistry<GeneratedWorkload, GeneratorSetup>;

/// It is part of the configuration, since its parameters are set as those of the device are.
struct WorkloadConfig {
    PolicyTable generators;
};

}  // namespace ssdtlm
