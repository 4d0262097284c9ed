// SPDX-License-Identifier: Apache-2.0
// fio.json: the same keys and types as fio 3.33 printed (fields-3.33.txt), and numbers that follow from the I/O.
#include "host_pcie/workload/report/fio_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "host_pcie/workload/report/reported_workload.h"
#include "host_pcie/workload/trace/trace_report_job.h"

namespace ssdtlm {
namespace {

using Json = nlohmann::ordered_json;

SimTime at_ns(std::int64_t ns) {
    return SimTime{Ps{ns * 1'000}};
}
HostRequest request(std::uint32_t job, HostOp op, std::uint32_t bytes = 4096) {
    HostRequest r;
    r.job = job;
    r.op = op;
    r.bytes = bytes;
    return r;
}
/// One I/O at a time: handed out at t, submitted `slat` later, done `clat` after that.
void io(FioReport& f, std::uint32_t job, HostOp op, std::int64_t t, std::int64_t slat, std::int64_t clat,
        std::uint32_t bytes = 4096, bool measured = true) {
    const auto r = request(job, op, bytes);
    f.on_issue(r, at_ns(t), measured);
    f.on_complete(r, at_ns(t), at_ns(t + slat), at_ns(t + slat + clat), measured, true);
}

const std::set<std::string> kMaps = {"percentile",       "bins",       "iodepth_level", "iodepth_submit",
                                     "iodepth_complete", "latency_ns", "latency_us",    "latency_ms"};

/// Key path -> "type" or "type {map}"; for maps also the keys.
void collect(const Json& j, const std::string& path, std::map<std::string, std::string>& types,
             std::map<std::string, std::vector<std::string>>& maps) {
    for (const auto& [key, value] : j.items()) {
        const std::string p = path.empty() ? key : path + "." + key;
        if (kMaps.count(key) != 0) {
            types[p] = value.begin()->is_number_float() ? "float" : "int";
            for (const auto& [k, v] : value.items()) maps[p].push_back(k);
        } else if (value.is_array()) {
            for (const auto& element : value) collect(element, p + "[]", types, maps);
        } else if (value.is_object()) {
            collect(value, p, types, maps);
        } else {
            types[p] = value.is_string() ? "str" : value.is_number_float() ? "float" : "int";
        }
    }
}

/// The jobs of the run whose fields were listed, json+.
std::unique_ptr<FioReport> reference_run() {
    FioReportOptions o;
    o.json_plus = true;
    for (const char* name :
         {"lat_percentiles", "clat_percentiles", "ioengine", "direct", "size", "runtime", "log_avg_msec",
          "write_bw_log", "write_iops_log", "write_lat_log", "percentile_list", "slat_percentiles", "filename"})
        o.global_options.emplace_back(name, "1");
    FioReportJob write;
    write.name = "seqwrite";
    write.group_reporting = true;
    write.percentiles = {50, 90, 99, 99.9, 99.99, 99.999};
    write.lat_percentiles = write.slat_percentiles = true;
    write.options = {{"rw", "write"}, {"bs", "128k"}, {"iodepth", "4"}, {"rate_iops", "400"}};
    write.iodepth = 4;
    FioReportJob mix = write;
    mix.name = "randmix";
    mix.group = 1;
    mix.options = {{"rw", "randrw"}, {"rwmixread", "70"},      {"bssplit", "4k/60:8k/30:64k/10"},  {"iodepth", "8"},
                   {"numjobs", "2"}, {"rate_iops", "500,200"}, {"random_distribution", "zipf:1.1"}};
    auto f = std::make_unique<FioReport>(o, std::vector<FioReportJob>{write, mix, mix});
    std::int64_t t = 0;
    for (int i = 0; i < 100; ++i, t += 1'000'000) io(*f, 0, HostOp::write, t, 1'000, 50'000 + 100 * i, 131072);
    for (int i = 0; i < 100; ++i, t += 1'000'000) {
        io(*f, 1, i % 3 ? HostOp::read : HostOp::write, t, 900, 40'000 + 1'000 * i);
        io(*f, 2, i % 3 ? HostOp::read : HostOp::write, t, 950, 41'000 + 1'000 * i);
    }
    f->finish(at_ns(t));
    return f;
}

TEST(FioReport, FieldsAndTypesAreThoseOfFio333) {
    std::map<std::string, std::string> expected;
    std::map<std::string, std::vector<std::string>> expected_maps;  // first three keys and the last
    std::ifstream list(SSDTLM_FIO_FIELDS);
    for (std::string line; std::getline(list, line);) {
        std::istringstream words(line);
        std::string type;
        words >> type >> std::ws;
        std::string path;
        std::getline(words, path);
        if (const auto map = path.find(" {map: "); map != std::string::npos) {
            std::string keys = path.substr(map + 7, path.size() - map - 8);
            path.resize(map);
            for (auto at = keys.find(" .. "); at != std::string::npos; at = keys.find(" .. "))
                keys.replace(at, 4, ", ");
            std::istringstream k(keys);
            expected_maps[path].clear();
            for (std::string key; k >> key;) {
                if (key.back() == ',') key.pop_back();
                expected_maps[path].push_back(key);
            }
        }
        expected[path] = type;
    }
    ASSERT_GT(expected.size(), 150u);
    std::map<std::string, std::string> found;
    std::map<std::string, std::vector<std::string>> maps;
    collect(reference_run()->json(), "", found, maps);
    EXPECT_EQ(found, expected);
    for (const auto& [path, keys] : expected_maps) {
        if (path.find("bins") != std::string::npos) continue;  // depend on the latencies
        ASSERT_GE(maps[path].size(), 4u) << path;
        EXPECT_EQ((std::vector<std::string>{maps[path][0], maps[path][1], maps[path][2]}),
                  (std::vector<std::string>{keys[0], keys[1], keys[2]}))
            << path;
        EXPECT_EQ(maps[path].back(), keys.back()) << path;
    }
}

TEST(FioReport, TextIsStableAndParsesBack) {
    const std::string a = reference_run()->text(), b = reference_run()->text();
    EXPECT_EQ(a, b);
    EXPECT_EQ(a.substr(0, 36), "{\n  \"fio version\" : \"fio-3.33\",\n  \"t");
    EXPECT_EQ(a.back(), '\n');
    const Json j = Json::parse(a);
    EXPECT_EQ(j["timestamp"], 0);
    EXPECT_EQ(j["time"], "Thu Jan  1 00:00:00 1970");
    EXPECT_TRUE(j["jobs"][0]["usr_cpu"].is_number_float());
}

TEST(FioReport, WallClockComesFromOutside) {
    FioReportOptions o;
    o.wall_clock_ms = 1795220239838;  // of the reference sample: Sat Nov 21 00:17:19 2026
    FioReport f(o, {FioReportJob{}});
    f.finish(at_ns(0));
    const Json j = f.json();
    EXPECT_EQ(j["timestamp"], 1795220239);
    EXPECT_EQ(j["timestamp_ms"], 1795220239838);
    EXPECT_EQ(j["time"], "Sat Nov 21 00:17:19 2026");
}

TEST(FioReport, NumbersFollowFromTheIo) {
    FioReportOptions o;
    FioReport f(o, {FioReportJob{}});
    // 1000 reads, one per 10 us: slat 2 us, clat 3 or 5 us. Last completion at 9990 + 2 + 5 us.
    for (int i = 0; i < 1000; ++i) io(f, 0, HostOp::read, i * 10'000, 2'000, i % 2 ? 5'000 : 3'000);
    f.finish(at_ns(20'000'000));
    const Json j = f.json();
    const Json& r = j["jobs"][0]["read"];
    const double runtime = 9'997e-6;
    EXPECT_EQ(r["total_ios"], 1000);
    EXPECT_EQ(r["io_bytes"], 4'096'000);
    EXPECT_EQ(r["io_kbytes"], 4000);
    EXPECT_EQ(r["runtime"], 10);
    EXPECT_NEAR(r["iops"].get<double>(), 1000 / runtime, 1e-6);
    EXPECT_NEAR(r["bw_bytes"].get<double>(), 4'096'000 / runtime, 1.0);
    EXPECT_EQ(r["bw"].get<std::uint64_t>(), r["bw_bytes"].get<std::uint64_t>() / 1024);
    EXPECT_EQ(r["slat_ns"]["min"], 2000);
    EXPECT_EQ(r["clat_ns"]["mean"], 4000.0);
    EXPECT_NEAR(r["clat_ns"]["stddev"].get<double>(), std::sqrt(1000.0 * 1e6 / 999.0), 1e-6);
    EXPECT_EQ(r["lat_ns"]["min"], 5000);
    EXPECT_EQ(r["lat_ns"]["max"], 7000);
    EXPECT_EQ(r["lat_ns"]["N"], 1000);
    EXPECT_FALSE(r["lat_ns"].contains("percentile"));  // off by default, as in fio
    EXPECT_EQ(r["clat_ns"]["percentile"].size(), 17u);
    EXPECT_EQ(r["clat_ns"]["percentile"]["50.000000"], Histogram::midpoint_of(Histogram::index_of(3000)));
    EXPECT_EQ(r["clat_ns"]["percentile"]["99.990000"], Histogram::midpoint_of(Histogram::index_of(5000)));
    EXPECT_EQ(j["jobs"][0]["latency_us"]["4"], 50.0);   // [2, 4) us
    EXPECT_EQ(j["jobs"][0]["latency_us"]["10"], 50.0);  // [4, 10) us
    EXPECT_EQ(j["jobs"][0]["iodepth_level"]["1"], 100.0);
    EXPECT_EQ(j["disk_util"][0]["name"], "ssdtlm0");
    EXPECT_EQ(j["disk_util"][0]["read_ios"], 1000);
    EXPECT_EQ(j["disk_util"][0]["read_ticks"], 4);
    EXPECT_DOUBLE_EQ(j["disk_util"][0]["util"].get<double>(), 100.0 * 6 / 20);
    // Shorter than a window: one sample of the whole.
    EXPECT_EQ(r["bw_samples"], 1);
    EXPECT_EQ(r["iops_min"].get<std::uint64_t>(), static_cast<std::uint64_t>(1000 / runtime));
}

TEST(FioReport, WindowsOfHalfASecondSkipIdleOnes) {
    FioReport f({}, {FioReportJob{}});
    const std::int64_t ms = 1'000'000;
    for (int i = 0; i < 10; ++i) io(f, 0, HostOp::write, i * 50 * ms, 0, ms, 1024 * 100);           // [0, 500): 10
    for (int i = 0; i < 30; ++i) io(f, 0, HostOp::write, (1500 + i * 10) * ms, 0, ms, 1024 * 100);  // [1500, 2000): 30
    io(f, 0, HostOp::write, 2100 * ms, 0, ms, 1024 * 100);  // last window stays open
    f.finish(at_ns(2200 * ms));
    const Json w = f.json()["jobs"][0]["write"];
    EXPECT_EQ(w["iops_samples"], 2);
    EXPECT_EQ(w["iops_min"], 20);
    EXPECT_EQ(w["iops_max"], 60);
    EXPECT_EQ(w["iops_mean"], 40.0);
    EXPECT_EQ(w["bw_min"], 2000);
    EXPECT_EQ(w["bw_max"], 6000);
    EXPECT_NEAR(w["bw_dev"].get<double>(), std::sqrt(2.0 * 2000 * 2000), 1e-9);
}

TEST(FioReport, DepthLevelsCountWhatIsUnderWay) {
    FioReport f({}, {FioReportJob{}});
    for (int i = 0; i < 128; ++i) f.on_issue(request(0, HostOp::read), at_ns(i), true);
    for (int i = 0; i < 128; ++i)
        f.on_complete(request(0, HostOp::read), at_ns(i), at_ns(i), at_ns(1000 + i), true, true);
    f.finish(at_ns(5000));
    const Json d = f.json()["jobs"][0]["iodepth_level"];
    const double n = 128.0 / 100.0;
    EXPECT_DOUBLE_EQ(d["1"].get<double>(), 1 / n);
    EXPECT_DOUBLE_EQ(d["2"].get<double>(), 2 / n);
    EXPECT_DOUBLE_EQ(d["32"].get<double>(), 32 / n);
    EXPECT_DOUBLE_EQ(d[">=64"].get<double>(), 65 / n);
}

TEST(FioReport, RampIsLeftOutAndFlushIsSync) {
    FioReport f({}, {FioReportJob{}});
    io(f, 0, HostOp::write, 0, 0, 9'000'000, 4096, false);
    io(f, 0, HostOp::write, 10'000'000, 0, 1'000);
    io(f, 0, HostOp::flush, 11'000'000, 0, 7'000, 0);
    f.finish(at_ns(12'000'000));
    const Json j = f.json()["jobs"][0];
    EXPECT_EQ(j["write"]["total_ios"], 1);
    EXPECT_EQ(j["write"]["clat_ns"]["max"], 1000);
    EXPECT_EQ(j["sync"]["total_ios"], 1);
    EXPECT_EQ(j["sync"]["lat_ns"]["max"], 7000);
    EXPECT_EQ(j["sync"]["lat_ns"]["percentile"].size(), 17u);
    EXPECT_EQ(j["write"]["runtime"], 1);
    EXPECT_EQ(f.json()["disk_util"][0]["write_ios"], 2);
}

TEST(FioReport, GroupShowsNameOfTheFirstAndOptionsOfTheLast) {
    FioReportJob a, b, c;
    a.name = "aa";
    a.group_reporting = b.group_reporting = true;
    a.options = {{"rw", "read"}};
    b.name = "bb";
    b.options = {{"rw", "write"}, {"blocksize", "8k"}};
    c.name = "cc";
    c.group = 1;
    FioReport f({}, {a, b, c, c});
    for (int i = 0; i < 10; ++i) {
        io(f, 0, HostOp::read, i * 1'000, 0, 500);
        io(f, 1, HostOp::read, i * 1'000 + 500, 0, 400);
    }
    io(f, 2, HostOp::read, 20'000, 0, 100);
    f.finish(at_ns(30'000));
    const Json j = f.json()["jobs"];
    ASSERT_EQ(j.size(), 3u);  // the clones of cc are not grouped
    EXPECT_EQ(j[0]["jobname"], "aa");
    EXPECT_EQ(j[0]["job options"]["rw"], "write");
    EXPECT_FALSE(j[0]["job options"].contains("bs"));
    for (const char* needed : {"iodepth", "numjobs"}) EXPECT_TRUE(j[0]["job options"][needed].is_string());
    for (const char* needed : {"rw", "bs", "iodepth", "numjobs"}) EXPECT_TRUE(j[1]["job options"][needed].is_string());
    EXPECT_EQ(j[0]["read"]["total_ios"], 20);
    EXPECT_EQ(j[0]["read"]["clat_ns"]["mean"], 450.0);
    EXPECT_EQ(j[1]["groupid"], 1);
    EXPECT_EQ(j[2]["read"]["total_ios"], 0);
}

// fio 3.33, ioengine=null, one reader of 100 and one writer of 300 I/Os, both at rate_iops=100, group_reporting: read
// runtime 991 ms, 100.9 IOPS; write 2991 ms, 100.3 IOPS; job_runtime 3980.
TEST(FioReport, ADirectionIsDividedByTheTimeOfTheJobsThatHaveIt) {
    FioReportJob reader, writer;
    reader.group_reporting = writer.group_reporting = true;
    FioReport f({}, {reader, writer});
    constexpr std::int64_t kTenMs = 10'000'000;
    for (int i = 0; i < 300; ++i) {
        if (i < 100) io(f, 0, HostOp::read, i * kTenMs, 0, 1'000'000);
        io(f, 1, HostOp::write, i * kTenMs, 0, 1'000'000);
    }
    f.finish(at_ns(300 * kTenMs));
    const Json j = f.json()["jobs"][0];
    EXPECT_EQ(j["read"]["runtime"], 991);
    EXPECT_EQ(j["write"]["runtime"], 2991);
    EXPECT_NEAR(j["read"]["iops"].get<double>(), 100 / 0.991, 1e-6);
    EXPECT_NEAR(j["write"]["iops"].get<double>(), 300 / 2.991, 1e-6);
    EXPECT_EQ(j["job_runtime"], 991 + 2991);
    EXPECT_EQ(j["trim"]["runtime"], 0);
}

TEST(FioReport, FailureIsAnError) {
    FioReport f({}, {FioReportJob{}});
    f.on_issue(request(0, HostOp::read), at_ns(0), true);
    f.on_complete(request(0, HostOp::read), at_ns(0), at_ns(0), at_ns(10), true, false);
    f.finish(at_ns(10));
    EXPECT_EQ(f.json()["jobs"][0]["error"], 5);
}

// A read each 10 ms for a second of ramp and one that counts: 100 I/Os a second in each of ten windows of 100 ms.
TEST(FioReport, LogsCountFromTheEndOfTheRamp) {
    const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "fio_report_ramp";
    std::filesystem::create_directories(folder);
    FioReportOptions options;
    options.log_directory = folder.string();
    FioReportJob job;
    job.ramp = Ps{1'000'000'000'000};
    job.iops_log = "l";
    job.log_avg_msec = 100;
    {
        FioReport f(options, {job});
        constexpr std::int64_t kMs = 1'000'000;
        for (std::int64_t ms = 0; ms < 2'000; ms += 10) io(f, 0, HostOp::read, ms * kMs, 0, 50'000, 4096, ms >= 1'000);
        f.set_runtime(0, Ps{1'000'000'000'000});
        f.finish(at_ns(2'000 * kMs));
    }
    std::ifstream in(folder / "l_iops.1.log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    ASSERT_EQ(lines.size(), 10u);
    for (std::size_t i = 0; i < lines.size(); ++i)
        EXPECT_EQ(lines[i], std::to_string(100 * (i + 1)) + ", 100, 0, 0, 0");
    std::filesystem::remove_all(folder);
}

TEST(FioReport, ReadsAndWritesTogether) {
    for (const FioUnified unified : {FioUnified::none, FioUnified::mixed, FioUnified::both}) {
        FioReportJob job;
        job.unified = unified;
        FioReport f({}, {job});
        io(f, 0, HostOp::read, 0, 0, 100, 4096);
        io(f, 0, HostOp::write, 1'000, 0, 300, 8192);
        f.finish(at_ns(2'000));
        const auto j = f.json()["jobs"][0];
        EXPECT_EQ(j.contains("read"), unified != FioUnified::mixed);
        ASSERT_EQ(j.contains("mixed"), unified != FioUnified::none);
        if (unified == FioUnified::none) continue;
        EXPECT_EQ(j["mixed"]["total_ios"], 2);
        EXPECT_EQ(j["mixed"]["io_bytes"], 12288);
        EXPECT_EQ(j["mixed"]["clat_ns"]["mean"], 200.0);
    }
}

TEST(FioReport, NamesThatAreNotUtf8DoNotAbortTheReport) {
    FioReportJob job;
    job.name = "caf\xe9 \"x\"";
    job.options = {{"description\xff", "\xfe"}};
    FioReport f({}, {job});
    f.finish(at_ns(0));
    EXPECT_NO_THROW(Json::parse(f.text()));
}

TEST(FioLatencyRanges, UpperBoundsAreExclusive) {
    FioLatencyRanges r;
    for (std::uint64_t v :
         {0ull, 1ull, 2ull, 999ull, 1'000ull, 1'999ull, 999'999ull, 1'000'000ull, 1'999'999'999ull, 2'000'000'000ull})
        r.count(v);
    EXPECT_EQ(r.ns[0], 2u);
    EXPECT_EQ(r.ns[1], 1u);
    EXPECT_EQ(r.ns[9], 1u);
    EXPECT_EQ(r.us[0], 2u);
    EXPECT_EQ(r.us[9], 1u);
    EXPECT_EQ(r.ms[0], 1u);
    EXPECT_EQ(r.ms[10], 1u);
    EXPECT_EQ(r.ms[11], 1u);
}

TEST(FioReport, TraceIsOneJob) {
    auto trace = std::make_shared<Trace>();
    trace->path = "some/where/web.csv";
    for (int i = 0; i < 8; ++i) {
        TraceRecord rec;
        rec.t = Ps{i * 1'000'000};
        rec.bytes = i == 0 ? 512 : 8192;
        rec.stream = static_cast<std::uint32_t>(i) & 1u;
        trace->records.push_back(rec);
    }
    trace->stats.records[0] = 8;
    trace->stats.duration = Ps{7'000'000};
    TraceReplayOptions o;
    o.jobs = 2;
    o.time_scale = 0.5;
    TraceWorkload inner(trace, o);
    FioReport f({}, trace_report_jobs(inner));
    ReportedWorkload w(inner, f);
    SimTime now{};
    for (auto n = w.next(now); n.state != Workload::State::done; n = w.next(now)) {
        if (n.state == Workload::State::wait) {
            now = n.when;
            continue;
        }
        w.completed(n.request, now, now, now + Ps{100'000}, true);
    }
    f.finish(now);
    const Json j = f.json();
    ASSERT_EQ(j["jobs"].size(), 1u);
    EXPECT_EQ(j["jobs"][0]["jobname"], "web.csv");
    EXPECT_EQ(j["jobs"][0]["read"]["total_ios"], 8);
    EXPECT_EQ(j["jobs"][0]["job options"]["rw"], "randread");
    EXPECT_EQ(j["jobs"][0]["job options"]["bs"], "8k");
    EXPECT_EQ(j["jobs"][0]["job options"]["numjobs"], "2");
    EXPECT_EQ(j["jobs"][0]["job options"]["replay_time_scale"], "50");
}

}  // namespace
}  // namespace ssdtlm
