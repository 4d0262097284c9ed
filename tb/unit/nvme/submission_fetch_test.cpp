// SPDX-License-Identifier: Apache-2.0
// SubmissionFetch alone: random doorbells, DMA times and completions; entries arrive once, in order, inside the window.
#include "controller/nvme/submission_fetch.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "common/random/random.h"
#include "unit/nvme/fake_host.h"

namespace ssdtlm {
namespace {

using namespace nvme;

/// Numbers the entries of each queue as they come.
struct Counting final : EntrySink {
    void accept(const FetchedEntries& f, SubmissionQueue& q) override {
        for (std::uint32_t i = 0; i < f.count; ++i) {
            ASSERT_EQ(f.entries[i].cdw10, next[f.qid]) << "queue " << f.qid;
            ASSERT_EQ(f.entries[i].cdw11, f.qid);
            ASSERT_EQ((f.first + i) % q.entries, next[f.qid] % q.entries);
            ++next[f.qid];
        }
        ASSERT_LE(q.in_flight, window);
        ASSERT_LE(f.count, burst);
    }
    std::uint32_t window = 0, burst = 0;
    std::uint32_t next[5] = {};
};

TEST(SubmissionFetch, RandomTrafficArrivesInOrder) {
    std::uint64_t fetched = 0, reads = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Random random(seed);
        Agenda agenda;
        test::FakeDma dma(agenda);
        NvmeConfig config;
        config.max_queue_pairs = 4;
        config.max_queue_entries = 64;
        config.fetch_window = static_cast<std::uint32_t>(1 + random.below(20));
        config.fetch_burst = static_cast<std::uint32_t>(1 + random.below(8));
        config.fetch_depth = static_cast<std::uint32_t>(1 + random.below(6));
        config.ready_time = Ps{0};
        NvmeCounters counters;
        test::NoWork work;
        QueueSet queues(4, 64);
        ControllerState state(agenda, config, counters, work);
        Counting sink;
        sink.window = config.fetch_window;
        sink.burst = config.fetch_burst;
        SubmissionFetch fetch(agenda, dma, config, queues, state, counters, sink, sink);
        state.write(kRegAqa, 4, Aqa::of(32, 32));
        state.write(kRegCc, 4, Cc::kTypical);
        agenda.run();
        ASSERT_TRUE(state.running());

        std::uint32_t written[5] = {}, completed[5] = {};
        std::uint32_t entries[5];
        for (std::uint16_t q = 0; q < 5; ++q) {
            entries[q] = static_cast<std::uint32_t>(2 + random.below(60));
            queues.create_cq(q, 0x80000, 64, 0, false);
            queues.create_sq(q, q, 0x10000u + 0x2000u * q, entries[q], {});
        }
        const auto complete = [&](std::uint16_t q) {
            ++completed[q];
            --queues.sq(q).in_flight;
            if (queues.sq(q).waiting() != 0) fetch.window_moved(q);
        };
        for (int step = 0; step < 400; ++step) {
            const auto q = static_cast<std::uint16_t>(random.below(5));
            const std::uint32_t used = written[q] - sink.next[q];  // written and not fetched
            if (random.percent(40) && used < entries[q] - 1) {
                const std::uint32_t n = 1 + static_cast<std::uint32_t>(random.below(entries[q] - 1 - used));
                for (std::uint32_t i = 0; i < n; ++i) {
                    Sqe s;
                    s.cdw10 = written[q];
                    s.cdw11 = q;
                    dma.put(0x10000u + 0x2000u * q + written[q] % entries[q] * kSqeBytes, s);
                    ++written[q];
                }
                ASSERT_EQ(queues.ring_tail(q, written[q] % entries[q], agenda.now()), DoorbellResult::ok);
                dma.read_times.assign(4, Ps{1ns} * static_cast<std::int64_t>(100 + random.below(3000)));
                fetch.rung(q);
            } else if (completed[q] < sink.next[q]) {
                complete(q);
            }
            agenda.run_until(agenda.now() + Ps{1ns} * static_cast<std::int64_t>(random.below(1500)));
            ASSERT_LE(fetch.under_way(), config.fetch_depth);
            fetch.check_waiters();
        }
        // Everything that was rung comes, given completions.
        for (bool more = true; more;) {
            agenda.run();
            more = false;
            for (std::uint16_t q = 0; q < 5; ++q) {
                if (completed[q] < sink.next[q]) complete(q), more = true;
            }
        }
        for (std::uint16_t q = 0; q < 5; ++q) {
            ASSERT_EQ(sink.next[q], written[q]) << "queue " << q << " seed " << seed;
            fetched += written[q];
        }
        ASSERT_EQ(fetch.under_way(), 0u);
        reads += counters.fetches;
    }
    std::printf("%llu entries in %llu reads\n", static_cast<unsigned long long>(fetched),
                static_cast<unsigned long long>(reads));
    EXPECT_GT(fetched, 40'000u);
    EXPECT_LT(reads, fetched);
}

}  // namespace
}  // namespace ssdtlm
