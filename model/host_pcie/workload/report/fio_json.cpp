// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/report/fio_json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

namespace ssdtlm {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::array<const char*, 7> kDepthLevels = {"1", "2", "4", "8", "16", "32", ">=64"};
constexpr std::array<const char*, 7> kBatchSizes = {"0", "4", "8", "16", "32", "64", ">=64"};
constexpr std::array<const char*, 12> kRanges = {"2",   "4",   "10",  "20",   "50",   "100",
                                                 "250", "500", "750", "1000", "2000", ">=2000"};
constexpr std::uint32_t kIoError = 5;  // EIO

std::uint64_t runtime_ms(Ps runtime) {
    return static_cast<std::uint64_t>((runtime.count() + 500'000'000) / 1'000'000'000);
}

/// A percentage of at least `least`, because fio never shows 0 for a class that has occurred.
double percent(std::uint64_t part, std::uint64_t whole, double least) {
    if (whole == 0 || part == 0) return 0.0;
    return std::max(least, 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string six_decimals(double v) {
    char text[64];
    std::snprintf(text, sizeof text, "%f", v);
    return text;
}

Json latency(const Histogram& h, const FioReportJob& job, bool percentiles, bool bins) {
    Json j;
    j["min"] = h.min();
    j["max"] = h.max();
    j["mean"] = h.mean();
    j["stddev"] = h.stddev();
    j["N"] = h.count();
    if (!percentiles || h.empty()) return j;
    const auto values = h.percentiles(job.percentiles);
    Json& p = j["percentile"] = Json::object();
    for (std::size_t i = 0; i < values.size(); ++i) p[six_decimals(job.percentiles[i])] = values[i];
    if (!bins) return j;
    Json& b = j["bins"] = Json::object();
    h.for_each([&](std::uint64_t key, std::uint64_t count) { b[std::to_string(key)] = count; });
    return j;
}

Json direction(const FioDirectionStats& d, const FioReportJob& job, double group_rate, bool bins) {
    // fio divides by whole milliseconds. A simulated run may be shorter than one, so these rates use the exact time.
    const double seconds = to_seconds(d.runtime);
    const bool any = d.ios > 0 && seconds > 0;
    const auto rate = any ? static_cast<std::uint64_t>(static_cast<double>(d.bytes) / seconds) : 0;
    Json j;
    j["io_bytes"] = d.bytes;
    j["io_kbytes"] = d.bytes >> 10;
    j["bw_bytes"] = rate;
    j["bw"] = rate / 1024;
    j["iops"] = any ? static_cast<double>(d.ios) / seconds : 0.0;
    j["runtime"] = any ? runtime_ms(d.runtime) : 0;
    j["total_ios"] = d.ios;
    j["short_ios"] = 0;
    j["drop_ios"] = 0;
    j["slat_ns"] = latency(d.slat, job, job.slat_percentiles, bins);
    j["clat_ns"] = latency(d.clat, job, job.clat_percentiles, bins);
    j["lat_ns"] = latency(d.lat, job, job.lat_percentiles, bins);
    double share = 0.0;
    if (d.bw.count() > 0)
        share = group_rate > 1024.0 ? std::min(100.0, 100.0 * std::trunc(d.bw.mean()) / (group_rate / 1024.0)) : 100.0;
    j["bw_min"] = d.bw.min();
    j["bw_max"] = d.bw.max();
    j["bw_agg"] = share;
    j["bw_mean"] = d.bw.mean();
    j["bw_dev"] = d.bw.stddev();
    j["bw_samples"] = d.bw.count();
    j["iops_min"] = d.iops.min();
    j["iops_max"] = d.iops.max();
    j["iops_mean"] = d.iops.mean();
    j["iops_stddev"] = d.iops.stddev();
    j["iops_samples"] = d.iops.count();
    return j;
}

Json batches(std::uint64_t of_one) {
    // Every submission and every reaping is of one command, which fio files under "4" (1 to 4).
    Json j;
    for (std::size_t i = 0; i < kBatchSizes.size(); ++i) j[kBatchSizes[i]] = i == 1 && of_one > 0 ? 100.0 : 0.0;
    return j;
}

template <std::size_t N>
Json ranges(const std::array<std::uint64_t, N>& counts, std::uint64_t total) {
    Json j;
    for (std::size_t i = 0; i < N; ++i) j[kRanges[i]] = percent(counts[i], total, 0.01);
    return j;
}

Json job_options(const FioReportJob& job) {
    Json j = fio_option_json(job.options);
    const auto need = [&](const char* name, const char* alias, const std::string& value) {
        if (!j.contains(name) && !j.contains(alias)) j[name] = value;
    };
    need("rw", "readwrite", job.rw);
    need("bs", "blocksize", job.bs);
    need("iodepth", "iodepth", std::to_string(job.iodepth));
    need("numjobs", "numjobs", std::to_string(job.numjobs));
    return j;
}

/// Prints a scalar. The user may have typed names with bytes that are not UTF-8, which must not end the report.
std::string json_text(const Json& scalar) {
    return scalar.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void print(const Json& j, std::string& out, std::size_t indent) {
    if (j.is_object() || j.is_array()) {
        if (j.empty()) {
            out += j.is_object() ? "{}" : "[]";
            return;
        }
        out += j.is_object() ? "{\n" : "[\n";
        bool first = true;
        for (const auto& [key, value] : j.items()) {
            if (!first) out += ",\n";
            first = false;
            out.append(indent + 2, ' ');
            if (j.is_object()) out += json_text(key) + " : ";
            print(value, out, indent + 2);
        }
        out += '\n';
        out.append(indent, ' ');
        out += j.is_object() ? '}' : ']';
    } else if (j.is_number_float()) {
        out += six_decimals(j.get<double>());
    } else {
        out += json_text(j);
    }
}

}  // namespace

void FioGroupRates::add(const FioJobStats& stats) {
    for (std::size_t d = 0; d < 3; ++d) {
        bytes[d] += stats.directions[d].bytes;
        runtime[d] = std::max(runtime[d], stats.directions[d].runtime);
    }
}

double FioGroupRates::bytes_per_second(std::size_t d) const {
    return runtime[d].count() > 0 ? static_cast<double>(bytes[d]) / to_seconds(runtime[d]) : 0.0;
}

Json fio_option_json(const FioOptionTexts& options) {
    Json j = Json::object();
    for (const auto& [name, value] : options) j[name] = value;
    return j;
}

namespace {

/// Prints a steady state. As in fio, the window always has `duration` values; they are 0 for seconds that have not
/// come.
Json steady_state(const FioSteadyState& s) {
    const auto window = [&s](std::vector<std::uint64_t> values) {
        values.resize(s.criterion().seconds);
        return values;
    };
    const std::vector<std::uint64_t> iops = window(s.iops());
    const std::vector<std::uint64_t> bw = window(s.bandwidth());
    const auto mean = [](const std::vector<std::uint64_t>& v) {
        return std::accumulate(v.begin(), v.end(), std::uint64_t{0}) / v.size();
    };
    Json j;
    j["ss"] = s.criterion().text;
    j["duration"] = s.criterion().seconds;
    j["attained"] = s.attained() ? 1 : 0;
    j["criterion"] = std::to_string(s.value()) + (s.criterion().percent ? "%" : "");
    j["max_deviation"] = s.deviation();
    j["slope"] = s.slope();
    j["data"]["bw_mean"] = mean(bw);
    j["data"]["iops_mean"] = mean(iops);
    j["data"]["iops"] = iops;
    j["data"]["bw"] = bw;
    return j;
}

}  // namespace

Json fio_job_json(const FioReportJob& first, const FioReportJob& last, const FioJobStats& s, const FioGroupRates& group,
                  std::uint64_t elapsed_s, bool json_plus) {
    std::uint64_t total = 0, begun = 0;
    for (const auto& d : s.directions) total += d.ios;
    for (auto n : s.depth) begun += n;
    Json j;
    j["jobname"] = first.name;
    j["groupid"] = first.group;
    j["error"] = s.failed > 0 ? kIoError : 0;
    j["eta"] = 0;
    j["elapsed"] = elapsed_s;
    j["job options"] = job_options(last);
    constexpr std::array<const char*, 3> names = {"read", "write", "trim"};
    if (last.unified != FioUnified::mixed) {
        for (std::size_t d = 0; d < names.size(); ++d)
            j[names[d]] = direction(s.directions[d], last, group.bytes_per_second(d), json_plus);
        j["sync"]["total_ios"] = s.syncs;
        j["sync"]["lat_ns"] = latency(s.sync, last, last.lat_percentiles || last.clat_percentiles, json_plus);
    }
    if (last.unified != FioUnified::none) {
        double rate = 0;
        for (std::size_t d = 0; d < names.size(); ++d) rate += group.bytes_per_second(d);
        FioDirectionStats all;
        for (const FioDirectionStats& d : s.directions) all.add(d);
        j["mixed"] = direction(all, last, rate, json_plus);
    }
    j["job_runtime"] = runtime_ms(s.total_runtime);
    j["usr_cpu"] = 0.0;
    j["sys_cpu"] = 0.0;
    j["ctx"] = 0;
    j["majf"] = 0;
    j["minf"] = 0;
    for (std::size_t i = 0; i < kDepthLevels.size(); ++i)
        j["iodepth_level"][kDepthLevels[i]] = percent(s.depth[i], begun, 0.1);
    j["iodepth_submit"] = batches(s.submits);
    j["iodepth_complete"] = batches(s.completes);
    j["latency_ns"] = ranges(s.ranges.ns, total);
    j["latency_us"] = ranges(s.ranges.us, total);
    j["latency_ms"] = ranges(s.ranges.ms, total);
    j["latency_depth"] = last.latency_depth.value_or(last.iodepth);
    j["latency_target"] = last.latency_target_ns;
    j["latency_percentile"] = last.latency_percentile;
    j["latency_window"] = last.latency_window_us;
    if (!first.description.empty()) j["desc"] = first.description;
    if (last.steady) j["steadystate"] = steady_state(*last.steady);
    return j;
}

std::string fio_text(const Json& root) {
    std::string out;
    print(root, out, 0);
    out += '\n';
    return out;
}

}  // namespace ssdtlm
