// SPDX-License-Identifier: Apache-2.0
// Admin commands that work on the flash, and the logs that tell of them: Format NVM, Sanitize, Device Self-test,
// Namespace Management; and what the host hears of by events.
#include <gtest/gtest.h>

#include "unit/nvme/memory_drive.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::DriveBench;
using test::Pair;

NvmeConfig three_namespaces() {
    NvmeConfig c = test::NvmeBench::small();
    c.namespaces = {256u << 10, 256u << 10};
    return c;
}

std::uint32_t listed(DriveBench& b, std::uint8_t cns, std::uint32_t place) {
    Sqe s = b.admin_command(kAdminIdentify, 0, cns);
    s.prp1 = DriveBench::kOther;
    EXPECT_EQ(b.run_admin(s).status(), kStSuccess);
    return b.dma.get<std::uint32_t>(DriveBench::kOther + 4 * place);
}

std::uint64_t blocks_of(DriveBench& b, std::uint32_t nsid) {
    Sqe s = b.admin_command(kAdminIdentify, nsid, kCnsNamespace);
    s.prp1 = DriveBench::kOther;
    EXPECT_EQ(b.run_admin(s).status(), kStSuccess);
    return b.dma.get<std::uint64_t>(DriveBench::kOther);
}

/// Puts the command in without waiting for its end.
void push(DriveBench& b, Pair& p, Sqe s, std::uint16_t cid) {
    s.cid = cid;
    b.push(p, s);
    b.ring(p);
}

TEST(MediaCommands, TheProgressOfAFormatIsZeroOnlyWhenItIsOver) {
    DriveBench b;
    b.enable();
    b.drive.time = 1ms;
    push(b, b.admin, b.admin_command(kAdminFormat, 1, 0), 600);
    const Namespaces& all = b.target->memory().namespaces;
    std::uint32_t under_way = 0;
    while (!b.has_cqe(b.admin)) {
        const bool runs = all.refusal(1) == kStFormatInProgress;
        EXPECT_EQ(all.remaining(1) != 0, runs);
        under_way += runs;
        if (under_way == 3) {  // it goes on over a reset, and its command is dropped
            b.write(kRegCc, 0);
            b.agenda.run_until(b.agenda.now() + 5ms);
            EXPECT_NE(all.remaining(1), 0u);
            b.write(kRegCc, Cc::kTypical);
            while (all.refusal(1) == kStFormatInProgress) {
                EXPECT_NE(all.remaining(1), 0u);
                ASSERT_TRUE(b.agenda.run_one(kNever));
            }
            EXPECT_EQ(all.remaining(1), 0u);
            break;
        }
        b.agenda.run_until(b.agenda.now() + 200us);
    }
    EXPECT_EQ(under_way, 3u);
    EXPECT_EQ(all.refusal(1), kStSuccess);
}

