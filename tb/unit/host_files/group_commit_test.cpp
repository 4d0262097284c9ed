// SPDX-License-Identifier: Apache-2.0
// Threads that read, and write with a sync, against a small simulation of its own that knows threads, files and the
// commits of a journal, and neither blocks nor requests.
#include <gmock/gmock.h>

#include <algorithm>
#include <queue>
#include <random>
#include <set>

#include "files_bench.h"

namespace ssdtlm {
namespace {

using namespace std::chrono_literals;

struct Counts {
    double writes = 0, reads = 0, commits = 0, logged = 0;
};

/// `latency` us for each I/O of the drive, however many there are; stamps of `tick` us.
Counts small_simulation(std::uint32_t threads, std::uint32_t files, double share_of_reads, double latency, double call,
                        double tick, double end) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(0, 1);
    using Event = std::pair<double, std::uint32_t>;  // when, thread; a commit is thread `threads`
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    struct Thread {
        std::uint32_t file = 0;
        bool writing = false;
        enum { starting, in_drive } step = starting;
        std::uint64_t waits_for = 0;  // commit
    };
    std::vector<Thread> all(threads);
    std::vector<std::uint64_t> changed_in(files, 0);
    std::vector<std::int64_t> stamp(files, -1);
    std::set<std::uint32_t> running, committing;  // blocks of sixteen inodes
    std::vector<std::uint32_t> waiting;
    std::uint64_t current = 1, committed = 0;
    bool busy = false, wanted = false;
    Counts counts;
    double now = 0;
    // Uniform, so that threads do not march in step.
    const auto takes = [&] { return latency * (0.5 + uniform(random)); };
    const auto commit = [&] {
        busy = true;
        wanted = false;
        committing.swap(running);
        running.clear();
        counts.logged += static_cast<double>(committing.size());
        ++current;
        events.push({now + takes() + takes(), threads});  // blocks, then record
    };
    // A call takes its time before it changes anything, so what begins where a commit does is not in it.
    const auto begin = [&](std::uint32_t t, double at) {
        all[t].step = Thread::starting;
        events.push({at + call, t});
    };
    const auto start = [&](std::uint32_t t) {
        Thread& thread = all[t];
        thread.step = Thread::in_drive;
        thread.file = static_cast<std::uint32_t>(random() % files);
        thread.writing = uniform(random) >= share_of_reads;
        const auto now_tick = static_cast<std::int64_t>(now / tick);
        if (thread.writing && stamp[thread.file] != now_tick) {
            stamp[thread.file] = now_tick;
            changed_in[thread.file] = current;
            running.insert((11 + thread.file) / 16);
        }
        events.push({now + takes(), t});
    };
    for (std::uint32_t t = 0; t < threads; ++t) begin(t, 0);
    while (events.top().first < end) {
        const auto [at, who] = events.top();
        events.pop();
        now = at;
        if (who == threads) {
            busy = false;
            committed = current - 1;
            ++counts.commits;
            std::vector<std::uint32_t> still;
            for (const std::uint32_t t : waiting)
                if (all[t].waits_for <= committed) {
                    ++counts.writes;
                    begin(t, now);
                } else {
                    still.push_back(t);
                }
            waiting.swap(still);
            if (wanted && !running.empty()) commit();
            continue;
        }
        Thread& thread = all[who];
        if (thread.step == Thread::starting) {
            start(who);
        } else if (!thread.writing) {
            ++counts.reads;
            begin(who, now);
        } else if (changed_in[thread.file] <= committed) {
            ++counts.writes;
            begin(who, now);
        } else {
            thread.waits_for = changed_in[thread.file];
            waiting.push_back(who);
            if (thread.waits_for == current) wanted = true;
            if (wanted && !busy) commit();
        }
    }
    return counts;
}

TEST(GroupCommit, IsThatOfASmallSimulation) {
    constexpr std::uint32_t kFiles = 128;
    for (const std::uint32_t threads : {1u, 4u, 32u}) {
        FilesBench bench;
        bench.ext4.relatime = false;
        bench.spread = 100us;
        const auto all = bench.run(
            "[j]\ndirectory=/"
            "d\nfilename_format=f.$filenum\nnrfiles=128\nfilesize=1m\nbs=16k\nrw=randrw\nrwmixread=60\nsync=1\n"
            "file_service_type=random\nnorandommap\nrandrepeat=0\nioengine=psync\ntime_based\nruntime=8\nnumjobs=" +
            std::to_string(threads) + "\n");
        const Counts expected = small_simulation(threads, kFiles, 0.6, 200, 1, 4000, 8e6);
        Counts found;
        for (const OnDrive& d : all) {
            if (d.request.preparation) continue;
            found.reads += d.request.op == HostOp::read;
            if (d.request.op != HostOp::write) continue;
            const bool log = bench.in_log(d);
            found.writes += !log;
            found.commits += log && d.request.fua;
            if (log && !d.request.fua) found.logged += static_cast<double>(d.request.bytes / 4096 - 1);
        }
        std::printf(
            "[   FIGURE ] %2u threads: %.0f reads, %.0f writes, %.0f commits of %.2f blocks; small simulation %.0f, "
            "%.0f, %.0f, %.2f\n",
            threads, found.reads, found.writes, found.commits, found.logged / found.commits, expected.reads,
            expected.writes, expected.commits, expected.logged / expected.commits);
        EXPECT_NEAR(found.reads, expected.reads, 0.03 * expected.reads) << threads;
        EXPECT_NEAR(found.writes, expected.writes, 0.03 * expected.writes) << threads;
        EXPECT_NEAR(found.commits, expected.commits, 0.03 * expected.commits) << threads;
        EXPECT_NEAR(found.logged, expected.logged, 0.03 * expected.logged) << threads;
    }
}

}  // namespace
}  // namespace ssdtlm
