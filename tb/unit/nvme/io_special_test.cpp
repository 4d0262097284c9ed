// SPDX-License-Identifier: Apache-2.0
// I/O commands beyond Read and Write, on bytes: what is on the drive afterwards, and what the host is told.
#include <gtest/gtest.h>

#include "unit/nvme/memory_drive.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::DriveBench;
using test::Pair;

constexpr std::uint32_t kFirst = 1, kSecond = 2;  // FUSE

struct IoSpecial : testing::Test {
    IoSpecial() {
        b.enable();
        p = b.create_pair(1);
    }
    std::uint16_t status(const Sqe& s) { return b.run(p, s).status(); }
    void write(std::uint64_t slba, std::uint32_t blocks, std::uint8_t first) {
        b.fill(DriveBench::kData, blocks * 512, first);
        ASSERT_EQ(status(b.io(kIoWrite, slba, blocks)), kStSuccess);
    }
    void push(std::uint8_t opcode, std::uint16_t cid, std::uint64_t slba, std::uint32_t blocks, std::uint32_t fuse,
              std::uint64_t at = DriveBench::kData) {
        Sqe s = b.io(opcode, slba, blocks, at);
        s.cid = cid;
        s.flags = static_cast<std::uint8_t>(fuse);
        b.push(p, s);
    }
    Cqe next(std::uint16_t cid) {
        const Cqe e = b.take(p);
        b.ring_head(p);
        EXPECT_EQ(e.cid, cid);
        return e;
    }
    ~IoSpecial() override {
        b.controller->check_waiters();
        b.controller->check_books();
    }
    DriveBench b;
    Pair p;
};

TEST_F(IoSpecial, CompareSaysWhetherTheDataAreEqual) {
    write(8, 8, 1);
    EXPECT_EQ(status(b.io(kIoCompare, 8, 8)), kStSuccess);
    b.dma.memory[DriveBench::kData + 8 * 512 - 1] ^= 1;  // the last byte
    const Cqe e = b.run(p, b.io(kIoCompare, 8, 8));
    EXPECT_EQ(e.status(), kStCompareFailure);
    EXPECT_TRUE(e.dnr());
    EXPECT_EQ(b.controller->counters().compares, 2u);
    EXPECT_EQ(b.controller->counters().bytes_read, 8u * 512);
    Sqe far = b.io(kIoCompare, DriveBench::kBytes / 512 - 1, 2);
    EXPECT_EQ(status(far), kStLbaOutOfRange);
    far = b.io(kIoCompare, 0, 8, 1u << 21);  // memory that does not answer
    EXPECT_EQ(status(far), kStDataTransferError);
}

TEST_F(IoSpecial, VerifyReadsTheFlashAndNothingElse) {
    write(0, 8, 1);
    const std::size_t reads = b.dma.reads.size();
    EXPECT_EQ(status(b.io(kIoVerify, 0, 8, 1u << 21)), kStSuccess);
    EXPECT_EQ(b.dma.reads.size(), reads + 1);  // the entry
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::read)], 1u);
    EXPECT_EQ(status(b.io(kIoVerify, 0, DriveBench::kBytes / 512)), kStSuccess) << "not bound by MDTS";
    b.drive.lost.insert(77);
    EXPECT_EQ(status(b.io(kIoVerify, 70, 8)), kStUnrecoveredRead);
    EXPECT_EQ(status(b.io(kIoVerify, 78, 8)), kStSuccess);
}