TEST(MediaCommands, FormatToLargerBlocksAndBack) {
    DriveBench b;
    b.enable();
    Pair p = b.create_pair(1);
    b.fill(DriveBench::kData, 4096, 1);
    ASSERT_EQ(b.run(p, b.io(kIoWrite, 8, 8)).status(), kStSuccess);
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminFormat, 1, 2)).status(), kStInvalidFormat);        // no such format
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminFormat, 1, 1u << 5)).status(), kStInvalidFormat);  // protection
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminFormat, 1, 3u << 9)).status(), kStInvalidField);   // SES
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminFormat, 2, 0)).status(), kStInvalidNamespace);
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::deallocate)], 0u);

    // While it runs, commands to the namespace are refused, and may be tried again.
    b.drive.time = 1ms;
    push(b, p, b.io(kIoRead, 8, 1, DriveBench::kOther), 1);  // is there before it: ends first
    b.agenda.run_until(b.agenda.now() + 10us);
    push(b, b.admin, b.admin_command(kAdminFormat, 1, 1), 600);
    b.agenda.run_until(b.agenda.now() + 10us);
    push(b, p, b.io(kIoRead, 0, 1), 2);
    b.agenda.run_until(b.agenda.now() + 10us);
    const nvme::Cqe refused = b.take(p);
    EXPECT_EQ(refused.cid, 2);
    EXPECT_EQ(refused.status(), kStFormatInProgress);
    EXPECT_FALSE(refused.dnr());
    push(b, b.admin, b.admin_command(kAdminFormat, kNsidAll, 0), 601);
    b.agenda.run();
    EXPECT_EQ(b.take(p).status(), kStSuccess);
    b.ring_head(p);
    EXPECT_EQ(b.take(b.admin).status(), kStFormatInProgress);
    const nvme::Cqe end = b.take(b.admin);
    b.ring_head(b.admin);
    EXPECT_EQ(end.cid, 600);
    EXPECT_EQ(end.status(), kStSuccess);
    b.drive.time = 10us;

    EXPECT_EQ(blocks_of(b, 1), DriveBench::kBytes / 4096);
    EXPECT_EQ(b.dma.memory[DriveBench::kOther + 26], 1);  // FLBAS
    EXPECT_EQ(std::count(b.drive.memory.begin(), b.drive.memory.end(), 0), static_cast<long>(DriveBench::kBytes));
    b.fill(DriveBench::kData, 4096, 7);
    EXPECT_EQ(b.run(p, b.io(kIoWrite, 3, 1)).status(), kStSuccess);  // a block of 4 KiB now
    EXPECT_TRUE(b.equal(DriveBench::kData, 3 * 4096, 4096));
    EXPECT_EQ(b.run(p, b.io(kIoRead, DriveBench::kBytes / 4096, 1)).status(), kStLbaOutOfRange);
    b.lose_power();  // the format stays
    b.enable();
    EXPECT_EQ(blocks_of(b, 1), DriveBench::kBytes / 4096);
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminFormat, kNsidAll, 0 | 1u << 9)).status(), kStSuccess);
    EXPECT_EQ(blocks_of(b, 1), DriveBench::kBytes / 512);
    b.controller->check_books();
}

TEST(MediaCommands, SelfTestsAndTheirResults) {
    DriveBench b;
    b.enable();
    EXPECT_EQ(b.log(kLogSelfTest, 564)[4], 0xF);  // no result
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminSelfTest, kNsidAll, 3)).status(), kStInvalidField);
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminSelfTest, 2, 1)).status(), kStInvalidNamespace);
    // The short one: a read of a block in each thousandth (of 2,048 blocks: every second), 10 us and a fetch each.
    const SimTime begun = b.agenda.now();
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminSelfTest, kNsidAll, 1)).status(), kStSuccess);
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::read)], 1024u);
    EXPECT_GE(b.agenda.now() - begun, 1024 * Ps{10us});
    std::vector<std::uint8_t> log = b.log(kLogSelfTest, 564);
    EXPECT_EQ(log[0], 0);
    EXPECT_EQ(log[4], 1 << 4 | 0);  // short, without an error
    // The extended one, in the midst of it: code, percent, a second one is refused, an abort.
    b.drive.time = 1ms;
    push(b, b.admin, b.admin_command(kAdminSelfTest, 1, 2), 600);
    b.agenda.run_until(b.agenda.now() + 4500us);  // four of eight reads of 128 KiB
    push(b, b.admin, b.admin_command(kAdminSelfTest, 1, 1), 601);
    Sqe read_log = b.admin_command(kAdminGetLogPage, kNsidAll, kLogSelfTest | 140u << 16);
    push(b, b.admin, read_log, 602);
    push(b, b.admin, b.admin_command(kAdminSelfTest, 0, 0xF), 603);
    b.agenda.run();
    EXPECT_EQ(b.take(b.admin).status(), kStSuccess);
    EXPECT_EQ(b.take(b.admin).status(), kStSelfTestInProgress);
    EXPECT_EQ(b.take(b.admin).status(), kStSuccess);
    EXPECT_EQ(b.take(b.admin).status(), kStSuccess);
    b.ring_head(b.admin);
    EXPECT_EQ(b.dma.memory[DriveBench::kData], 2);
    EXPECT_EQ(b.dma.memory[DriveBench::kData + 1], 50);  // the fifth of eight is being read
    b.drive.time = 10us;
    log = b.log(kLogSelfTest, 564);
    EXPECT_EQ(log[4], 2 << 4 | 1);   // extended, aborted by a command
    EXPECT_EQ(log[32], 1 << 4 | 0);  // the one before it
    // A block that cannot be read: where, and why.
    b.drive.lost.insert(1000);
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminSelfTest, kNsidAll, 2)).status(), kStSuccess);
    log = b.log(kLogSelfTest, 564);
    EXPECT_EQ(log[4], 2 << 4 | 7);
    EXPECT_EQ(log[5], 1);   // segment
    EXPECT_EQ(log[6], 15);  // all of what follows is valid
    EXPECT_EQ(load<std::uint32_t>(&log[4 + 12]), 1u);
    EXPECT_EQ(load<std::uint64_t>(&log[4 + 16]), 1000u / 256 * 256);  // the read of 128 KiB that failed
    EXPECT_EQ(log[4 + 24], 2);
    EXPECT_EQ(log[4 + 25], 0x81);
    // A reset ends the short one, and not the extended one; a loss of power ends both.
    b.drive.lost.clear();
    for (const std::uint32_t code : {1u, 2u}) {
        for (const bool power : {false, true}) {
            push(b, b.admin, b.admin_command(kAdminSelfTest, kNsidAll, code), 600);
            b.agenda.run_until(b.agenda.now() + 25us);
            if (power) {
                b.lose_power();
            } else {
                b.write(kRegCc, 0);
                b.agenda.run();
            }
            b.enable();
            b.agenda.run();
            log = b.log(kLogSelfTest, 564);
            EXPECT_EQ(log[0], 0);
            EXPECT_EQ(log[4], code << 4 | (power || code == 1 ? 2 : 0)) << power;
        }
    }
}

