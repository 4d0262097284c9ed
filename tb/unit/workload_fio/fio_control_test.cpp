// SPDX-License-Identifier: Apache-2.0
// What steers jobs besides their own amounts: files, other jobs, results, and what they have written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/report/error.h"
#include "fio_fixture.h"
#include "host_pcie/workload/fio/fio_latency_target.h"
#include "host_pcie/workload/fio/fio_verify_history.h"
#include "host_pcie/workload/report/fio_steady_state.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr SimTime at(Ps t) {
    return SimTime{t};
}
std::vector<Issue> own(const std::vector<Issue>& all) {
    std::vector<Issue> out;
    std::copy_if(all.begin(), all.end(), std::back_inserter(out),
                 [](const Issue& i) { return !i.request.preparation; });
    return out;
}
std::uint64_t of_job(const std::vector<Issue>& issues, std::uint32_t job) {
    return static_cast<std::uint64_t>(
        std::count_if(issues.begin(), issues.end(), [job](const Issue& i) { return i.request.job == job; }));
}

// --- files ---

TEST(FioFiles, ClonesOfADirectoryLieSideBySideAndAreFilledFirst) {
    const auto all = run_fio("[j]\nrw=randread\ndirectory=/d\nsize=64k\nnumjobs=4\n");
    std::set<std::uint64_t> filled;
    SimTime end{};
    for (const Issue& i : all) {
        if (!i.request.preparation || i.request.op != HostOp::write) continue;
        for (std::uint64_t b = 0; b < i.request.bytes; b += 4096)
            EXPECT_TRUE(filled.insert(i.request.offset + b).second);
        end = std::max(end, i.done);
    }
    EXPECT_EQ(filled.size(), 64u);  // 4 x 64 KiB
    std::set<std::uint64_t> read;
    for (const Issue& i : own(all)) {
        EXPECT_GE(i.at, end);
        EXPECT_EQ(i.request.offset / 64_KiB, i.request.job);
        EXPECT_TRUE(i.measured);
        read.insert(i.request.offset);
    }
    EXPECT_EQ(read, filled);
    EXPECT_EQ(all.size() - own(all).size(), 4u + 4);  // one write of 64 KiB and a flush each
}

TEST(FioFiles, WhoFillsIsAsInFio) {
    const auto filled = [](const std::string& text) {
        return parse_fio("[global]\ndirectory=/d\nsize=64k\n" + text).fills.size();
    };
    EXPECT_EQ(filled("[a]\nrw=write\n"), 0u);
    EXPECT_EQ(filled("[a]\nrw=write\noverwrite=1\n"), 1u);
    EXPECT_EQ(filled("[a]\nrw=randrw\n"), 1u);
    EXPECT_EQ(filled("[a]\nrw=read\ncreate_on_open=1\n"), 0u);
    EXPECT_EQ(filled("[a]\nrw=read\n[b]\nrw=read\n"), 2u);
    EXPECT_EQ(filled("filename=f\n[a]\nrw=read\n[b]\nrw=read\n"), 1u);   // one file of that name
    EXPECT_EQ(filled("filename=f\n[a]\nrw=write\n[b]\nrw=read\n"), 0u);  // it is there when b looks
    EXPECT_EQ(parse_fio("[a]\nfilename=/dev/nvme0n1\nrw=read\n").fills.size(), 0u);
}

TEST(FioFiles, NamesDecideWhatIsShared) {
    const auto offsets = [](const std::string& text) {
        std::vector<std::uint64_t> out;
        for (const FioJob& j : parse_fio("[global]\nsize=64k\n" + text).jobs)
            for (const FioFile& f : j.files) out.push_back(f.offset / 1024);
        return out;
    };
    EXPECT_THAT(offsets("[a]\nfilename=x\n[b]\nfilename=y\n[c]\nfilename=x\n"), ElementsAre(0, 64, 0));
    EXPECT_THAT(offsets("[a]\nfilename=x:y\nnumjobs=2\n"), ElementsAre(0, 32, 0, 32));
    EXPECT_THAT(offsets("[a]\ndirectory=/p:/q\nfilename=x\nnumjobs=3\n"), ElementsAre(0, 64, 0));
    EXPECT_THAT(offsets("[a]\ndirectory=/p\nfilename_format=one.$filenum\nnumjobs=2\n"), ElementsAre(0, 0));
    EXPECT_THAT(offsets("[a]\nnrfiles=2\nnumjobs=2\n"), ElementsAre(0, 32, 64, 96));
    EXPECT_THAT(offsets("[a]\ndirectory=/p\noffset=16k\nnumjobs=2\n"), ElementsAre(16, 96));
    EXPECT_THAT(offsets("[a]\n[b]\n"), ElementsAre(0, 0));  // the drive itself
    EXPECT_THAT(offsets("[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sda\n"), ElementsAre(0, 0));
}

