// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/report/fio_job_stats.h"

namespace ssdtlm {

namespace {
template <std::size_t N>
void add_counts(std::array<std::uint64_t, N>& to, const std::array<std::uint64_t, N>& from) {
    for (std::size_t i = 0; i < N; ++i) to[i] += from[i];
}
}  // namespace

void FioDirectionStats::add(const FioDirectionStats& other) {
    bytes += other.bytes;
    ios += other.ios;
    slat.merge(other.slat);
    clat.merge(other.clat);
    lat.merge(other.lat);
    bw.add_parallel(other.bw);
    iops.add_parallel(other.iops);
    runtime = std::max(runtime, other.runtime);
}

void FioJobStats::add(const FioJobStats& other) {
    for (std::size_t d = 0; d < directions.size(); ++d) directions[d].add(other.directions[d]);
    syncs += other.syncs;
    sync.merge(other.sync);
    add_counts(depth, other.depth);
    submits += other.submits;
    completes += other.completes;
    add_counts(ranges.ns, other.ranges.ns);
    add_counts(ranges.us, other.ranges.us);
    add_counts(ranges.ms, other.ranges.ms);
    failed += other.failed;
    total_runtime += other.total_runtime;
}

}  // namespace ssdtlm
