// SPDX-License-Identifier: Apache-2.0
// The controller's data path against a fake host: fetch, decode, completion, interrupts.
#include <gtest/gtest.h>

#include <initializer_list>

#include "unit/nvme/fake_host.h"
#include "unit/nvme/pages_of.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::FakeDma;
using test::NvmeBench;
using test::Pair;

TEST(NvmeController, OneReadFromDoorbellToMessage) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    b.dma.messages.clear();
    const SimTime written = b.agenda.now();
    b.push(p, b.rw(kIoRead, 5, 123));
    b.agenda.run_until(written + 50ns);
    b.ring(p);
    b.agenda.run();
    ASSERT_EQ(b.firmware.waiting.size(), 1u);
    const NvmeCommand& c = *b.firmware.waiting.front();
    EXPECT_EQ(c.op, IoOp::read);
    EXPECT_EQ(c.queue, 1);
    EXPECT_EQ(c.tag, 5);
    EXPECT_EQ(c.slba, 123u);
    EXPECT_EQ(c.bytes, 4096u);
    EXPECT_EQ(pages_of(c.data), (std::vector<std::uint64_t>{0x80000}));
    const Timeline& t = b.tracker.at(1, 5);
    EXPECT_EQ(c.timeline, &t);
    EXPECT_EQ(t.start(), written + 50ns) << "its doorbell";
    EXPECT_EQ(t.of(Stage::arbitration), Ps{0});
    EXPECT_EQ(t.of(Stage::fetch), FakeDma::kReadTime);
    EXPECT_FALSE(b.has_cqe(p));
    b.complete_oldest();
    b.agenda.run();
    const Cqe e = b.take(p);
    EXPECT_EQ(e.status_phase, 1);  // success, phase 1
    EXPECT_EQ(e.cid, 5);
    EXPECT_EQ(e.sqid, 1);
    EXPECT_EQ(e.sqhd, 1);
    EXPECT_EQ(e.dw0, 0u);
    ASSERT_EQ(b.dma.messages.size(), 1u);
    EXPECT_EQ(b.dma.messages[0].address, test::kMsiBase + 0x1000);
    EXPECT_EQ(b.dma.messages[0].data, 1u);
    EXPECT_EQ(b.nvme.counters().reads, 1u);
    EXPECT_EQ(b.nvme.counters().bytes_read, 4096u);
    b.nvme.check_books();
}

TEST(NvmeController, FetchesInBurstsThatRespectRingAndPage) {
    NvmeConfig config = NvmeBench::small();
    config.fetch_burst = 8;
    NvmeBench b(config);
    b.enable();
    Pair p = b.create_pair(1, 20, 64);
    for (std::uint16_t i = 0; i < 13; ++i) b.push(p, b.rw(kIoRead, i));
    b.dma.read_sizes.clear();
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.dma.read_sizes, (std::vector<std::uint32_t>{8 * 64, 5 * 64}));
    while (!b.firmware.waiting.empty()) b.complete_oldest();
    // 7 slots to the end of the ring, then from its start.
    for (std::uint16_t i = 0; i < 12; ++i) b.push(p, b.rw(kIoRead, i));
    b.dma.read_sizes.clear();
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.dma.read_sizes, (std::vector<std::uint32_t>{7 * 64, 5 * 64}));
    EXPECT_EQ(b.firmware.waiting.size(), 12u);
    while (!b.firmware.waiting.empty()) b.complete_oldest();
    b.nvme.check_books();
}

TEST(NvmeController, FetchWindowClosesAndOpens) {
    NvmeConfig config = NvmeBench::small();
    config.fetch_window = 3;
    NvmeBench b(config);
    b.enable();
    Pair p = b.create_pair(1);
    for (std::uint16_t i = 0; i < 10; ++i) b.push(p, b.rw(kIoRead, i));
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.firmware.waiting.size(), 3u);
    const SimTime guard = b.agenda.now() - FakeDma::kReadTime;
    for (int done = 1; done <= 10; ++done) {
        b.complete_oldest();
        b.agenda.run();
        EXPECT_EQ(b.firmware.submitted, static_cast<std::uint64_t>(std::min(10, 3 + done)));
    }
    // The fourth command waited for the window: charged to arbitration from its doorbell to its fetch.
    EXPECT_EQ(b.tracker.at(1, 3).of(Stage::arbitration), FakeDma::kReadTime);
    EXPECT_EQ(b.tracker.at(1, 3).start(), guard);
    b.nvme.check_books();
}