struct SmallTransfers : testing::Test {
    static NvmeConfig config() {
        NvmeConfig c = test::NvmeBench::small();
        c.max_transfer_bytes = 8192;
        return c;
    }
    SmallTransfers() {
        b.enable();
        p = b.create_pair(1);
    }
    ~SmallTransfers() override {
        b.controller->check_waiters();
        b.controller->check_books();
    }
    std::uint16_t verify(std::uint64_t slba, std::uint32_t blocks) {
        reads = b.drive.submitted[static_cast<std::size_t>(IoOp::read)];
        const std::uint16_t status = b.run(p, b.io(kIoVerify, slba, blocks)).status();
        reads = b.drive.submitted[static_cast<std::size_t>(IoOp::read)] - reads;
        return status;
    }
    std::uint64_t logged_lba() { return load<std::uint64_t>(b.log(kLogError, 64).data() + 16); }
    DriveBench b{config()};
    Pair p;
    std::uint64_t reads = 0;
};

TEST_F(SmallTransfers, ALongVerifyIsReadInPartsOneAfterTheOther) {
    EXPECT_EQ(verify(3, 16), kStSuccess);
    EXPECT_EQ(reads, 1u);
    EXPECT_EQ(verify(3, 1000), kStSuccess);
    EXPECT_EQ(reads, 63u);
    EXPECT_EQ(b.drive.most, 1u);
    EXPECT_EQ(b.controller->counters().verifies, 2u);
    EXPECT_EQ(b.controller->counters().bytes_read, 1016u * 512);
    EXPECT_EQ(verify(2000, 48), kStSuccess) << "to the end";
    EXPECT_EQ(verify(2000, 49), kStLbaOutOfRange);
    EXPECT_EQ(reads, 0u);
}

TEST_F(SmallTransfers, TheFirstPartThatFailsEndsAVerify) {
    b.drive.lost = {103, 135};
    EXPECT_EQ(verify(3, 1000), kStUnrecoveredRead);
    EXPECT_EQ(reads, 7u);
    EXPECT_EQ(logged_lba(), 99u) << "the part";
    EXPECT_EQ(b.controller->counters().failed, 1u);
    EXPECT_EQ(b.controller->counters().media_errors, 1u);
    EXPECT_EQ(b.run(p, b.io(kIoWriteUncorrectable, 60, 3)).status(), kStSuccess);
    EXPECT_EQ(verify(3, 1000), kStUnrecoveredRead);
    EXPECT_EQ(reads, 4u);
    EXPECT_EQ(logged_lba(), 60u);
    EXPECT_EQ(verify(200, 1000), kStSuccess);
}

// A pair waits for all parts, as for any command before it.
TEST_F(SmallTransfers, WriteUncorrectableWaitsForALongVerify) {
    Sqe s = b.io(kIoVerify, 0, 64);
    s.cid = 1;
    b.push(p, s);
    s = b.io(kIoWriteUncorrectable, 60, 3);
    s.cid = 2;
    b.push(p, s);
    b.ring(p);
    b.agenda.run();
    for (const std::uint16_t cid : {std::uint16_t{1}, std::uint16_t{2}}) {
        const Cqe e = b.take(p);
        EXPECT_EQ(e.cid, cid);
        EXPECT_EQ(e.status(), kStSuccess);
    }
    b.ring_head(p);
}

// A reset waits for the part at hand alone.
TEST_F(SmallTransfers, AResetEndsALongVerify) {
    b.drive.time = 1ms;
    Sqe s = b.io(kIoVerify, 0, 1000);
    s.cid = 1;
    b.push(p, s);
    b.ring(p);
    b.agenda.run_until(b.agenda.now() + 2500us);
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::read)], 3u);
    b.write(kRegCc, 0);
    b.agenda.run_until(b.agenda.now() + 2ms);
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::read)], 3u);
    EXPECT_TRUE(b.drive.under_way.empty());
    b.drive.time = 10us;
    b.enable();
    p = b.create_pair(1);
    EXPECT_EQ(verify(0, 1000), kStSuccess);
}

