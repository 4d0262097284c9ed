// SPDX-License-Identifier: Apache-2.0
// Resets of the controller under load, against a fake host and a fake firmware.
#include <gtest/gtest.h>

#include <deque>

#include "common/report/error.h"
#include "unit/nvme/fake_host.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::NvmeBench;
using test::Pair;

Sqe admin(std::uint8_t opcode, std::uint32_t cdw10) {
    Sqe s;
    s.opc = opcode;
    s.cdw10 = cdw10;
    s.prp1 = 0x80000;
    s.prp2 = 0x90000;
    return s;
}

TEST(NvmeReset, ResetDropsCommandsSilently) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    Sqe aer = admin(kAdminAsyncEvent, 0);
    aer.cid = 50;
    b.push(b.admin, aer);
    b.ring(b.admin);
    for (std::uint16_t i = 0; i < 3; ++i) b.push(p, b.rw(kIoRead, i));
    b.ring(p);
    b.agenda.run();
    ASSERT_EQ(b.firmware.waiting.size(), 3u);
    b.complete_oldest();
    b.push(p, b.rw(kIoRead, 9));
    b.ring(p);  // this fetch is on its way when the reset comes
    const auto cqes = b.nvme.counters().cqes;
    b.write(kRegCc, 0);
    EXPECT_EQ(b.csts(), Csts::kReady);  // until all work has stopped
    b.agenda.run();
    EXPECT_EQ(b.csts(), Csts::kReady);
    b.complete_oldest();
    EXPECT_EQ(b.csts(), Csts::kReady);
    b.complete_oldest();
    EXPECT_EQ(b.csts(), 0u);
    EXPECT_EQ(b.nvme.counters().cqes, cqes);
    EXPECT_EQ(b.nvme.counters().dropped, 4u);  // two reads, the late fetch, the event request
    b.nvme.check_books();
    // And up again, queues fresh.
    b.enable();
    p = b.create_pair(1);
    b.push(p, b.rw(kIoRead, 0));
    b.ring(p);
    b.agenda.run();
    b.complete_oldest();
    EXPECT_EQ(b.take(p).cid, 0);
    b.nvme.check_books();
}

TEST(NvmeReset, AResetDoesNotWaitForWhatIsLetGo) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    for (std::uint16_t i = 0; i < 3; ++i) b.push(p, b.rw(kIoWrite, i));
    b.ring(p);
    b.agenda.run();
    ASSERT_EQ(b.firmware.waiting.size(), 3u);
    const std::deque<NvmeCommand*> waiting = b.firmware.waiting;
    CompletionSink& sink = b.nvme.completions();
    EXPECT_THROW(sink.let_go(*waiting[0]), Panic) << "a controller that serves the host";
    const auto cqes = b.nvme.counters().cqes;
    b.write(kRegCc, 0);
    EXPECT_TRUE(b.firmware.aborts);
    sink.let_go(*waiting[0]);
    sink.let_go(*waiting[2]);
    sink.let_go(*waiting[2]);  // may be said again
    b.agenda.run();
    EXPECT_EQ(b.csts(), Csts::kReady) << "one may still reach for the host's memory";
    b.firmware.waiting = {waiting[1]};
    b.complete_oldest();
    EXPECT_EQ(b.csts(), 0u);
    EXPECT_FALSE(b.firmware.aborts);
    EXPECT_EQ(b.nvme.counters().dropped, 3u);
    EXPECT_EQ(b.nvme.in_firmware(), 0u);
    b.nvme.check_books();
    // The controller serves again, with a command of the same queue and identifier, when they end.
    b.enable();
    p = b.create_pair(1);
    b.push(p, b.rw(kIoWrite, 0));
    b.ring(p);
    b.agenda.run();
    ASSERT_EQ(b.firmware.waiting.size(), 1u);
    const NvmeCommand& now = *b.firmware.waiting.front();
    EXPECT_NE(&now, waiting[0]);
    EXPECT_NE(&now, waiting[2]);
    EXPECT_NE(now.timeline, waiting[0]->timeline);
    const SimTime mark = now.timeline->last();
    waiting[0]->timeline->charge(Stage::array, b.agenda.now() + Ps{5});
    EXPECT_EQ(now.timeline->last(), mark);
    sink.complete(*waiting[0]);
    sink.complete(*waiting[2]);
    EXPECT_EQ(b.nvme.counters().cqes, cqes + 2);  // of the admin queue, for the pair
    EXPECT_EQ(b.nvme.in_firmware(), 1u);
    b.complete_oldest();
    EXPECT_EQ(b.take(p).cid, 0);
    b.nvme.check_books();
}

TEST(NvmeReset, AResetWhileAPrpListIsReadDropsTheAdminCommand) {
    NvmeBench b;
    b.enable();
    for (std::uint64_t i = 0; i < 3; ++i) b.dma.put<std::uint64_t>(0x90000 + 8 * i, 0xA0000 + 4096 * i);
    const auto admin_before = b.nvme.counters().admin, dropped = b.nvme.counters().dropped;
    b.push(b.admin, admin(kAdminGetLogPage, kLogEffects | (16384 / 4 - 1) << 16));
    b.ring(b.admin);
    while (b.nvme.counters().admin == admin_before && b.agenda.run_one(kNever)) continue;  // its list is on its way
    EXPECT_EQ(b.nvme.counters().admin, admin_before + 1);
    b.write(kRegCc, 0);
    EXPECT_EQ(b.csts(), Csts::kReady);
    b.agenda.run();
    EXPECT_EQ(b.csts(), 0u);
    EXPECT_EQ(b.nvme.counters().dropped, dropped + 1);
    b.nvme.check_books();
    b.enable();
    EXPECT_EQ(b.run_admin(admin(kAdminIdentify, kCnsController)).status(), kStSuccess);
    b.nvme.check_books();
}