TEST(NvmeController, ArbitrationAmongQueuesWithBurst) {
    NvmeConfig config = NvmeBench::small();
    config.arbitration_burst = 1;  // two commands a turn
    config.fetch_depth = 1;        // one fetch at a time, so that the queues compete
    NvmeBench b(config);
    b.enable();
    Pair p1 = b.create_pair(1);
    Pair p2 = b.create_pair(2);
    Pair p3 = b.create_pair(3);
    b.push(p3, b.rw(kIoRead, 0));
    b.ring(p3);  // keeps the fetch engine busy while the others ring
    for (std::uint16_t i = 0; i < 5; ++i) {
        b.push(p1, b.rw(kIoRead, i));
        b.push(p2, b.rw(kIoRead, i));
    }
    b.ring(p1);
    b.ring(p2);
    b.agenda.run();
    std::vector<int> order;
    for (const NvmeCommand* c : b.firmware.waiting) order.push_back(c->queue);
    EXPECT_EQ(order, (std::vector<int>{3, 1, 1, 2, 2, 1, 1, 2, 2, 1, 2}));
}

// The host chooses it with CC.AMS and sets weights with Feature 01h; QPRIO comes with Create I/O SQ.
TEST(NvmeController, WeightedArbitrationAmongPriorities) {
    NvmeConfig config = NvmeBench::small();
    config.weighted_round_robin = true;
    config.fetch_depth = 1;
    NvmeBench b(config);
    b.enable(Cc::kTypical | Cc::ams_field(Cc::kAmsWeighted));
    Sqe features;
    features.opc = kAdminSetFeatures;
    features.cdw10 = kFeatArbitration;
    features.cdw11 = Arbitration::of(7, 3, 1, 0);  // 4, 2 and 1 commands a round
    EXPECT_EQ(b.run_admin(features).status(), kStSuccess);
    Pair urgent = b.create_pair(1, 64, 64, 0), high = b.create_pair(2, 64, 64, 1), medium = b.create_pair(3, 64, 64, 2),
         low = b.create_pair(4, 64, 64, 3);
    b.push(low, b.rw(kIoRead, 50));
    b.ring(low);  // keeps the fetch engine busy while the others ring
    for (std::uint16_t i = 0; i < 7; ++i)
        for (Pair* p : {&urgent, &high, &medium, &low}) b.push(*p, b.rw(kIoRead, i));
    for (Pair* p : {&low, &medium, &high, &urgent}) b.ring(*p);
    b.agenda.run();
    std::vector<int> order;
    for (const NvmeCommand* c : b.firmware.waiting) order.push_back(c->queue);
    // One of low took the first round's credit; then all urgent ones, and rounds of 4, 2 and 1 as long as they last.
    EXPECT_EQ(order, (std::vector<int>{4, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4,
                                       2, 2, 2, 3, 3, 4, 3, 3, 4, 3, 4, 4, 4, 4}));
}

TEST(NvmeController, FetchesThatOvertakeAreAcceptedInOrder) {
    NvmeConfig config = NvmeBench::small();
    config.fetch_burst = 2;
    NvmeBench b(config);
    b.enable();
    Pair p = b.create_pair(1);
    for (std::uint16_t i = 0; i < 6; ++i) b.push(p, b.rw(kIoRead, i));
    b.dma.read_times = {3us, 1us, 2us};
    b.ring(p);
    b.agenda.run_until(b.agenda.now() + 2500ns);
    EXPECT_TRUE(b.firmware.waiting.empty());
    EXPECT_EQ(b.nvme.queues().sq(1).head, 0u);
    b.agenda.run();
    ASSERT_EQ(b.firmware.waiting.size(), 6u);
    for (std::uint16_t i = 0; i < 6; ++i) EXPECT_EQ(b.firmware.waiting[i]->tag, i);
    EXPECT_EQ(b.nvme.queues().sq(1).head, 6u);
}