TEST_F(SmallTransfers, ARangeOfACopyIsAtMostOneTransfer) {
    std::fill_n(b.dma.memory.begin() + DriveBench::kOther, 32, std::uint8_t{0});
    b.dma.put<std::uint16_t>(DriveBench::kOther + 16, 15);
    EXPECT_EQ(b.run(p, b.io(kIoCopy, 300, 1, DriveBench::kOther)).status(), kStSuccess);
    b.dma.put<std::uint16_t>(DriveBench::kOther + 16, 16);
    EXPECT_EQ(b.run(p, b.io(kIoCopy, 300, 1, DriveBench::kOther)).status(), kStCommandSizeLimit);
}

TEST_F(IoSpecial, WriteUncorrectableUntilItIsWrittenAgain) {
    write(0, 16, 1);
    EXPECT_EQ(status(b.io(kIoWriteUncorrectable, 4, 3)), kStSuccess);
    EXPECT_EQ(status(b.io(kIoRead, 0, 4, DriveBench::kOther)), kStSuccess);
    EXPECT_EQ(status(b.io(kIoRead, 7, 8, DriveBench::kOther)), kStSuccess);
    for (const std::uint8_t opcode : {kIoRead, kIoVerify, kIoCompare})
        EXPECT_EQ(status(b.io(opcode, 3, 2, DriveBench::kOther)), kStUnrecoveredRead) << int{opcode};
    const std::vector<std::uint8_t> errors = b.log(kLogError, 64);
    EXPECT_EQ(load<std::uint64_t>(&errors[16]), 4u);  // the first block that cannot be read
    write(4, 2, 9);
    EXPECT_EQ(status(b.io(kIoRead, 4, 2, DriveBench::kOther)), kStSuccess);
    EXPECT_EQ(status(b.io(kIoRead, 6, 1, DriveBench::kOther)), kStUnrecoveredRead);
    b.lose_power();  // it is not forgotten
    b.enable();
    p = b.create_pair(1);
    EXPECT_EQ(status(b.io(kIoRead, 6, 1, DriveBench::kOther)), kStUnrecoveredRead);
    EXPECT_EQ(status(b.io(kIoWriteZeroes, 0, 8)), kStSuccess);
    EXPECT_EQ(status(b.io(kIoRead, 6, 1, DriveBench::kOther)), kStSuccess);
}

// A write beside the read removes the marks before the read ends, and the read may have found the old data.
TEST_F(IoSpecial, AReadThatBeganAtUnreadableBlocksFails) {
    write(0, 16, 1);
    EXPECT_EQ(status(b.io(kIoWriteUncorrectable, 4, 3)), kStSuccess);
    b.drive.time = 1ms;
    push(kIoRead, 1, 3, 2, 0, DriveBench::kOther);
    b.ring(p);
    b.agenda.run_until(b.agenda.now() + 100us);
    b.drive.time = 10us;
    push(kIoWrite, 2, 4, 3, 0);
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(next(2).status(), kStSuccess);
    EXPECT_EQ(next(1).status(), kStUnrecoveredRead);
    EXPECT_EQ(status(b.io(kIoRead, 3, 2, DriveBench::kOther)), kStSuccess);
}

// Deallocation says nothing about blocks that cannot be read: of a unit that it covers in part it leaves the old data.
TEST_F(IoSpecial, OnlyAWriteMakesBlocksReadableAgain) {
    write(0, 16, 1);
    EXPECT_EQ(status(b.io(kIoWriteUncorrectable, 2, 10)), kStSuccess);
    b.dma.put(DriveBench::kData, DsmRange{0, 16, 0});
    Sqe s = b.io(kIoDatasetMgmt, 0, 1);
    s.cdw10 = s.cdw12 = 0, s.cdw11 = kDsmDeallocate;
    EXPECT_EQ(status(s), kStSuccess);
    EXPECT_EQ(status(b.io(kIoRead, 2, 1, DriveBench::kOther)), kStUnrecoveredRead);
    EXPECT_EQ(status(b.io(kIoRead, 11, 1, DriveBench::kOther)), kStUnrecoveredRead);
    EXPECT_EQ(status(b.io(kIoRead, 12, 1, DriveBench::kOther)), kStSuccess);
}

