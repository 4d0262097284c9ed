// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/trace/trace_report_job.h"

#include <cmath>
#include <map>
#include <string>

namespace ssdtlm {

namespace {

std::string size_text(std::uint64_t bytes) {
    if (bytes >= 1_MiB && bytes % 1_MiB == 0) return std::to_string(bytes >> 20) + "m";
    if (bytes >= 1_KiB && bytes % 1_KiB == 0) return std::to_string(bytes >> 10) + "k";
    return std::to_string(bytes);
}

std::uint64_t most_frequent_size(const Trace& trace) {
    std::map<std::uint32_t, std::uint64_t> counts;
    for (const auto& r : trace.records)
        if (r.op() == HostOp::read || r.op() == HostOp::write) ++counts[r.bytes];
    std::uint64_t best = 4096, most = 0;
    for (const auto& [bytes, count] : counts) {
        if (count > most) {
            most = count;
            best = bytes;
        }
    }
    return best;
}

std::string direction_text(const TraceStats& s) {
    const bool reads = s.records[static_cast<std::size_t>(HostOp::read)] > 0;
    const bool writes = s.records[static_cast<std::size_t>(HostOp::write)] > 0;
    const bool trims = s.records[static_cast<std::size_t>(HostOp::trim)] > 0;
    if (reads && writes) return "randrw";
    if (reads) return "randread";
    if (writes) return "randwrite";
    return trims ? "randtrim" : "randwrite";
}

}  // namespace

std::vector<FioReportJob> trace_report_jobs(const TraceWorkload& workload) {
    const Trace& trace = workload.trace();
    const TraceReplayOptions& o = workload.options();
    const std::string file = trace.path.substr(trace.path.find_last_of('/') + 1);
    const bool closed = o.mode == TraceReplayOptions::Mode::closed;
    FioReportJob job;
    job.name = file;
    job.group_reporting = true;
    job.rw = direction_text(trace.stats);
    job.bs = size_text(most_frequent_size(trace));
    job.iodepth = workload.depth(0);
    job.numjobs = o.jobs;
    job.options = {{"read_iolog", file}};
    if (o.loops != 1) job.options.emplace_back("loops", std::to_string(o.loops));
    if (closed) job.options.emplace_back("replay_no_stall", "1");
    // fio's scale is a percentage of the original speed of time, ours a factor on the stamps.
    if (!closed && o.time_scale != 1.0)
        job.options.emplace_back("replay_time_scale", std::to_string(std::lround(100.0 * o.time_scale)));
    return std::vector<FioReportJob>(o.jobs, job);
}

}  // namespace ssdtlm
