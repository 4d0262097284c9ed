// SPDX-License-Identifier: Apache-2.0
#include "sim/interval_meter.h"

#include <algorithm>

namespace ssdtlm {

IntervalMeter::IntervalMeter(const SsdSystem& system, const LatencyStats& latency)
    : system_(system), latency_(latency), busy_(system.busy()), ftl_(system.device.controller.ftl->counters()) {}

IntervalFigures::Operation IntervalMeter::take(HostOp op) {
    Counts& last = last_[static_cast<std::size_t>(op)];
    IntervalFigures::Operation found;
    found.ios = latency_.all_count(op) - last.ios;
    found.bytes = latency_.all_bytes(op) - last.bytes;
    const Ps latency = latency_.all_latency(op) - last.latency;
    if (found.ios != 0) found.mean_us = static_cast<double>(latency.count()) * 1e-6 / static_cast<double>(found.ios);
    last.ios += found.ios;
    last.bytes += found.bytes;
    last.latency += latency;
    BucketCounts measured;
    for (unsigned b = 0; b < BucketCounts::kBuckets; ++b) {
        const std::uint64_t now = latency_.count(op, b);
        if (now != last.bucket[b]) measured.record(BucketCounts::lowest_of(b), now - last.bucket[b]);
        last.bucket[b] = now;
    }
    if (!measured.empty()) found.p99_us = static_cast<double>(measured.percentile(99)) * 1e-3;
    return found;
}

IntervalFigures IntervalMeter::take() {
    const SimTime epoch = system_.host.driver.epoch();
    const SsdSystem::BusySnapshot busy = system_.busy();
    const Ftl& map = *system_.device.controller.ftl;
    const FtlCounters& counters = map.counters();
    const FtlCounters ftl = counters - ftl_;
    IntervalFigures f;
    f.simulated = busy.at - epoch;
    f.length = busy.at - std::max(busy_.at, epoch);
    for (std::size_t op = 0; op < f.operations.size(); ++op) f.operations[op] = take(static_cast<HostOp>(op));
    f.resources = system_.use(busy_, busy);
    f.outstanding = system_.host.driver.outstanding();
    f.moved_pages = ftl.gc_pages;
    f.erased_blocks = ftl.blocks_erased;
    f.waf = WrittenBytes{f.operations[static_cast<std::size_t>(HostOp::write)].bytes,
                         ftl.pages_programmed() * system_.config.nand.geometry.page_bytes}
                .waf();
    if (system_.knows_blocks()) {
        std::uint64_t free = 0;
        for (std::uint32_t p = 0; p < map.geometry().planes(); ++p) free += map.free_blocks(PlaneId{p});
        f.free_blocks = free;
    }
    busy_ = busy;
    ftl_ = counters;
    return f;
}

}  // namespace ssdtlm