// Its end takes the marks away for good, so its data must not be lost with the power behind it.
TEST_F(IoSpecial, AWriteToUnreadableBlocksIsDurable) {
    EXPECT_EQ(status(b.io(kIoWriteUncorrectable, 2, 10)), kStSuccess);
    const auto fua_of = [&](const Sqe& s) {
        b.push(p, s);
        b.ring(p);
        b.agenda.run_until(b.agenda.now() + 4us);  // fetched, and in the drive
        bool durable = false;
        for (const Command* const c : b.drive.under_way) durable = durable || c->fua;
        b.agenda.run();
        while (b.has_cqe(p)) b.take(p);
        b.ring_head(p);
        return durable;
    };
    EXPECT_FALSE(fua_of(b.io(kIoWrite, 12, 4)));
    EXPECT_TRUE(fua_of(b.io(kIoWrite, 8, 4)));
    EXPECT_FALSE(fua_of(b.io(kIoWrite, 8, 4))) << "there they can be read again";
    EXPECT_TRUE(fua_of(b.io(kIoWriteZeroes, 0, 8)));
    EXPECT_FALSE(fua_of(b.io(kIoWriteZeroes, 0, 8)));
}

// The write before it ends first, and the one behind it begins behind it.
TEST_F(IoSpecial, WriteUncorrectableHasItsBlocksForItself) {
    b.drive.time = 100us;
    push(kIoWrite, 1, 8, 8, 0);
    push(kIoWriteUncorrectable, 2, 12, 8, 0);
    push(kIoRead, 3, 19, 1, 0, DriveBench::kOther);
    push(kIoRead, 4, 20, 1, 0, DriveBench::kOther);
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::deallocate)], 1u);
    std::vector<std::uint16_t> order;
    while (b.has_cqe(p)) {
        const Cqe e = b.take(p);
        order.push_back(e.cid);
        EXPECT_EQ(e.status(), e.cid == 3 ? kStUnrecoveredRead : kStSuccess) << e.cid;
    }
    b.ring_head(p);
    EXPECT_EQ(order, (std::vector<std::uint16_t>{4, 1, 2, 3}));
}

TEST_F(IoSpecial, WriteUncorrectableIsWholeOrNotAtAll) {
    write(0, 16, 1);
    EXPECT_EQ(status(b.io(kIoWriteUncorrectable, 4, 2)), kStSuccess);
    b.drive.next = CommandStatus::read_only;
    EXPECT_EQ(status(b.io(kIoWriteUncorrectable, 2, 8)), kStReadOnlyRange);
    EXPECT_EQ(status(b.io(kIoRead, 0, 4, DriveBench::kOther)), kStSuccess);
    EXPECT_EQ(status(b.io(kIoRead, 6, 8, DriveBench::kOther)), kStSuccess);
    EXPECT_EQ(status(b.io(kIoRead, 5, 1, DriveBench::kOther)), kStUnrecoveredRead) << "as before";
}

TEST(IoSpecialPower, GoesWhileBlocksAreMadeUnreadable) {
    DriveBench b;
    b.enable();
    Pair p = b.create_pair(1);
    b.drive.time = 1ms;
    Sqe s = b.io(kIoWriteUncorrectable, 8, 8);
    b.push(p, s);
    b.ring(p);
    b.agenda.run_until(b.agenda.now() + 100us);
    ASSERT_EQ(b.drive.under_way.size(), 1u);
    b.lose_power();
    b.drive.time = 10us;
    b.enable();
    p = b.create_pair(1);
    for (const std::uint64_t block : {8u, 15u})
        EXPECT_EQ(b.run(p, b.io(kIoRead, block, 1, DriveBench::kOther)).status(), kStUnrecoveredRead);
    EXPECT_EQ(b.run(p, b.io(kIoRead, 16, 1, DriveBench::kOther)).status(), kStSuccess);
}