TEST(FioFiles, TheWayToChooseThem) {
    const auto order = [](const std::string& text) {
        std::vector<std::uint64_t> files;
        for (const Issue& i : own(run_fio("[j]\nnrfiles=3\nsize=48k\n" + text)))
            files.push_back(i.request.offset / 16_KiB);
        return files;
    };
    EXPECT_THAT(order(""), ElementsAre(0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2));
    EXPECT_THAT(order("file_service_type=roundrobin:2\n"), ElementsAre(0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2));
    EXPECT_THAT(order("file_service_type=sequential\n"), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2));
    auto random = order("file_service_type=random\n");
    EXPECT_FALSE(std::is_sorted(random.begin(), random.end()));
    std::sort(random.begin(), random.end());
    EXPECT_THAT(random, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2));
}

TEST(FioFiles, SizesOfARangeStayInIt) {
    const auto f = parse_fio("[j]\nnrfiles=16\nfilesize=8k-32k\n");
    std::set<std::uint64_t> sizes;
    for (const FioFile& file : f.jobs[0].files) {
        EXPECT_GE(file.region, 8_KiB);
        EXPECT_LE(file.region, 32_KiB);
        EXPECT_EQ(file.region % 4096, 0u);
        sizes.insert(file.region);
    }
    EXPECT_GT(sizes.size(), 2u);
    EXPECT_EQ(f.jobs[0].size, f.jobs[0].region());
}

// --- the verify phase ---

TEST(FioVerify, ReadsBackEachPieceAfterAFlush) {
    for (const char* rw : {"write", "randwrite", "randwrite\nnorandommap", "randwrite\nbssplit=4k/50:8k/50"}) {
        const auto all = run_fio(std::string("[j]\nverify=crc32c\nioengine=libaio\niodepth=8\nrw=") + rw + "\n");
        std::map<std::uint64_t, std::uint64_t> written;
        std::vector<Issue> reads;
        SimTime flushed{};
        for (const Issue& i : all) {
            if (i.request.op == HostOp::write) written[i.request.offset] = i.request.bytes;
            if (i.request.op == HostOp::flush) flushed = i.done;
            if (i.request.op == HostOp::read) reads.push_back(i);
        }
        ASSERT_EQ(reads.size(), written.size()) << rw;
        for (const Issue& r : reads) {
            EXPECT_GE(r.at, flushed);
            EXPECT_EQ(written[r.request.offset], r.request.bytes);
        }
    }
}

TEST(FioVerify, BacklogReadsInBetween) {
    const auto all = run_fio("[j]\nverify=meta\nrw=write\nsize=128k\nverify_backlog=8\n");
    std::string order;
    for (const Issue& i : all) order += i.request.op == HostOp::write ? 'w' : i.request.op == HostOp::read ? 'r' : 'f';
    const std::string part = "wwwwwwwwrrrrrrrr";
    EXPECT_EQ(order.substr(0, 48), part + part + part);
}

TEST(FioVerify, RunTimeEndsIt) {
    const auto all = run_fio("[j]\nverify=md5\nrw=write\nruntime=1ms\n");
    EXPECT_EQ(count(all, HostOp::write), 100u);
    EXPECT_EQ(count(all, HostOp::read), 0u);
}

TEST(FioVerifyHistory, OverlapsDropTheOlderPiece) {
    FioVerifyHistory h(false);
    const auto a = h.add(0, 8192);
    const auto b = h.add(4096, 8192);  // covers the second half of a: fio drops a
    h.completed(a, 0);
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    EXPECT_EQ(h.size(), 1u);
    EXPECT_FALSE(h.take(offset, bytes)) << "b is still being written";
    h.completed(b, 4096);
    ASSERT_TRUE(h.take(offset, bytes));
    EXPECT_EQ(offset, 4096u);
    EXPECT_EQ(bytes, 8192u);
    EXPECT_FALSE(h.take(offset, bytes));
}

// --- other jobs ---

