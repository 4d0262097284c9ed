// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/report/fio_report.h"

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "common/report/all_problems.h"
#include "common/report/error.h"
#include "host_pcie/workload/report/fio_json.h"

namespace ssdtlm {

namespace {
constexpr std::int64_t kPsPerMs = 1'000'000'000;

std::uint64_t whole_ns(Ps d) {
    return static_cast<std::uint64_t>(d.count()) / 1'000;
}
std::uint64_t whole_ms(Ps d) {
    return static_cast<std::uint64_t>(d.count() / kPsPerMs);
}
}  // namespace

struct FioReport::Job {
    FioReportJob info;
    FioJobStats stats;
    std::uint32_t under_way = 0;
    bool started = false;    // first issue seen
    bool measuring = false;  // first measured issue seen
    SimTime start{};         // end of the job's ramp, which is time 0 of its logs
    SimTime measured_start{};
    SimTime measured_end{};
    Ps window{0};
    SimTime window_end = kNever;
    bool runtime_known = false;
    std::unique_ptr<FioLog> bw_log, iops_log, slat_log, clat_log, lat_log;
    bool has_logs = false;  // one test per I/O instead of five
};

struct FioReport::Entry {
    const Job* first;
    const Job* last;
    FioJobStats stats;
};

FioReport::FioReport(FioReportOptions options, std::vector<FioReportJob> jobs) : options_(std::move(options)) {
    std::uint32_t number = 0;
    const auto open = [&](const FioReportJob& info, const std::string& prefix, const char* kind) {
        if (prefix.empty()) return std::unique_ptr<FioLog>{};
        const std::string name = prefix + "_" + kind + "." + std::to_string(number) + ".log";
        return std::make_unique<FioLog>(prefix[0] == '/' ? name : options_.log_directory + "/" + name,
                                        info.log_avg_msec, info.log_offset);
    };
    jobs_.reserve(jobs.size());
    for (auto& info : jobs) {
        ++number;
        std::sort(info.percentiles.begin(), info.percentiles.end());
        Job job;
        job.bw_log = open(info, info.bw_log, "bw");
        job.iops_log = open(info, info.iops_log, "iops");
        job.slat_log = open(info, info.lat_log, "slat");
        job.clat_log = open(info, info.lat_log, "clat");
        job.lat_log = open(info, info.lat_log, "lat");
        job.has_logs = job.bw_log || job.iops_log || job.clat_log;
        std::uint32_t window = std::max(info.bw_avg_msec, 1u);
        // fio takes its samples at the interval of the log that shows them.
        if ((job.bw_log || job.iops_log) && info.log_avg_msec != 0) window = std::min(window, info.log_avg_msec);
        job.window = Ps{window * kPsPerMs};
        job.info = std::move(info);
        jobs_.push_back(std::move(job));
    }
}

FioReport::~FioReport() = default;

void FioReport::on_issue(const HostRequest& request, SimTime now, bool measured) {
    Job& job = jobs_[request.job];
    if (!job.started && !request.preparation) {
        job.started = true;
        job.start = now + job.info.ramp;
    }
    if (measured && !job.measuring) begin_measuring(job, now);
    ++job.under_way;
    if (under_way_++ == 0) busy_since_ = now;
    if (measured) {
        ++job.stats.submits;
        if (request.op != HostOp::flush) job.stats.count_depth(job.under_way);
    }
}

/// Begins the measurement. The windows lie on the grid of the logs. After a reset of the statistics, the first window
/// is the one with `now`.
void FioReport::begin_measuring(Job& job, SimTime now) {
    job.measuring = true;
    job.measured_start = job.measured_end = now;
    const std::int64_t passed = now > job.start ? (now - job.start) / job.window : 0;
    job.window_end = job.start + job.window * (passed + 1);
}

void FioReport::on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime completed,
                            bool measured, bool ok) {
    Job& job = jobs_[request.job];
    --job.under_way;
    if (--under_way_ == 0) busy_ += completed - busy_since_;
    const auto op = static_cast<std::size_t>(request.op);
    ++disk_ios_[op];
    disk_ticks_[op] += completed - submitted;
    if (!ok) ++job.stats.failed;
    if (!measured) return;
    if (!job.measuring) begin_measuring(job, completed);  // issued before the measurement began
    if (__builtin_expect(completed >= job.window_end, 0)) close_windows(job, completed);
    job.measured_end = completed;
    ++job.stats.completes;
    record(job, request, issued, submitted, completed);
}