TEST_F(IoSpecial, CopyOfSeveralRanges) {
    write(100, 8, 1);
    write(200, 4, 50);
    const std::uint64_t list = DriveBench::kOther;
    std::fill_n(b.dma.memory.begin() + list, 96, std::uint8_t{0});
    b.dma.put<std::uint64_t>(list + 8, 200);
    b.dma.put<std::uint16_t>(list + 16, 3);
    b.dma.put<std::uint64_t>(list + 32 + 8, 102);
    b.dma.put<std::uint16_t>(list + 32 + 16, 1);
    Sqe s = b.io(kIoCopy, 300, 2, list);  // two ranges: NR is 0-based
    EXPECT_EQ(status(s), kStSuccess);
    const auto byte = [this](std::uint64_t block) { return b.drive.memory.begin() + static_cast<long>(block * 512); };
    EXPECT_TRUE(std::equal(byte(200), byte(204), byte(300)));
    EXPECT_TRUE(std::equal(byte(102), byte(104), byte(304)));
    EXPECT_EQ(b.drive.submitted[static_cast<std::size_t>(IoOp::read)], 2u);
    EXPECT_EQ(b.controller->counters().copies, 1u);
    // Faults: a target beyond the end, a source beyond the end, too many ranges, too long a range, another format.
    EXPECT_EQ(status(b.io(kIoCopy, DriveBench::kBytes / 512 - 5, 2, list)), kStLbaOutOfRange);
    EXPECT_EQ(status(b.io(kIoCopy, 0, 17, list)), kStCommandSizeLimit);
    s.cdw12 |= 1u << 8;
    EXPECT_EQ(status(s), kStInvalidField);
    b.dma.put<std::uint16_t>(list + 16, 256);  // 257 blocks: more than 128 KiB
    EXPECT_EQ(status(b.io(kIoCopy, 300, 1, list)), kStCommandSizeLimit);
    b.dma.put<std::uint64_t>(list + 8, DriveBench::kBytes / 512);
    b.dma.put<std::uint16_t>(list + 16, 0);
    EXPECT_EQ(status(b.io(kIoCopy, 300, 1, list)), kStLbaOutOfRange);
    // A source that cannot be read: how many ranges were copied.
    b.dma.put<std::uint64_t>(list + 8, 1);
    b.drive.lost.insert(102);
    const Cqe e = b.run(p, b.io(kIoCopy, 300, 2, list));
    EXPECT_EQ(e.status(), kStUnrecoveredRead);
    EXPECT_EQ(e.dw0, 1u);
}

TEST_F(IoSpecial, CompareAndWriteIsOneThing) {
    write(8, 1, 1);
    b.fill(DriveBench::kOther, 512, 77);
    push(kIoCompare, 1, 8, 1, kFirst);
    push(kIoWrite, 2, 8, 1, kSecond, DriveBench::kOther);
    push(kIoRead, 3, 8, 1, 0, DriveBench::kOther + 0x1000);  // comes behind the pair: sees what it has written
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(next(1).status(), kStSuccess);
    EXPECT_EQ(next(2).status(), kStSuccess);
    EXPECT_EQ(next(3).status(), kStSuccess);
    EXPECT_TRUE(b.equal(DriveBench::kOther, 8 * 512, 512));
    EXPECT_TRUE(b.equal(DriveBench::kOther + 0x1000, 8 * 512, 512));
    // Different data: nothing is written.
    push(kIoCompare, 1, 8, 1, kFirst);
    push(kIoWrite, 2, 8, 1, kSecond);
    b.ring(p);
    b.agenda.run();
    EXPECT_EQ(next(1).status(), kStCompareFailure);
    EXPECT_EQ(next(2).status(), kStAbortFailedFused);
    EXPECT_TRUE(b.equal(DriveBench::kOther, 8 * 512, 512));
}