TEST(NvmeController, PrpListIsFetchedBeforeSubmission) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    for (std::uint64_t i = 0; i < 31; ++i) b.dma.put<std::uint64_t>(0x90000 + 8 * i, 0x100000 + 4096 * i);
    b.dma.read_sizes.clear();
    b.push(p, b.rw(kIoWrite, 9, 0, 256));  // 128 KiB
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.dma.read_sizes, (std::vector<std::uint32_t>{64, 248}));
    ASSERT_EQ(b.firmware.waiting.size(), 1u);
    const NvmeCommand& c = *b.firmware.waiting.front();
    const std::vector<std::uint64_t> pages = pages_of(c.data);
    ASSERT_EQ(pages.size(), 32u);
    for (std::uint64_t i = 0; i < 31; ++i) EXPECT_EQ(pages[i + 1], 0x100000 + 4096 * i);
    EXPECT_EQ(c.timeline->of(Stage::fetch), 2 * FakeDma::kReadTime);
    b.complete_oldest();
    EXPECT_EQ(b.nvme.counters().bytes_written, 131072u);
    // A bad entry, and a list that the host cannot deliver.
    b.dma.put<std::uint64_t>(0x90008, 0x100010);
    b.push(p, b.rw(kIoWrite, 10, 0, 256));
    Sqe lost = b.rw(kIoWrite, 11, 0, 256);
    lost.prp2 = 0x7000000;
    b.push(p, lost);
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.take(p).status(), kStSuccess);
    Cqe e = b.take(p);
    EXPECT_EQ(e.status(), kStInvalidPrpOffset);
    EXPECT_TRUE(e.dnr());
    e = b.take(p);
    EXPECT_EQ(e.cid, 11);
    EXPECT_EQ(e.status(), kStDataTransferError);
    EXPECT_FALSE(e.dnr());
    EXPECT_TRUE(b.firmware.waiting.empty());
    b.nvme.check_books();
}

TEST(NvmeController, IsBusyWhileTheFirmwareHasACommand) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    const auto later = [&b](Ps by) { b.agenda.run_until(b.agenda.now() + by); };
    Ps busy{};
    for (const std::uint16_t commands : std::initializer_list<std::uint16_t>{1, 2, 3}) {
        for (std::uint16_t i = 0; i < commands; ++i) b.push(p, b.rw(kIoRead, i));
        b.ring(p);
        b.agenda.run();
        ASSERT_EQ(b.firmware.waiting.size(), commands);
        const SimTime begun = b.agenda.now();
        for (std::uint16_t i = 0; i < commands; ++i) {
            later(Ps{1'000'000});
            b.complete_oldest();
        }
        busy += b.agenda.now() - begun;
        b.agenda.run();
        later(Ps{5'000'000});
        while (b.has_cqe(p)) b.take(p);
        // They have come to the firmware one after the other, before the first look at the time.
        EXPECT_GE(b.nvme.counters().busy, busy);
        EXPECT_LT(b.nvme.counters().busy, busy + Ps{1'000'000} * commands);
        busy = b.nvme.counters().busy;
    }
    b.nvme.check_books();
}

TEST(AsyncEvents, AreGivenToTheRequestsInTheirOrder) {
    AsyncEvents events;
    for (const std::uint16_t cid : std::initializer_list<std::uint16_t>{50, 51, 52}) EXPECT_TRUE(events.hold(cid));
    EXPECT_TRUE(events.abort(51));
    EXPECT_FALSE(events.abort(51));
    std::uint16_t cid = 0;
    std::uint32_t dw0 = 0;
    EXPECT_TRUE(events.raise(AsyncEvents::kTypeError, AsyncEvents::kInfoInvalidDoorbellValue, cid, dw0));
    EXPECT_EQ(cid, 50);
    EXPECT_TRUE(events.raise(AsyncEvents::kTypeSmart, AsyncEvents::kInfoTemperature, cid, dw0));
    EXPECT_EQ(cid, 52);
    EXPECT_EQ(events.held(), 0u);
}

