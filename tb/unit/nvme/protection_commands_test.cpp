// SPDX-License-Identifier: Apache-2.0
// Commands other than Read and Write on blocks with metadata: Compare, fused pairs, Verify, Copy, and what deallocates.
#include "unit/nvme/protection_host.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::ByteVector;
using Host = test::ProtectionHost;

constexpr std::uint32_t kChecksBoth = kPrCheckGuard | kPrCheckReference;

void put_compare(Host& h, bool extended) {
    ASSERT_EQ(h.format(Host::k512, 1, extended), kStSuccess);
    h.fill_blocks(3, 1, 20);
    ASSERT_EQ(h.ends(h.entry(kIoWrite, 20, 3, kChecksBoth)), kStSuccess);
}

TEST(ProtectedCompare, BothSidesAreCheckedAndAllBytesCompared) {
    for (const bool extended : {false, true})
        for (const std::uint32_t piece : {0u, 512u}) {
            Host h;
            put_compare(h, extended);
            h.drive.piece = piece;
            const auto ends = [&](std::uint32_t prinfo) { return h.ends(h.entry(kIoCompare, 20, 3, prinfo)); };
            EXPECT_EQ(ends(kChecksBoth), kStSuccess);
            h.dma.memory[h.metadata_of(1) + 3] ^= 1;  // the host's application tag
            EXPECT_EQ(ends(kChecksBoth), kStCompareFailure);
            h.dma.memory[h.metadata_of(1) + 3] ^= 1;
            h.dma.memory[h.data_of(1)] ^= 1;  // the host's data
            EXPECT_EQ(ends(0), kStCompareFailure);
            EXPECT_EQ(ends(kChecksBoth), kStGuardCheck);
            h.dma.memory[h.data_of(1)] ^= 1;
            h.drive.memory[21 * 512] ^= 1;  // the drive's
            EXPECT_EQ(ends(0), kStCompareFailure);
            EXPECT_EQ(ends(kPrCheckGuard), kStGuardCheck);
            EXPECT_EQ(ends(kPrCheckReference), kStCompareFailure);
        }
}

/// The same with metadata by an SGL descriptor, and data by `pieces` data blocks.
Sqe by_sgls(Host& h, std::uint8_t opcode, std::uint32_t pieces) {
    constexpr std::uint64_t kList = Host::kOther + 64;
    Sqe s = h.entry(opcode, 20, 3, kChecksBoth);
    const std::uint32_t each = 3 * 512 / pieces;
    for (std::uint32_t i = 0; i < pieces; ++i)
        h.dma.put(kList + 16 * i,
                  SglDescriptor::of(SglDescriptor::kDataBlock, Host::kData + std::uint64_t{i} * each, each));
    set_sgl(s, pieces == 1 ? SglDescriptor::of(SglDescriptor::kDataBlock, Host::kData, each)
                           : SglDescriptor::of(SglDescriptor::kLastSegment, kList, 16 * pieces));
    h.dma.put(Host::kOther, SglDescriptor::of(SglDescriptor::kDataBlock, Host::kMetadata, 24));
    set_metadata_sgl(s, Host::kOther);
    return s;
}

TEST(MetadataBySgl, IsWrittenReadAndCompared) {
    for (const std::uint32_t pieces : {1u, 3u}) {
        Host h;
        ASSERT_EQ(h.format(Host::k512, 1), kStSuccess);
        h.fill_blocks(3, 1, 20);
        const ByteVector data = h.host_bytes(Host::kData, 1536), metadata = h.host_bytes(Host::kMetadata, 24);
        ASSERT_EQ(h.ends(by_sgls(h, kIoWrite, pieces)), kStSuccess);
        EXPECT_EQ(h.ends(by_sgls(h, kIoCompare, pieces)), kStSuccess);
        h.dma.memory[Host::kMetadata + 3] ^= 1;
        EXPECT_EQ(h.ends(by_sgls(h, kIoCompare, pieces)), kStCompareFailure);
        h.clear_host();
        EXPECT_EQ(h.ends(by_sgls(h, kIoRead, pieces)), kStSuccess);
        EXPECT_EQ(h.host_bytes(Host::kData, 1536), data);
        EXPECT_EQ(h.host_bytes(Host::kMetadata, 32), [&] {
            ByteVector all = metadata;
            all.resize(32, 0xEE);
            return all;
        }());
        h.run_admin(h.admin_command(kAdminIdentify, 0, kCnsController));
        EXPECT_EQ(h.dma.get<std::uint32_t>(Host::kData + 536), 0x90002u) << "SGLS: PSDT may be 2";
    }
}

