// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio_job_stats.h"

namespace ssdtlm {

namespace {
template <std::size_t N>
void add_counts(std::array<std::uint64_t, N>& to, const std::array<std::uint64_t, N>& from) {
    for (std::size_t i = 0; i < N; ++i) to[i] += from[i];
}
}  // namespace

void FioJobStats::add(const FioJobStats& other) {
    for (std::size_t d = 0; d < directions.size(); ++d) {
        auto& to = directions[d];
        const auto& from = other.directions[d];
        to.bytes += from.bytes;
        to.ios += from.ios;
        to.slat.merge(from.slat);
        to.clat.merge(from.clat);
        to.lat.merge(from.lat);
        to.bw.add_parallel(from.bw);
        to.iops.add_parallel(from.iops);
        to.runtime = std::max(to.runtime, from.runtime);
    }
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