TEST_F(IoSpecial, APairHasItsBlocksForItself) {
    write(8, 1, 1);
    b.fill(DriveBench::kOther, 512, 77);
    b.fill(DriveBench::kOther + 0x1000, 512, 99);
    push(kIoWrite, 1, 8, 1, 0, DriveBench::kOther);            // before the pair, and different
    push(kIoCompare, 2, 8, 1, kFirst, DriveBench::kOther);     // must see it
    push(kIoWrite, 3, 8, 1, kSecond);                          //
    push(kIoWrite, 4, 8, 1, 0, DriveBench::kOther + 0x1000);   // must come last
    push(kIoRead, 5, 100, 1, 0, DriveBench::kOther + 0x2000);  // other blocks: does not wait
    b.ring(p);
    b.agenda.run();
    for (int i = 0; i < 5; ++i) {
        const Cqe e = b.take(p);
        b.ring_head(p);
        EXPECT_EQ(e.status(), kStSuccess) << e.cid;
        if (i == 0) {
            EXPECT_TRUE(e.cid == 1 || e.cid == 5);
        }
        if (i == 4) {
            EXPECT_EQ(e.cid, 4);
        }
    }
    EXPECT_TRUE(b.equal(DriveBench::kOther + 0x1000, 8 * 512, 512));
}

// What comes behind the first pair is known before it, and waits for it.
TEST_F(IoSpecial, APairWhoseListsComeLateIsNotWaitedForInVain) {
    for (const bool pair : {true, false}) {
        push(kIoCompare, 1, 8, 48, kFirst);  // 24 KiB: a PRP list each
        push(kIoWrite, 2, 8, 48, kSecond);
        if (pair) push(kIoCompare, 3, 100, 1, kFirst);
        push(pair ? kIoWrite : kIoWriteUncorrectable, 4, 100, 1, pair ? kSecond : 0);
        b.dma.read_times = {Ps{1us}, Ps{1ms}, Ps{1ms}};  // the entries, and the lists
        b.ring(p);
        b.agenda.run();
        std::set<std::uint16_t> ended;
        while (b.has_cqe(p)) ended.insert(b.take(p).cid);
        b.ring_head(p);
        EXPECT_EQ(ended, pair ? (std::set<std::uint16_t>{1, 2, 3, 4}) : (std::set<std::uint16_t>{1, 2, 4}));
    }
}

TEST_F(IoSpecial, HalvesOfPairs) {
    // Of different blocks; a first one without a second; a second one without a first; a first one that is refused.
    push(kIoCompare, 1, 8, 1, kFirst);
    push(kIoWrite, 2, 9, 1, kSecond);
    push(kIoCompare, 3, 8, 1, kFirst);
    push(kIoRead, 4, 8, 1, 0);
    push(kIoWrite, 5, 8, 1, kSecond);
    push(kIoCompare, 6, DriveBench::kBytes, 1, kFirst);
    push(kIoWrite, 7, DriveBench::kBytes, 1, kSecond);
    push(kIoCompare, 8, 8, 1, kFirst);
    push(kIoWrite, 9, DriveBench::kBytes, 1, kSecond);
    push(kIoVerify, 10, 8, 1, kFirst);
    push(kIoWrite, 11, 8, 1, kFirst);
    b.ring(p);
    b.agenda.run();
    std::map<std::uint16_t, std::uint16_t> ends;
    while (b.has_cqe(p)) {
        const Cqe e = b.take(p);
        ends[e.cid] = e.status();
    }
    b.ring_head(p);
    EXPECT_EQ(ends, (std::map<std::uint16_t, std::uint16_t>{{1, kStInvalidField},
                                                            {2, kStInvalidField},
                                                            {3, kStAbortMissingFused},
                                                            {4, kStSuccess},
                                                            {5, kStAbortMissingFused},
                                                            {6, kStLbaOutOfRange},
                                                            {7, kStLbaOutOfRange},
                                                            {8, kStAbortFailedFused},
                                                            {9, kStLbaOutOfRange},
                                                            {10, kStInvalidField},
                                                            {11, kStInvalidField}}));
}

