// SPDX-License-Identifier: Apache-2.0
// What a request waits in the host before its SQE is written: slots of the queue pair and the host's CPU, against
// closed forms.
#include <systemc>

#include "formula/reference.h"
#include "support/devices.h"
#include "support/run_closed_loop.h"

namespace ssdtlm {
namespace {

std::int64_t ps(const nlohmann::json& j, const char* key) {
    return j[key].get<std::int64_t>();
}

nlohmann::json reads(const SsdConfig& c, std::uint32_t depth, std::uint64_t requests) {
    ClosedLoop::Spec s;
    s.depth = depth;
    s.requests = requests;
    s.skip = 2 * depth;  // the first round begins at once, and without a completion's doorbell before its own
    s.span = c.ftl.user_capacity_bytes / s.bytes * s.bytes;
    return run_closed_loop(c, s);
}

// One slot serves one read after the other, so each waits for the depth - 1 before it.
TEST(HostQueue, OneSlotServesTheRequestsInTurn) {
    SsdConfig c = table3_small();
    c.host.queue_entries = 2;  // a ring holds one less
    const std::int64_t alone = reference::unloaded_read(c, 4096);
    for (const std::uint32_t depth : {1u, 2u, 7u, 64u}) {
        const auto r = reads(c, depth, 400 + 2 * depth);
        std::printf("[   FIGURE ] depth %u on one slot: host_queue formula %ld ps, model %ld .. %ld ps\n", depth,
                    (depth - 1) * alone, ps(r, "host_queue_min_ps"), ps(r, "host_queue_max_ps"));
        EXPECT_EQ(ps(r, "host_queue_min_ps"), (depth - 1) * alone);
        EXPECT_EQ(ps(r, "host_queue_max_ps"), (depth - 1) * alone);
        EXPECT_EQ(ps(r, "exact_min_ps"), depth * alone);
        EXPECT_EQ(ps(r, "exact_max_ps"), depth * alone);
    }
}

TEST(HostQueue, NothingWhileSlotsSuffice) {
    SsdConfig c = table3_small();
    for (const std::uint32_t depth : {1u, 31u}) {
        c.host.queue_entries = depth + 1;
        const auto r = reads(c, depth, 5000);
        EXPECT_EQ(ps(r, "host_queue_max_ps"), 0);
        EXPECT_FALSE(r["latency_us"]["read"].contains("host_queue"));
    }
}

// The CPU writes the SQE: its time comes on top of the unloaded read and nothing waits for it.
TEST(HostQueue, TheCpuOfASubmissionIsPartOfIt) {
    SsdConfig c = table3_small();
    const std::int64_t alone = reference::unloaded_read(c, 4096);
    c.host.submit_time = Ps{7'500'001};
    // The doorbell of the completion before is no longer on the wire ahead of this one's.
    const std::int64_t expected =
        alone - reference::wire(c.link, 4 + reference::header(true)) + c.host.submit_time.count();
    const auto r = reads(c, 1, 500);
    EXPECT_EQ(ps(r, "host_queue_min_ps"), c.host.submit_time.count());
    EXPECT_EQ(ps(r, "host_queue_max_ps"), c.host.submit_time.count());
    EXPECT_EQ(ps(r, "exact_min_ps"), expected);
    EXPECT_EQ(ps(r, "exact_max_ps"), expected);
}

// A page of a read costs time before its SQE and before its completion.
TEST(HostQueue, PagesCostTheCpuTimeBeforeAndBehindTheDevice) {
    SsdConfig c = table3_small();
    c.host.submit_page_time = {Ps{300'000}, Ps{900'000}};
    c.host.completion_page_time = {Ps{170'001}, Ps{800'000}};
    const std::int64_t expected =
        reference::unloaded_read(c, 4096) - reference::wire(c.link, 4 + reference::header(true)) + 470'001;
    const auto r = reads(c, 1, 500);
    EXPECT_EQ(ps(r, "host_queue_min_ps"), 300'000);
    EXPECT_EQ(ps(r, "exact_min_ps"), expected);
    EXPECT_EQ(ps(r, "exact_max_ps"), expected);
}

// A host that looks all the time sees the entry when it is there; the interrupt would come behind it over the link.
TEST(HostQueue, PollingSavesTheInterrupt) {
    SsdConfig c = table3_small();
    c.host.completion = CompletionBy::poll;
    c.host.poll_time = Ps{0};
    const std::int64_t expected =
        reference::unloaded_read(c, 4096) - reference::wire(c.link, 4 + reference::header(false));
    const auto r = reads(c, 1, 500);
    EXPECT_EQ(ps(r, "exact_min_ps"), expected);
    EXPECT_EQ(ps(r, "exact_max_ps"), expected);
    c.host.poll_time = Ps{1'000'000};  // looks are at multiples of it: nothing else takes the core
    const auto looks = reads(c, 1, 500);
    EXPECT_EQ(ps(looks, "exact_max_ps") % 1'000'000, 0);
    EXPECT_EQ(ps(looks, "exact_max_ps"), (ps(looks, "exact_min_ps")));
    EXPECT_GE(ps(looks, "exact_max_ps"), expected);
    EXPECT_LE(ps(looks, "exact_max_ps"), expected + 1'000'000);
}

// The core is the server of a closed loop: its time for a command is the time between two of them.
TEST(HostQueue, OneCoreServesAllQueuePairs) {
    SsdConfig c = table3_small();
    c.host.submit_time = Ps{6'000'000};
    c.host.completion_time = Ps{4'000'000};
    c.host.submit_page_time.read = Ps{500'000};
    c.host.completion_page_time.read = Ps{300'000};
    for (const std::uint32_t cores : {1u, 2u, 4u}) {
        c.host.cores = cores;
        ClosedLoop::Spec s;
        s.depth = 512;
        s.jobs = 4;
        s.requests = 40'000;
        s.skip = 1000;
        s.span = c.ftl.user_capacity_bytes / s.bytes * s.bytes;
        const auto r = run_closed_loop(c, s);
        const double formula = cores * 1e12 / 10'800'000, model = r["read"]["iops"].get<double>();
        std::printf("[   FIGURE ] %u cores of 10.8 us a read: formula %.0f IOPS, model %.0f (%+.2f %%)\n", cores,
                    formula, model, (model / formula - 1) * 100);
        EXPECT_NEAR(model / formula, 1, 0.02);
    }
}

// Little's law: what a closed loop holds is its rate times the time from issue to completion, whatever the device does;
// and of that the slots hold their number.
TEST(HostQueue, TotalAndSlotsObeyLittlesLaw) {
    SsdConfig c = table3_small();
    c.host.queue_entries = 4;
    constexpr double kDepth = 1023, kSlots = 3;
    const auto r = reads(c, 1023, 60'000);
    const auto& us = r["latency_us"]["read"];
    const double total = us["total"]["mean"].get<double>() * 1e-6;
    const double waiting = us["host_queue"]["mean"].get<double>() * 1e-6;
    const double rate = kDepth / total;
    std::printf(
        "[   FIGURE ] depth 1023 on 3 slots: total %.3f ms, host_queue %.3f ms, in the device %.3f us x %.0f IOPS = "
        "%.4f slots\n",
        total * 1e3, waiting * 1e3, (total - waiting) * 1e6, rate, (total - waiting) * rate);
    EXPECT_NEAR((total - waiting) * rate, kSlots, 0.003 * kSlots);
    EXPECT_NEAR(r["read"]["iops"].get<double>() / rate, 1, 0.02);  // fill and drain count in the window
}

}  // namespace
}  // namespace ssdtlm
