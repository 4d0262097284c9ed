// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/io_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <initializer_list>

#include "common/report/error.h"
#include "fake_workload.h"
#include "io_path_bench.h"

namespace ssdtlm {
namespace {

constexpr Ps kMmio = FakeController::kMmio;

SimTime at(Ps t) {
    return SimTime{t};
}

TEST(IoPath, TheOldestCommandIsThatOfAnyQueue) {
    for (const std::uint32_t first : {0u, 1u}) {
        Bench b;
        b.config.queue_pairs = 2;
        ListWorkload w;
        w.add(HostOp::read, 4096, 4096, at(1us), first);
        w.add(HostOp::read, 8192, 4096, at(2us), 1 - first);
        w.add(HostOp::read, 12288, 4096, at(3us), 0);
        std::optional<PendingCommand> oldest;
        b.device.service_of = [&](const nvme::Sqe&, std::uint64_t index) {
            if (index == 2) oldest = b.io->oldest();
            return 1ms;
        };
        b.run(w);
        ASSERT_TRUE(oldest);
        EXPECT_EQ(oldest->queue, first + 1);
        EXPECT_EQ(oldest->slba, (4096u >> b.device.lbads));
    }
}

TEST(IoPath, LatencyIsDoorbellServiceAndMessage) {
    Bench b;
    ListWorkload w;
    w.add(HostOp::read, 4096, 4096);
    w.add(HostOp::read, 8192, 512, at(50us));
    b.run(w);
    ASSERT_EQ(w.outcomes.size(), 2u);
    const Ps latency = kMmio + b.device.service + kMmio;
    EXPECT_EQ(w.outcomes[0].issued, at(0ns));
    EXPECT_EQ(w.outcomes[0].submitted, at(0ns));
    EXPECT_EQ(w.outcomes[0].completed, at(latency));
    EXPECT_EQ(w.outcomes[1].issued, at(50us));
    EXPECT_EQ(w.outcomes[1].completed, at(50us + latency));
    EXPECT_EQ(b.finished, std::vector<SimTime>{at(50us + latency)});
    ASSERT_EQ(b.watcher.seen.size(), 2u);
    EXPECT_EQ(b.watcher.seen[0].sum, latency);
    EXPECT_FALSE(b.watcher.seen[0].measured);
    EXPECT_TRUE(b.watcher.seen[1].measured);
    EXPECT_GT(b.io->epoch(), SimTime{3ms});
    EXPECT_EQ(b.io->counters().announcements, 2u);
    EXPECT_EQ(b.io->counters().acknowledgements, 2u);
    EXPECT_EQ(b.io->counters().interrupts, 2u);
    EXPECT_EQ(b.device.cq_doorbells, (std::vector<std::uint32_t>{1, 2}));
    EXPECT_EQ(b.oracle->blocks_checked(), 9u);
}

// As Linux: there is nothing to flush.
TEST(IoPath, NoFlushGoesToAControllerWithoutAVolatileWriteCache) {
    for (const bool cache : {false, true}) {
        Bench b;
        b.device.volatile_write_cache = cache;
        ListWorkload w;
        w.add(HostOp::write, 0, 4096);
        w.add(HostOp::flush, 0, 0);
        b.run(w);
        EXPECT_EQ(b.device.commands.size(), cache ? 2u : 1u);
        EXPECT_EQ(b.io->counters().requests_completed, 2u);
        EXPECT_EQ(b.finished.size(), 1u);
    }
}

TEST(IoPath, EncodesTheFourOperations) {
    Bench b;
    b.config.buffer_offset = 0x204;
    ListWorkload w;
    w.add(HostOp::read, 0x1'000 * 512ull, 8 * 512);
    w.add(HostOp::write, 3 * 512, 512);
    w.items.back().request.fua = true;
    w.add(HostOp::trim, 16 * 512, 1000 * 512);
    w.add(HostOp::flush, 0, 0);
    b.run(w);
    const auto& c = b.device.commands;
    ASSERT_EQ(c.size(), 4u);
    EXPECT_EQ(c[0].opc, 0x02);
    EXPECT_EQ(c[0].slba(), 0x1000u);
    EXPECT_EQ(c[0].cdw12, 7u);
    EXPECT_EQ(c[0].prp1 % 4096, 0x204u);
    EXPECT_EQ(c[0].prp2, c[0].prp1 - 0x204 + 4096);  // 4096 bytes at 204h reach into a second page
    EXPECT_EQ(c[1].opc, 0x01);
    EXPECT_EQ(c[1].cdw12, 0x4000'0000u);
    EXPECT_EQ(c[1].prp2, 0u);
    EXPECT_EQ(c[2].opc, 0x09);
    EXPECT_EQ(c[2].cdw10, 0u);
    EXPECT_EQ(c[2].cdw11, 4u);
    EXPECT_EQ(b.memory.load<std::uint32_t>(c[2].prp1), 0u);
    EXPECT_EQ(b.memory.load<std::uint32_t>(c[2].prp1 + 4), 1000u);
    EXPECT_EQ(b.memory.load<std::uint64_t>(c[2].prp1 + 8), 16u);
    EXPECT_EQ(c[3].opc, 0x00);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(c[i].nsid, 1u);
        EXPECT_EQ(c[i].cid, i);
    }
    EXPECT_EQ(b.device.versions.count(0), 1u);
}

/// Three of 2^20 blocks, one behind the other. No command lies in two of them; a flush is for all.
TEST(IoPath, Namespaces) {
    Bench b;
    b.device.namespaces = 3;
    ListWorkload w;
    const std::uint64_t size = std::uint64_t{512} << 20;
    w.add(HostOp::read, size - 512, 512);
    w.add(HostOp::read, size, 512);
    w.add(HostOp::read, 2 * size - 1024, 4096);
    w.add(HostOp::trim, size - 2048, static_cast<std::uint32_t>(size) + 4096);
    w.add(HostOp::flush, 0, 0);
    b.run(w, false);
    EXPECT_EQ(b.bring_up->info().blocks, 3u << 20);
    struct Expected {
        std::uint32_t nsid;
        std::uint64_t slba;
        std::uint32_t blocks;
    };
    const std::vector<Expected> reads = {{1, (1u << 20) - 1, 1}, {2, 0, 1}, {2, (1u << 20) - 2, 2}, {3, 0, 6}};
    const std::vector<Expected> trims = {{1, (1u << 20) - 4, 4}, {2, 0, 1u << 20}, {3, 0, 4}};
    const auto& c = b.device.commands;
    ASSERT_EQ(c.size(), reads.size() + trims.size() + 1);
    for (std::size_t i = 0; i < reads.size(); ++i) {
        EXPECT_EQ(c[i].nsid, reads[i].nsid) << i;
        EXPECT_EQ(c[i].slba(), reads[i].slba) << i;
        EXPECT_EQ(c[i].cdw12 + 1, reads[i].blocks) << i;
    }
    for (std::size_t i = 0; i < trims.size(); ++i) {
        const nvme::Sqe& s = c[reads.size() + i];
        EXPECT_EQ(s.nsid, trims[i].nsid) << i;
        EXPECT_EQ(b.memory.load<std::uint32_t>(s.prp1 + 4), trims[i].blocks) << i;
        EXPECT_EQ(b.memory.load<std::uint64_t>(s.prp1 + 8), trims[i].slba) << i;
    }
    EXPECT_EQ(c.back().nsid, nvme::kNsidAll);
    EXPECT_EQ(b.watcher.seen.size(), 5u) << "requests";
}

// NVMe 1.4, 6.15 and 9.3: DTYPE in bits 20 to 23 of Dword 12, DSPEC in the upper half of Dword 13.
TEST(IoPath, NamesTheStreamOfAWrite) {
    for (const bool streams : {false, true}) {
        Bench b;
        b.config.streams = streams;
        ListWorkload w;
        w.add(HostOp::write, 0, 512);
        w.add(HostOp::write, 512, 512);
        w.items.back().request.stream = 3;
        w.add(HostOp::read, 512, 512);
        w.items.back().request.stream = 3;
        b.run(w);
        const auto& c = b.device.commands;
        ASSERT_EQ(c.size(), 3u);
        for (std::size_t i = 0; i < 3; ++i) {
            const bool named = streams && i == 1;
            EXPECT_EQ(c[i].cdw12 >> 20 & 15, named ? 1u : 0u) << i;
            EXPECT_EQ(c[i].cdw13, named ? 3u << 16 : 0u) << i;
        }
    }
}

TEST(IoPath, CommandsWrittenTogetherShareADoorbell) {
    Bench b;
    ListWorkload w;
    for (std::uint64_t i = 0; i < 40; ++i) w.add(HostOp::read, i * 4096, 4096);
    b.run(w);
    EXPECT_EQ(w.outcomes.size(), 40u);
    EXPECT_EQ(b.io->counters().announcements, 1u);
    EXPECT_EQ(b.io->counters().acknowledgements, 1u);  // all served at one instant, the first message finds them all
    EXPECT_EQ(b.io->counters().interrupts, 40u);
    EXPECT_EQ(b.finished.size(), 1u);
}

TEST(IoPath, InterruptsOfNoQueueAreIgnored) {
    Bench b;
    ListWorkload w;
    w.add(HostOp::read, 0, 512);
    b.run(w);
    const std::uint64_t interrupts = b.io->counters().interrupts;
    for (const std::uint16_t vector : std::initializer_list<std::uint16_t>{0, 2, 3, 65535}) b.io->interrupt(vector);
    b.agenda.run();
    EXPECT_EQ(b.io->counters().interrupts, interrupts);
    b.io->interrupt(1);
    EXPECT_EQ(b.io->counters().interrupts, interrupts + 1);
}

TEST(IoPath, AWorkloadThatWaitsForNowIsRefused) {
    struct Stuck : ListWorkload {
        Next next(SimTime now) override {
            Next n;
            n.state = State::wait;
            n.when = now;
            if (++calls > 1000) throw std::runtime_error("asked again and again");
            return n;
        }
    } w;
    Bench b;
    EXPECT_THROW(b.run(w), Panic);
}

TEST(IoPath, AFullQueueWaitsInTheHost) {
    Bench b;
    b.config.queue_entries = 4;
    ListWorkload w;
    for (std::uint64_t i = 0; i < 9; ++i) w.add(HostOp::read, i * 4096, 4096);
    b.run(w);
    ASSERT_EQ(w.outcomes.size(), 9u);
    EXPECT_EQ(b.device.most_outstanding(), 3u);
    const Ps round = kMmio + b.device.service + kMmio;
    for (int i = 0; i < 9; ++i) {
        EXPECT_EQ(w.outcomes[i].issued, at(0ns));
        EXPECT_EQ(w.outcomes[i].submitted, at(i / 3 * round));
        EXPECT_EQ(w.outcomes[i].completed, at((i / 3 + 1) * round));
        EXPECT_EQ(b.watcher.seen[i].host_queue, i / 3 * round);
        EXPECT_EQ(b.watcher.seen[i].sum, (i / 3 + 1) * round);
    }
}

TEST(IoPath, SplitsWhatIsTooLarge) {
    Bench b;  // MDTS 128 KiB
    ListWorkload w;
    w.add(HostOp::write, 4096, 300 << 10);
    w.add(HostOp::read, 4096, 300 << 10, at(1ms));
    w.add(HostOp::trim, 0, 1 << 20, at(2ms));
    // The second command of each request is the slowest.
    b.device.service_of = [](const nvme::Sqe&, std::uint64_t i) { return Ps(i % 3 == 1 ? 20us : 10us); };
    b.run(w);
    ASSERT_EQ(b.device.commands.size(), 7u);
    EXPECT_EQ(b.device.commands[0].slba(), 8u);
    EXPECT_EQ(b.device.commands[1].slba(), 8u + 256);
    EXPECT_EQ(b.device.commands[2].slba(), 8u + 512);
    EXPECT_EQ(b.device.commands[0].cdw12, 255u);
    EXPECT_EQ(b.device.commands[2].cdw12, 87u);
    ASSERT_EQ(w.outcomes.size(), 3u);
    EXPECT_EQ(w.outcomes[0].request.bytes, 300u << 10);
    EXPECT_EQ(w.outcomes[0].request.offset, 4096u);
    EXPECT_EQ(w.outcomes[0].completed, at(20us + 2 * kMmio));
    EXPECT_EQ(w.outcomes[1].completed, at(1ms + 20us + 2 * kMmio));
    EXPECT_EQ(b.watcher.seen[1].sum, 20us + 2 * kMmio);
    EXPECT_EQ(b.io->counters().requests_completed, 3u);
    EXPECT_EQ(b.io->counters().commands_completed, 7u);
}

TEST(IoPath, CpuTimeIsSerialPerQueuePair) {
    Bench b;
    b.config.queue_pairs = 2;
    b.config.submit_time = 1us;
    b.config.completion_time = 2us;
    b.config.interrupt_latency = 500ns;
    ListWorkload w;
    for (std::uint32_t i = 0; i < 8; ++i) w.add(HostOp::read, i * 4096, 4096, SimTime{}, i % 2);
    b.device.service = 100us;
    b.run(w);
    ASSERT_EQ(w.outcomes.size(), 8u);
    for (int i = 0; i < 8; ++i) {
        const int k = i / 2;  // k-th of its pair; the two pairs go in step
        EXPECT_EQ(w.outcomes[i].submitted, at((k + 1) * 1us));
        EXPECT_EQ(b.watcher.seen[i].host_queue, (k + 1) * 1us);  // the CPU's own time is the host's, too
        // Served one microsecond apart, completed two apart, from the first one's handler on.
        EXPECT_EQ(w.outcomes[i].completed, at(1us + kMmio + 100us + kMmio + 500ns + (k + 1) * 2us));
    }
    EXPECT_EQ(b.io->counters().announcements, 8u);
    EXPECT_EQ(b.io->counters().acknowledgements, 2u);  // one run of each handler
}

TEST(IoPath, WaitsWithOneWakeAtATime) {
    Bench b;
    ListWorkload w;
    for (int i = 1; i <= 5; ++i) w.add(HostOp::read, 0, 4096, at(i * 100us));
    b.run(w);
    ASSERT_EQ(w.outcomes.size(), 5u);
    for (int i = 1; i <= 5; ++i) EXPECT_EQ(w.outcomes[i - 1].submitted, at(i * 100us));
    EXPECT_LE(w.calls, 16u);
}

TEST(IoPath, CountsErrorsAndNamesTheFirst) {
    Bench b;
    b.device.status_of = [](const nvme::Sqe&, std::uint64_t i) {
        return i == 1 ? nvme::kStUnrecoveredRead : nvme::kStSuccess;
    };
    ListWorkload w;
    for (std::uint64_t i = 0; i < 3; ++i) w.add(HostOp::read, i * 4096, 4096, at(Ps(i * 50us)));
    b.run(w);
    EXPECT_EQ(b.io->counters().errors, 1u);
    EXPECT_TRUE(w.outcomes[0].ok);
    EXPECT_FALSE(w.outcomes[1].ok);
    EXPECT_TRUE(w.outcomes[2].ok);
    EXPECT_EQ(b.io->first_error(),
              "read of 8 blocks at LBA 8: status SCT 2 SC 129, queue 1 CID 0, completed at 60200000 ps");
}

TEST(IoPath, SeesWrongAndMissingData) {
    {
        Bench b;
        b.device.filled_units = 100;
        b.device.corrupt = [](std::uint64_t lba, BlockSignature& s) { s.lba = lba == 11 ? 12 : lba; };
        ListWorkload w;
        w.add(HostOp::read, 4096, 4096);
        EXPECT_THROW(b.run(w), CheckFailed);
    }
    {
        Bench b;
        b.device.drop_data = true;
        ListWorkload w;
        w.add(HostOp::read, 4096, 4096);
        EXPECT_THROW(b.run(w), CheckFailed);
        Bench unchecked;
        unchecked.device.drop_data = true;
        ListWorkload again;
        again.add(HostOp::read, 4096, 4096);
        EXPECT_NO_THROW(unchecked.run(again, false));
    }
}

/// The last read of a list gets no data; what the slot's buffer holds from before must not pass for it.
TEST(IoPath, SeesMissingDataWhateverTheBufferHeld) {
    struct Request {
        HostOp op;
        std::uint32_t bytes;
    };
    const std::vector<std::vector<Request>> lists = {
        {{HostOp::read, 4096}, {HostOp::read, 4096}},                        // what was read before
        {{HostOp::write, 4096}, {HostOp::read, 4096}},                       // what was written before
        {{HostOp::read, 4096}, {HostOp::read, 8192}},                        // a new buffer
        {{HostOp::read, 8192}, {HostOp::read, 512}, {HostOp::read, 8192}},   // more than the last read
        {{HostOp::read, 8192}, {HostOp::write, 512}, {HostOp::read, 512}},   // a write in between
        {{HostOp::read, 4096}, {HostOp::trim, 4096}, {HostOp::read, 4096}},  // a trim's range in between
    };
    for (const auto& list : lists) {
        for (const std::uint64_t filled : {0u, 100u}) {
            for (const bool drop : {false, true}) {
                Bench b;
                b.device.filled_units = filled;
                const std::size_t last = list.size() - 1;
                b.device.service_of = [&](const nvme::Sqe&, std::uint64_t index) {
                    b.device.drop_data = drop && index == last;
                    return b.device.service;
                };
                ListWorkload w;
                for (std::size_t i = 0; i < list.size(); ++i)
                    w.add(list[i].op, 8192, list[i].bytes, at(static_cast<std::int64_t>(i) * 100us));
                if (drop)
                    EXPECT_THROW(b.run(w), CheckFailed);
                else
                    EXPECT_NO_THROW(b.run(w));
            }
        }
    }
}

TEST(IoPath, StopsWithoutTheBacklog) {
    Bench b;
    b.config.queue_entries = 4;
    ListWorkload w;
    for (std::uint64_t i = 0; i < 100; ++i) w.add(HostOp::read, i * (1u << 20), i % 3 == 1 ? 300 << 10 : 4096);
    struct Stop {
        Bench* bench;
        void now() { bench->io->stop_submitting(); }
    } stop{&b};
    b.agenda.post(SimTime{3700us} + 65us, Then::to<&Stop::now>(&stop));
    b.run(w);
    ASSERT_EQ(b.finished.size(), 1u);
    EXPECT_TRUE(b.io->finished());
    EXPECT_EQ(b.io->outstanding(), 0u);
    EXPECT_EQ(b.io->backlog(), 0u);
    EXPECT_LT(w.outcomes.size(), 100u);
    EXPECT_EQ(w.outcomes.size(), b.io->counters().requests_completed);
}

TEST(IoPath, BooksAndDataHoldUnderRandomTraffic) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE(seed);
        Bench b;
        b.config.queue_pairs = 1 + static_cast<std::uint32_t>(seed % 3);
        b.config.queue_entries = seed % 2 == 0 ? 8 : 64;
        b.config.buffer_offset = seed % 2 == 0 ? 0 : 0x1FC;
        b.config.submit_time = seed % 3 == 0 ? 300ns : 0ns;
        b.config.completion_time = seed % 4 == 0 ? 700ns : 0ns;
        b.config.interrupt_latency = seed % 4 == 1 ? 1us : 0ns;
        b.config.cores = static_cast<std::uint32_t>(seed % 2);
        b.config.submit_page_time.write = seed % 5 == 1 ? 90ns : 0ns;
        b.config.completion_page_time.read = seed % 5 == 2 ? 70ns : 0ns;
        b.config.completion = seed % 3 == 1 ? CompletionBy::poll : CompletionBy::interrupt;
        b.device.lbads = seed == 5 ? 12 : 9;
        b.device.mdts = 2;  // 16 KiB: many are split
        b.device.blocks = 4096;
        b.device.filled_units = 300;
        Random r(seed);
        b.device.service_of = [&r](const nvme::Sqe&, std::uint64_t) {
            return Ps(1us) + Ps(static_cast<std::int64_t>(r.below(40'000'000)));
        };
        b.device.status_of = [&r](const nvme::Sqe&, std::uint64_t) {
            return r.percent(1) ? nvme::kStWriteFault : nvme::kStSuccess;
        };
        RandomWorkload w(seed, 5, 7, 4000, b.device.blocks, seed == 5 ? 12 : 100, 1u << b.device.lbads);
        b.run(w);
        EXPECT_EQ(w.done, 4000u);
        EXPECT_EQ(b.watcher.seen.size(), 4000u);
        EXPECT_EQ(b.finished.size(), 1u);
        EXPECT_GT(w.failed, 0u);
        EXPECT_EQ(b.io->counters().commands_submitted, b.io->counters().commands_completed);
        EXPECT_GT(b.io->counters().commands_submitted, 4000u);
        EXPECT_EQ(b.oracle->unverified(), 0u);
        Ps waited{};
        for (const auto& s : b.watcher.seen) {
            ASSERT_EQ(s.sum, s.now - s.issued);
            ASSERT_EQ(s.host_queue, s.submitted - s.issued);
            waited += s.host_queue;
        }
        if (b.config.submit_time != 0ns || b.config.queue_entries == 8) {
            EXPECT_GT(waited, 0ns);
        }
    }
}

/// Resets the controller at given times, as NvmeDriver does.
struct Resetter {
    Bench& bench;
    std::uint64_t resets = 0;
    void now() {
        if (!bench.io->started() || bench.io->finished() || std::string(bench.bring_up->doing()) != "running") return;
        bench.io->pause();
        bench.bring_up->reset(
            false, [this] { bench.io->drive_stopped(); },
            [this] {
                ++resets;
                bench.io->resume();
            });
    }
};

TEST(IoPath, CancelledCommandsGoAgainAheadOfTheBacklogAndInOrder) {
    Bench b;
    b.config.queue_entries = 8;
    b.device.service = 1ms;
    ListWorkload w;
    for (std::uint64_t i = 0; i < 10; ++i) w.add(HostOp::read, i * 4096, 4096);
    Resetter resetter{b};
    b.agenda.post(SimTime{5ms}, Then::to<&Resetter::now>(&resetter));
    b.run(w);
    EXPECT_EQ(resetter.resets, 1u);
    EXPECT_EQ(b.io->counters().commands_cancelled, 7u);
    EXPECT_EQ(b.io->counters().commands_submitted, 17u);
    ASSERT_EQ(b.device.commands.size(), 17u);
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(b.device.commands[7 + i].slba(), i * 8) << "after the reset";
    ASSERT_EQ(w.outcomes.size(), 10u);
    EXPECT_EQ(w.outcomes[0].issued, at(0ns));
    EXPECT_GT(w.outcomes[0].submitted, at(3ms)) << "the controller needs 3.5 ms to start";
    EXPECT_EQ(b.watcher.seen[0].host_queue, w.outcomes[0].submitted - w.outcomes[0].issued);
}

// A write that a reset cancelled is there or not, all acknowledged ones are: the oracle checks every read.
TEST(IoPath, RandomResetsLoseNothing) {
    std::uint64_t resets = 0, cancelled = 0, checked = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        SCOPED_TRACE(seed);
        Bench b;
        b.config.queue_pairs = 1 + static_cast<std::uint32_t>(seed % 3);
        b.config.queue_entries = seed % 2 == 0 ? 8 : 64;
        b.config.submit_time = seed % 3 == 0 ? 300ns : 0ns;
        b.config.completion_time = seed % 4 == 0 ? 700ns : 0ns;
        b.config.interrupt_latency = seed % 4 == 1 ? 1us : 0ns;
        b.config.cores = static_cast<std::uint32_t>(seed % 2);
        b.config.submit_page_time.write = seed % 5 == 1 ? 90ns : 0ns;
        b.config.completion_page_time.read = seed % 5 == 2 ? 70ns : 0ns;
        b.config.completion = seed % 3 == 1 ? CompletionBy::poll : CompletionBy::interrupt;
        b.device.mdts = 2;  // 16 KiB: many are split
        b.device.blocks = 4096;
        b.device.filled_units = 300;
        b.device.ready_time = 20us;
        Random r(seed);
        b.device.service_of = [&r](const nvme::Sqe&, std::uint64_t) {
            return Ps(1us) + Ps(static_cast<std::int64_t>(r.below(40'000'000)));
        };
        b.device.survives_reset = [&r](const nvme::Sqe&) { return r.percent(50); };
        RandomWorkload w(seed, 5, 7, 4000, b.device.blocks, 100, 512);
        Resetter resetter{b};
        for (std::int64_t i = 0; i < 60; ++i)
            b.agenda.post(SimTime{1ms} + i * Ps{1'500us} + Ps{static_cast<std::int64_t>(r.below(1'000'000'000))},
                          Then::to<&Resetter::now>(&resetter));
        b.run(w);
        EXPECT_EQ(w.done, 4000u);
        EXPECT_EQ(w.failed, 0u);
        EXPECT_EQ(b.finished.size(), 1u);
        const DriverCounters& c = b.io->counters();
        EXPECT_EQ(c.commands_submitted, c.commands_completed + c.commands_cancelled);
        EXPECT_EQ(c.requests_issued, c.requests_completed);
        EXPECT_EQ(b.oracle->unverified(), 0u);
        for (const auto& s : b.watcher.seen) ASSERT_EQ(s.sum, s.now - s.issued);
        resets += resetter.resets;
        cancelled += c.commands_cancelled;
        checked += b.oracle->blocks_checked();
    }
    std::printf("%llu resets, %llu commands cancelled, %llu blocks checked\n", static_cast<unsigned long long>(resets),
                static_cast<unsigned long long>(cancelled), static_cast<unsigned long long>(checked));
    EXPECT_GT(resets, 100u);
    EXPECT_GT(cancelled, resets);
}

TEST(IoPath, DumpNamesTheQueuesWithWork) {
    Bench b;
    b.config.queue_entries = 4;
    ListWorkload w;
    for (std::uint64_t i = 0; i < 9; ++i) w.add(HostOp::read, i * 4096, 4096);
    std::string text;
    struct Peek {
        Bench* bench;
        std::string* text;
        void now() { *text = bench->io->dump(); }
    } peek{&b, &text};
    b.device.service = 1ms;
    b.agenda.post(SimTime{5ms}, Then::to<&Peek::now>(&peek));
    b.run(w);
    EXPECT_THAT(text,
                testing::HasSubstr("9 requests issued, 0 completed, 3 commands in the device, 6 waiting in the host"));
    EXPECT_THAT(text, testing::HasSubstr("queue 1: outstanding 3, backlog 6, SQ tail 3, SQ head 0, CQ head 0"));
}

}  // namespace
}  // namespace ssdtlm