TEST(MediaCommands, SanitizeRefusesWhatItMust) {
    for (const std::uint32_t action : {2u, 3u, 4u}) {
        DriveBench b;
        b.enable();
        Pair p = b.create_pair(1);
        b.fill(DriveBench::kData, 4096, 1);
        ASSERT_EQ(b.run(p, b.io(kIoWrite, 8, 8)).status(), kStSuccess);
        EXPECT_EQ(b.run_admin(b.admin_command(kAdminSanitize, 0, 0)).status(), kStInvalidField);
        EXPECT_EQ(b.run_admin(b.admin_command(kAdminSanitize, 0, 5)).status(), kStInvalidField);
        std::vector<std::uint8_t> log = b.log(kLogSanitize, 512);
        EXPECT_EQ(load<std::uint16_t>(&log[0]), 0xFFFF);
        EXPECT_EQ(load<std::uint16_t>(&log[2]), 0);  // never
        b.drive.time = 1ms;
        push(b, b.admin, b.admin_command(kAdminAsyncEvent), 700);
        // Overwrite: two passes, the inverse first.
        const std::uint32_t dw10 = action | (action == 3 ? 2u << 4 | 1u << 8 : 0);
        push(b, b.admin, b.admin_command(kAdminSanitize, 0, dw10, 0xA5A5A5A5), 600);
        b.agenda.run_until(b.agenda.now() + 500us);
        const nvme::Cqe begun = b.take(b.admin);
        EXPECT_EQ(begun.cid, 600);
        EXPECT_EQ(begun.status(), kStSuccess);  // at once
        for (const std::uint8_t opcode : {kIoRead, kIoWrite, kIoFlush, kIoVerify, kIoCopy}) {
            push(b, p, b.io(opcode, 0, 1), opcode);
            b.agenda.run_until(b.agenda.now() + 5us);
            EXPECT_EQ(b.take(p).status(), kStSanitizeInProgress) << int{opcode};
            b.ring_head(p);
        }
        push(b, b.admin, b.admin_command(kAdminFormat, 1, 0), 601);
        push(b, b.admin, b.admin_command(kAdminSelfTest, 1, 1), 602);
        push(b, b.admin, b.admin_command(kAdminSanitize, 0, 4), 603);
        push(b, b.admin, b.admin_command(kAdminGetLogPage, kNsidAll, kLogSanitize | 127u << 16), 604);
        b.agenda.run_until(b.agenda.now() + 5us);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(b.take(b.admin).status(), kStSanitizeInProgress);
        EXPECT_EQ(b.take(b.admin).status(), kStSuccess);
        b.ring_head(b.admin);
        EXPECT_EQ(load<std::uint16_t>(&b.dma.memory[DriveBench::kData + 2]) & 7, 2);  // in progress
        b.write(kRegCc, 0);                                                           // it goes on over a reset
        b.agenda.run();
        b.drive.time = 10us;
        b.enable();
        if (action == 3) {  // and begins anew after a loss of power
            b.write(kRegCc, 0);
            b.lose_power();
            b.enable();
        }
        b.agenda.run();
        log = b.log(kLogSanitize, 512);
        EXPECT_EQ(load<std::uint16_t>(&log[0]), 0xFFFF);
        EXPECT_EQ(load<std::uint16_t>(&log[2]), 1 | (action == 3 ? 2 << 3 : 0) | 1 << 8);  // done, passes, GDE
        EXPECT_EQ(load<std::uint32_t>(&log[4]), dw10);
        EXPECT_EQ(load<std::uint32_t>(&log[8]), 0xFFFFFFFF);  // no estimate
        EXPECT_EQ(std::count(b.drive.memory.begin(), b.drive.memory.end(), 0), static_cast<long>(DriveBench::kBytes));
        p = b.create_pair(1);
        b.fill(DriveBench::kData, 512, 1);
        EXPECT_EQ(b.run(p, b.io(kIoWrite, 8, 1)).status(), kStSuccess);
        EXPECT_EQ(load<std::uint16_t>(&b.log(kLogSanitize, 512)[2]) & 1 << 8, 0);  // not all is erased any more
        b.controller->check_books();
    }
}