TEST_F(IoSpecial, ResetsUnderPairsAndCopies) {
    for (std::uint32_t us = 0; us < 60; ++us) {
        push(kIoCompare, 1, 8, 1, kFirst);
        push(kIoWrite, 2, 8, 1, kSecond);
        push(kIoWrite, 3, 8, 1, 0);
        push(kIoCopy, 4, 300, 2, 0, DriveBench::kOther);
        push(kIoCompare, 5, 8, 1, kFirst);
        b.ring(p);
        b.agenda.run_until(b.agenda.now() + Ps{1us} * us);
        b.write(kRegCc, 0);
        b.agenda.run();
        ASSERT_EQ(b.csts(), 0u);
        b.controller->check_books();
        b.enable();
        p = b.create_pair(1);
        write(8, 1, static_cast<std::uint8_t>(us));  // no lock was left
    }
}

// Work that continues by itself would come behind the save of the write buffer. The drive would say that it is done,
// and it would be lost.
TEST(IoSpecialPower, NothingIsSubmittedWhenTheHostIsGone) {
    for (const std::uint8_t opcode : {kIoCompare, kIoCopy, kIoWriteUncorrectable, kAdminSanitize}) {
        DriveBench b;
        b.enable();
        Pair p = b.create_pair(1);
        b.drive.time = 1ms;
        b.dma.put(DriveBench::kOther + 8, std::uint64_t{0});
        if (opcode == kAdminSanitize) {
            Sqe s = b.admin_command(kAdminSanitize, 0, 3u | 1u << 4);
            b.push(b.admin, s);
            b.ring(b.admin);
        } else {
            Sqe first = b.io(opcode == kIoWriteUncorrectable ? kIoWrite : opcode, 8, 1,
                             opcode == kIoCopy ? DriveBench::kOther : DriveBench::kData);
            first.cid = 1;
            if (opcode == kIoCopy) first.cdw12 = 0;
            first.flags = opcode == kIoCompare ? kFirst : 0;
            Sqe second = b.io(opcode == kIoWriteUncorrectable ? opcode : kIoWrite, 8, 1);
            second.cid = 2;
            second.flags = opcode == kIoCompare ? kSecond : 0;
            b.push(p, first);
            if (opcode != kIoCopy) b.push(p, second);
            b.ring(p);
        }
        b.agenda.run_until(b.agenda.now() + 100us);
        const auto before = b.drive.submitted;
        ASSERT_NE(b.drive.under_way.size(), 0u) << int{opcode};
        b.controller->host_is_gone();
        b.agenda.run_until(b.agenda.now() + 10ms);
        EXPECT_EQ(b.drive.submitted, before) << int{opcode};
        EXPECT_EQ(b.drive.under_way.size(), 0u) << int{opcode};
    }
}

// What a write ends with on the capacitors may have come behind the save of the write buffer.
TEST(IoSpecialPower, AWriteThatEndsWhenTheHostIsGoneLeavesItsBlocksUnreadable) {
    for (const std::uint8_t opcode : {kIoWrite, kIoCopy, kIoWriteZeroes}) {
        for (const bool gone : {false, true}) {
            DriveBench b;
            b.enable();
            Pair p = b.create_pair(1);
            EXPECT_EQ(b.run(p, b.io(kIoWriteUncorrectable, 8, 8)).status(), kStSuccess);
            b.drive.time = 1ms;
            b.dma.put(DriveBench::kOther + 8, std::uint64_t{32});
            b.dma.put(DriveBench::kOther + 16, std::uint16_t{7});
            Sqe s = b.io(opcode, 8, 8, opcode == kIoCopy ? DriveBench::kOther : DriveBench::kData);
            if (opcode == kIoCopy) s.cdw12 = 0;
            s.cid = 1;
            b.push(p, s);
            b.ring(p);
            const auto write = static_cast<std::size_t>(opcode == kIoWriteZeroes ? IoOp::write_zeroes : IoOp::write);
            while (b.drive.submitted[write] == 0) b.agenda.run_until(b.agenda.now() + 10us);
            if (gone) b.controller->host_is_gone();
            b.agenda.run_until(b.agenda.now() + 10ms);
            EXPECT_EQ(b.drive.under_way.size(), 0u);
            EXPECT_EQ(b.controller->memory().uncorrectable.any(8, 8), gone) << int{opcode};
        }
    }
}

