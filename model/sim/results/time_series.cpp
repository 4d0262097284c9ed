// SPDX-License-Identifier: Apache-2.0
#include "sim/results/time_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "controller/slc/slc_feature.h"
#include "sim/results/written_bytes.h"

namespace ssdtlm {

namespace {

/// Formats a time in milliseconds, exact to the picosecond and without trailing zeros.
std::string milliseconds(Ps t) {
    constexpr std::int64_t kPerMs = 1'000'000'000;
    std::string text = fmt::format("{}.{:09}", t.count() / kPerMs, t.count() % kPerMs);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

}  // namespace

TimeSeries::TimeSeries(Agenda& agenda, Ps interval, LatencyStats& latency, const Ftl& ftl, std::ostream& out)
    : agenda_(agenda), interval_(interval), latency_(latency), ftl_(ftl), out_(out) {
    out_ << "start_ms,interval_ms,read_ios,write_ios,trim_ios,flush_ios,read_bytes,write_bytes,read_iops,write_iops,"
            "read_MBps,write_MBps,erased_blocks,moved_pages,host_units,flash_units,nand_bytes,waf,free_blocks,"
            "read_mean_us,read_max_us,write_mean_us,write_max_us,read_p99_us,write_p99_us,slc_free_blocks,map_hits,map_"
            "misses,phase\n";
}

bool TimeSeries::Counts::operator==(const Counts& o) const {
    return read_ios == o.read_ios && write_ios == o.write_ios && trim_ios == o.trim_ios && flush_ios == o.flush_ios &&
           erased_blocks == o.erased_blocks && host_units == o.host_units && flash_units == o.flash_units &&
           nand_bytes == o.nand_bytes && free_blocks == o.free_blocks && slc_free_blocks == o.slc_free_blocks;
}

TimeSeries::Counts TimeSeries::counts() const {
    Counts c;
    c.read_ios = latency_.all_count(HostOp::read);
    c.write_ios = latency_.all_count(HostOp::write);
    c.trim_ios = latency_.all_count(HostOp::trim);
    c.flush_ios = latency_.all_count(HostOp::flush);
    c.layout_ios = latency_.layout_count();
    c.unmeasured_ios = latency_.unmeasured_count();
    c.read_bytes = latency_.all_bytes(HostOp::read);
    c.write_bytes = latency_.all_bytes(HostOp::write);
    c.read_latency = latency_.all_latency(HostOp::read);
    c.write_latency = latency_.all_latency(HostOp::write);
    const FtlCounters& f = ftl_.counters();
    c.erased_blocks = f.blocks_erased;
    c.host_units = f.host_units;
    c.flash_units = f.flash_units(ftl_.geometry().units_per_page());
    c.nand_bytes = f.pages_programmed() * ftl_.geometry().page_bytes;
    c.moved_pages = f.gc_pages;
    if (!are_known_ || are_known_()) count_free_blocks(c);
    if (lookups_) c.lookups = lookups_();
    return c;
}

void TimeSeries::count_free_blocks(Counts& c) const {
    std::uint64_t free = 0;
    for (std::uint32_t p = 0; p < ftl_.geometry().planes(); ++p) free += ftl_.free_blocks(PlaneId{p});
    c.free_blocks = free;
    const auto* const slc = ftl_.feature<SlcFeature>();
    if (slc == nullptr) return;
    std::uint64_t slc_free = 0;
    for (std::uint32_t g = 0; g < ftl_.shape().groups(); ++g)
        slc_free += std::uint64_t{slc->cache().free_blocks(GroupId{g})} * ftl_.shape().planes();
    c.slc_free_blocks = slc_free;
}

void TimeSeries::start() {
    epoch_ = written_ = agenda_.now();
    running_ = true;
    last_ = counts();
    post_next_tick();
}

/// Posts the next tick at the first end of an interval that is not before the next entry of the agenda. Without an
/// entry nothing more happens, so there is no next tick.
void TimeSeries::post_next_tick() {
    const SimTime next = agenda_.next_time();
    if (next > kNever - 2 * interval_) return;
    const SimTime soonest = agenda_.now() + interval_;
    const auto ahead = std::max(next, soonest) - epoch_;
    agenda_.post(epoch_ + (ahead + interval_ - Ps{1}) / interval_ * interval_, Then::to<&TimeSeries::tick>(this));
}

void TimeSeries::tick() {
    if (!running_) return;
    if (look_) look_(static_cast<std::uint64_t>((agenda_.now() - epoch_) / interval_));
    close(agenda_.now() - interval_, agenda_.now());
    post_next_tick();
}

void TimeSeries::close(SimTime begin, SimTime end) {
    const Counts now = counts();
    if (now == last_) return;  // nothing has happened, so this interval joins the next row
    begin = std::max(begin, written_);
    if (begin > written_) row(written_, begin, last_, last_);
    row(begin, end, last_, now);
    written_ = end;
    last_ = now;
}

void TimeSeries::stop() {
    if (!running_) return;
    running_ = false;
    const SimTime end = agenda_.now();
    if (end == written_) return;
    close(epoch_ + (end - epoch_ - Ps{1}) / interval_ * interval_, end);
    if (end != written_) row(written_, end, last_, last_);
}

void TimeSeries::row(SimTime begin, SimTime end, const Counts& before, const Counts& after) {
    const double seconds = to_seconds(end - begin);
    const auto rate = [seconds](std::uint64_t a, std::uint64_t b) { return static_cast<double>(b - a) / seconds; };
    const WrittenBytes written{after.write_bytes - before.write_bytes, after.nand_bytes - before.nand_bytes};
    fmt::memory_buffer text;
    const auto to = std::back_inserter(text);
    fmt::format_to(to, "{},{},{},{},{},{},{},{},{:.1f},{:.1f},{:.3f},{:.3f},{},{},{},{},{},",
                   milliseconds(begin - epoch_), milliseconds(end - begin), after.read_ios - before.read_ios,
                   after.write_ios - before.write_ios, after.trim_ios - before.trim_ios,
                   after.flush_ios - before.flush_ios, after.read_bytes - before.read_bytes,
                   after.write_bytes - before.write_bytes, rate(before.read_ios, after.read_ios),
                   rate(before.write_ios, after.write_ios), rate(before.read_bytes, after.read_bytes) * 1e-6,
                   rate(before.write_bytes, after.write_bytes) * 1e-6, after.erased_blocks - before.erased_blocks,
                   after.moved_pages - before.moved_pages, after.host_units - before.host_units,
                   after.flash_units - before.flash_units, written.nand);
    if (const auto waf = written.waf()) fmt::format_to(to, "{:.4f}", *waf);
    fmt::format_to(to, ",");
    if (after.free_blocks) fmt::format_to(to, "{}", *after.free_blocks);
    const auto latency = [&](std::uint64_t ios, Ps sum, HostOp op) {
        if (ios == 0) return fmt::format_to(to, ",,");  // the longest latency belongs to a later row
        const Ps longest = latency_.take_longest(op);
        return fmt::format_to(to, ",{:.3f},{:.3f}", static_cast<double>(sum.count()) * 1e-6 / static_cast<double>(ios),
                              static_cast<double>(longest.count()) * 1e-6);
    };
    latency(after.read_ios - before.read_ios, after.read_latency - before.read_latency, HostOp::read);
    latency(after.write_ios - before.write_ios, after.write_latency - before.write_latency, HostOp::write);
    const auto p99 = [&](std::uint64_t ios, HostOp op) {
        fmt::format_to(to, ",");
        if (ios == 0) return;
        if (const auto us = latency_.take_p99(op)) fmt::format_to(to, "{:.3f}", *us);
    };
    p99(after.read_ios - before.read_ios, HostOp::read);
    p99(after.write_ios - before.write_ios, HostOp::write);
    fmt::format_to(to, ",");
    if (after.slc_free_blocks) fmt::format_to(to, "{}", *after.slc_free_blocks);
    if (lookups_)
        fmt::format_to(to, ",{},{}", after.lookups.hits - before.lookups.hits,
                       after.lookups.misses - before.lookups.misses);
    else
        fmt::format_to(to, ",,");
    const auto ios = [](const Counts& c) { return c.read_ios + c.write_ios + c.trim_ios + c.flush_ios; };
    if (ios(after) != ios(before))
        phase_ = after.layout_ios != before.layout_ios           ? "layout"
                 : after.unmeasured_ios != before.unmeasured_ios ? "ramp"
                                                                 : "run";
    fmt::format_to(to, ",{}\n", phase_);
    out_.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace ssdtlm
