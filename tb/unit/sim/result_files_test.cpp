// SPDX-License-Identifier: Apache-2.0
#include "sim/results/result_files.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <set>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class ResultFilesTest : public ::testing::Test {
protected:
    void SetUp() override {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::set<std::string> names() const {
        std::set<std::string> all;
        for (const auto& entry : fs::directory_iterator(folder_)) all.insert(entry.path().filename().string());
        return all;
    }
    std::string text(const std::string& name) const {
        std::ifstream in(folder_ / name);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void put(const std::string& name, const std::string& content) const { std::ofstream(folder_ / name) << content; }
    const fs::path folder_ = fs::path(::testing::TempDir()) / "ssdtlm-result-files-test";
};

TEST_F(ResultFilesTest, AppearTogetherOrNotAtAll) {
    put("latency.csv", "old");
    {
        ResultFiles files(folder_);
        files.add("latency.csv", "new");
        files.add("result.json", "{}");
        EXPECT_THAT(names(), ElementsAre("latency.csv", "latency.csv.part", "result.json.part"));
        EXPECT_EQ(text("latency.csv"), "old");
        files.commit();
        EXPECT_THAT(names(), ElementsAre("latency.csv", "result.json"));
        EXPECT_EQ(text("latency.csv"), "new");
    }
    {
        ResultFiles files(folder_);
        files.add("latency.csv", "never");
        fs::create_directory(folder_ / "result.json.part");  // cannot be written
        EXPECT_THROW(files.add("result.json", "{}"), OutputError);
    }
    EXPECT_EQ(text("latency.csv"), "new");
    EXPECT_THAT(names(), ElementsAre("latency.csv", "result.json"));
}

TEST_F(ResultFilesTest, EarlierOnesAreRemovedAndNothingElse) {
    for (const char* name :
         {"result.json", "failed.json", "fio.json", "timeseries.csv", "mine.json", "job_bw.1.log", "listed_bw.1.log",
          "listed.txt", "wave.vcd", "rtl_channel_0.fst", "my.fst", "trace.json", "report.html"})
        put(name, "x");
    fs::create_directory(folder_ / "wave.names");
    put("wave.names/state.txt", "x");
    put("wall_clock.json", R"({"files": ["listed_bw.1.log", "listed.txt", "../outside_bw.1.log", 7]})");
    std::ofstream(folder_.parent_path() / "outside_bw.1.log") << "x";
    ResultFiles(folder_).remove_earlier();
    EXPECT_THAT(names(), ElementsAre("job_bw.1.log", "listed.txt", "mine.json", "my.fst"));
    EXPECT_TRUE(fs::remove(folder_.parent_path() / "outside_bw.1.log"));
}

TEST_F(ResultFilesTest, WhatAKilledRunLeftIsRemoved) {
    for (const char* name : {"result.json.part", "wave.vcd.part", "a_lat.12.log.part", "rtl_scheduler_0.fst.part",
                             "report.html.x1.part", "mine.part", "result.json"})
        put(name, "x");
    ResultFiles(folder_).remove_parts();
    EXPECT_THAT(names(), ElementsAre("mine.part", "result.json"));
}

TEST_F(ResultFilesTest, AStreamGrowsUnderItsTemporaryName) {
    {
        ResultFiles files(folder_);
        std::ostream& rows = files.stream("timeseries.csv");
        rows << "a\n" << std::flush;
        EXPECT_EQ(text("timeseries.csv.part"), "a\n");
        rows << "b\n";
        files.add("result.json", "{}");
        files.commit();
        EXPECT_THAT(names(), ElementsAre("result.json", "timeseries.csv"));
        EXPECT_EQ(text("timeseries.csv"), "a\nb\n");
    }
    { ResultFiles(folder_).stream("latency.csv") << "never"; }
    EXPECT_THAT(names(), ElementsAre("result.json", "timeseries.csv"));
}

TEST_F(ResultFilesTest, ADiskThatIsFullMeanwhile) {
    fs::create_symlink("/dev/full", folder_ / "timeseries.csv.part");
    ResultFiles files(folder_);
    std::ostream& rows = files.stream("timeseries.csv");
    for (int i = 0; i < 10'000; ++i) rows << "a row that nobody will read\n";
    try {
        files.commit();
        FAIL();
    } catch (const OutputError& e) {
        EXPECT_THAT(e.what(), ::testing::HasSubstr("No space left on device"));
    }
    EXPECT_FALSE(fs::exists(folder_ / "timeseries.csv"));
}

TEST_F(ResultFilesTest, AFolderThatIsGone) {
    ResultFiles files(folder_);
    files.add("result.json", "{}");
    fs::remove_all(folder_);
    EXPECT_THROW(files.add("latency.csv", ""), OutputError);
    EXPECT_THROW(files.commit(), OutputError);
}

}  // namespace
}  // namespace ssdtlm