TEST(MetadataBySgl, OneDataBlockOfTheirLengthNamesThem) {
    using D = SglDescriptor;
    Host h;
    ASSERT_EQ(h.format(Host::k512, 1), kStSuccess);
    h.fill_blocks(3, 1, 20);
    const auto ends = [&](const D& d) {
        const Sqe s = by_sgls(h, kIoWrite, 3);
        h.dma.put(Host::kOther, d);
        return h.ends(s);
    };
    EXPECT_EQ(ends(D::of(D::kDataBlock, Host::kMetadata, 24)), kStSuccess);
    for (const std::uint32_t type : {D::kBitBucket, D::kSegment, D::kLastSegment, 4u})
        EXPECT_EQ(ends(D::of(type, Host::kMetadata, 24)), kStSglTypeInvalid) << type;
    EXPECT_EQ(ends(D::of(D::kDataBlock, Host::kMetadata, 20)), kStMetadataSglLength);
    EXPECT_EQ(ends(D::of(D::kDataBlock, Host::kMetadata, 28)), kStMetadataSglLength);
    EXPECT_EQ(ends(D::of(D::kDataBlock, ~std::uint64_t{7}, 24)), kStMetadataSglLength) << "behind the last address";
    EXPECT_EQ(ends(D::of(D::kDataBlock, Host::kMetadata + 2, 24)), kStSglGranularity);
    Sqe s = by_sgls(h, kIoWrite, 1);
    s.mptr += 4;
    EXPECT_EQ(h.ends(s), kStInvalidField) << "the descriptor is at a multiple of 8";
    s.mptr = 1u << 21;
    EXPECT_EQ(h.ends(s), kStDataTransferError) << "memory that does not answer";
    // Where no metadata have a buffer, their pointer means nothing.
    s.mptr = 3;
    s.cdw12 |= rw_protection(kPrAct);
    EXPECT_EQ(h.ends(s), kStSuccess);
    ASSERT_EQ(h.format(Host::k512, 1, true), kStSuccess);
    s = h.entry(kIoRead, 20, 1);
    set_sgl(s, D::of(D::kDataBlock, Host::kData, 520));
    set_metadata_sgl(s, 3);
    EXPECT_EQ(h.ends(s), kStSuccess);
}

// Aborted while the descriptor is read: it ends once, and nothing is left.
TEST(MetadataBySgl, AbortAndResetWhileTheDescriptorIsRead) {
    for (const bool reset : {false, true}) {
        Host h;
        ASSERT_EQ(h.format(Host::k512, 1), kStSuccess);
        Sqe s = by_sgls(h, kIoRead, 3);
        s.cid = 7;
        h.push(h.p, s);
        h.dma.read_times = {Ps{1us}, Ps{1us}, Ps{1ms}};  // the entry, the segment, the descriptor
        h.ring(h.p);
        h.agenda.run_until(h.agenda.now() + 5us);
        if (reset) {
            h.write(kRegCc, 0);
            h.agenda.run();
            EXPECT_EQ(h.csts(), 0u);
            continue;
        }
        h.run_admin(h.admin_command(kAdminAbort, 0, 1 | 7u << 16));
        EXPECT_EQ(h.take(h.p).status(), kStAbortRequested);
        h.ring_head(h.p);
        h.agenda.run();
    }
}

// A long Verify is read in parts. Guards and tags are those of the whole command.
TEST(ProtectedVerify, ChecksEachPart) {
    for (const std::uint32_t number : {Host::k512, Host::k4096})
        for (const std::uint32_t piece : {0u, 512u}) {
            NvmeConfig config = Host::offers();
            config.max_transfer_bytes = 8192;
            Host h(config);
            ASSERT_EQ(h.format(number, 1), kStSuccess);
            const std::uint32_t blocks = 3 * 8192 / h.lba;
            for (std::uint32_t b = 0; b < blocks; ++b) {
                h.fill_blocks(1, static_cast<std::uint8_t>(b), 5 + b);
                ASSERT_EQ(h.ends(h.entry(kIoWrite, 5 + b, 1, kChecksBoth)), kStSuccess);
            }
            h.drive.piece = piece;
            const auto verify = [&] { return h.ends(h.entry(kIoVerify, 5, blocks, kChecksBoth)); };
            EXPECT_EQ(verify(), kStSuccess);
            const std::uint32_t bad = blocks - 2;
            h.drive.memory[std::size_t{5 + bad} * h.lba] ^= 1;
            EXPECT_EQ(verify(), kStGuardCheck);
            EXPECT_EQ(load<std::uint64_t>(h.log(kLogError, 64).data() + 16), 5u + bad);
        }
}

TEST(ProtectedCompare, MetadataOfABufferThatIsNotThere) {
    Host h;
    put_compare(h, false);
    Sqe s = h.entry(kIoCompare, 20, 3);
    s.mptr = 1u << 21;
    EXPECT_EQ(h.ends(s), kStDataTransferError);
}