TEST(MediaCommands, AnOverwriteLeavesItsPatternWithoutDeallocation) {
    DriveBench b;
    b.enable();
    // Two passes, the inverse first, and no deallocation.
    const std::uint32_t dw10 = 3u | 2u << 4 | 1u << 8 | 1u << 9;
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminSanitize, 0, dw10, 0x12345678)).status(), kStSuccess);
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::write)], 2 * DriveBench::kBytes / (128u << 10));
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::deallocate)], 0u);
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::flush)], 2u) << "at the end of each pass";
    EXPECT_EQ(b.drive.beside_flushes, 0u) << "behind all writes of its pass";
    EXPECT_GT(b.drive.most, 1u);
    for (std::uint64_t at = 0; at < DriveBench::kBytes; at += 4)
        ASSERT_EQ(load<std::uint32_t>(&b.drive.memory[at]), 0x12345678u) << at;
}

// A map on the flash has room for the entries of one command of nvme.max_transfer.
TEST(MediaCommands, JobsUseNoLargerCommandsThanTheHostMay) {
    NvmeConfig c = test::NvmeBench::small();
    c.max_transfer_bytes = 8192;
    DriveBench b(c);
    b.enable();
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminSanitize, 0, 3u | 1u << 4, 0x12345678)).status(), kStSuccess);
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::write)], DriveBench::kBytes / 8192);
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminSelfTest, kNsidAll, 2)).status(), kStSuccess);
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::read)], DriveBench::kBytes / 8192);
}

// NVMe 1.4 §8.15: only a command that leaves it, or another operation that ends well, ends it.
TEST(MediaCommands, AFailureToSanitizeStaysOverALossOfPower) {
    DriveBench b;
    b.enable();
    Pair p = b.create_pair(1);
    EXPECT_EQ(b.run(p, b.io(kIoWriteUncorrectable, 8, 1)).status(), kStSuccess);
    b.drive.next = CommandStatus::write_fault;
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminSanitize, 0, 2 | 1u << 3)).status(), kStSuccess);
    EXPECT_EQ(b.run(p, b.io(kIoRead, 0, 1)).status(), kStSanitizeFailed);
    b.lose_power();
    b.enable();
    p = b.create_pair(1);
    EXPECT_EQ(b.run(p, b.io(kIoRead, 0, 1)).status(), kStSanitizeFailed);
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminFormat, 1, 0)).status(), kStSanitizeFailed);
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminSanitize, 0, 1)).status(), kStSuccess);
    EXPECT_EQ(b.run(p, b.io(kIoRead, 0, 1)).status(), kStSuccess);
    EXPECT_EQ(b.run(p, b.io(kIoRead, 8, 1)).status(), kStUnrecoveredRead) << "nothing was erased";
    b.controller->check_books();
}

