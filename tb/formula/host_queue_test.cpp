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
