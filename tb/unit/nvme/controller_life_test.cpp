// SPDX-License-Identifier: Apache-2.0
// The controller's life cycle against a fake host: admin commands with data, deletion, reset, shutdown, fatal status.
#include <gtest/gtest.h>

#include "unit/nvme/fake_host.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::FakeDma;
using test::NvmeBench;
using test::Pair;

Sqe admin(std::uint8_t opcode, std::uint32_t cdw10, std::uint32_t cdw11 = 0, std::uint32_t nsid = 0) {
    Sqe s;
    s.opc = opcode;
    s.cdw10 = cdw10;
    s.cdw11 = cdw11;
    s.nsid = nsid;
    s.prp1 = 0x80000;
    s.prp2 = 0x90000;
    return s;
}

TEST(NvmeLife, ReadyAfterItsTime) {
    NvmeBench b;
    b.write(kRegAqa, Aqa::of(32, 32));
    b.write(kRegCc, Cc::kTypical);
    b.agenda.run_until(SimTime{10us} - Ps{1});
    EXPECT_EQ(b.csts(), 0u);
    b.write(sq_tail_doorbell(0), 1);  // too early: ignored
    b.agenda.run_until(SimTime{10us});
    EXPECT_EQ(b.csts(), Csts::kReady);
    b.agenda.run();
    EXPECT_EQ(b.nvme.counters().sqes, 0u);
}

TEST(NvmeLife, IdentifyOverTwoPages) {
    NvmeBench b;
    b.enable();
    Sqe s = admin(kAdminIdentify, kCnsNamespace, 0, 1);
    s.prp1 = 0x80800;
    EXPECT_EQ(b.run_admin(s).status(), kStSuccess);
    EXPECT_EQ(b.dma.get<std::uint64_t>(0x80800), (1u << 30) / 512u);
    // Byte 2048 lies at the start of PRP2; the LBA format is in the first half.
    EXPECT_EQ(b.dma.get<std::uint8_t>(0x80800 + 130), 9);
    s.cdw10 = kCnsController;
    EXPECT_EQ(b.run_admin(s).status(), kStSuccess);
    EXPECT_EQ(b.dma.get<std::uint16_t>(0x90000), 900);  // PSD0 at byte 2048
    s.prp1 = 0x80801;
    const Cqe e = b.run_admin(s);
    EXPECT_EQ(e.status(), kStInvalidPrpOffset);
    EXPECT_TRUE(e.dnr());
}

TEST(NvmeLife, LongLogThroughAPrpList) {
    NvmeBench b;
    b.enable();
    for (std::uint64_t i = 0; i < 3; ++i) b.dma.put<std::uint64_t>(0x90000 + 8 * i, 0xA0000 + 4096 * i);
    std::memset(&b.dma.memory[0xA0000], 0xEE, 0x4000);
    const Sqe s = admin(kAdminGetLogPage, kLogEffects | (16384 / 4 - 1) << 16);
    EXPECT_EQ(b.run_admin(s).status(), kStSuccess);
    EXPECT_EQ(b.dma.get<std::uint32_t>(0x80000 + 4 * kAdminIdentify), 1u);
    EXPECT_EQ(b.dma.get<std::uint8_t>(0xA2FFF), 0);  // zeros to the end of what was asked
    EXPECT_EQ(b.dma.get<std::uint8_t>(0xA3000), 0xEE);
    Sqe lost = s;
    lost.prp2 = 0x7000000;
    EXPECT_EQ(b.run_admin(lost).status(), kStDataTransferError);
    b.nvme.check_books();
}