TEST(FioOrder, WaitForWaitsForAllClones) {
    const auto all =
        run_fio("[global]\nsize=64k\n[a]\nnumjobs=3\nthinktime=100\n[b]\nwait_for=a\n[c]\nwait_for=b\n[d]\n");
    std::map<std::uint32_t, std::pair<SimTime, SimTime>> span;
    for (const Issue& i : all) {
        auto& s = span.try_emplace(i.request.job, i.at, i.done).first->second;
        s.second = std::max(s.second, i.done);
    }
    for (std::uint32_t a : {0u, 1u, 2u}) EXPECT_GE(span[3].first, span[a].second);
    EXPECT_GE(span[4].first, span[3].second);
    EXPECT_EQ(span[5].first, at(0us));
}

TEST(FioOrder, ExitallEndsItsGroup) {
    // a ends after 16 I/Os of 10 us; b would do 256, c is of another group.
    const std::string jobs =
        "[global]\nrw=read\n[a]\nsize=64k\nexitall\n[b]\nexit_what=group\n[c]\nnew_group\nsize=512k\n";
    const auto all = run_fio(jobs);
    EXPECT_EQ(of_job(all, 0), 16u);
    EXPECT_NEAR(static_cast<double>(of_job(all, 1)), 16, 1);
    EXPECT_EQ(of_job(all, 2), 128u);
}

TEST(FioOrder, ExitWhatReachesFurther) {
    const auto issued = [](const std::string& what) {
        const auto all = run_fio("[global]\nrw=read\n[a]\nsize=64k\nexitall\nnew_group\nexit_what=" + what +
                                 "\n[b]\nnew_group\n[c]\nstonewall\nsize=32k\n");
        return std::vector<std::uint64_t>{of_job(all, 0), of_job(all, 1), of_job(all, 2)};
    };
    EXPECT_THAT(issued("group"), ElementsAre(16, 256, 8));
    EXPECT_THAT(issued("stonewall"), ElementsAre(16, ::testing::Le(17u), 8));
    EXPECT_THAT(issued("all"), ElementsAre(16, ::testing::Le(17u), 0));
}

