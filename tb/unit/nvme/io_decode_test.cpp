// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/io_decode.h"

#include <gtest/gtest.h>

#include <functional>

#include "unit/nvme/pages_of.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using Next = IoDecoder::Next;

constexpr std::uint64_t kBlocks = 1000;
constexpr std::uint32_t kLba = 512;
constexpr std::uint32_t kMaxTransfer = 64 * 1024;

Sqe rw(std::uint8_t opcode, std::uint64_t slba, std::uint32_t blocks) {
    Sqe s;
    s.opc = opcode;
    s.nsid = 1;
    s.prp1 = 0x10000;
    s.prp2 = 0x20000;
    s.set_slba(slba);
    s.cdw12 = blocks - 1;
    return s;
}

Sqe dsm(std::uint32_t ranges) {
    Sqe s;
    s.opc = kIoDatasetMgmt;
    s.nsid = 1;
    s.prp1 = 0x10000;
    s.cdw10 = ranges - 1;
    s.cdw11 = kDsmDeallocate;
    return s;
}

struct Decoded {
    Next next;
    NvmeCommand command;
    DataWalk walk;
};

Streams& no_streams() {
    static Streams none(0);
    return none;
}

Decoded decode(const Sqe& s, bool cid_in_use = false, bool write_through = false) {
    const Namespaces namespaces(kBlocks * kLba, kLba);
    IoDecoder d(namespaces, kMaxTransfer, no_streams());
    d.set_write_through(write_through);
    Decoded out{};
    out.next = d.decode(s, cid_in_use, out.command, out.walk);
    return out;
}

TEST(IoDecode, ReadAndWrite) {
    Decoded d = decode(rw(kIoRead, 992, 8));
    EXPECT_EQ(d.next, Next::submit);
    EXPECT_EQ(d.command.op, IoOp::read);
    EXPECT_EQ(d.command.slba, 992u);
    EXPECT_EQ(d.command.blocks, 8u);
    EXPECT_EQ(d.command.bytes, 8u * kLba);
    EXPECT_EQ(pages_of(d.command.data), (std::vector<std::uint64_t>{0x10000}));
    EXPECT_FALSE(d.command.fua);

    Sqe w = rw(kIoWrite, 0, 16);
    w.cdw12 |= kRwFua;
    d = decode(w);
    EXPECT_EQ(d.next, Next::submit);
    EXPECT_EQ(d.command.op, IoOp::write);
    EXPECT_TRUE(d.command.fua);
    EXPECT_EQ(pages_of(d.command.data), (std::vector<std::uint64_t>{0x10000, 0x20000}));

    d = decode(rw(kIoRead, 0, 17));
    EXPECT_EQ(d.next, Next::data_list);
    EXPECT_EQ(d.walk.list_address(), 0x20000u);
    EXPECT_EQ(d.walk.list_bytes(), 16u);
}

TEST(IoDecode, DisabledWriteCacheMakesWritesFua) {
    EXPECT_TRUE(decode(rw(kIoWrite, 0, 1), false, true).command.fua);
    EXPECT_TRUE(decode(rw(kIoWriteZeroes, 0, 1), false, true).command.fua);
    EXPECT_FALSE(decode(rw(kIoWriteZeroes, 0, 1)).command.fua);
    Sqe zeroes = rw(kIoWriteZeroes, 0, 1);
    zeroes.cdw12 |= kRwFua;
    EXPECT_TRUE(decode(zeroes).command.fua);
    EXPECT_FALSE(decode(rw(kIoRead, 0, 1), false, true).command.fua);
}

TEST(IoDecode, FlushOfOneOrAllNamespaces) {
    Sqe s;
    s.opc = kIoFlush;
    for (const std::uint32_t nsid : {1u, kNsidAll}) {
        s.nsid = nsid;
        const Decoded d = decode(s);
        EXPECT_EQ(d.next, Next::submit);
        EXPECT_EQ(d.command.op, IoOp::flush);
        EXPECT_EQ(d.command.blocks, 0u);
    }
}

TEST(IoDecode, WriteZeroesIsNotBoundByMdts) {
    const Decoded d = decode(rw(kIoWriteZeroes, 0, kBlocks));
    EXPECT_EQ(d.next, Next::submit);
    EXPECT_EQ(d.command.op, IoOp::write_zeroes);
    EXPECT_EQ(d.command.bytes, kBlocks * kLba);
    EXPECT_TRUE(d.command.data.empty());
}