TEST(NvmeLife, DeleteSqWaitsForItsCommands) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    for (std::uint16_t i = 0; i < 2; ++i) b.push(p, b.rw(kIoRead, i));
    b.ring(p);
    b.agenda.run();
    Sqe s = admin(kAdminDeleteSq, 1);
    s.cid = 77;
    b.push(b.admin, s);
    b.ring(b.admin);
    b.agenda.run();
    EXPECT_FALSE(b.has_cqe(b.admin));
    b.push(p, b.rw(kIoRead, 5));  // rung after the deletion began: never fetched
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.firmware.waiting.size(), 2u);
    b.complete_oldest();
    EXPECT_FALSE(b.has_cqe(b.admin));
    b.complete_oldest();
    EXPECT_EQ(b.take(p).cid, 0);
    EXPECT_EQ(b.take(p).cid, 1);
    const Cqe e = b.take(b.admin);
    EXPECT_EQ(e.cid, 77);
    EXPECT_EQ(e.status(), kStSuccess);
    b.ring_head(b.admin);
    EXPECT_EQ(b.run_admin(admin(kAdminDeleteSq, 1)).status(), kStInvalidQid);
    EXPECT_EQ(b.run_admin(admin(kAdminDeleteCq, 1)).status(), kStSuccess);
    b.create_pair(1);
    b.nvme.check_books();
}

TEST(NvmeLife, BadDoorbellsRaiseEvents) {
    NvmeBench b;
    b.enable();
    for (const std::uint16_t cid : std::initializer_list<std::uint16_t>{50, 51}) {
        Sqe s = admin(kAdminAsyncEvent, 0);
        s.cid = cid;
        b.push(b.admin, s);
    }
    b.ring(b.admin);
    b.agenda.run();
    EXPECT_FALSE(b.has_cqe(b.admin));
    b.write(sq_tail_doorbell(3), 1);  // no such queue
    Cqe e = b.take(b.admin);
    EXPECT_EQ(e.cid, 50);
    EXPECT_EQ(e.dw0, 0x00010000u);
    b.write(sq_tail_doorbell(0), 99);  // beyond the queue; masked until the log is read
    EXPECT_FALSE(b.has_cqe(b.admin));
    b.ring_head(b.admin);
    EXPECT_EQ(b.run_admin(admin(kAdminGetLogPage, kLogError | 15u << 16)).status(), kStSuccess);
    b.write(cq_head_doorbell(0), 31);  // more than was posted
    e = b.take(b.admin);
    EXPECT_EQ(e.cid, 51);
    EXPECT_EQ(e.dw0, 0x00010100u);
    b.write(sq_tail_doorbell(0) + 2, 1);  // unaligned and wrong size: ignored silently
    b.write(sq_tail_doorbell(0), 1, 8);
    EXPECT_EQ(b.nvme.counters().doorbell_errors, 3u);
    b.nvme.check_books();
}

TEST(NvmeLife, TemperatureEventAndAbort) {
    NvmeBench b;
    b.enable();
    Sqe aer = admin(kAdminAsyncEvent, 0);
    aer.cid = 50;
    b.push(b.admin, aer);
    aer.cid = 51;
    b.push(b.admin, aer);
    b.ring(b.admin);
    b.agenda.run();
    EXPECT_EQ(b.run_admin(admin(kAdminSetFeatures, kFeatAsyncEventConfig, 2)).status(), kStSuccess);
    EXPECT_EQ(b.run_admin(admin(kAdminSetFeatures, kFeatTemperatureThreshold, 300)).status(), kStSuccess);
    Cqe e = b.take(b.admin);
    EXPECT_EQ(e.cid, 50);
    EXPECT_EQ(e.dw0, 0x00020101u);  // SMART, temperature, log page 02h
    // The aborted request comes before the Abort's own completion.
    Sqe s = admin(kAdminAbort, 51u << 16);
    s.cid = 60;
    b.push(b.admin, s);
    b.ring(b.admin);
    b.agenda.run();
    e = b.take(b.admin);
    EXPECT_EQ(e.cid, 51);
    EXPECT_EQ(e.status(), kStAbortRequested);
    e = b.take(b.admin);
    EXPECT_EQ(e.cid, 60);
    EXPECT_EQ(e.dw0, 0u);
    b.nvme.check_books();
}

