// SPDX-License-Identifier: Apache-2.0
// What a command costs the host's cores: per command, page, direction and interrupt, on one core or several, with
// interrupts or with polling. All times by hand.
#include "host_pcie/driver/host_cpu.h"

#include <gtest/gtest.h>

#include "fake_workload.h"
#include "io_path_bench.h"

namespace ssdtlm {
namespace {

constexpr Ps kMmio = FakeController::kMmio;

SimTime at(Ps t) {
    return SimTime{t};
}

HostRequest request(HostOp op, std::uint32_t bytes) {
    HostRequest r;
    r.op = op;
    r.bytes = bytes;
    return r;
}

TEST(HostCpu, CountsThePagesThatTheDataTouch) {
    HostConfig c;
    c.submit_time = 1us;
    c.completion_time = 2us;
    c.submit_page_time = {10ns, 20ns};
    c.completion_page_time = {3ns, 5ns};
    const HostCpu aligned(c);
    EXPECT_EQ(aligned.submission(request(HostOp::read, 4096)), 1us + 10ns);
    EXPECT_EQ(aligned.submission(request(HostOp::write, 131072)), 1us + 32 * 20ns);
    EXPECT_EQ(aligned.completion(request(HostOp::read, 131072)), 2us + 32 * 3ns);
    EXPECT_EQ(aligned.completion(request(HostOp::write, 512)), 2us + 5ns);
    EXPECT_EQ(aligned.submission(request(HostOp::flush, 0)), 1us);
    EXPECT_EQ(aligned.completion(request(HostOp::trim, 1 << 20)), 2us);
    c.buffer_offset = 4;
    EXPECT_EQ(HostCpu(c).submission(request(HostOp::read, 4096)), 1us + 2 * 10ns);  // it straddles two
    c.page_bytes = 65536;
    EXPECT_EQ(HostCpu(c).submission(request(HostOp::write, 131072)), 1us + 3 * 20ns);
}

TEST(HostCpu, QueuePairsTakeTurnsOverTheCores) {
    for (const std::uint32_t cores : {0u, 1u, 3u, 8u}) {
        HostConfig c;
        c.cores = cores;
        HostCpu cpu(c);
        cpu.deal(8);
        const std::uint32_t n = cores == 0 ? 8 : cores;
        EXPECT_EQ(cpu.cores(), n);
        for (std::uint32_t pair = 0; pair < 8; ++pair)
            EXPECT_EQ(cpu.occupy(pair, at(5us), 1us), at(5us + (pair / n + 1) * 1us));
        for (std::uint32_t core = 0; core < n; ++core)
            EXPECT_EQ(cpu.busy(core, at(1ms)), ((8 - core + n - 1) / n) * 1us);
        EXPECT_EQ(cpu.busy(0, at(5us + 300ns)), 300ns);  // of what is reserved, only what has passed
    }
}

TEST(HostCpu, LooksFollowEachOtherFromTheEndOfTheLastWork) {
    HostConfig c;
    c.poll_time = 100ns;
    HostCpu cpu(c);
    cpu.deal(1);
    cpu.occupy(0, at(1us), 30ns);
    EXPECT_EQ(cpu.next_look(0, at(1us)), at(1us + 130ns));         // at work: it looks after that
    EXPECT_EQ(cpu.next_look(0, at(1us + 30ns)), at(1us + 130ns));  // just begun to look
    EXPECT_EQ(cpu.next_look(0, at(1us + 129ns)), at(1us + 130ns));
    EXPECT_EQ(cpu.next_look(0, at(1us + 130ns)), at(1us + 230ns));  // this look has read the entry already
    EXPECT_EQ(cpu.next_look(0, at(1us + 731ns)), at(1us + 830ns));
    c.poll_time = 0ns;
    EXPECT_EQ(cpu.next_look(0, at(3us)), at(3us));
}

// Eight commands at once on one pair: submissions are serial, and so are completions.
TEST(HostCpu, PagesAndDirectionsCostWhatTheySay) {
    for (const HostOp op : {HostOp::read, HostOp::write}) {
        Bench b;
        b.config.submit_time = 1us;
        b.config.completion_time = 2us;
        b.config.submit_page_time = {10ns, 40ns};
        b.config.completion_page_time = {50ns, 0ns};
        b.config.interrupt_time = 700ns;
        b.device.service = 100us;
        ListWorkload w;
        const std::uint32_t pages[] = {1, 2, 4, 8, 1, 1, 16, 3};
        for (std::uint32_t i = 0; i < 8; ++i) w.add(op, i * 65536, pages[i] * 4096);
        b.run(w);
        ASSERT_EQ(w.outcomes.size(), 8u);
        SimTime submitted{}, completed{};
        for (std::uint32_t i = 0; i < 8; ++i) {
            submitted += 1us + pages[i] * (op == HostOp::read ? 10ns : 40ns);
            if (i == 0) completed = submitted + kMmio + 100us + kMmio + 700ns;  // one interrupt, one handler
            completed += 2us + pages[i] * (op == HostOp::read ? 50ns : 0ns);
            EXPECT_EQ(w.outcomes[i].submitted, submitted);
            EXPECT_EQ(w.outcomes[i].completed, completed);
        }
        EXPECT_EQ(b.io->counters().acknowledgements, 1u);
        EXPECT_EQ(b.io->cpu_busy(0), Ps{submitted.time_since_epoch()} + 700ns +
                                         (completed - (at(1us) + pages[0] * (op == HostOp::read ? 10ns : 40ns) + kMmio +
                                                       100us + kMmio + 700ns)));
    }
}

TEST(HostCpu, QueuePairsOfOneCoreShareItsTime) {
    Bench b;
    b.config.queue_pairs = 2;
    b.config.cores = 1;
    b.config.submit_time = 1us;
    b.device.service = 100us;
    ListWorkload w;
    for (std::uint32_t i = 0; i < 8; ++i) w.add(HostOp::read, i * 4096, 4096, SimTime{}, i % 2);
    b.run(w);
    ASSERT_EQ(w.outcomes.size(), 8u);
    for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(w.outcomes[i].submitted, at((i + 1) * 1us));
    EXPECT_EQ(b.io->cores(), 1u);
    EXPECT_EQ(b.io->cpu_busy(0), 8us);
}

TEST(HostCpu, APollingCoreSeesTheEntryAtItsNextLook) {
    Bench b;
    b.config.completion = CompletionBy::poll;
    b.config.poll_time = 300ns;
    b.config.submit_time = 1us;
    b.config.completion_time = 2us;
    b.config.interrupt_time = 5us;     // of no interrupt
    b.config.interrupt_latency = 1us;  // neither
    b.device.service = 100us;
    ListWorkload w;
    for (std::uint32_t i = 0; i < 3; ++i) w.add(HostOp::read, i * 4096, 4096);
    b.run(w);
    ASSERT_EQ(w.outcomes.size(), 3u);
    // It submits until 3 us and looks from then on. The first entry is written at 101.1 us: 98.1 us are 327 looks, and
    // the entry comes as the 328th begins.
    for (std::int64_t i = 0; i < 3; ++i)
        EXPECT_EQ(w.outcomes[static_cast<std::size_t>(i)].completed, at(3us + 328 * 300ns + (i + 1) * 2us));
    EXPECT_EQ(b.io->counters().interrupts, 0u);
    EXPECT_EQ(b.io->cpu_busy(0), 3 * 1us + 3 * 2us);  // looks that find nothing are no work
}

// Without costs a look is all that comes between entry and completion.
TEST(HostCpu, PollingWithoutCostsTakesALook) {
    Bench b;
    b.config.completion = CompletionBy::poll;
    b.config.poll_time = 1us;
    b.device.service = 20'300ns;
    ListWorkload w;
    w.add(HostOp::read, 0, 4096);
    w.add(HostOp::read, 4096, 4096);
    b.run(w);
    ASSERT_EQ(w.outcomes.size(), 2u);
    const SimTime epoch = b.io->epoch();
    const std::int64_t looks = ((epoch + kMmio + 20'300ns).time_since_epoch() / Ps(1us)) + 1;  // from time zero on
    for (const auto& o : w.outcomes) EXPECT_EQ(epoch + o.completed.time_since_epoch(), at(looks * 1us));
    EXPECT_EQ(b.io->counters().acknowledgements, 1u);
}

}  // namespace
}  // namespace ssdtlm