TEST(IoDecode, DeallocateRanges) {
    Decoded d = decode(dsm(4));
    ASSERT_EQ(d.next, Next::ranges);
    EXPECT_EQ(d.command.bytes, 64u);
    EXPECT_EQ(pages_of(d.command.data), (std::vector<std::uint64_t>{0x10000}));
    const DsmRange ranges[4] = {{0, 10, 0}, {0, 0, 5}, {0, 20, 980}, {0, 1, 10}};
    const Namespaces namespaces(kBlocks * kLba, kLba);
    const IoDecoder decoder(namespaces, kMaxTransfer, no_streams());
    ASSERT_EQ(decoder.parse_ranges(reinterpret_cast<const std::uint8_t*>(ranges), 4, d.command), Next::submit);
    ASSERT_EQ(d.command.ranges.size(), 3u);  // the empty range is skipped
    EXPECT_EQ(d.command.ranges[1].slba, 980u);
    EXPECT_EQ(d.command.ranges[1].blocks, 20u);
    EXPECT_EQ(d.command.bytes, 31u * kLba);
    EXPECT_TRUE(d.command.data.empty());
}

TEST(IoDecode, DeallocateRangeFaultsAndNothingToDo) {
    const Namespaces namespaces(kBlocks * kLba, kLba);
    const IoDecoder decoder(namespaces, kMaxTransfer, no_streams());
    NvmeCommand c;
    const DsmRange beyond{0, 2, kBlocks - 1};
    EXPECT_EQ(decoder.parse_ranges(reinterpret_cast<const std::uint8_t*>(&beyond), 1, c), Next::refused);
    EXPECT_EQ(c.code, kStLbaOutOfRange);
    const DsmRange empty{0, 0, 0};
    EXPECT_EQ(decoder.parse_ranges(reinterpret_cast<const std::uint8_t*>(&empty), 1, c), Next::finished);
    Sqe hint = dsm(1);
    hint.cdw11 = 1;  // integral dataset for read: no deallocation
    EXPECT_EQ(decode(hint).next, Next::finished);
}

struct FaultCase {
    const char* what;
    std::uint16_t status;
    std::function<void(Sqe&)> spoil;
    bool cid_in_use = false;
};

class IoFaults : public testing::TestWithParam<FaultCase> {};

TEST_P(IoFaults, FirstFaultDecides) {
    Sqe s = rw(kIoRead, 0, 8);
    GetParam().spoil(s);
    const Decoded d = decode(s, GetParam().cid_in_use);
    EXPECT_EQ(d.next, Next::refused) << GetParam().what;
    EXPECT_EQ(d.command.code, GetParam().status) << GetParam().what;
    EXPECT_TRUE(do_not_retry(d.command.code));
}

void beyond_the_end(Sqe& s) {
    s.set_slba(kBlocks);
}

INSTANTIATE_TEST_SUITE_P(
    Table, IoFaults,
    testing::Values(
        FaultCase{"unknown opcode", kStInvalidOpcode, [](Sqe& s) { s.opc = 0x7F; }},
        FaultCase{"reservations are not offered", kStInvalidOpcode, [](Sqe& s) { s.opc = 0x0D; }},
        FaultCase{"NSID 0", kStInvalidNamespace, [](Sqe& s) { s.nsid = 0; }},
        FaultCase{"NSID beyond NN", kStInvalidNamespace, [](Sqe& s) { s.nsid = 2; }},
        FaultCase{"broadcast read", kStInvalidNamespace, [](Sqe& s) { s.nsid = kNsidAll; }},
        FaultCase{"flush of NSID 0", kStInvalidNamespace, [](Sqe& s) { s.opc = kIoFlush, s.nsid = 0; }},
        FaultCase{"CID in use", kStCidConflict, [](Sqe&) {}, true},
        FaultCase{"a read is never fused", kStInvalidField, [](Sqe& s) { s.flags = 1; }},
        FaultCase{"SGL", kStInvalidField, [](Sqe& s) { s.flags = 1u << 6; }},
        FaultCase{"longer than MDTS", kStInvalidField, [](Sqe& s) { s.cdw12 = kMaxTransfer / kLba; }},
        FaultCase{"directive", kStInvalidField, [](Sqe& s) { s.opc = kIoWrite, s.cdw12 |= 1u << 20; }},
        FaultCase{"PRP1 unaligned", kStInvalidPrpOffset, [](Sqe& s) { s.prp1 |= 1; }},
        FaultCase{"PRP2 with offset", kStInvalidPrpOffset, [](Sqe& s) { s.cdw12 = 15, s.prp2 |= 0x200; }},
        FaultCase{"PRP list unaligned", kStInvalidPrpOffset, [](Sqe& s) { s.cdw12 = 31, s.prp2 |= 4; }},
        FaultCase{"starts at the end", kStLbaOutOfRange, beyond_the_end},
        FaultCase{"ends behind the end", kStLbaOutOfRange, [](Sqe& s) { s.set_slba(kBlocks - 7); }},
        FaultCase{"wraps around", kStLbaOutOfRange, [](Sqe& s) { s.set_slba(~0ull); }},
        FaultCase{"write zeroes behind the end", kStLbaOutOfRange,
                  [](Sqe& s) { s.opc = kIoWriteZeroes, s.set_slba(kBlocks - 7); }},
        FaultCase{"DSM list unaligned", kStInvalidPrpOffset, [](Sqe& s) { s = dsm(1), s.prp1 |= 2; }},
        // Several faults: opcode before NSID before fields before LBA range.
        FaultCase{"opcode over NSID", kStInvalidOpcode, [](Sqe& s) { s.opc = 0x7F, s.nsid = 0; }},
        FaultCase{"NSID over CID", kStInvalidNamespace, [](Sqe& s) { s.nsid = 0; }, true},
        FaultCase{"CID over field", kStCidConflict, [](Sqe& s) { s.flags = 1; }, true},
        FaultCase{"field over PRP", kStInvalidField, [](Sqe& s) { s.flags = 1, s.prp1 |= 1; }},
        FaultCase{"MDTS over LBA range", kStInvalidField, [](Sqe& s) { s.cdw12 = 0xFFFF, beyond_the_end(s); }},
        FaultCase{"PRP over LBA range", kStInvalidPrpOffset, [](Sqe& s) { s.prp1 |= 1, beyond_the_end(s); }}));

