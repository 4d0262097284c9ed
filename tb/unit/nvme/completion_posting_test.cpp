// SPDX-License-Identifier: Apache-2.0
// CompletionPosting alone: a host that takes entries when it likes sees each once, in order, with the right phase.
#include "controller/nvme/completion_posting.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "common/random/random.h"
#include "unit/nvme/fake_host.h"

namespace ssdtlm {
namespace {

using namespace nvme;

struct Followed final : PostedSink {
    void posted(std::uint16_t, SubmissionQueue&) override { ++calls; }
    void full(std::uint16_t) override {}
    std::uint32_t calls = 0;
};

struct Bench {
    Bench() : features(config(), true), posting(agenda, dma, queues, features, counters, sink) {}
    static NvmeConfig config() {
        NvmeConfig c;
        c.max_queue_pairs = 2;
        return c;
    }
    void unmask(std::uint32_t vector) {
        posting.write_vectors(msix_entry(static_cast<std::uint16_t>(vector)) + kMsixAddressLow,
                              test::kMsiBase + 0x1000 * vector);
        posting.write_vectors(msix_entry(static_cast<std::uint16_t>(vector)) + kMsixData, vector);
        posting.write_vectors(msix_entry(static_cast<std::uint16_t>(vector)) + kMsixControl, 0);
    }
    Agenda agenda;
    test::FakeDma dma{agenda};
    QueueSet queues{2, 64};
    NvmeFeatures features;
    NvmeCounters counters;
    Followed sink;
    CompletionPosting posting;
};

TEST(CompletionPosting, RandomHostSeesEachEntryOnce) {
    std::uint64_t seen = 0, held = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Random random(seed);
        Bench b;
        const auto entries = static_cast<std::uint32_t>(2 + random.below(20));
        b.queues.create_cq(1, 0x8000, entries, 1, true);
        b.queues.create_sq(1, 1, 0x4000, 64, {});
        b.unmask(1);
        SubmissionQueue& sq = b.queues.sq(1);
        std::uint16_t posted = 0, taken = 0;
        std::uint32_t head = 0;
        bool phase = true;
        for (int step = 0; step < 500; ++step) {
            if (random.percent(step < 250 ? 60 : 40)) {
                ++sq.in_flight;
                Cqe e;
                e.sqid = 1;
                e.cid = posted++;
                b.posting.post(sq, e);
            } else {
                std::uint32_t before = head;
                for (std::uint64_t n = random.below(entries); n-- > 0;) {
                    const auto e = b.dma.get<Cqe>(0x8000 + head * kCqeBytes);
                    if (e.phase() != phase) break;
                    ASSERT_EQ(e.cid, taken++);
                    if (++head == entries) head = 0, phase = !phase;
                }
                if (head != before) {
                    ASSERT_EQ(b.queues.ring_head(1, head), DoorbellResult::ok);
                    b.posting.head_moved(1);
                }
            }
            b.posting.check_waiters();
            ASSERT_EQ(sq.in_flight, posted - b.counters.cqes) << "in flight until the entry is in host memory";
            ASSERT_LE(b.counters.cqes, taken + entries - 1u) << "an entry was overwritten";
            ASSERT_EQ(b.counters.interrupts, b.counters.cqes);
        }
        seen += taken;
        held += b.counters.cqes_held;
        EXPECT_EQ(b.sink.calls, 0u) << "nobody waits for this queue";
    }
    std::printf("%llu entries taken, %llu of them had waited for room\n", static_cast<unsigned long long>(seen),
                static_cast<unsigned long long>(held));
    EXPECT_GT(held, 1000u);
}

TEST(CompletionPosting, MaskedMessageIsSentWhenUnmasked) {
    Bench b;
    b.queues.create_cq(1, 0x8000, 8, 1, true);
    b.queues.create_sq(1, 1, 0x4000, 64, {});
    SubmissionQueue& sq = b.queues.sq(1);
    sq.in_flight = 1;
    sq.tail = 1;  // one more command is behind the doorbell
    b.posting.post(1, 9, kStSuccess, 0x1234);
    EXPECT_EQ(b.sink.calls, 1u) << "the queue has commands, whose fetch window has moved";
    EXPECT_EQ(b.counters.interrupts_masked, 1u);
    EXPECT_EQ(b.posting.read_vectors(kMsixPba), 2u);
    EXPECT_TRUE(b.dma.messages.empty());
    EXPECT_EQ(b.dma.get<Cqe>(0x8000).dw0, 0x1234u);
    b.unmask(1);
    ASSERT_EQ(b.dma.messages.size(), 1u);
    EXPECT_EQ(b.dma.messages[0].data, 1u);
    EXPECT_EQ(b.posting.read_vectors(kMsixPba), 0u);
    b.posting.write_vectors(kMsixPba, ~0u);
    EXPECT_EQ(b.posting.read_vectors(kMsixPba), 0u) << "the host cannot write pending bits";
}

}  // namespace
}  // namespace ssdtlm