TEST(FioFlow, ProportionsAreKept) {
    const auto all = run_fio(
        "[global]\nrw=randread\nnorandommap\nruntime=100ms\ntime_based\nioengine=libaio\niodepth=4\n[a]\nflow=8\n[b]"
        "\nflow=1\n");
    const double a = static_cast<double>(of_job(all, 0));
    const double b = static_cast<double>(of_job(all, 1));
    EXPECT_NEAR(a / b, 8, 0.05);
    EXPECT_GT(a + b, 10'000);  // b holds back, a keeps its queue full: 4 I/Os per 10 us
}

TEST(FioFlow, SleepsForFlowSleep) {
    const auto all = run_fio(
        "[global]\nrw=randread\nnorandommap\nruntime=100ms\ntime_based\nflow_sleep=500\n[a]\nflow=1\n[b]\nflow="
        "1\nthinktime=200\n");
    EXPECT_NEAR(static_cast<double>(of_job(all, 0)), static_cast<double>(of_job(all, 1)), 5);
    // Where a held back it slept at least 500 us.
    SimTime last{};
    int slept = 0;
    for (const Issue& i : all) {
        if (i.request.job != 0) continue;
        if (i.at - last > 100us) {
            EXPECT_GE(i.at - last, 500us);
            ++slept;
        }
        last = i.at;
    }
    EXPECT_GT(slept, 10);
}

TEST(FioFlow, TheOtherJobsEndLetsGo) {
    const auto all = run_fio("[global]\nrw=read\n[a]\nflow=1\n[b]\nflow=1\nsize=64k\n");
    EXPECT_EQ(of_job(all, 0), 256u);
    EXPECT_EQ(of_job(all, 1), 16u);
}

TEST(FioFlow, AJobThatNeverStartsHoldsNobodyBack) {
    const auto never =
        run_fio("[global]\nrw=read\n[x]\nsize=64k\nexitall\n[b]\nflow=1\nstartdelay=5\n[a]\nnew_group\nflow=1\n");
    EXPECT_EQ(of_job(never, 1), 0u);
    EXPECT_EQ(of_job(never, 2), 256u);
}

TEST(FioFlow, JobsThatWaitForEachOtherAreRefused) {
    EXPECT_THROW(parse_fio("[a]\nflow=1\n[b]\nstonewall\nflow=1\n"), UserError);
    EXPECT_THROW(parse_fio("[a]\nflow=1\n[b]\nwait_for=a\nflow=1\n"), UserError);
    EXPECT_NO_THROW(parse_fio("[a]\nflow=1\nruntime=1\n[b]\nstonewall\nflow=1\n"));
    EXPECT_NO_THROW(parse_fio("[a]\nflow=1\n[b]\nstonewall\nflow=1\nflow_id=2\n"));
}

// --- results ---

TEST(FioLimits, RateMinEndsTheJobAfterItsSettlingTime) {
    const FioDevice device{1_MiB, 512, 0};
    for (const auto& [limit, meets] : {std::pair{"rate_min=200k", true},
                                       {"rate_min=800k", false},
                                       {"rate_iops_min=90", true},
                                       {"rate_iops_min=110", false}}) {
        FioWorkload w(parse_fio_job_text(
            std::string("[j]\nrw=randread\nnorandommap\ntime_based\nruntime=5\nrate_iops=100\n") + limit + "\n", "t",
            device));
        const auto issues = drain(w, 10us);
        EXPECT_EQ(w.failures().empty(), meets) << limit;
        if (meets) {
            EXPECT_NEAR(static_cast<double>(issues.size()), 500, 2);
        } else {
            EXPECT_THAT(w.failures().at(0), HasSubstr("not met, got"));
            EXPECT_NEAR(static_cast<double>(issues.size()), 300, 3) << "2 s, then one rate_cycle";
        }
    }
}

TEST(FioLimits, MaxLatency) {
    const FioDevice device{1_MiB, 512, 0};
    FioWorkload w(parse_fio_job_text("[j]\nrw=read\nmax_latency=20\n[k]\nrw=read\nmax_latency=5\n", "t", device));
    EXPECT_EQ(of_job(drain(w, 10us), 1), 1u);
    ASSERT_EQ(w.failures().size(), 1u);
    EXPECT_THAT(w.failures()[0],
                HasSubstr("fio job 'k' ended at 0.000010 s: a latency of 10 us of reads exceeds max_latency=5 us"));
}

TEST(FioRefill, IodepthLowAndBatchComplete) {
    // Depth 8: a full queue is refilled when 2 are left, or when 3 have completed.
    const auto levels = [](const std::string& text) {
        std::set<std::uint32_t> at_issue;
        std::uint32_t outstanding = 0;
        const FioDevice device{1_MiB, 512, 0};
        FioWorkload w(parse_fio_job_text("[j]\nrw=read\nioengine=libaio\niodepth=8\nsize=512k\n" + text, "t", device));
        std::vector<HostRequest> queue;  // completes one at a time
        SimTime now{};
        for (int i = 0; i < 100; ++i) {
            bool first = true;
            for (auto n = w.next(now); n.state == Workload::State::ready; n = w.next(now)) {
                if (first && i > 0) at_issue.insert(outstanding);
                first = false;
                queue.push_back(n.request);
                ++outstanding;
            }
            now += 10us;
            w.completed(queue.front(), now, now, now, true);
            queue.erase(queue.begin());
            --outstanding;
        }
        return at_issue;
    };
    EXPECT_THAT(levels(""), ElementsAre(7));
    EXPECT_THAT(levels("iodepth_low=2\n"), ElementsAre(2));
    EXPECT_THAT(levels("iodepth_batch_complete_min=3\n"), ElementsAre(5));
}

/// A drive that serves `parallel` I/Os at a time, 100 us each: latency = ceil(depth / parallel) * 100 us.
TEST(FioLatencyTargetSearch, FindsTheDepth) {
    for (const std::uint32_t parallel : {3u, 8u, 20u}) {
        FioJob job;
        job.iodepth = 128;
        job.latency_target = 150us;
        job.latency_window = 10ms;
        job.latency_percentile = 99;
        SimTime now{};
        FioLatencyTarget target(job, now);
        std::set<std::uint32_t> at_end;
        auto step = FioLatencyTarget::Step::none;
        for (int i = 0; i < 1'000'000 && step != FioLatencyTarget::Step::done; ++i) {
            const Ps latency = 100us * ((target.depth() + parallel - 1) / parallel);
            now += latency / target.depth();
            step = target.completed(latency, now);
            if (now > at(500ms)) at_end.insert(target.depth());
        }
        // It settles at the largest depth that meets the target, and tries one more now and then.
        EXPECT_TRUE(at_end.count(parallel) == 1 || step == FioLatencyTarget::Step::done) << parallel;
        for (const std::uint32_t d : at_end) EXPECT_LE(d, parallel + 1);
    }
}

TEST(FioLatencyTargetSearch, GivesUpAtDepthOneOnlyForAllIos) {
    FioJob job;
    job.iodepth = 8;
    job.latency_target = 10us;
    job.latency_window = 1ms;
    FioLatencyTarget all(job, at(0us));
    EXPECT_EQ(all.completed(20us, at(20us)), FioLatencyTarget::Step::impossible);
    job.latency_percentile = 90;
    FioLatencyTarget most(job, at(0us));
    EXPECT_EQ(most.completed(20us, at(20us)), FioLatencyTarget::Step::none);
    EXPECT_EQ(most.completed(20us, at(2ms)), FioLatencyTarget::Step::none);
    EXPECT_EQ(most.depth(), 1u);
}

TEST(FioLatencyTargetSearch, EndsAtTheFullDepthOfAnEasyTarget) {
    const FioDevice device{1_MiB, 512, 0};
    FioWorkload w(
        parse_fio_job_text("[j]\nrw=randread\nnorandommap\ntime_based\nruntime=60\nioengine=libaio\niodepth="
                           "16\nlatency_target=50\nlatency_window=1ms\n"
                           "latency_percentile=99\n",
                           "t", device));
    std::uint32_t resets = 0;
    w.on_statistics_reset([&resets](std::uint32_t) { ++resets; });
    const auto issues = drain(w, 10us);
    EXPECT_EQ(w.runner(0).depth(), 16u);
    EXPECT_EQ(resets, 1u);
    EXPECT_LT(issues.back().at, at(10ms));  // 1, 2, 4, 8, 16, final run: six windows
    EXPECT_THAT(w.outcomes().at(0), HasSubstr("latency_target met at queue depth 16"));
}

TEST(FioSteadyStateRule, DeviationAndSlope) {
    FioSteadyCriterion c;
    c.seconds = 4;
    c.percent = true;
    c.limit = 10;
    FioSteadyState deviation(c);
    for (const std::uint64_t v : {1000u, 800u, 700u, 650u}) EXPECT_FALSE(deviation.add(v, 0));
    EXPECT_FALSE(deviation.add(640, 0));  // 800 700 650 640: mean 697.5, deviation 102.5
    EXPECT_NEAR(deviation.value(), 100 * 102.5 / 697.5, 1e-9);
    EXPECT_TRUE(deviation.add(630, 0));  // 700 650 640 630: 45 / 655
    EXPECT_NEAR(deviation.value(), 100 * 45.0 / 655, 1e-9);

    c.slope = true;
    c.bandwidth = true;
    c.percent = false;
    c.limit = 11;
    FioSteadyState slope(c);
    for (const std::uint64_t v : {100u, 120u, 140u, 160u}) EXPECT_FALSE(slope.add(0, v));
    EXPECT_DOUBLE_EQ(slope.slope(), 20);
    EXPECT_FALSE(slope.add(0, 170));
    EXPECT_TRUE(slope.add(0, 170));  // 140 160 170 170: slope 10
    EXPECT_DOUBLE_EQ(slope.value(), 10);
}

TEST(FioSteadyStateRule, EndsItsGroup) {
    const FioDevice device{1_MiB, 512, 0};
    FioWorkload w(
        parse_fio_job_text("[j]\nnumjobs=2\ngroup_reporting\nrw=randread\nnorandommap\ntime_based\nruntime=100\nrate_"
                           "iops=100\nss=iops:5%\nss_dur=4\n"
                           "ss_ramp=2\n",
                           "t", device));
    const auto issues = drain(w, 10us);
    EXPECT_NEAR(to_seconds(issues.back().at.time_since_epoch()), 6, 1.1);  // ramp + 1 s, then four values
    EXPECT_EQ(w.steady_state(0), nullptr);
    ASSERT_NE(w.steady_state(1), nullptr);
    EXPECT_TRUE(w.steady_state(1)->attained());
    EXPECT_NEAR(static_cast<double>(w.steady_state(1)->iops().back()), 200, 2);
    EXPECT_THAT(w.outcomes().at(0), HasSubstr("attained at 6."));
}

}  // namespace
}  // namespace ssdtlm