TEST(NvmeLife, TheHostHearsOfSpareBlocksAndOfReadOnlyMedia) {
    NvmeBench b;
    DeviceHealth health;
    b.nvme.bind_health([&health] { return health; });
    b.enable();
    Sqe aer = admin(kAdminAsyncEvent, 0);
    for (std::uint16_t cid = 50; cid < 52; ++cid) {
        aer.cid = cid;
        b.push(b.admin, aer);
    }
    b.ring(b.admin);
    b.agenda.run();
    EXPECT_EQ(b.run_admin(admin(kAdminSetFeatures, kFeatAsyncEventConfig, 1 | 8)).status(), kStSuccess);
    health.available_spare = 10;  // the threshold
    b.nvme.health_changed();
    b.agenda.run();
    EXPECT_FALSE(b.has_cqe(b.admin));
    health.available_spare = 9;
    b.nvme.health_changed();
    b.agenda.run();
    Cqe e = b.take(b.admin);
    EXPECT_EQ(e.cid, 50);
    EXPECT_EQ(e.dw0, 0x00020201u);  // SMART, spare below threshold, log page 02h
    EXPECT_EQ(b.nvme.critical_warning(), 1);
    health.read_only = true;
    b.nvme.health_changed();
    b.agenda.run();
    EXPECT_FALSE(b.has_cqe(b.admin));  // the log has not been read
    Sqe log = admin(kAdminGetLogPage, 127u << 16 | kLogSmart);
    log.nsid = kNsidAll;
    log.prp1 = 0x80000;
    EXPECT_EQ(b.run_admin(log).status(), kStSuccess);
    EXPECT_EQ(b.dma.get<std::uint8_t>(0x80000), 1 | 8);
    EXPECT_EQ(b.dma.get<std::uint8_t>(0x80003), 9);
    b.nvme.health_changed();
    b.agenda.run();
    e = b.take(b.admin);
    EXPECT_EQ(e.cid, 51);
    EXPECT_EQ(e.dw0, 0x00020001u);  // SMART, reliability
    b.nvme.check_books();
}

std::uint64_t unsafe_shutdowns(NvmeBench& b) {
    EXPECT_EQ(b.run_admin(admin(kAdminGetLogPage, kLogSmart | 127u << 16)).status(), kStSuccess);
    return b.dma.get<std::uint64_t>(0x80000 + 144);
}

TEST(NvmeLife, ANamespaceIsAWholeNumberOfBlocks) {
    NvmeBench b;
    DriveFacts device = NvmeBench::device(true);
    for (const std::uint64_t bytes : {std::uint64_t{0}, (std::uint64_t{1} << 30) + 256}) {
        device.drive_bytes = bytes;
        EXPECT_ANY_THROW(NvmeController(b.agenda, b.dma, b.tracker, b.config, device)) << bytes;
    }
}

TEST(NvmeLife, ACommandsDeadlineIsTheTargetOfItsQueueAfterItsDoorbell) {
    for (const bool given : {true, false}) {
        NvmeConfig config = NvmeBench::small();
        if (given) config.latency_targets = {100us};
        NvmeBench b(config);
        b.enable();
        Pair p = b.create_pair(1);
        b.agenda.run_until(b.agenda.now() + 7us);
        const SimTime rung = b.agenda.now();
        b.push(p, b.rw(kIoRead, 0));
        b.ring(p);
        b.agenda.run();
        ASSERT_EQ(b.firmware.waiting.size(), 1u);
        EXPECT_EQ(b.firmware.waiting[0]->whose.deadline, given ? rung + 100us : kNever);
    }
}

TEST(NvmeLife, EachPriorityMayHaveATarget) {
    NvmeConfig config = NvmeBench::small();
    config.latency_targets = {100us, 200us, 300us, 400us};
    NvmeBench b(config);
    b.enable();
    Pair p = b.create_pair(1);
    b.push(p, b.rw(kIoRead, 0));
    b.ring(p);
    b.agenda.run();
    ASSERT_EQ(b.firmware.waiting.size(), 1u);
    EXPECT_NE(b.firmware.waiting[0]->whose.deadline, kNever);
}

