// SPDX-License-Identifier: Apache-2.0
#include "sim/app/workload_source.h"

#include <fmt/format.h>

#include "host_pcie/workload/fio_job_file.h"
#include "host_pcie/workload/fio_workload.h"
#include "host_pcie/workload/trace_report_job.h"
#include "host_pcie/workload/trace_workload.h"

namespace ssdtlm {

namespace {

WorkloadSource open_fio(const SsdConfig& config, const RunOptions& options, std::uint64_t namespace_bytes) {
    FioDevice device;
    device.capacity = namespace_bytes;
    device.lba_bytes = config.nvme.lba_bytes;
    device.seed = config.run.seed;
    const FioJobFile file = load_fio_job_file(options.workload, device);
    WorkloadSource source;
    source.report_jobs = file.report_jobs();
    source.global_options = file.global_options;
    source.notes = file.notes;
    source.workload = std::make_unique<FioWorkload>(file, device);
    return source;
}

WorkloadSource open_trace(const SsdConfig& config, const RunOptions& options, std::uint64_t namespace_bytes) {
    TraceOptions t = options.trace;
    t.lba_bytes = config.nvme.lba_bytes;
    t.device_bytes = namespace_bytes;
    auto trace = std::make_shared<const Trace>(read_trace(t));
    WorkloadSource source;
    source.notes.push_back(fmt::format("{}: {} format, {} lines, {} taken, {:.3f} s", trace->path, trace->format,
                                       trace->stats.lines, trace->stats.taken, to_seconds(trace->stats.duration)));
    for (auto& sentence : trace->stats.sentences()) source.notes.push_back(std::move(sentence));
    auto workload = std::make_unique<TraceWorkload>(trace, options.replay);
    source.report_jobs = trace_report_jobs(*workload);
    source.workload = std::move(workload);
    return source;
}

}  // namespace

void check_workload_alone(const RunOptions& options) {
    if (options.workload_kind != RunOptions::WorkloadKind::fio) return;
    FioDevice any;
    any.capacity = std::uint64_t{1} << 50;  // more than any device has, so that no job is too large
    any.lba_bytes = 512;                    // the smallest, so that no block size is refused
    load_fio_job_file(options.workload, any);
}

WorkloadSource open_workload(const SsdConfig& config, const RunOptions& options, std::uint64_t namespace_bytes) {
    return options.workload_kind == RunOptions::WorkloadKind::fio ? open_fio(config, options, namespace_bytes)
                                                                  : open_trace(config, options, namespace_bytes);
}

}  // namespace ssdtlm