TEST(NvmeController, DeallocateReadsItsRanges) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    Sqe s;
    s.opc = kIoDatasetMgmt;
    s.cid = 3;
    s.nsid = 1;
    s.cdw10 = 2;  // three ranges over two pages
    s.cdw11 = kDsmDeallocate;
    s.prp1 = 0x80FF0;
    s.prp2 = 0x83000;
    b.dma.put(0x80FF0, DsmRange{0, 8, 16});
    b.dma.put(0x83000, DsmRange{0, 1, 2});
    b.dma.put(0x83010, DsmRange{0, 4, 1000});
    b.push(p, s);
    b.ring(p);
    b.agenda.run();
    ASSERT_EQ(b.firmware.waiting.size(), 1u);
    const NvmeCommand& c = *b.firmware.waiting.front();
    EXPECT_EQ(c.op, IoOp::deallocate);
    ASSERT_EQ(c.ranges.size(), 3u);
    EXPECT_EQ(c.ranges[2].slba, 1000u);
    EXPECT_EQ(c.ranges[2].blocks, 4u);
    b.complete_oldest();
    // Hints without deallocation succeed without the firmware.
    s.cdw11 = 1;
    b.push(p, s);
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.take(p).status(), kStSuccess);
    EXPECT_EQ(b.take(p).status(), kStSuccess);
    EXPECT_EQ(b.firmware.submitted, 1u);
    EXPECT_EQ(b.nvme.counters().deallocates, 2u);
    EXPECT_EQ(b.nvme.counters().refused, 0u);
    // A range beyond the namespace is known when the list has been read.
    s.cdw11 = kDsmDeallocate;
    b.dma.put(0x83010, DsmRange{0, 4, ~std::uint64_t{0} - 8});
    b.push(p, s);
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.take(p).status(), kStLbaOutOfRange);
    EXPECT_EQ(b.firmware.submitted, 1u);
    EXPECT_EQ(b.nvme.counters().refused, 1u);
    b.nvme.check_books();
}

TEST(NvmeController, RefusedCommandsAndDuplicateIdentifiers) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    b.push(p, b.rw(kIoRead, 1));
    b.push(p, b.rw(kIoRead, 1));  // the first is still outstanding
    b.push(p, b.rw(0x7F, 2));
    b.push(p, b.rw(kIoRead, 3, 1u << 30));
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.take(p).status(), kStCidConflict);
    EXPECT_EQ(b.take(p).status(), kStInvalidOpcode);
    EXPECT_EQ(b.take(p).status(), kStLbaOutOfRange);
    ASSERT_EQ(b.firmware.waiting.size(), 1u);
    b.complete_oldest(CommandStatus::unrecovered_read);
    const Cqe e = b.take(p);
    EXPECT_EQ(e.cid, 1);
    EXPECT_EQ(e.status(), kStUnrecoveredRead);
    EXPECT_TRUE(e.dnr());
    b.ring_head(p);
    b.push(p, b.rw(kIoRead, 1));  // free again
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.firmware.waiting.size(), 1u);
    b.complete_oldest();
    EXPECT_EQ(b.nvme.counters().refused, 3u);
    EXPECT_EQ(b.nvme.counters().failed, 1u);
    EXPECT_EQ(b.nvme.counters().media_errors, 1u);
    b.nvme.check_books();
}

TEST(NvmeController, FullCompletionQueueHoldsAndPhaseInverts) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1, 64, 4);
    for (std::uint16_t i = 0; i < 9; ++i) b.push(p, b.rw(kIoRead, i));
    b.ring(p);
    b.agenda.run();
    while (!b.firmware.waiting.empty()) b.complete_oldest();
    EXPECT_EQ(b.nvme.counters().cqes_held, 6u);
    EXPECT_THROW(b.nvme.check_books(), CheckFailed);
    std::uint16_t cid = 0;
    for (int lap = 0; lap < 3; ++lap) {
        for (int i = 0; i < 3; ++i) EXPECT_EQ(b.take(p).cid, cid++);
        EXPECT_TRUE(b.nvme.queues().cq(1).full());
        b.ring_head(p);
    }
    EXPECT_FALSE(b.has_cqe(p));
    b.nvme.check_books();
}

