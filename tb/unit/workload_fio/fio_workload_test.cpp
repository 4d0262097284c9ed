// SPDX-License-Identifier: Apache-2.0
// When a job's I/Os go: amounts, depth, rate, think time, ramp, stonewall, flushes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fio_fixture.h"

namespace ssdtlm {
namespace {

constexpr SimTime at(Ps t) {
    return SimTime{t};
}

// total_ios and io_bytes measured with fio 3.33: size=1m, ioengine=null, the options of the row.
struct Amount {
    const char* options;
    std::uint64_t reads, writes, trims;
};
class FioAmounts : public ::testing::TestWithParam<Amount> {};
TEST_P(FioAmounts, AreThoseOfFio333) {
    const std::string options = GetParam().options;
    const bool files = options.find("nrfiles") != std::string::npos;  // rounding makes them longer than their sum
    auto issues = run_fio("[j]\nioengine=libaio\nsize=1m\n" + options + "\n", files ? 2_MiB : 1_MiB);
    issues.erase(std::remove_if(issues.begin(), issues.end(), [](const Issue& i) { return i.request.preparation; }),
                 issues.end());
    EXPECT_EQ(count(issues, HostOp::read), GetParam().reads);
    EXPECT_EQ(count(issues, HostOp::write), GetParam().writes);
    EXPECT_EQ(count(issues, HostOp::trim), GetParam().trims);
}
INSTANTIATE_TEST_SUITE_P(
    Rows, FioAmounts,
    ::testing::Values(Amount{"", 256, 0, 0}, Amount{"io_size=256k", 64, 0, 0},
                      Amount{"io_size=256k\nloops=2", 128, 0, 0}, Amount{"io_size=4m", 1024, 0, 0},
                      Amount{"io_size=4m\nloops=2", 1024, 0, 0}, Amount{"loops=3", 768, 0, 0},
                      Amount{"loops=0", 256, 0, 0}, Amount{"number_ios=10", 10, 0, 0},
                      Amount{"number_ios=10\nloops=2", 20, 0, 0}, Amount{"number_ios=1000", 256, 0, 0},
                      Amount{"io_size=50%", 128, 0, 0}, Amount{"rw=randread\nio_size=4m", 1024, 0, 0},
                      Amount{"rw=trimwrite", 0, 256, 256}, Amount{"rw=randtrimwrite", 0, 256, 256},
                      Amount{"rw=write:4k", 0, 256, 0}, Amount{"rw=write:-8k", 0, 256, 0},
                      Amount{"number_ios=100\niodepth=16", 100, 0, 0}, Amount{"rw=randwrite\nblockalign=8k", 0, 256, 0},
                      Amount{"rw=randread:8", 256, 0, 0}, Amount{"rw=randread:8\nnorandommap", 256, 0, 0}));

// The same on files: directory=, ioengine=psync.
INSTANTIATE_TEST_SUITE_P(
    VerifyPhase, FioAmounts,
    ::testing::Values(Amount{"rw=write\nverify=crc32c", 256, 256, 0},
                      Amount{"rw=randwrite\nverify=crc32c", 256, 256, 0},
                      Amount{"rw=write\nverify=crc32c\ndo_verify=0", 0, 256, 0},
                      Amount{"rw=write\nverify=crc32c\nloops=2", 512, 512, 0},
                      Amount{"rw=write\nverify=crc32c\nverify_backlog=16", 256, 256, 0},
                      Amount{"rw=randwrite\nverify=crc32c\nverify_backlog=16\nverify_backlog_batch=8", 256, 256, 0},
                      Amount{"rw=write\nverify=crc32c\nnumber_ios=100", 100, 100, 0},
                      Amount{"rw=write\nverify=crc32c\nverify_backlog=16\nnumber_ios=100", 52, 52, 0},
                      Amount{"rw=write\nverify=crc32c\nio_size=2m", 256, 256, 0},
                      Amount{"rw=read\nverify=0", 256, 0, 0}, Amount{"rw=write\nverify=none", 0, 256, 0}));
INSTANTIATE_TEST_SUITE_P(Files, FioAmounts,
                         ::testing::Values(Amount{"nrfiles=4", 256, 0, 0}, Amount{"nrfiles=3", 255, 0, 0},
                                           Amount{"rw=randread\nnrfiles=4\nfile_service_type=random", 256, 0, 0},
                                           Amount{"nrfiles=4\nfile_service_type=sequential", 256, 0, 0},
                                           Amount{"filesize=256k\nnrfiles=2", 128, 0, 0},
                                           Amount{"filesize=64k\nnrfiles=16", 256, 0, 0},
                                           Amount{"rw=randread\nfilesize=512k\nnrfiles=2\nio_size=256k", 64, 0, 0},
                                           Amount{"create_only=1", 0, 0, 0}));

// A hole on a part of the drive, fio 3.33 on a file of 4 MiB: the pass ends at the end of the region.
TEST(FioWorkload, HolesOnAPartOfTheDrive) {
    const auto first_and_last = [](const std::string& text) {
        const auto issues = run_fio("[j]\n" + text + "\n", 4_MiB);
        return std::vector<std::uint64_t>{issues.size(), issues[1].request.offset, issues.back().request.offset};
    };
    using Three = std::vector<std::uint64_t>;
    EXPECT_EQ(first_and_last("rw=read:4k\nsize=1m"), (Three{128, 8192, 1040384}));
    EXPECT_EQ(first_and_last("rw=read:4k\nsize=1m\noffset=64k"), (Three{128, 73728, 1105920}));
    EXPECT_EQ(first_and_last("rw=read:-8k\nsize=1m"), (Three{256, 1040384, 0}));
    EXPECT_EQ(first_and_last("rw=read:4k"), (Three{1024, 8192, 4186112}));
    EXPECT_EQ(first_and_last("rw=read:1m"), (Three{1024, 1052672, 3158016}));
    EXPECT_EQ(first_and_last("rw=read:4k\nsize=1m\nloops=2\nio_size=2m"), (Three{512, 8192, 1040384}));
}

TEST(FioWorkload, KeepsTheQueueFull) {
    const auto issues = run_fio("[j]\nioengine=libaio\nrw=randread\niodepth=8\n", 1_MiB, 10us);
    ASSERT_EQ(issues.size(), 256u);
    for (std::size_t i = 0; i < issues.size(); ++i)
        EXPECT_EQ(issues[i].at, at(10us * static_cast<std::int64_t>(i / 8)));
}

TEST(FioWorkload, ClonesShareNothingButTheDevice) {
    const auto issues = run_fio("[j]\nrw=read\nnumjobs=3\nsize=256k\noffset_increment=256k\n", 1_MiB);
    ASSERT_EQ(issues.size(), 3 * 64u);
    const std::uint64_t place[] = {0, 2, 1};  // as fio 3.33 numbers them
    for (const Issue& i : issues) EXPECT_EQ(i.request.offset / 256_KiB, place[i.request.job]);
}

TEST(FioWorkload, StonewallWaitsForAllEarlierJobs) {
    const auto issues = run_fio(
        "[a]\nrw=read\nsize=64k\n[b]\nrw=read\nsize=128k\n[c]\nstonewall\nrw=read\nsize=64k\n"
        "[d]\nrw=read\nsize=64k\n[e]\nstonewall\nrw=read\nsize=4k\n");
    SimTime end_of[5]{};
    SimTime start_of[5]{kNever, kNever, kNever, kNever, kNever};
    for (const Issue& i : issues) {
        end_of[i.request.job] = std::max(end_of[i.request.job], i.done);
        start_of[i.request.job] = std::min(start_of[i.request.job], i.at);
    }
    EXPECT_EQ(start_of[0], at(0us));
    EXPECT_EQ(start_of[1], at(0us));  // a and b together
    EXPECT_EQ(start_of[2], end_of[1]);
    EXPECT_EQ(start_of[3], start_of[2]);  // d, without stonewall, beside c
    EXPECT_EQ(start_of[4], end_of[3]);
}

TEST(FioWorkload, ADelayedJobDoesNotHoldBackAStonewall) {
    const auto issues = run_fio("[late]\nstartdelay=1ms\nsize=4k\n[wall]\nstonewall\nsize=4k\n");
    ASSERT_EQ(issues.size(), 2u);
    EXPECT_EQ(issues[0].request.job, 1u);
    EXPECT_EQ(issues[0].at, at(0us));
    EXPECT_EQ(issues[1].at, at(1ms));
}

TEST(FioWorkload, LinearRateIsExact) {
    // 1 MB/s in 4,000-byte steps would be 4 ms; here 4,096 bytes at 1,024,000 B/s.
    const auto issues =
        run_fio("[j]\nrw=read\nrate=1024000\nnumber_ios=100\niodepth=4\nioengine=libaio\nio_submit_mode=offload\n");
    ASSERT_EQ(issues.size(), 100u);
    for (std::size_t i = 0; i < issues.size(); ++i) EXPECT_EQ(issues[i].at, at(4ms * static_cast<std::int64_t>(i)));
}

TEST(FioWorkload, InlineRateSleepsAfterTheQueueIsEmpty) {
    // fio's default: the sleep of (next - now) begins when the outstanding I/O has returned, 10 us later; once late,
    // the sleep is shorter by that much.
    const auto issues = run_fio("[j]\nrw=read\nrate_iops=1000\nnumber_ios=4\niodepth=4\nioengine=libaio\n");
    ASSERT_EQ(issues.size(), 4u);
    EXPECT_EQ(issues[1].at, at(1010us));
    EXPECT_EQ(issues[2].at, at(2010us));
    EXPECT_EQ(issues[3].at, at(3010us));
}

TEST(FioWorkload, RateOfOneDirectionLeavesTheOther) {
    const auto issues =
        run_fio("[j]\nrw=randrw\nrate_iops=,500\nruntime=1\ntime_based\nio_submit_mode=offload\n", 1_MiB, 100us);
    EXPECT_NEAR(static_cast<double>(count(issues, HostOp::write)), 500, 2);
    EXPECT_GT(count(issues, HostOp::read), 9000u);
}

TEST(FioWorkload, PoissonArrivals) {
    const auto issues = run_fio(
        "[j]\nrw=randread\nnorandommap\nrate_iops=10000\nrate_process=poisson\nruntime=4\ntime_based\nioengine=libaio\n"
        "iodepth=64\nio_submit_mode=offload\n",
        1_MiB, 10us);
    const double n = static_cast<double>(issues.size());
    EXPECT_NEAR(n, 40000, 6 * std::sqrt(40000.0));
    double square = 0;
    const double mean = 4e8 / n;  // in 10 ns
    for (std::size_t i = 1; i < issues.size(); ++i) {
        const double gap = static_cast<double>((issues[i].at - issues[i - 1].at).count()) / 1e4 - mean;
        square += gap * gap;
    }
    EXPECT_NEAR(std::sqrt(square / n) / mean, 1.0, 0.05);  // an exponential's deviation is its mean
}

TEST(FioWorkload, ThinktimeMakesDepthOne) {
    const auto issues = run_fio("[j]\nrw=read\nthinktime=100\nnumber_ios=5\nioengine=libaio\niodepth=1\n");
    for (std::size_t i = 0; i < issues.size(); ++i) EXPECT_EQ(issues[i].at, at(110us * static_cast<std::int64_t>(i)));
    const auto four =
        run_fio("[j]\nrw=read\nthinktime=100\nthinktime_blocks=4\nnumber_ios=12\nioengine=libaio\niodepth=1\n");
    ASSERT_EQ(four.size(), 12u);
    EXPECT_EQ(four[3].at, at(30us));
    EXPECT_EQ(four[4].at, at(140us));
    EXPECT_EQ(four[8].at, at(280us));
    const auto issue = run_fio(
        "[j]\nrw=read\nthinktime=100\nthinktime_blocks=4\nthinktime_blocks_type=issue\nnumber_ios=12\n"
        "ioengine=libaio\niodepth=8\n");
    ASSERT_EQ(issue.size(), 12u);
    EXPECT_EQ(issue[3].at, at(0us));
    EXPECT_EQ(issue[4].at, at(110us));
}

TEST(FioWorkload, RampIsAddedBeforeTheRunAndNotMeasured) {
    // fio 3.33: 1 s + 1 s at 1,000 IOPS gives total_ios 1001.
    const auto issues =
        run_fio("[j]\nrw=randread\nramp_time=1\nruntime=1\ntime_based\nrate_iops=1000\nio_submit_mode=offload\n");
    std::uint64_t measured = 0;
    for (const Issue& i : issues) measured += i.measured;
    EXPECT_NEAR(static_cast<double>(measured), 1000, 1);
    EXPECT_NEAR(static_cast<double>(issues.size()), 2000, 2);
    EXPECT_LT(issues.back().at, at(2s));
}

// "runtime" of the jobs[] entry, measured with fio 3.33 (ioengine=null, size=1m): fio's is up to 1 ms longer.
TEST(FioWorkload, AJobsOwnTimeIsThatOfFio333) {
    struct Row {
        const char* options;
        std::int64_t ms;
    };
    for (const Row& row :
         {Row{"rate_iops=1\nruntime=4\ntime_based", 4000}, Row{"thinktime=1500000\nnumber_ios=2", 3000},
          Row{"rate_iops=10\nramp_time=1\nruntime=2\ntime_based", 2000}, Row{"rate_iops=100\nnumber_ios=100", 990}}) {
        const FioDevice device{1_MiB, 512, 0};
        FioWorkload w(parse_fio_job_text(std::string("[j]\nrw=randread\n") + row.options + "\n", "test.fio", device));
        EXPECT_FALSE(w.job_time(0).has_value()) << "it has not begun";
        drain(w, 10us);
        const auto time = w.job_time(0);
        ASSERT_TRUE(time.has_value()) << row.options;
        EXPECT_NEAR(to_seconds(time->end - time->begin) * 1e3, static_cast<double>(row.ms), 0.05) << row.options;
    }
}

TEST(FioWorkload, RuntimeOnlyCapsUnlessTimeBased) {
    EXPECT_EQ(run_fio("[j]\nrw=read\nruntime=10\n").size(), 256u);
    EXPECT_EQ(run_fio("[j]\nrw=read\nruntime=1ms\n").size(), 100u);
    EXPECT_EQ(run_fio("[j]\nrw=read\nruntime=5ms\ntime_based\n").size(), 500u);  // wraps
    EXPECT_EQ(run_fio("[j]\nrw=randread\nruntime=5ms\ntime_based\n").size(), 500u);
}

TEST(FioWorkload, FsyncEveryNWritesStopsTheJobUntilItIsDone) {
    const auto issues = run_fio("[j]\nrw=write\nfsync=16\nioengine=libaio\niodepth=4\n");
    EXPECT_EQ(count(issues, HostOp::write), 256u);
    EXPECT_EQ(count(issues, HostOp::flush), 15u);  // none after the last write: the pass is over
    std::uint64_t writes = 0;
    for (std::size_t i = 0; i < issues.size(); ++i) {
        if (issues[i].request.op == HostOp::write) {
            ++writes;
            continue;
        }
        EXPECT_EQ(writes % 16, 0u);
        EXPECT_EQ(issues[i].request.bytes, 0u);
        EXPECT_GE(issues[i + 1].at, issues[i].done);
    }
    const auto end = run_fio("[j]\nrw=write\nend_fsync=1\n");
    EXPECT_EQ(end.back().request.op, HostOp::flush);
    EXPECT_EQ(count(end, HostOp::flush), 1u);
    for (const Issue& i : run_fio("[j]\nrw=write\nsync=1\n")) EXPECT_TRUE(i.request.fua);
}

TEST(FioWorkload, StartDelayAndProgress) {
    const FioDevice device{1_MiB, 512, 0};
    FioWorkload w(parse_fio_job_text("[j]\nrw=read\nstartdelay=2\n", "t", device));
    EXPECT_EQ(w.progress(at(0us)), 0);
    const Workload::Next n = w.next(at(0us));
    EXPECT_EQ(n.state, Workload::State::wait);
    EXPECT_EQ(n.when, at(2s));
    EXPECT_EQ(w.next(at(2s)).state, Workload::State::ready);
    EXPECT_EQ(w.next(at(2s)).state, Workload::State::blocked);
    EXPECT_NEAR(w.progress(at(2s)), 1 / 256.0, 1e-9);
}

TEST(FioWorkload, SameSeedSameSequence) {
    const auto sequence = [](std::uint64_t seed) {
        const FioDevice device{64_MiB, 512, seed};
        FioWorkload w(
            parse_fio_job_text("[j]\nrw=randrw\nnumjobs=2\nbssplit=4k/50:16k/50\nnumber_ios=500\n", "t", device));
        std::vector<std::uint64_t> all;
        for (const Issue& i : drain(w, 10us)) all.push_back(i.request.offset * 2 + (i.request.op == HostOp::read));
        return all;
    };
    EXPECT_EQ(sequence(1), sequence(1));
    EXPECT_NE(sequence(1), sequence(2));
}

TEST(FioWorkload, ManyJobsCostNothingWhileTheyWait) {
    const auto issues = run_fio(
        "[j]\nrw=randread\nnorandommap\nnumjobs=500\nrate_iops=100\nruntime=100ms\ntime_based\n"
        "io_submit_mode=offload\n",
        1_MiB);
    EXPECT_EQ(issues.size(), 500u * 10);
}

// 1000 I/Os a second, and 5 ms of thought behind each tenth: they are left out of the rate, or made up for.
TEST(FioWorkload, RateIgnoresThinkTime) {
    const std::string text = "[j]\nrw=read\nbs=4k\nsize=400k\nrate_iops=1000\nthinktime=5000\nthinktime_blocks=10\n";
    const auto whole = run_fio(text, 1_MiB, 1us);
    const auto apart = run_fio(text + "rate_ignore_thinktime=1\n", 1_MiB, 1us);
    ASSERT_EQ(whole.size(), 100u);
    ASSERT_EQ(apart.size(), 100u);
    EXPECT_NEAR(to_seconds(whole.back().at.time_since_epoch()), 0.100, 0.006);
    // Nine thoughts of 5 ms, each less the one block that comes at once behind it.
    EXPECT_NEAR(to_seconds(apart.back().at.time_since_epoch()), 0.099 + 9 * 0.004, 0.002);
}

TEST(FioWorkload, AJobThatEndsInItsRampSaysSo) {
    for (const auto& [text, said] :
         {std::pair{"[early]\nrw=read\nramp_time=60s\n", true}, std::pair{"[late]\nrw=read\nramp_time=1ms\n", false}}) {
        FioWorkload workload(parse_fio(text));
        drain(workload, 10us);
        const std::vector<std::string> outcomes = workload.outcomes();
        ASSERT_EQ(outcomes.size(), said ? 1u : 0u) << text;
        if (said) {
            EXPECT_NE(outcomes[0].find("job 'early' ended within its ramp_time of 60.000000 s"), std::string::npos)
                << outcomes[0];
        }
    }
}

}  // namespace
}  // namespace ssdtlm