TEST(MediaCommands, AFormatThatFailsLeavesBlocksUnreadable) {
    DriveBench b;
    b.enable();
    Pair p = b.create_pair(1);
    EXPECT_EQ(b.run(p, b.io(kIoWriteUncorrectable, 8, 1)).status(), kStSuccess);
    b.drive.next = CommandStatus::write_fault;
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminFormat, 1, 0)).status(), kStInternalError);
    EXPECT_EQ(b.run(p, b.io(kIoRead, 8, 1)).status(), kStUnrecoveredRead);
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminFormat, 1, 0)).status(), kStSuccess);
    EXPECT_EQ(b.run(p, b.io(kIoRead, 8, 1)).status(), kStSuccess);
}

TEST(MediaCommands, NamespacesAreDeletedAndCreated) {
    DriveBench b(three_namespaces());
    b.enable();
    Pair p = b.create_pair(1);
    Sqe arm = b.admin_command(kAdminSetFeatures, 0, kFeatAsyncEventConfig, 1u << 8);
    ASSERT_EQ(b.run_admin(arm).status(), kStSuccess);
    push(b, b.admin, b.admin_command(kAdminAsyncEvent), 700);
    b.agenda.run();
    EXPECT_EQ(listed(b, kCnsActiveNamespaces, 2), 3u);
    // Namespace 2 goes: its blocks are deallocated, and the host is told.
    Sqe w = b.io(kIoWrite, 0, 8);
    w.nsid = 2;
    b.fill(DriveBench::kData, 4096, 3);
    ASSERT_EQ(b.run(p, w).status(), kStSuccess);
    ASSERT_TRUE(b.equal(DriveBench::kData, 256u << 10, 4096));
    push(b, b.admin, b.admin_command(kAdminNamespaceManagement, 2, 1), 600);
    b.agenda.run();
    const nvme::Cqe event = b.take(b.admin);
    EXPECT_EQ(event.cid, 700);
    EXPECT_EQ(event.dw0, 0x00040002u);  // notice, namespace attributes, log 04h
    EXPECT_EQ(b.take(b.admin).status(), kStSuccess);
    b.ring_head(b.admin);
    EXPECT_EQ(b.drive.memory[256u << 10], 0);
    EXPECT_EQ(b.run(p, w).status(), kStInvalidField);  // a number of no namespace
    EXPECT_EQ(listed(b, kCnsActiveNamespaces, 1), 3u);
    std::vector<std::uint8_t> changed = b.log(kLogChangedNamespaces, 4096);
    EXPECT_EQ(load<std::uint32_t>(&changed[0]), 2u);
    EXPECT_EQ(load<std::uint32_t>(&changed[4]), 0u);
    EXPECT_EQ(load<std::uint32_t>(&b.log(kLogChangedNamespaces, 4096)[0]), 0u);  // until it is read

    // A new one of 4 KiB blocks in its place, which is found first and used when it is attached.
    const auto create = [&](std::uint64_t size, std::uint64_t capacity, std::uint8_t flbas) {
        std::fill_n(b.dma.memory.begin() + DriveBench::kData, 4096, std::uint8_t{0});
        b.dma.put(DriveBench::kData, size);
        b.dma.put(DriveBench::kData + 8, capacity);
        b.dma.memory[DriveBench::kData + 26] = flbas;
        return b.run_admin(b.admin_command(kAdminNamespaceManagement, 0, 0));
    };
    EXPECT_EQ(create(65, 65, 1).status(), kStNamespaceCapacity);
    EXPECT_EQ(create(64, 32, 1).status(), kStThinNotSupported);
    EXPECT_EQ(create(64, 64, 3).status(), kStInvalidFormat);
    EXPECT_EQ(create(0, 0, 1).status(), kStInvalidField);
    const nvme::Cqe created = create(32, 32, 1);
    EXPECT_EQ(created.status(), kStSuccess);
    EXPECT_EQ(created.dw0, 2u);
    EXPECT_EQ(listed(b, kCnsActiveNamespaces, 1), 3u);
    EXPECT_EQ(listed(b, kCnsAllocatedNamespaces, 1), 2u);
    EXPECT_EQ(blocks_of(b, 2), 0u);  // not attached: zeros
    const auto attach = [&](std::uint32_t nsid, std::uint32_t action, std::uint16_t controllers = 1) {
        b.dma.put(DriveBench::kData, controllers);
        b.dma.put<std::uint16_t>(DriveBench::kData + 2, 0);
        return b.run_admin(b.admin_command(kAdminNamespaceAttachment, nsid, action)).status();
    };
    EXPECT_EQ(attach(2, 1), kStNamespaceNotAttached);
    EXPECT_EQ(attach(2, 0, 2), kStControllerListInvalid);
    EXPECT_EQ(attach(9, 0), kStInvalidField);
    EXPECT_EQ(attach(99, 0), kStInvalidNamespace);
    EXPECT_EQ(attach(2, 2), kStInvalidField);
    EXPECT_EQ(attach(2, 0), kStSuccess);
    EXPECT_EQ(attach(2, 0), kStNamespaceAttached);
    EXPECT_EQ(blocks_of(b, 2), 32u);
    w.cdw12 = 0;
    b.fill(DriveBench::kData, 4096, 9);
    EXPECT_EQ(b.run(p, w).status(), kStSuccess);
    EXPECT_TRUE(b.equal(DriveBench::kData, 256u << 10, 4096));
    w.set_slba(32);
    EXPECT_EQ(b.run(p, w).status(), kStLbaOutOfRange);
    EXPECT_EQ(attach(2, 1), kStSuccess);
    EXPECT_EQ(b.run(p, w).status(), kStInvalidField);
    // All go.
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminNamespaceManagement, kNsidAll, 1)).status(), kStSuccess);
    EXPECT_EQ(listed(b, kCnsAllocatedNamespaces, 0), 0u);
    EXPECT_EQ(create(DriveBench::kBytes / 512, DriveBench::kBytes / 512, 0).dw0, 1u);
    EXPECT_EQ(create(8, 8, 0).status(), kStNamespaceCapacity);
    b.controller->check_books();
}