void FioReport::record(Job& job, const HostRequest& r, SimTime issued, SimTime submitted, SimTime completed) {
    const std::uint64_t clat = whole_ns(completed - submitted);
    if (r.op == HostOp::flush) {
        if (r.tag == kEndFsync) return;
        job.stats.syncs += r.tag != kFdatasync;
        job.stats.sync.record(clat);
        return;
    }
    const std::uint64_t slat = whole_ns(submitted - issued);
    const std::uint64_t lat = whole_ns(completed - issued);
    FioDirectionStats& d = job.stats.directions[static_cast<std::size_t>(r.op)];
    d.bytes += r.bytes;
    ++d.ios;
    d.window_bytes += r.bytes;
    ++d.window_ios;
    d.slat.record(slat);
    d.clat.record(clat);
    d.lat.record(lat);
    job.stats.ranges.count(clat);
    if (__builtin_expect(job.has_logs, 0)) write_logs(job, r, completed, slat, clat, lat);
}

void FioReport::write_logs(Job& job, const HostRequest& r, SimTime now, std::uint64_t slat, std::uint64_t clat,
                           std::uint64_t lat) {
    const std::uint64_t ms = whole_ms(now - job.start);
    if (job.clat_log) {
        job.slat_log->add(ms, slat, r.op, r.bytes, r.offset);
        job.clat_log->add(ms, clat, r.op, r.bytes, r.offset);
        job.lat_log->add(ms, lat, r.op, r.bytes, r.offset);
    }
    // Without averaging fio logs each I/O's own rate: bytes per completion latency (kB/s), and "1" for IOPS.
    if (job.bw_log && !job.bw_log->averaging())
        job.bw_log->add(ms, clat == 0 ? 0 : r.bytes * std::uint64_t{1'000'000} / clat, r.op, r.bytes, r.offset);
    if (job.iops_log && !job.iops_log->averaging()) job.iops_log->add(ms, 1, r.op, r.bytes, r.offset);
}

void FioReport::close_windows(Job& job, SimTime now) {
    // All I/O since the last call lies in the first of the windows that have passed. The other windows had none.
    const auto window_ps = static_cast<std::uint64_t>(job.window.count());
    const std::uint64_t ms = whole_ms(job.window_end - job.start);
    for (HostOp op : {HostOp::read, HostOp::write, HostOp::trim}) {
        FioDirectionStats& d = job.stats.directions[static_cast<std::size_t>(op)];
        if (d.window_ios == 0) continue;
        const std::uint64_t window_ms = window_ps / kPsPerMs;
        const std::uint64_t bw = d.window_bytes * 1'000 / window_ms / 1'024;
        const std::uint64_t iops = d.window_ios * 1'000 / window_ms;
        d.bw.add(bw);
        d.iops.add(iops);
        if (job.bw_log && job.bw_log->averaging()) job.bw_log->add(ms, bw, op, 0, 0);
        if (job.iops_log && job.iops_log->averaging()) job.iops_log->add(ms, iops, op, 0, 0);
        d.window_bytes = d.window_ios = 0;
    }
    const std::int64_t passed = (now - job.window_end) / job.window;
    job.window_end += job.window * (passed + 1);
}

void FioReport::set_runtime(std::uint32_t job, Ps runtime) {
    jobs_.at(job).stats.total_runtime = runtime;
    jobs_[job].runtime_known = true;
}

void FioReport::reset(std::uint32_t job) {
    Job& j = jobs_.at(job);
    j.stats = {};
    j.measuring = false;
    j.window_end = kNever;
}

void FioReport::set_latency_depth(std::uint32_t job, std::uint32_t depth) {
    jobs_.at(job).info.latency_depth = depth;
}

void FioReport::set_steady_state(std::uint32_t job, const FioSteadyState& state) {
    jobs_.at(job).info.steady = state;
}

