// SPDX-License-Identifier: Apache-2.0
#include "sim/results/time_series.h"

#include <fmt/ostream.h>

namespace ssdtlm {

TimeSeries::Sample TimeSeries::totals() const {
    Sample s;
    s.at = SimTime{agenda_.now() - epoch_};
    s.read_ios = latency_.all_count(HostOp::read);
    s.write_ios = latency_.all_count(HostOp::write);
    s.read_bytes = latency_.all_bytes(HostOp::read);
    s.write_bytes = latency_.all_bytes(HostOp::write);
    const FtlCounters& c = ftl_.counters();
    s.erased_blocks = c.blocks_erased;
    s.moved_pages = c.gc_pages;
    s.host_pages = c.host_pages;
    s.host_units = c.host_units;
    for (std::uint32_t p = 0; p < ftl_.geometry().planes(); ++p) s.free_blocks += ftl_.free_blocks(PlaneId{p});
    return s;
}

void TimeSeries::start() {
    epoch_ = agenda_.now();
    running_ = true;
    last_ = totals();
    agenda_.post<&TimeSeries::tick>(agenda_.now() + interval_, this);
}

void TimeSeries::tick(std::uint64_t) {
    if (!running_) return;
    take();
    agenda_.post<&TimeSeries::tick>(agenda_.now() + interval_, this);
}

void TimeSeries::take() {
    const Sample now = totals();
    Sample d = now;
    d.read_ios -= last_.read_ios;
    d.write_ios -= last_.write_ios;
    d.read_bytes -= last_.read_bytes;
    d.write_bytes -= last_.write_bytes;
    d.erased_blocks -= last_.erased_blocks;
    d.moved_pages -= last_.moved_pages;
    d.host_pages -= last_.host_pages;
    d.host_units -= last_.host_units;
    samples_.push_back(d);
    last_ = now;
}

void TimeSeries::stop() {
    if (!running_) return;
    running_ = false;
    if (SimTime{agenda_.now() - epoch_} > last_.at) take();
}

void TimeSeries::write_csv(std::ostream& out) const {
    fmt::print(out,
               "time_ms,interval_ms,read_iops,write_iops,read_MBps,write_MBps,erased_blocks,moved_pages,host_pages,waf,"
               "free_blocks\n");
    SimTime before{};
    const double units_per_page = ftl_.geometry().units_per_page();
    for (const Sample& s : samples_) {
        const double seconds = to_seconds(s.at - before);
        const double host = static_cast<double>(s.host_units) / units_per_page;
        const double waf = host == 0 ? 0.0 : static_cast<double>(s.host_pages + s.moved_pages) / host;
        fmt::print(out, "{:.6f},{:.6f},{:.1f},{:.1f},{:.3f},{:.3f},{},{},{},{:.4f},{}\n",
                   to_seconds(s.at.time_since_epoch()) * 1e3, seconds * 1e3, static_cast<double>(s.read_ios) / seconds,
                   static_cast<double>(s.write_ios) / seconds, static_cast<double>(s.read_bytes) / seconds * 1e-6,
                   static_cast<double>(s.write_bytes) / seconds * 1e-6, s.erased_blocks, s.moved_pages, s.host_pages, waf,
                   s.free_blocks);
        before = s.at;
    }
}

}  // namespace ssdtlm