// The second namespace begins and ends inside mapping units, which it shares with its neighbours.
TEST(MediaCommands, FormatLeavesTheNeighboursAlone) {
    NvmeConfig c = test::NvmeBench::small();
    c.namespaces = {(100u << 10) + 512, (60u << 10) + 1024};
    DriveBench b(c);
    b.enable();
    std::fill(b.drive.memory.begin(), b.drive.memory.end(), std::uint8_t{7});
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminFormat, 2, 0)).status(), kStSuccess);
    const std::size_t begin = c.namespaces[0], end = begin + c.namespaces[1];
    for (std::size_t i = 0; i < DriveBench::kBytes; ++i)
        ASSERT_EQ(b.drive.memory[i], i >= begin && i < end ? 0 : 7) << i;
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::write)], 2u);
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::deallocate)], 1u);
}

TEST(MediaCommands, TimestampCountsOn) {
    DriveBench b;
    b.enable();
    const auto get = [&] {
        Sqe s = b.admin_command(kAdminGetFeatures, 0, kFeatTimestamp);
        s.prp1 = DriveBench::kOther;
        EXPECT_EQ(b.run_admin(s).status(), kStSuccess);
        return b.dma.get<std::uint64_t>(DriveBench::kOther);
    };
    EXPECT_EQ(get() >> 48, 0u);  // not set by a host
    b.dma.put<std::uint64_t>(DriveBench::kData, 0x0123'4567'89AB);
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminSetFeatures, 0, kFeatTimestamp)).status(), kStSuccess);
    EXPECT_EQ(get(), 0x0123'4567'89AB | std::uint64_t{1} << 49);
    b.agenda.run_until(b.agenda.now() + 5s);
    b.agenda.run();
    EXPECT_EQ(get() & 0xFFFF'FFFF'FFFF, 0x0123'4567'89AB + 5000u);
    b.lose_power();
    b.enable();
    EXPECT_LT(get(), 100u);
}