// NVMe 1.4 figure 194: only what was "lost power" without a shutdown counts (nvme_front_end_test.cpp), not a reset.
TEST(NvmeLife, AResetIsNoUnsafeShutdown) {
    NvmeBench b;
    b.write(kRegCc, 0);  // what a driver does first: the controller was never on
    b.enable();
    EXPECT_EQ(unsafe_shutdowns(b), 0u);
    b.write(kRegCc, 0);
    b.agenda.run();
    b.enable();
    EXPECT_EQ(unsafe_shutdowns(b), 0u);
    b.write(kRegCc, Cc::kTypical | Cc::kShnNormal);
    b.write(kRegCc, 0);  // reset before the shutdown has ended
    b.complete_oldest();
    b.agenda.run();
    b.enable();
    EXPECT_EQ(unsafe_shutdowns(b), 0u);
}

TEST(NvmeLife, ShutdownFlushesAfterTheLastCommand) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    b.push(p, b.rw(kIoWrite, 0));
    b.ring(p);
    b.agenda.run();
    b.write(kRegCc, Cc::kTypical | Cc::kShnNormal);
    EXPECT_EQ(b.csts(), Csts::kReady | Csts::kShstOccurring);
    ASSERT_EQ(b.firmware.waiting.size(), 1u);
    b.complete_oldest();
    EXPECT_EQ(b.take(p).cid, 0);  // commands already there still complete
    ASSERT_EQ(b.firmware.waiting.size(), 1u);
    EXPECT_EQ(b.firmware.waiting.front()->op, IoOp::flush);
    EXPECT_EQ(b.firmware.waiting.front()->queue, 0);
    b.push(p, b.rw(kIoWrite, 1));
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.firmware.waiting.size(), 1u);  // nothing more is fetched
    b.complete_oldest();
    EXPECT_EQ(b.csts(), Csts::kReady | Csts::kShstComplete);
    b.nvme.check_books();
    b.write(kRegCc, Cc::kTypical);  // taken back: fetching goes on
    b.agenda.run();
    EXPECT_EQ(b.firmware.waiting.size(), 1u);
}

TEST(NvmeLife, FailedFetchIsFatalUntilReset) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    b.push(p, b.rw(kIoRead, 0));
    b.ring(p);
    b.agenda.run();
    Sqe s = admin(kAdminCreateSq, queue_cdw10(2, 16), create_sq_cdw11(1));
    s.prp1 = 0x7000000;  // outside the host's memory
    EXPECT_EQ(b.run_admin(s).status(), kStSuccess);
    b.write(sq_tail_doorbell(2), 1);
    b.agenda.run();
    EXPECT_EQ(b.csts(), Csts::kReady | Csts::kFatal);
    const auto cqes = b.nvme.counters().cqes;
    b.complete_oldest();
    EXPECT_EQ(b.nvme.counters().cqes, cqes);  // no completions while fatal
    b.write(sq_tail_doorbell(0), 0);
    b.agenda.run();
    b.write(kRegCc, 0);
    b.agenda.run();
    EXPECT_EQ(b.csts(), 0u);
    b.enable();
    b.nvme.check_books();
    EXPECT_NE(b.nvme.dump().find("SQ 0 entries=32"), std::string::npos);
}

TEST(NvmeLife, WriteCacheFeatureForcesFua) {
    NvmeBench b;
    b.enable();
    Pair p = b.create_pair(1);
    const auto fua_of_write = [&](std::uint16_t cid) {
        b.push(p, b.rw(kIoWrite, cid));
        b.ring(p);
        b.agenda.run();
        const bool fua = b.firmware.waiting.front()->fua;
        b.complete_oldest();
        return fua;
    };
    EXPECT_FALSE(fua_of_write(0));
    EXPECT_EQ(b.run_admin(admin(kAdminSetFeatures, kFeatVolatileWriteCache, 0)).status(), kStSuccess);
    EXPECT_TRUE(fua_of_write(1));
    EXPECT_EQ(b.run_admin(admin(kAdminSetFeatures, kFeatVolatileWriteCache, 1)).status(), kStSuccess);
    EXPECT_FALSE(fua_of_write(2));
}

}  // namespace
}  // namespace ssdtlm
