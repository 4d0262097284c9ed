// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/report/fio_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "common/report/error.h"
#include "host_pcie/workload/report/fio_report.h"

namespace ssdtlm {
namespace {

std::string slurp(const std::string& path) {
    std::ifstream in(path);
    std::stringstream s;
    s << in.rdbuf();
    std::remove(path.c_str());
    return s.str();
}

TEST(FioLog, OneLinePerIo) {
    const std::string path = ::testing::TempDir() + "ssdtlm_plain.log";
    FioLog log(path, 0, false);
    log.add(0, 7101, HostOp::read, 4096, 0);
    log.add(10, 791, HostOp::write, 8192, 65536);
    log.finish(20);
    EXPECT_EQ(slurp(path), "0, 7101, 0, 4096, 0\n10, 791, 1, 8192, 0\n");
}

TEST(FioLog, OffsetColumn) {
    const std::string path = ::testing::TempDir() + "ssdtlm_offset.log";
    FioLog log(path, 0, true);
    log.add(10, 791, HostOp::trim, 8192, 65536);
    log.finish(20);
    EXPECT_EQ(slurp(path), "10, 791, 2, 8192, 65536, 0\n");
}

TEST(FioLog, MeansOnAFixedGrid) {
    const std::string path = ::testing::TempDir() + "ssdtlm_mean.log";
    FioLog log(path, 100, false);
    log.add(10, 10, HostOp::read, 4096, 0);
    log.add(60, 21, HostOp::read, 4096, 0);
    log.add(70, 500, HostOp::write, 4096, 0);
    log.add(130, 30, HostOp::read, 4096, 0);  // crosses 100: (10 + 21 + 30) / 3 = 20.3; the grid goes on at 100
    log.add(190, 5, HostOp::read, 4096, 0);
    log.add(200, 8, HostOp::read, 4096, 0);  // (5 + 8) / 2 = 6.5, rounded up
    log.add(250, 1, HostOp::read, 4096, 0);  // incomplete: written at the end
    log.finish(260);
    EXPECT_EQ(slurp(path), "130, 20, 0, 0, 0\n200, 7, 0, 0, 0\n260, 1, 0, 0, 0\n260, 500, 1, 0, 0\n");
}

TEST(FioLog, CannotCreate) {
    EXPECT_THROW(FioLog("/nonexistent/x.log", 0, false), UserError);
}

TEST(FioLog, ReportNamesFilesAsFioAndCountsEveryIo) {
    FioReportOptions o;
    o.log_directory = ::testing::TempDir();
    FioReportJob job;
    job.bw_log = job.iops_log = job.lat_log = "ssdtlm_t";
    FioReport f(o, {job, job});
    HostRequest r;
    r.job = 1;
    r.bytes = 4096;
    constexpr int kIos = 20000;  // more than one block of lines
    for (std::int64_t i = 0; i < kIos; ++i) {
        const SimTime t{Ps{i * 1'000'000}};
        f.on_issue(r, t, true);
        f.on_complete(r, t, t + Ps{1'000}, t + Ps{9'001'000}, true, true);
    }
    f.finish(SimTime{Ps{kIos * 1'000'000ll}});
    for (const char* kind : {"bw", "iops", "slat", "clat", "lat"}) {
        EXPECT_EQ(slurp(o.log_directory + "/ssdtlm_t_" + kind + ".1.log"), "");
        const std::string text = slurp(o.log_directory + "/ssdtlm_t_" + kind + ".2.log");
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kIos) << kind;
        const std::string value = std::string(kind) == "bw"     ? std::to_string(4096 * 1'000'000ull / 9'000)
                                  : std::string(kind) == "iops" ? "1"
                                  : std::string(kind) == "slat" ? "1"
                                  : std::string(kind) == "clat" ? "9000"
                                                                : "9001";
        EXPECT_EQ(text.substr(0, text.find('\n')), "0, " + value + ", 0, 4096, 0") << kind;
    }
}

}  // namespace
}  // namespace ssdtlm