TEST(MediaCommands, KeepAliveOrNothing) {
    DriveBench b;
    b.enable();
    push(b, b.admin, b.admin_command(kAdminSetFeatures, 0, kFeatKeepAliveTimer, 2500), 600);
    b.agenda.run_until(b.agenda.now() + 20us);
    EXPECT_EQ(b.take(b.admin).status(), kStSuccess);
    b.ring_head(b.admin);
    // 2.5 s become 3 s. agenda.run() would wait for the timer, so steps of time.
    const auto keep = [&] {
        push(b, b.admin, b.admin_command(kAdminKeepAlive), 600);
        b.agenda.run_until(b.agenda.now() + 20us);
        EXPECT_EQ(b.take(b.admin).status(), kStSuccess);
        b.ring_head(b.admin);
    };
    keep();
    for (int i = 0; i < 4; ++i) {
        b.agenda.run_until(b.agenda.now() + 2900ms);
        EXPECT_EQ(b.csts(), Csts::kReady);
        keep();
    }
    b.agenda.run_until(b.agenda.now() + 3s);
    EXPECT_EQ(b.csts(), Csts::kReady | Csts::kFatal);
    b.write(kRegCc, 0);
    b.agenda.run();
    b.enable();  // and without a timer again
    b.agenda.run_until(b.agenda.now() + 60s);
    EXPECT_EQ(b.csts(), Csts::kReady);
}

TEST(MediaCommands, PersistentEventsInAContext) {
    DriveBench b;
    b.enable();
    const auto get = [&](std::uint32_t lsp) {
        return b.run_admin(b.admin_command(kAdminGetLogPage, kNsidAll, kLogPersistentEvents | lsp << 8 | 127u << 16))
            .status();
    };
    EXPECT_EQ(get(0), kStSequenceError);  // no context
    EXPECT_EQ(get(3), kStInvalidField);
    ASSERT_EQ(b.run_admin(b.admin_command(kAdminFormat, 1, 0)).status(), kStSuccess);
    ASSERT_EQ(b.run_admin(b.admin_command(kAdminSanitize, 0, 4)).status(), kStSuccess);
    EXPECT_EQ(get(1), kStSuccess);
    EXPECT_EQ(get(1), kStSequenceError);
    const std::vector<std::uint8_t> log = b.log(kLogPersistentEvents, 2048);
    EXPECT_EQ(log[0], 0x0D);
    EXPECT_EQ(load<std::uint32_t>(&log[4]), 5u);
    // Newest first: sanitize completion, start, format completion, start, power on. 24 bytes and the event's own.
    const std::pair<int, std::size_t> events[] = {{0x0A, 8}, {0x09, 12}, {0x08, 12}, {0x07, 12}, {0x04, 44}};
    std::size_t at = 512;
    for (const auto& [type, bytes] : events) {
        EXPECT_EQ(log[at], type);
        EXPECT_EQ(log[at + 2], 21);  // bytes of the event's header behind this field
        EXPECT_EQ(load<std::uint16_t>(&log[at + 22]), bytes);
        at += 24 + bytes;
    }
    EXPECT_EQ(load<std::uint64_t>(&log[8]), at);
    EXPECT_EQ(load<std::uint64_t>(&log[480]) & 0x7DA, 0x7D8u);  // of which events it knows
    EXPECT_EQ(get(2), kStSuccess);
    EXPECT_EQ(get(0), kStSequenceError);
}

TEST(MediaCommands, SupportedPagesAreThoseThatCanBeRead) {
    DriveBench b;
    b.enable();
    const std::vector<std::uint8_t> pages = b.log(kLogSupported, 1024);
    for (std::uint32_t lid = 0; lid < 256; ++lid) {
        const std::uint32_t open = lid == kLogPersistentEvents ? 1u << 8 : 0;
        const std::uint16_t status =
            b.run_admin(b.admin_command(kAdminGetLogPage, kNsidAll, lid | open | 127u << 16)).status();
        EXPECT_EQ(status, (load<std::uint32_t>(&pages[4 * lid]) & 1) != 0 ? kStSuccess : kStInvalidLogPage) << lid;
    }
    // Telemetry: the blocks of data area 1, which the header names, are there.
    const std::vector<std::uint8_t> t = b.log(kLogTelemetryHost, 2048, 1);
    EXPECT_EQ(t[0], 7);
    const std::uint32_t last = load<std::uint16_t>(&t[8]);
    ASSERT_GE(last, 1u);
    EXPECT_EQ(std::string(t.begin() + 512, t.begin() + 520), "time_ps ");
    EXPECT_EQ(load<std::uint16_t>(&b.log(kLogTelemetryController, 512)[8]), 0);
}