TEST(NvmeReset, AResetOfTheFunctionClearsTheRegistersAtOnce) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    for (std::uint16_t i = 0; i < 2; ++i) b.push(p, b.rw(kIoRead, i));
    b.ring(p);
    b.agenda.run();
    ASSERT_EQ(b.firmware.waiting.size(), 2u);
    b.write(kRegIntms, 6);
    ASSERT_NE(b.nvme.mmio_read(kRegAqa, 4), 0u);
    ASSERT_EQ(b.nvme.mmio_read(msix_entry(1) + kMsixControl, 4), 0u);
    const auto cqes = b.nvme.counters().cqes;
    const std::uint64_t cap = b.nvme.mmio_read(kRegCap, 8);
    bool stopped = false;
    b.nvme.reset_function([&] { stopped = true; });
    EXPECT_TRUE(b.firmware.aborts);
    EXPECT_EQ(b.nvme.mmio_read(kRegCap, 8), cap);
    for (const std::uint32_t at :
         {kRegIntms, kRegIntmc, kRegCc, kRegCsts, kRegAqa, kRegAsq, kRegAsq + 4, kRegAcq, kRegAcq + 4})
        EXPECT_EQ(b.nvme.mmio_read(at, 4), 0u) << at;
    for (std::uint32_t v = 0; v <= b.config.max_queue_pairs; ++v) {
        EXPECT_EQ(b.nvme.mmio_read(msix_entry(v), 8), 0u);
        EXPECT_EQ(b.nvme.mmio_read(msix_entry(v) + kMsixData, 8), std::uint64_t{1} << 32) << "masked, without data";
    }
    b.ring(p);  // there is no such queue any more
    b.agenda.run();
    // The host brings the controller up again, and it is ready when the firmware has ended what was begun before.
    b.write(kRegAqa, Aqa::of(32, 32));
    b.write(kRegAsq, 0x1000, 8);
    b.write(kRegAcq, 0x2000, 8);
    b.write(kRegCc, Cc::kTypical);
    b.agenda.run();
    EXPECT_EQ(b.csts(), 0u);
    b.complete_oldest();
    EXPECT_FALSE(stopped);
    b.complete_oldest(CommandStatus::transfer_error);
    EXPECT_TRUE(stopped);
    b.agenda.run();
    EXPECT_EQ(b.csts(), Csts::kReady);
    EXPECT_EQ(b.nvme.counters().cqes, cqes);
    EXPECT_EQ(b.nvme.counters().dropped, 2u);
    EXPECT_EQ(b.nvme.counters().resets, 1u);
    EXPECT_EQ(b.nvme.counters().unsafe_shutdowns, 0u);
    EXPECT_EQ(b.nvme.memory().errors.total(), 0u) << "a command that is not completed leaves no entry";
    b.nvme.check_books();
    b.write(kRegCc, 0);
    b.enable();
    p = b.create_pair(1);
    b.push(p, b.rw(kIoRead, 0));
    b.ring(p);
    b.agenda.run();
    b.complete_oldest();
    EXPECT_EQ(b.take(p).cid, 0);
    b.nvme.check_books();
}

TEST(NvmeReset, AResetOfTheFunctionMeetsAnyState) {
    NvmeBench b;
    unsigned stopped = 0;
    const auto reset = [&] { b.nvme.reset_function([&] { ++stopped; }); };
    reset();  // not enabled
    EXPECT_EQ(stopped, 1u);
    EXPECT_EQ(b.nvme.counters().resets, 0u);
    b.enable();
    Pair p = b.create_pair(1);
    b.push(p, b.rw(kIoRead, 1));
    b.ring(p);
    b.agenda.run();
    b.write(kRegCc, 0);
    reset();  // in a controller reset
    EXPECT_EQ(stopped, 1u);
    EXPECT_EQ(b.csts(), 0u);
    b.complete_oldest();
    EXPECT_EQ(stopped, 2u);
    EXPECT_EQ(b.nvme.counters().resets, 1u);
    b.enable();
    b.write(kRegCc, Cc::kTypical | Cc::kShnNormal);
    ASSERT_EQ(b.firmware.waiting.size(), 1u) << "the flush of a shutdown";
    reset();  // in a shutdown
    EXPECT_EQ(b.csts(), 0u);
    EXPECT_EQ(stopped, 2u);
    b.complete_oldest();
    EXPECT_EQ(stopped, 3u);
    EXPECT_EQ(b.csts(), 0u) << "no shutdown is complete";
    b.write(kRegAqa, Aqa::of(32, 32));
    b.write(kRegAsq, 0x1001, 8);
    b.write(kRegCc, Cc::kTypical);
    ASSERT_EQ(b.csts(), Csts::kFatal);
    reset();  // with a fatal error
    EXPECT_EQ(b.csts(), 0u);
    EXPECT_EQ(stopped, 4u);
    b.enable();
    b.push(b.admin, admin(kAdminIdentify, kCnsController));
    b.ring(b.admin);
    reset();  // with a fetch under way
    EXPECT_EQ(stopped, 4u);
    b.dma.reads.back().fails = true;
    b.agenda.run();
    EXPECT_EQ(stopped, 5u);
    EXPECT_EQ(b.csts(), 0u) << "the fetch has failed for the reset alone";
    b.enable();
    b.nvme.check_books();
}

}  // namespace
}  // namespace ssdtlm