// The write is older: it must not make blocks readable that were made unreadable later.
TEST(IoSpecialPower, AWriteThatAResetLetGoEndsBeforeAWriteUncorrectable) {
    DriveBench b;
    b.enable();
    Pair p = b.create_pair(1);
    b.drive.time = 1ms;
    b.push(p, b.io(kIoWrite, 8, 8));
    b.ring(p);
    b.agenda.run_until(b.agenda.now() + 100us);
    ASSERT_EQ(b.drive.under_way.size(), 1u);
    b.write(kRegCc, 0);
    b.controller->completions().let_go(**b.drive.under_way.begin());
    b.agenda.run_until(b.agenda.now() + 100us);
    b.drive.time = 10us;
    b.enable();
    p = b.create_pair(1);
    EXPECT_EQ(b.run(p, b.io(kIoWriteUncorrectable, 8, 8)).status(), kStSuccess);
    b.agenda.run();
    EXPECT_EQ(b.drive.under_way.size(), 0u);
    EXPECT_TRUE(b.controller->memory().uncorrectable.any(8, 8));
}

TEST_F(IoSpecial, AbortOfWhatHasNotBegun) {
    // 24 KiB: a PRP list has to be read first.
    Sqe s = b.io(kIoRead, 0, 48);
    s.cid = 7;
    b.push(p, s);
    push(kIoCompare, 8, 8, 1, kFirst);
    push(kIoWrite, 9, 100, 1, 0);  // in the firmware by then
    b.drive.time = 1ms;
    b.dma.read_times = {Ps{1us}, Ps{1ms}};  // the entries, and the list
    b.ring(p);
    b.agenda.run_until(b.agenda.now() + 5us);
    for (const auto& [cid, aborted] : {std::pair<std::uint32_t, bool>{7, true}, {8, false}, {9, false}, {99, false}}) {
        Sqe a = b.admin_command(kAdminAbort, 0, 1 | cid << 16);
        a.cid = 500;
        b.push(b.admin, a);
        b.ring(b.admin);
        b.agenda.run_until(b.agenda.now() + 5us);
        const Cqe e = b.take(b.admin);
        b.ring_head(b.admin);
        EXPECT_EQ(e.status(), kStSuccess);
        EXPECT_EQ(e.dw0, aborted ? 0u : 1u) << cid;
    }
    EXPECT_EQ(next(8).status(), kStAbortMissingFused);  // when 9 came
    EXPECT_EQ(next(7).status(), kStAbortRequested);
    b.agenda.run();
    EXPECT_EQ(next(9).status(), kStSuccess);
    // A first command that waits for its second one.
    push(kIoCompare, 8, 8, 1, kFirst);
    b.ring(p);
    b.agenda.run_until(b.agenda.now() + 5us);
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminAbort, 0, 1 | 8u << 16)).dw0, 0u);
    EXPECT_EQ(next(8).status(), kStAbortRequested);
    // And one that waits while its queue is deleted.
    push(kIoCompare, 8, 8, 1, kFirst);
    b.ring(p);
    b.agenda.run_until(b.agenda.now() + 5us);
    EXPECT_EQ(b.run_admin(b.admin_command(kAdminDeleteSq, 0, 1)).status(), kStSuccess);
    EXPECT_EQ(next(8).status(), kStAbortSqDeletion);
}

}  // namespace
}  // namespace ssdtlm