TEST(MediaCommands, DoorbellsInHostMemory) {
    NvmeConfig c = test::NvmeBench::small();
    c.shadow_doorbells = true;
    DriveBench b(c);
    b.enable();
    Pair p = b.create_pair(1);
    Sqe config = b.admin_command(kAdminDoorbellBuffer);
    config.prp1 = DriveBench::kOther;
    config.prp2 = DriveBench::kOther + 0x1001;
    EXPECT_EQ(b.run_admin(config).status(), kStInvalidPrpOffset);
    config.prp2 = DriveBench::kOther + 0x1000;
    std::fill_n(b.dma.memory.begin() + DriveBench::kOther, 0x2000, std::uint8_t{0});
    EXPECT_EQ(b.run_admin(config).status(), kStSuccess);
    // A driver as Linux's: writes the shadow, and the register only when it passes the event index.
    std::uint32_t written = 0;
    const auto ring = [&](std::uint32_t index, std::uint32_t register_at, std::uint32_t value) {
        const std::uint64_t shadow = DriveBench::kOther + 4 * index, event = shadow + 0x1000;
        const auto old = static_cast<std::uint16_t>(b.dma.get<std::uint32_t>(shadow));
        b.dma.put(shadow, value);
        const auto passed = static_cast<std::uint16_t>(value - b.dma.get<std::uint32_t>(event) - 1);
        if (passed >= static_cast<std::uint16_t>(value - old)) return;
        ++written;
        b.write(register_at, value);
    };
    b.fill(DriveBench::kData, 512, 1);
    std::uint32_t ended = 0, sent = 0;
    constexpr std::uint32_t kAll = 1000;
    while (ended < kAll) {
        while (sent < kAll && sent - ended < 20) {
            Sqe s = b.io(kIoWrite, sent % 100, 1);
            s.cid = static_cast<std::uint16_t>(sent++ % 64);
            b.push(p, s);
            ring(2, sq_tail_doorbell(1), p.tail);
        }
        b.agenda.run_until(b.agenda.now() + 3us);
        while (b.has_cqe(p)) {
            EXPECT_EQ(b.take(p).status(), kStSuccess);
            ++ended;
            ring(3, cq_head_doorbell(1), p.head);
        }
        ASSERT_LT(b.agenda.now(), SimTime{1s}) << ended << " of " << sent;
    }
    std::printf("%u commands, %u register writes of %u\n", ended, written, 2 * kAll);
    EXPECT_LT(written, kAll / 5) << "while there is work the registers are not needed";
    EXPECT_GT(b.controller->counters().shadow_reads, 0u);
    b.agenda.run();
    // At depth 1 the queue rests between commands, and each needs its register.
    for (int i = 0; i < 100; ++i) {
        Sqe s = b.io(kIoWrite, 5, 1);
        s.cid = 1;
        b.push(p, s);
        ring(2, sq_tail_doorbell(1), p.tail);
        b.agenda.run();
        ASSERT_TRUE(b.has_cqe(p));
        b.take(p);
        ring(3, cq_head_doorbell(1), p.head);
    }
    b.controller->check_books();
    // A reset at any time, under way or not: it ends, and the registers alone count again.
    for (std::uint32_t us = 0; us < 20; ++us) {
        Sqe s = b.io(kIoWrite, 5, 1);
        s.cid = 1;
        b.push(p, s);
        ring(2, sq_tail_doorbell(1), p.tail);
        b.agenda.run_until(b.agenda.now() + Ps{1us} * us);
        b.write(kRegCc, 0);
        b.agenda.run();
        ASSERT_EQ(b.csts(), 0u) << us;
        b.enable();
        p = b.create_pair(1);
        ASSERT_EQ(b.run(p, b.io(kIoWrite, 5, 1)).status(), kStSuccess);
        std::fill_n(b.dma.memory.begin() + DriveBench::kOther, 0x2000, std::uint8_t{0});
        ASSERT_EQ(b.run_admin(config).status(), kStSuccess);
        b.dma.put(DriveBench::kOther + 8, p.tail);  // where the queue stands already
        b.dma.put(DriveBench::kOther + 12, p.head);
        b.agenda.run();
    }
}

}  // namespace
}  // namespace ssdtlm