TEST(ProtectedCompare, IsTheFirstOfAPair) {
    for (const bool good : {true, false}) {
        Host h;
        put_compare(h, true);
        if (!good) h.drive.metadata[20 * 8] ^= 1;
        Sqe compare = h.entry(kIoCompare, 20, 1, kPrCheckGuard), write = h.entry(kIoWrite, 20, 1, kPrAct);
        compare.flags = 1;
        write.flags = 2;
        compare.cid = 1;
        write.cid = 2;
        h.push(h.p, compare);
        h.push(h.p, write);
        h.ring(h.p);
        h.agenda.run();
        EXPECT_EQ(h.take(h.p).status(), good ? kStSuccess : kStGuardCheck);
        EXPECT_EQ(h.take(h.p).status(), good ? kStSuccess : kStAbortFailedFused);
    }
}

TEST(Deallocated, ReadsZerosAndProtectionInformationOfFFh) {
    for (const std::uint8_t opcode : {kIoDatasetMgmt, kIoWriteZeroes}) {
        Host h;
        ASSERT_EQ(h.format(Host::k512, 1), kStSuccess);
        h.fill_blocks(8, 1, 0);
        ASSERT_EQ(h.ends(h.entry(kIoWrite, 0, 8)), kStSuccess);
        Sqe s = h.entry(opcode, 0, 8, opcode == kIoWriteZeroes ? kPrAct : 0);
        if (opcode == kIoDatasetMgmt) {
            s.cdw10 = s.cdw12 = 0;
            s.cdw11 = kDsmDeallocate;
            h.dma.put(Host::kOther, DsmRange{0, 8, 0});
            s.prp1 = Host::kOther;
        }
        ASSERT_EQ(h.ends(s), kStSuccess);
        h.clear_host();
        s = h.entry(kIoRead, 0, 8, kChecksBoth | kPrCheckApplication);
        s.cdw15 = 0xFFFF1234;
        EXPECT_EQ(h.ends(s), kStSuccess) << "FFh is not checked";
        EXPECT_EQ(h.host_bytes(Host::kData, 4096), ByteVector(4096, 0));
        EXPECT_EQ(h.host_bytes(Host::kMetadata, 64), ByteVector(64, 0xFF));
    }
}

TEST(Uncorrectable, ComesBeforeProtectionInformation) {
    Host h;
    ASSERT_EQ(h.format(Host::k512, 1), kStSuccess);
    h.fill_blocks(1, 1, 8);
    h.dma.memory[h.metadata_of(0)] ^= 1;
    ASSERT_EQ(h.ends(h.entry(kIoWrite, 8, 1)), kStSuccess);
    ASSERT_EQ(h.ends(h.entry(kIoWriteUncorrectable, 8, 1)), kStSuccess);
    for (const std::uint8_t opcode : {kIoRead, kIoCompare, kIoVerify})
        EXPECT_EQ(h.ends(h.entry(opcode, 8, 1, kChecksBoth)), kStUnrecoveredRead);
    h.fill_blocks(1, 1, 8);
    ASSERT_EQ(h.ends(h.entry(kIoWrite, 8, 1, kChecksBoth)), kStSuccess);
    EXPECT_EQ(h.ends(h.entry(kIoRead, 8, 1, kChecksBoth)), kStSuccess);
}

struct Range {
    std::uint64_t slba;
    std::uint16_t blocks;
    std::uint32_t reference = 0;
    std::uint16_t application = 0, mask = 0;
};

Sqe copy(Host& h, std::uint64_t to, const std::vector<Range>& ranges, std::uint32_t reading, std::uint32_t writing) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const std::uint64_t at = Host::kOther + 32 * i;
        std::fill_n(h.dma.memory.begin() + static_cast<std::ptrdiff_t>(at), 32, std::uint8_t{0});
        h.dma.put(at + 8, ranges[i].slba);
        h.dma.put<std::uint16_t>(at + 16, static_cast<std::uint16_t>(ranges[i].blocks - 1));
        h.dma.put(at + 24, ranges[i].reference);
        h.dma.put(at + 28, ranges[i].application);
        h.dma.put(at + 30, ranges[i].mask);
    }
    Sqe s = h.entry(kIoCopy, to, 1, writing, Host::kOther);
    s.cdw12 = static_cast<std::uint32_t>(ranges.size() - 1) | reading << 12 | rw_protection(writing);
    return s;
}