TEST(NvmeController, CoalescingByCountAndTimeNeverForAdmin) {
    NvmeConfig config = NvmeBench::small();
    config.interrupt_coalescing_threshold = 3;  // four completions
    config.interrupt_coalescing_time = 2;       // 200 us
    NvmeBench b(config);
    b.enable();
    Pair p = b.create_pair(1);
    EXPECT_EQ(b.dma.messages.size(), 2u);  // one per admin command
    b.dma.messages.clear();
    b.dma.message_times.clear();
    for (std::uint16_t i = 0; i < 6; ++i) b.push(p, b.rw(kIoRead, i));
    b.ring(p);
    b.agenda.run();
    for (int i = 0; i < 3; ++i) b.complete_oldest();
    EXPECT_EQ(b.dma.messages.size(), 0u);
    b.complete_oldest();
    EXPECT_EQ(b.dma.messages.size(), 1u);  // the fourth
    const SimTime fifth = b.agenda.now();
    b.complete_oldest();
    b.agenda.run_until(fifth + 50us);
    b.complete_oldest();
    b.agenda.run();
    ASSERT_EQ(b.dma.messages.size(), 2u);
    EXPECT_EQ(b.dma.message_times[1], fifth + 200us);  // counted from the first unannounced completion
    // Coalescing switched off for this vector.
    Sqe s;
    s.opc = kAdminSetFeatures;
    s.cdw10 = kFeatInterruptVectorConfig;
    s.cdw11 = 1u | 1u << 16;
    EXPECT_EQ(b.run_admin(s).status(), kStSuccess);
    b.dma.messages.clear();
    b.push(p, b.rw(kIoRead, 0));
    b.ring(p);
    b.agenda.run();
    b.complete_oldest();
    EXPECT_EQ(b.dma.messages.size(), 1u);
}

TEST(NvmeController, MaskedVectorSendsOnUnmask) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    b.write(msix_entry(1) + kMsixControl, 1);
    b.dma.messages.clear();
    for (std::uint16_t i = 0; i < 2; ++i) b.push(p, b.rw(kIoFlush, i));
    b.ring(p);
    b.agenda.run();
    b.complete_oldest();
    b.complete_oldest();
    EXPECT_EQ(b.dma.messages.size(), 0u);
    EXPECT_EQ(b.nvme.mmio_read(kMsixPba, 8), 2u);
    b.write(msix_entry(1) + kMsixControl, 0);
    EXPECT_EQ(b.dma.messages.size(), 1u);
    EXPECT_EQ(b.nvme.mmio_read(kMsixPba, 8), 0u);
    EXPECT_EQ(b.nvme.counters().interrupts_masked, 2u);
    EXPECT_EQ(b.nvme.mmio_read(msix_entry(1), 8), test::kMsiBase + 0x1000);
}

