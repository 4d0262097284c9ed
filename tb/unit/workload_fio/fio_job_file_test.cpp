// SPDX-License-Identifier: Apache-2.0
// Reading of job files: inheritance, groups, resolution against the device, messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "common/report/error.h"
#include "fio_fixture.h"
#include "host_pcie/workload/fio/fio_options.h"

namespace ssdtlm {
namespace {

using ::testing::HasSubstr;

std::vector<Problem> problems(const std::string& text, std::uint64_t capacity = 1_MiB) {
    try {
        parse_fio(text, capacity);
    } catch (const UserError& e) {
        return e.problems();
    }
    return {};
}
std::string first(const std::string& text) {
    const auto p = problems(text);
    return p.empty() ? "accepted" : p[0].text();
}
bool any_of(const std::vector<std::string>& lines, const std::string& part) {
    for (const std::string& n : lines)
        if (n.find(part) != std::string::npos) return true;
    return false;
}
bool any_warning(const FioJobFile& file, const std::string& part) {
    return any_of(file.warnings, part);
}

TEST(FioJobFile, GlobalAppliesToTheJobsAfterIt) {
    const auto f =
        parse_fio("[a]\n[global]\nbs=8k ; larger\n  rw=write # all\n\n[b]\n[global]\nbs=16k\n[c]\nrw=read\n");
    ASSERT_EQ(f.jobs.size(), 3u);
    EXPECT_EQ(f.jobs[0].bs_min[0], 4096u);
    EXPECT_TRUE(f.jobs[0].reads);
    EXPECT_EQ(f.jobs[1].bs_min[1], 8192u);
    EXPECT_TRUE(f.jobs[1].writes);
    EXPECT_EQ(f.jobs[2].bs_min[0], 16384u);
    EXPECT_TRUE(f.jobs[2].reads);
    EXPECT_FALSE(f.jobs[2].writes);
    const FioOptionTexts global{{"bs", "8k"}, {"rw", "write"}, {"bs", "16k"}};
    EXPECT_EQ(f.global_options, global);
    EXPECT_EQ(f.jobs[2].report.options, (FioOptionTexts{{"rw", "read"}}));
}

TEST(FioJobFile, LaterOptionsWinAndKbBaseComesFirst) {
    const auto f = parse_fio("[a]\nbs=4k\nblocksize=8KiB\nreadwrite=write\nrw=randread\nkb_base=1000\n");
    EXPECT_EQ(f.jobs[0].bs_min[0], 8192u);
    EXPECT_TRUE(f.jobs[0].random);
    EXPECT_EQ(f.jobs[0].report.options[0].first, "kb_base");
    EXPECT_EQ(f.jobs[0].report.options[2].first, "bs");  // by its canonical name
    EXPECT_EQ(f.jobs[0].report.rw, "randread");
}

TEST(FioJobFile, CommaTriples) {
    auto f = parse_fio("[a]\nrw=rw\nbs=4k,8k,16k\nrate=,500k\n[b]\nrw=rw\nbs=,8k\nrate=1m,\n[c]\nrw=rw\nbs=8k,512\n");
    EXPECT_EQ(f.jobs[0].bs_min, (PerDirection<std::uint64_t>{4096, 8192, 16384}));
    EXPECT_EQ(f.jobs[0].rate, (PerDirection<std::uint64_t>{0, 512000, 512000}));
    EXPECT_EQ(f.jobs[1].bs_min, (PerDirection<std::uint64_t>{4096, 8192, 8192}));
    EXPECT_EQ(f.jobs[1].rate, (PerDirection<std::uint64_t>{1_MiB, 0, 0}));
    EXPECT_EQ(f.jobs[2].bs_min, (PerDirection<std::uint64_t>{8192, 512, 512}));
}

TEST(FioJobFile, ClonesAndGroups) {
    const auto f =
        parse_fio("[a]\nstonewall\nnumjobs=2\n[b]\n[c]\nstonewall\nnumjobs=2\ngroup_reporting\n[d]\nnew_group\n");
    ASSERT_EQ(f.jobs.size(), 6u);
    const std::vector<std::uint32_t> groups{0, 0, 0, 1, 1, 2};
    const std::vector<bool> walls{true, false, false, true, false, false};
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(f.jobs[i].report.group, groups[i]) << i;
        EXPECT_EQ(f.jobs[i].stonewall, walls[i]) << i;
        EXPECT_EQ(f.jobs[i].index, i);
    }
    EXPECT_EQ(f.jobs[1].report.name, "a");
    EXPECT_EQ(f.jobs[1].clone, 1u);
    EXPECT_EQ(f.jobs[1].report.numjobs, 2u);
    EXPECT_TRUE(f.jobs[4].report.group_reporting);
    EXPECT_NE(f.jobs[3].seed, f.jobs[4].seed);
    EXPECT_EQ(f.report_jobs().size(), 6u);
}

TEST(FioJobFile, SizesAgainstTheDevice) {
    const auto f = parse_fio(
        "[a]\n[b]\noffset=256k\n[c]\nsize=25%\noffset=50%\n[d]\nsize=100k\nio_size=50%\n"
        "[e]\nsize=64k\nio_size=1m\n[f]\nnumjobs=4\noffset_increment=25%\nsize=25%\n",
        1_MiB);
    EXPECT_EQ(f.jobs[0].files[0].region, 1_MiB);
    EXPECT_EQ(f.jobs[0].size, 1_MiB);
    EXPECT_EQ(f.jobs[1].files[0].region, 768_KiB);
    EXPECT_EQ(f.jobs[2].files[0].offset, 512_KiB);
    EXPECT_EQ(f.jobs[2].files[0].region, 256_KiB);
    EXPECT_EQ(f.jobs[3].files[0].region, 100_KiB);
    EXPECT_EQ(f.jobs[3].size, 50_KiB);
    EXPECT_EQ(f.jobs[4].io_size, 1_MiB);
    EXPECT_EQ(f.jobs[4].size, 64_KiB);
    for (std::uint64_t c = 0; c < 4; ++c)
        EXPECT_EQ(f.jobs[5 + c].files[0].offset, (4 - c) % 4 * 256_KiB);  // fio counts down
}

TEST(FioJobFile, BssplitAndZonesResolve) {
    const auto f = parse_fio("[a]\nrw=randread\nbssplit=4k/10:64k/:32k/:8k/50\nrandom_distribution=zoned:60/10:40/\n");
    const auto& s = f.jobs[0].bssplit[0];
    ASSERT_EQ(s.size(), 4u);
    EXPECT_EQ(s[0].bytes, 4096u);  // by percent: 10, 20, 20, 50
    EXPECT_EQ(s[1].percent, 20u);
    EXPECT_EQ(s[2].percent, 20u);
    EXPECT_EQ(s[3].bytes, 8192u);
    EXPECT_EQ(f.jobs[0].bs_min[0], 4096u);
    EXPECT_EQ(f.jobs[0].bs_max[0], 65536u);
    EXPECT_EQ(f.jobs[0].zones[0][1].size, 90u);
    EXPECT_FALSE(f.jobs[0].random_map);
    EXPECT_EQ(f.jobs[0].report.bs, "4k-64k");
}

TEST(FioJobFile, SynchronousEnginesCapTheDepthAndSaySo) {
    auto f = parse_fio("[a]\niodepth=32\n");  // fio's default engine is psync
    EXPECT_EQ(f.jobs[0].iodepth, 1u);
    EXPECT_TRUE(any_warning(f, "ioengine=psync is synchronous: iodepth=32 acts as 1"));
    f = parse_fio("[a]\niodepth=32\nioengine=libaio\n");
    EXPECT_EQ(f.jobs[0].iodepth, 32u);
    EXPECT_FALSE(any_warning(f, "synchronous"));
    EXPECT_FALSE(any_warning(parse_fio("[a]\n"), "synchronous"));
}

TEST(FioJobFile, IgnoredOptionsAreListedOnce) {
    const auto f =
        parse_fio("[global]\ndirect=1\nfilename=/dev/a\n[a]\nthread\ndirect=0\nverify_dump=1\n[b]\ninvalidate=0\n");
    ASSERT_EQ(f.notes.size(), 2u);
    EXPECT_THAT(f.notes[0], HasSubstr("integrity check"));
    EXPECT_THAT(f.notes[0], HasSubstr(": verify_dump"));
    EXPECT_EQ(f.notes[1], "the model ignores these options: direct, invalidate, thread");
}

TEST(FioJobFile, AMisspeltOptionGetsASuggestion) {
    EXPECT_EQ(first("[j]\n  rwmixred=3\n"), "test.fio:2:3: 'rwmixred' is not a fio option; did you mean 'rwmixread'?");
    EXPECT_THAT(first("[j]\nblocksise=4k\n"), HasSubstr("did you mean 'blocksize'?"));
    EXPECT_THAT(first("[j]\nrw=ranread\n"), HasSubstr("did you mean 'randread'?"));
}

TEST(FioJobFile, AllProblemsAtOnce) {
    const auto p =
        problems("x=1\n[j]\nbs=1000\nrwmixread=170\niodepth=0\nfoo=1\n[k]\nsize=2m\n[l]\nrate=1m\nrate_iops=5\n");
    std::string all;
    for (const Problem& q : p) all += q.text() + "\n";
    EXPECT_EQ(p.size(), 8u) << all;
    for (const char* part :
         {"test.fio:1:1: 'x=1' stands before the first section", "'x' is not a fio option",
          "test.fio:4:1: 'rwmixread=170'; allowed: 0 to 100", "'iodepth=0'; allowed: 1 to 65535",
          "'foo' is not a fio option", "test.fio:2:1: job 'j': a block size of 1000 bytes for reads",
          "test.fio:8:1: job 'k': offset 0 + size 2097152 is beyond the end; the device has 1048576 bytes",
          "job 'l': rate and rate_iops together"})
        EXPECT_THAT(all, HasSubstr(part));
}

TEST(FioJobFile, BadValues) {
    for (const char* line : {"bs=0",
                             "bs=",
                             "bs",
                             "bs=4q",
                             "bs=4k,4k,4k,4k",
                             "bsrange=4k",
                             "bssplit=4k/60:8k/60",
                             "bssplit=4k/x",
                             "size=101%",
                             "size=1.5m",
                             "io_size=120%",
                             "number_ios=50%",
                             "rwmixread=70%",
                             "iodepth=-3",
                             "numjobs=0",
                             "numjobs=2x",
                             "random_distribution=zipf:1",
                             "random_distribution=pareto:1.5",
                             "random_distribution=normal:100",
                             "random_distribution=zipf:1.2:2",
                             "random_distribution=zoned:60/10:30/20",
                             "random_distribution=zoned:60/10:40/95",
                             "random_distribution=zoned",
                             "random_distribution=foo",
                             "random_distribution=zoned_abs:60/1m:40/1m",
                             "rw=foo",
                             "rw=randread:x",
                             "rw=randread:0",
                             "runtime=1sec",
                             "runtime=",
                             "startdelay=5-2",
                             "stonewall=2",
                             "percentile_list=1:101",
                             "kb_base=1001",
                             "thinktime_blocks_type=x",
                             "rate_process=x",
                             "bs_unaligned",
                             "trim_percentage=10",
                             "zonemode=zbd",
                             "ss=lat:5%",
                             "ss=iops",
                             "ss_dur=1",
                             "nrfiles=2",
                             "directory=/d",
                             "directory=/d\nsize=50%",
                             "directory=/d\nsize=2m",
                             "filename=/dev/zero",
                             "filename=/dev/a:/dev/b",
                             "latency_target=100",
                             "latency_percentile=101",
                             "wait_for=j",
                             "wait_for=nobody",
                             "exit_what=some",
                             "max_latency=x",
                             "file_service_type=zipf",
                             "hostname=here",
                             "ioengine=null",
                             "ioengine=ftruncate",
                             "ioengine=libiao",
                             "offset=100",
                             "offset=2m",
                             "ioengine=cpuio",
                             "offset=512k\nsize=513k",
                             "rw=write:100",
                             "size=1k",
                             "include nowhere.fio",
                             "filename=${SSDTLM_NOT_SET}"}) {
        EXPECT_NE(first(std::string("[j]\n") + line + "\n"), "accepted") << line;
    }
    EXPECT_THAT(first("[j]\nzonemode=zbd\n"), HasSubstr("the drive has no zones; allowed: none, strided"));
    EXPECT_EQ(
        first("[j]\nzonemode=none\nnrfiles=1\nunified_rw_reporting=none\nrate_ignore_thinktime=1\ntrim_percentage=0\n"),
        "accepted");
    EXPECT_THAT(first("[global]\nrw=read\n"), HasSubstr("no job"));
    EXPECT_THAT(first("[j\n"), HasSubstr("a section is [name]"));
}

TEST(FioJobFile, NumberOfProblemsOfClonesIsOne) {
    EXPECT_EQ(problems("[j]\nnumjobs=8\noffset_increment=256k\nsize=256k\n").size(), 1u);
}

TEST(FioJobFile, EnvironmentAndInclude) {
    const std::string folder = ::testing::TempDir();
    ::setenv("SSDTLM_TEST_BS", "16k", 1);
    std::ofstream(folder + "part.fio") << "bs=${SSDTLM_TEST_BS}\nrw=write\n";
    std::ofstream(folder + "whole.fio") << "[global]\ninclude part.fio\n[j]\n";
    const auto f = load_fio_job_file(folder + "whole.fio", FioDevice{1_MiB, 4096, 0});
    EXPECT_EQ(f.jobs[0].bs_min[1], 16384u);
    EXPECT_TRUE(f.jobs[0].writes);
    EXPECT_THROW(load_fio_job_file(folder + "none.fio", FioDevice{1_MiB, 4096, 0}), UserError);
    // A file may be included twice, but not by itself, at whatever distance.
    std::ofstream(folder + "whole.fio") << "[global]\ninclude part.fio\ninclude part.fio\n[j]\n";
    EXPECT_NO_THROW(load_fio_job_file(folder + "whole.fio", FioDevice{1_MiB, 4096, 0}));
    for (const char* in_part : {"include part.fio\n", "include whole.fio\n"}) {
        std::ofstream(folder + "part.fio") << in_part;
        try {
            load_fio_job_file(folder + "whole.fio", FioDevice{1_MiB, 4096, 0});
            ADD_FAILURE() << in_part;
        } catch (const UserError& e) {
            EXPECT_THAT(e.what(), HasSubstr("includes itself"));
        }
    }
}

TEST(FioJobFile, DigestIsOfWhatIsAskedForNotOfHowItIsWritten) {
    const std::string folder = ::testing::TempDir();
    ::setenv("SSDTLM_TEST_BS", "16k", 1);
    std::ofstream(folder + "size.fio") << "blocksize=${SSDTLM_TEST_BS}\n";
    const std::string digest = parse_fio("[global]\nbs=16k\n[j]\nrw=write\n").digest;
    EXPECT_EQ(digest.size(), 16u);
    EXPECT_EQ(parse_fio("; a comment\n\n[global]\n  bs = 16k  # here too\n[j]\nrw=write").digest, digest);
    EXPECT_EQ(
        parse_fio_job_text("[global]\ninclude size.fio\n[j]\nrw=write\n", folder + "x.fio", FioDevice{8_MiB, 4096, 7})
            .digest,
        digest);
    FioJobText two;
    two.path = "test.fio";
    two.text = "[global]\nbs=16k\n[other]\nrw=read\n[j]\nrw=write\n";
    two.sections = {"j"};
    EXPECT_EQ(parse_fio_jobs(two, FioDevice{1_MiB, 512, 0}).digest, digest);
    two.sections.clear();
    std::vector<std::string> digests{digest, parse_fio_jobs(two, FioDevice{1_MiB, 512, 0}).digest};
    for (const char* text :
         {"[global]\nbs=8k\n[j]\nrw=write\n", "[global]\nbs=16k\n[j]\nrw=read\n",
          "[global]\nbs=16k\n[j]\nrw=write\ntime_based\nruntime=1\n", "[global]\nbs=16k\n[j]\nrw=write\nruntime=1\n",
          "[global]\nbs=16k\n[j]\nrw=write\n[j]\nrw=write\n"})
        digests.push_back(parse_fio(text).digest);
    std::sort(digests.begin(), digests.end());
    EXPECT_EQ(std::adjacent_find(digests.begin(), digests.end()), digests.end());
}

TEST(FioJobFile, LogsAreNamedAfterTheJobByDefault) {
    const auto f =
        parse_fio("[j]\nwrite_bw_log\nwrite_lat_log=x\nlog_avg_msec=50\npercentile_list=50:99.9\nlat_percentiles=1\n");
    EXPECT_EQ(f.jobs[0].report.bw_log, "j");
    EXPECT_EQ(f.jobs[0].report.lat_log, "x");
    EXPECT_EQ(f.jobs[0].report.iops_log, "");
    EXPECT_EQ(f.jobs[0].report.log_avg_msec, 50u);
    EXPECT_EQ(f.jobs[0].report.percentiles, (std::vector<double>{50, 99.9}));
    EXPECT_TRUE(f.jobs[0].report.lat_percentiles);
}

TEST(FioJobFile, ShippedJobsAreAcceptedAndSmall) {
    for (const char* name : {"random_mix", "qd1_4k_randread", "bssplit_zoned", "ramp_rate", "two_groups_stonewall",
                             "numjobs_group", "jesd219-enterprise", "jesd219-enterprise-4k"}) {
        const FioDevice device{8_GiB, std::string(name) == "jesd219-enterprise" ? 512u : 4096u, 0};
        const auto file = load_fio_job_file(std::string(SSDTLM_WORKLOADS) + "/" + name + ".fio", device);
        FioWorkload w(file);
        const auto issues = drain(w, 100us);
        EXPECT_GT(issues.size(), 10'000u) << name;
        EXPECT_LE(issues.size(), 210'000u) << name;
        for (const std::string& note : file.notes) EXPECT_THAT(note, HasSubstr("ignores")) << name;
    }
}

TEST(FioOptionTable, NamesAreUniqueAndDocumented) {
    std::set<std::string> names;
    for (const FioOption& o : FioOptionTable::instance().options()) {
        EXPECT_TRUE(names.insert(o.name).second) << o.name;
        EXPECT_TRUE(o.alias == nullptr || names.insert(o.alias).second) << o.name;
        EXPECT_EQ(o.apply != nullptr, o.treatment == FioOption::Treatment::handled) << o.name;
        EXPECT_EQ(*o.reason != 0, o.treatment == FioOption::Treatment::unsupported) << o.name;
    }
    const std::string table = FioOptionTable::instance().markdown();
    EXPECT_THAT(table, HasSubstr("| `rw` | `readwrite` | handled |"));
    EXPECT_THAT(table, HasSubstr("| `steadystate` | `ss` | handled |"));
    EXPECT_THAT(table, HasSubstr("| `port` |  | error | of ioengine=net or netsplice |"));
    EXPECT_THAT(table, HasSubstr("accepted with none; "));
}

}  // namespace
}  // namespace ssdtlm