TEST(ProtectedCopy, ChecksTheSourcesAndMakesTheTagsOfTheTarget) {
    for (const std::uint32_t number : {Host::k512, Host::k4096}) {
        Host h;
        ASSERT_EQ(h.format(number, 1), kStSuccess);
        for (const std::uint32_t lba : {3u, 4u, 10u}) {
            h.fill_blocks(1, static_cast<std::uint8_t>(lba), lba, 0xBEEF);
            ASSERT_EQ(h.ends(h.entry(kIoWrite, lba, 1, kChecksBoth)), kStSuccess);
        }
        const std::uint32_t reading = kPrAct | kChecksBoth | kPrCheckApplication;
        const Range two{3, 2, 3, 0xBEEF, 0xFFFF}, one{10, 1, 10, 0xBE00, 0xFF00};
        Sqe s = copy(h, 20, {two, one}, reading, kPrAct);
        s.cdw15 = 0x4321;
        ASSERT_EQ(h.ends(s), kStSuccess);
        std::uint32_t to = 20;
        for (const std::uint32_t from : {3u, 4u, 10u}) {
            h.fill(Host::kOther, h.lba, static_cast<std::uint8_t>(from));
            s = h.entry(kIoRead, to, 1, kChecksBoth | kPrCheckApplication);
            s.cdw15 = 0xFFFF4321;
            EXPECT_EQ(h.ends(s), kStSuccess) << to;
            EXPECT_EQ(h.host_bytes(Host::kData, h.lba), h.host_bytes(Host::kOther, h.lba));
            ++to;
        }
        // A source that fails is not copied, and dword 0 says how many ranges were.
        Range wrong = one;
        wrong.application = 0x1100;
        const Cqe e = h.run(h.p, copy(h, 20, {two, wrong}, reading, kPrAct));
        EXPECT_EQ(e.status(), kStApplicationTagCheck);
        EXPECT_EQ(e.dw0, 1u);
    }
}

TEST(ProtectedCopy, PassesWhatItDoesNotMake) {
    Host h;
    ASSERT_EQ(h.format(Host::k512, 2), kStSuccess);
    h.fill_blocks(1, 1, 500, 0x1111);
    Sqe s = h.entry(kIoWrite, 3, 1, kChecksBoth);
    s.cdw14 = 500;
    ASSERT_EQ(h.ends(s), kStSuccess);
    const ByteVector tuple = h.host_bytes(Host::kMetadata, 8);
    s = copy(h, 9, {{3, 1, 500, 0x1111, 0xFFFF}}, kChecksBoth, kChecksBoth);
    s.cdw14 = 500;
    ASSERT_EQ(h.ends(s), kStSuccess);
    h.clear_host();
    ASSERT_EQ(h.ends(h.entry(kIoRead, 9, 1)), kStSuccess);
    EXPECT_EQ(h.host_bytes(Host::kMetadata, 8), tuple);
    s = copy(h, 9, {{3, 1, 500, 0x1111, 0xFFFF}}, kChecksBoth, kChecksBoth);
    s.cdw14 = 501;  // of the target
    EXPECT_EQ(h.ends(s), kStReferenceTagCheck);
    // In a namespace without protection information the metadata are copied as they are.
    ASSERT_EQ(h.format(Host::k4096, 0, true), kStSuccess);
    h.fill_blocks(1, 7, 1, 2);
    const ByteVector block = h.host_bytes(Host::kData, 4104);
    ASSERT_EQ(h.ends(h.entry(kIoWrite, 1, 1)), kStSuccess);
    ASSERT_EQ(h.ends(copy(h, 5, {{1, 1}}, 0, 0)), kStSuccess);
    h.clear_host();
    ASSERT_EQ(h.ends(h.entry(kIoRead, 5, 1)), kStSuccess);
    EXPECT_EQ(h.host_bytes(Host::kData, 4104), block);
}

TEST(ProtectedCopy, WhatItRefuses) {
    Host h;
    ASSERT_EQ(h.format(Host::k512, 1), kStSuccess);
    EXPECT_EQ(h.ends(copy(h, 9, {{3, 1, 3}}, kPrAct, 0)), kStInvalidField);
    EXPECT_EQ(h.ends(copy(h, 9, {{3, 1, 3}}, 0, kPrAct)), kStInvalidField);
    EXPECT_EQ(h.ends(copy(h, 9, {{3, 1, 4}}, kPrCheckReference, 0)), kStInvalidProtection);
    Sqe s = copy(h, 9, {{3, 1, 3}}, 0, kPrCheckReference);
    s.cdw14 = 8;
    EXPECT_EQ(h.ends(s), kStInvalidProtection);
    ASSERT_EQ(h.format(Host::k512, 0), kStSuccess);
    EXPECT_EQ(h.ends(copy(h, 9, {{3, 1, 3}}, kPrCheckGuard, 0)), kStInvalidField);
}

}  // namespace
}  // namespace ssdtlm