/// Of 100, 300 and 600 blocks: each counts its blocks from 0 on, and the firmware those of the drive.
TEST(IoDecode, Namespaces) {
    const std::uint64_t first[] = {0, 100, 400}, blocks[] = {100, 300, 600};
    const Namespaces namespaces(kBlocks * kLba, kLba, {100 * kLba, 300 * kLba});
    IoDecoder d(namespaces, kMaxTransfer, no_streams());
    for (std::uint32_t i = 0; i < 3; ++i) {
        for (const std::uint8_t opcode : {kIoRead, kIoWrite, kIoWriteZeroes}) {
            NvmeCommand c;
            DataWalk walk;
            Sqe s = rw(opcode, blocks[i] - 8, 8);
            s.nsid = i + 1;
            ASSERT_EQ(d.decode(s, false, c, walk), Next::submit);
            EXPECT_EQ(c.slba, first[i] + blocks[i] - 8);
            EXPECT_EQ(c.nsid, i + 1);
            s.set_slba(blocks[i] - 7);
            ASSERT_EQ(d.decode(s, false, c, walk), Next::refused);
            EXPECT_EQ(c.code, kStLbaOutOfRange);
            EXPECT_EQ(c.slba, blocks[i] - 7) << "the error log has what the host said";
        }
        NvmeCommand c;
        DataWalk walk;
        Sqe s = dsm(2);
        s.nsid = i + 1;
        ASSERT_EQ(d.decode(s, false, c, walk), Next::ranges);
        DsmRange ranges[2] = {{0, 1, 7}, {0, 2, blocks[i] - 2}};
        ASSERT_EQ(d.parse_ranges(reinterpret_cast<const std::uint8_t*>(ranges), 2, c), Next::submit);
        EXPECT_EQ(c.ranges[0].slba, first[i] + 7);
        EXPECT_EQ(c.ranges[1].slba, first[i] + blocks[i] - 2);
        ASSERT_EQ(d.decode(s, false, c, walk), Next::ranges);
        ranges[1].slba = blocks[i] - 1;
        EXPECT_EQ(d.parse_ranges(reinterpret_cast<const std::uint8_t*>(ranges), 2, c), Next::refused);
    }
    NvmeCommand c;
    DataWalk walk;
    Sqe s = rw(kIoRead, 0, 1);
    s.nsid = 4;
    EXPECT_EQ(d.decode(s, false, c, walk), Next::refused);
    EXPECT_EQ(c.code, kStInvalidNamespace);
}

TEST(IoDecode, LongestTransferAndLastBlockAreFine) {
    EXPECT_EQ(decode(rw(kIoRead, 0, kMaxTransfer / kLba)).next, Next::data_list);
    EXPECT_EQ(decode(rw(kIoRead, kBlocks - 1, 1)).next, Next::submit);
    const Namespaces large(std::uint64_t{kLba} << 20, kLba);
    IoDecoder unlimited(large, 0, no_streams());
    NvmeCommand c;
    DataWalk w;
    EXPECT_EQ(unlimited.decode(rw(kIoRead, 0, 65536), false, c, w), Next::data_list);
}

}  // namespace
}  // namespace ssdtlm