// The vector table is memory to the host: what it writes in dwords or quadwords it reads back in either, and an access
// that is not aligned or of another size reads 0 and writes nothing (PCIe 5.0 §7.7.2 leaves that undefined).
TEST(NvmeController, VectorTableTakesDwordsAndQuadwords) {
    NvmeConfig config = NvmeBench::small();
    config.max_queue_pairs = 64;  // 65 vectors: the pending bits take two quadwords
    NvmeBench b(config);
    for (const std::uint32_t vector : {0u, 1u, 39u, 64u}) {
        const std::uint64_t address = 0x5'FEE0'0000 + 0x1000 * vector,
                            rest = 0x1'0000'0000 | (0x40 + vector);  // masked; data
        const std::uint32_t at = msix_entry(vector);
        const auto expect_entry = [&] {
            EXPECT_EQ(b.nvme.mmio_read(at, 8), address);
            EXPECT_EQ(b.nvme.mmio_read(at + 8, 8), rest);
            for (std::uint32_t dword = 0; dword < 4; ++dword)
                EXPECT_EQ(b.nvme.mmio_read(at + 4 * dword, 4),
                          (dword < 2 ? address : rest) >> (dword % 2 * 32) & 0xFFFF'FFFF)
                    << dword;
        };
        b.write(at, address, 8);
        b.write(at + 8, rest, 8);
        expect_entry();
        b.write(at, 0, 8);
        b.write(at + 8, 0x1'0000'0000, 8);
        for (std::uint32_t dword = 0; dword < 4; ++dword)
            b.write(at + 4 * dword, (dword < 2 ? address : rest) >> (dword % 2 * 32), 4);
        expect_entry();
        for (const auto& [offset, bytes] : {std::pair{0u, 1u}, {0u, 2u}, {0u, 16u}, {2u, 4u}, {4u, 8u}}) {
            b.write(at + offset, ~0ull, bytes);
            EXPECT_EQ(b.nvme.mmio_read(at + offset, bytes), 0u) << bytes << " bytes at " << offset;
        }
        expect_entry();
    }
    EXPECT_EQ(b.nvme.mmio_read(msix_entry(65), 8), 0u);  // no such vector
    EXPECT_EQ(b.nvme.mmio_read(sq_tail_doorbell(0), 4), 0u);
    EXPECT_EQ(b.nvme.mmio_read(sq_tail_doorbell(0), 8), 0u);
}

TEST(NvmeController, PendingBitsOfAllVectors) {
    NvmeConfig config = NvmeBench::small();
    config.max_queue_pairs = 64;
    NvmeBench b(config);
    b.dma.memory.resize(4u << 20);
    b.enable();
    for (const std::uint16_t vector : std::initializer_list<std::uint16_t>{3, 31, 32, 40, 63, 64}) {
        Pair p = b.create_pair(vector, 4, 4);
        b.write(msix_entry(vector) + kMsixControl, 1);
        b.push(p, b.rw(kIoRead, 0));
        b.ring(p);
        b.agenda.run();
        b.complete_oldest();
        const std::uint32_t at = kMsixPba + vector / 64 * 8;
        EXPECT_EQ(b.nvme.mmio_read(at, 8), std::uint64_t{1} << (vector % 64)) << vector;
        EXPECT_EQ(b.nvme.mmio_read(at + vector % 64 / 32 * 4, 4), std::uint64_t{1} << (vector % 32)) << vector;
        EXPECT_EQ(b.nvme.mmio_read(at + (1 - vector % 64 / 32) * 4, 4), 0u) << vector;
        b.write(at, 0, 8);  // read only
        EXPECT_EQ(b.nvme.mmio_read(at, 8), std::uint64_t{1} << (vector % 64)) << vector;
        b.write(msix_entry(vector) + kMsixControl, 0);
        EXPECT_EQ(b.nvme.mmio_read(at, 8), 0u) << vector;
    }
    EXPECT_EQ(b.nvme.mmio_read(kMsixPba + 16, 8), 0u);
}

TEST(NvmeController, SteadyStateReusesItsCommands) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    std::uint32_t highest = 0;
    for (int round = 0; round < 100; ++round) {
        for (std::uint16_t i = 0; i < 8; ++i) b.push(p, b.rw(kIoRead, i));
        b.ring(p);
        b.agenda.run();
        for (const NvmeCommand* c : b.firmware.waiting) {
            highest = std::max(highest, c->index);
            EXPECT_EQ(pages_of(c->data).size(), 1u);
        }
        while (!b.firmware.waiting.empty()) b.complete_oldest();
        while (b.has_cqe(p)) b.take(p);
        b.ring_head(p);
    }
    EXPECT_EQ(highest, 7u);  // indices stay dense
    EXPECT_EQ(b.nvme.counters().reads, 800u);
    EXPECT_EQ(b.nvme.counters().doorbell_errors, 0u);
    b.nvme.check_books();
}

}  // namespace
}  // namespace ssdtlm