void FioReport::finish(SimTime end) {
    end_ = end;
    if (under_way_ > 0) {
        busy_ += end - busy_since_;
        busy_since_ = end;
    }
    AllProblems problems;
    for (Job& job : jobs_) {
        Ps& runtime = job.stats.total_runtime;
        if (!job.runtime_known) runtime = job.measured_end - job.measured_start;
        if (job.measuring && job.runtime_known && job.window_end <= job.start + runtime)
            close_windows(job, job.window_end);
        for (auto& d : job.stats.directions) {
            if (d.ios == 0) continue;
            d.runtime = runtime;
            if (d.bw.count() != 0 || runtime == Ps{}) continue;
            const double seconds = to_seconds(runtime);
            d.bw.add(static_cast<std::uint64_t>(static_cast<double>(d.bytes) / seconds / 1024.0));
            d.iops.add(static_cast<std::uint64_t>(static_cast<double>(d.ios) / seconds));
        }
        const std::uint64_t ms = job.started ? whole_ms(job.measured_end - job.start) : 0;
        for (auto* log : {&job.bw_log, &job.iops_log, &job.slat_log, &job.clat_log, &job.lat_log})
            if (*log) problems.of([&, log] { (*log)->finish(ms); });
    }
    if (problems.any()) throw OutputError(problems.all());
}

std::vector<std::string> FioReport::log_files() const {
    std::vector<std::string> files;
    for (const Job& job : jobs_)
        for (const auto* log : {&job.bw_log, &job.iops_log, &job.slat_log, &job.clat_log, &job.lat_log})
            if (*log) files.push_back((*log)->path());
    return files;
}

std::vector<FioReport::Entry> FioReport::entries() const {
    std::vector<Entry> list;
    for (const Job& job : jobs_) {
        const bool joins = !list.empty() && job.info.group_reporting && list.back().last->info.group == job.info.group;
        if (!joins) list.push_back(Entry{&job, &job, {}});
        list.back().last = &job;
        list.back().stats.add(job.stats);
    }
    return list;
}

nlohmann::ordered_json FioReport::disk_util() const {
    const auto ticks = [&](HostOp op) { return whole_ms(disk_ticks_[static_cast<std::size_t>(op)]); };
    const double total = static_cast<double>(end_.time_since_epoch().count());
    nlohmann::ordered_json d;
    d["name"] = options_.disk_name;
    d["read_ios"] = disk_ios_[0];
    d["write_ios"] = disk_ios_[1];
    d["read_merges"] = 0;
    d["write_merges"] = 0;
    d["read_ticks"] = ticks(HostOp::read);
    d["write_ticks"] = ticks(HostOp::write);
    d["in_queue"] = ticks(HostOp::read) + ticks(HostOp::write) + ticks(HostOp::trim) + ticks(HostOp::flush);
    d["util"] = total > 0 ? std::min(100.0, 100.0 * static_cast<double>(busy_.count()) / total) : 0.0;
    return d;
}

nlohmann::ordered_json FioReport::json() const {
    nlohmann::ordered_json root;
    const std::int64_t seconds = options_.wall_clock_ms / 1000;
    const std::time_t t = static_cast<std::time_t>(seconds);
    std::tm utc{};
    gmtime_r(&t, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &utc);
    root["fio version"] = "fio-3.33";
    root["timestamp"] = seconds;
    root["timestamp_ms"] = options_.wall_clock_ms;
    root["time"] = text;
    if (!options_.global_options.empty()) root["global options"] = fio_option_json(options_.global_options);

    const std::vector<Entry> list = entries();
    std::vector<FioGroupRates> groups;
    for (const Entry& e : list) {
        if (groups.size() <= e.first->info.group) groups.resize(e.first->info.group + 1);
        groups[e.first->info.group].add(e.stats);
    }
    const auto elapsed = static_cast<std::uint64_t>(to_seconds(end_.time_since_epoch())) + 1;  // as fio: begun seconds
    root["jobs"] = nlohmann::ordered_json::array();
    for (const Entry& e : list)
        root["jobs"].push_back(fio_job_json(e.first->info, e.last->info, e.stats, groups[e.first->info.group], elapsed,
                                            options_.json_plus));
    root["disk_util"] = nlohmann::ordered_json::array({disk_util()});
    return root;
}

std::string FioReport::text() const {
    return fio_text(json());
}

}  // namespace ssdtlm
