// SPDX-License-Identifier: Apache-2.0
// Formats with metadata as a host finds and chooses them; reads and writes with protection information through the
// controller (NVMe 1.4 §5.23, §8.2, §8.3).
#include <array>

#include "unit/nvme/protection_host.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::ByteVector;
using Host = test::ProtectionHost;

constexpr std::uint32_t kChecksAll = kPrCheckGuard | kPrCheckApplication | kPrCheckReference;

ByteVector identify(Host& h, std::uint32_t nsid) {
    Sqe s = h.admin_command(kAdminIdentify, nsid, 0);
    s.prp1 = Host::kOther;
    EXPECT_EQ(h.run_admin(s).status(), kStSuccess);
    return h.host_bytes(Host::kOther, 4096);
}

TEST(MetadataFormats, IdentifySaysWhatThereIs) {
    Host h;
    ByteVector d = identify(h, 1);
    EXPECT_EQ(d[25], 3);     // NLBAF
    EXPECT_EQ(d[26], 0);     // FLBAS
    EXPECT_EQ(d[27], 3);     // MC: extended and separate
    EXPECT_EQ(d[28], 0x1F);  // DPC: types 1 to 3, first and last eight bytes
    EXPECT_EQ(d[29], 0);     // DPS
    const std::array<std::uint32_t, 5> formats{9u << 16, 12u << 16, 9u << 16 | 8, 12u << 16 | 8, 0};
    for (std::uint32_t i = 0; i < formats.size(); ++i) EXPECT_EQ(load<std::uint32_t>(&d[128 + 4 * i]), formats[i]) << i;
    ASSERT_EQ(h.format(Host::k4096, 2, true, true), kStSuccess);
    d = identify(h, 1);
    EXPECT_EQ(d[26], 3 | 1 << 4);
    EXPECT_EQ(d[29], 2 | 1 << 3);
    EXPECT_EQ(load<std::uint64_t>(&d[0]), Host::kBytes / 4096);
    ASSERT_EQ(h.format(0, 0), kStSuccess);
    EXPECT_EQ(identify(h, 1)[26], 0);
    EXPECT_EQ(identify(h, 1)[29], 0);
}

TEST(MetadataFormats, ADriveOf4096HasTwo) {
    NvmeConfig c = Host::offers();
    c.lba_bytes = 4096;
    Host h(c);
    const ByteVector d = identify(h, 1);
    EXPECT_EQ(d[25], 1);
    EXPECT_EQ(load<std::uint32_t>(&d[128]), 12u << 16);
    EXPECT_EQ(load<std::uint32_t>(&d[132]), 12u << 16 | 8);
}

TEST(MetadataFormats, ADriveWithoutThemRefusesThem) {
    NvmeConfig c = Host::offers();
    c.metadata = false;
    Host h(c);
    EXPECT_EQ(h.format(2, 0), kStInvalidFormat);
    EXPECT_EQ(h.format(0, 1), kStInvalidFormat);
    EXPECT_EQ(h.format(0, 0, true), kStInvalidFormat);
    const ByteVector d = identify(h, 1);
    EXPECT_EQ(d[25], 1);
    EXPECT_EQ(d[27], 0);
    EXPECT_EQ(d[28], 0);
}

TEST(MetadataFormats, WhatFormatRefuses) {
    Host h;
    EXPECT_EQ(h.format(4, 0), kStInvalidFormat);           // no such format
    EXPECT_EQ(h.format(0, 1), kStInvalidFormat);           // protection information without metadata
    EXPECT_EQ(h.format(1, 0, true), kStInvalidFormat);     // extended blocks without metadata
    EXPECT_EQ(h.format(Host::k512, 4), kStInvalidFormat);  // no such type
    EXPECT_EQ(h.format(Host::k512, 3, true), kStSuccess);
}

TEST(MetadataFormats, ANamespaceIsCreatedWithThem) {
    NvmeConfig c = Host::offers();
    c.namespaces = {256u << 10, 256u << 10};
    Host h(c);
    ASSERT_EQ(h.run_admin(h.admin_command(kAdminNamespaceManagement, 3, 1)).status(), kStSuccess);  // delete
    const auto create = [&](std::uint8_t flbas, std::uint8_t dps) {
        std::fill_n(h.dma.memory.begin() + Host::kData, 4096, std::uint8_t{0});
        h.dma.put<std::uint64_t>(Host::kData + IdNs::kNsze, 16);
        h.dma.put<std::uint64_t>(Host::kData + IdNs::kNcap, 16);
        h.dma.memory[Host::kData + IdNs::kFlbas] = flbas;
        h.dma.memory[Host::kData + IdNs::kDps] = dps;
        return h.run_admin(h.admin_command(kAdminNamespaceManagement, 0, 0));
    };
    EXPECT_EQ(create(0, 1).status(), kStInvalidFormat);
    EXPECT_EQ(create(0x10, 0).status(), kStInvalidFormat);
    EXPECT_EQ(create(2, 4).status(), kStInvalidFormat);
    EXPECT_EQ(create(2, 8).status(), kStInvalidFormat);  // a place of what is not there
    EXPECT_EQ(create(0x22, 1).status(), kStInvalidFormat);
    const Cqe made = create(0x13, 0x0B);
    ASSERT_EQ(made.status(), kStSuccess);
    h.dma.put<std::uint32_t>(Host::kData, 1);  // a list of controller 0
    ASSERT_EQ(h.run_admin(h.admin_command(kAdminNamespaceAttachment, made.dw0, 0)).status(), kStSuccess);
    EXPECT_EQ(identify(h, kNsidAll)[27], 3);  // what all namespaces have in common
    EXPECT_EQ(identify(h, kNsidAll)[28], 0x1F);
    const ByteVector d = identify(h, made.dw0);
    EXPECT_EQ(d[26], 0x13);
    EXPECT_EQ(d[29], 0x0B);
}

struct Way {
    std::uint32_t number;
    bool extended;
};
class EachWay : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Protection, EachWay,
                         testing::Values(Way{Host::k512, false}, Way{Host::k512, true}, Way{Host::k4096, false},
                                         Way{Host::k4096, true}));

TEST_P(EachWay, MetadataOfTheHostAreKept) {
    Host h;
    ASSERT_EQ(h.format(GetParam().number, 0, GetParam().extended), kStSuccess);
    for (std::uint32_t piece : {0u, 512u, 1536u}) {
        h.drive.piece = piece;
        h.fill_blocks(1, static_cast<std::uint8_t>(piece / 512), 77, 0x1234);
        const std::size_t bytes = h.lba + (h.is_extended ? 8 : 0);
        const ByteVector data = h.host_bytes(Host::kData, bytes), metadata = h.host_bytes(h.metadata_of(0), 8);
        ASSERT_EQ(h.ends(h.entry(kIoWrite, 3, 1, kPrAct)), kStSuccess);  // PRACT says nothing here
        h.clear_host();
        ASSERT_EQ(h.ends(h.entry(kIoRead, 3, 1, kPrAct)), kStSuccess);
        EXPECT_EQ(h.host_bytes(Host::kData, bytes), data);
        EXPECT_EQ(h.host_bytes(h.metadata_of(0), 8), metadata);
        EXPECT_EQ(h.host_bytes(Host::kData + bytes, 8), ByteVector(8, 0xEE));  // and no more
        EXPECT_EQ(h.ends(h.entry(kIoRead, 4, 1)), kStSuccess);
        EXPECT_EQ(h.host_bytes(h.metadata_of(0), 8), ByteVector(8, 0)) << "deallocated";
    }
}

TEST_P(EachWay, InsertedAndStripped) {
    for (const std::uint32_t type : {1u, 2u, 3u}) {
        Host h;
        ASSERT_EQ(h.format(GetParam().number, type, GetParam().extended), kStSuccess);
        h.fill(Host::kData, h.lba, 9);
        const ByteVector data = h.host_bytes(Host::kData, h.lba);
        Sqe s = h.entry(kIoWrite, 5, 1, kPrAct);
        s.cdw15 = 0xABCD;
        if (type != 1) s.cdw14 = 4000;
        ASSERT_EQ(h.ends(s), kStSuccess);
        h.clear_host();
        s = h.entry(kIoRead, 5, 1, kPrAct | (type == 3 ? kPrCheckGuard : kChecksAll));
        s.cdw15 = 0xFFFF0000 | 0xABCD;
        if (type != 1) s.cdw14 = 4000;
        ASSERT_EQ(h.ends(s), kStSuccess);
        EXPECT_EQ(h.host_bytes(Host::kData, h.lba), data);
        EXPECT_EQ(h.host_bytes(Host::kData + h.lba, 8), ByteVector(8, 0xEE)) << "stripped";
        EXPECT_EQ(h.host_bytes(Host::kMetadata, 8), ByteVector(8, 0xEE));
        s.cdw12 &= ~rw_protection(kPrAct);
        ASSERT_EQ(h.ends(s), kStSuccess);
        const ByteVector passed = h.host_bytes(h.metadata_of(0), 8);
        h.put_tuple(Host::kOther, test::guard_by_division(data.data(), data.size()), 0xABCD, type == 1 ? 5 : 4000);
        EXPECT_EQ(passed, h.host_bytes(Host::kOther, 8));
    }
}

TEST_P(EachWay, EachCheckOfAWriteAndOfARead) {
    struct Case {
        unsigned byte;
        std::uint32_t check;
        std::uint16_t status;
    };
    for (const Case& c : {Case{1, kPrCheckGuard, kStGuardCheck}, Case{3, kPrCheckApplication, kStApplicationTagCheck},
                          Case{6, kPrCheckReference, kStReferenceTagCheck}})
        for (const std::uint32_t piece : {0u, 512u}) {
            Host h;
            ASSERT_EQ(h.format(GetParam().number, 1, GetParam().extended), kStSuccess);
            h.drive.piece = piece;
            h.fill_blocks(1, 1, 2, 0x7777);
            h.dma.memory[h.metadata_of(0) + c.byte] ^= 4;
            const auto with = [&](std::uint8_t opcode, std::uint32_t prinfo) {
                Sqe s = h.entry(opcode, 2, 1, prinfo);
                s.cdw15 = 0xFFFF7777;
                return h.ends(s);
            };
            EXPECT_EQ(with(kIoWrite, kChecksAll), c.status);
            EXPECT_EQ(with(kIoWrite, c.check), c.status);
            ASSERT_EQ(with(kIoWrite, kChecksAll & ~c.check), kStSuccess);
            EXPECT_EQ(with(kIoRead, kChecksAll), c.status);
            EXPECT_EQ(with(kIoRead, kPrAct | c.check), c.status) << "stripped, but checked";
            EXPECT_EQ(with(kIoRead, kChecksAll & ~c.check), kStSuccess);
            EXPECT_EQ(with(kIoVerify, c.check), c.status);
            EXPECT_EQ(with(kIoVerify, kChecksAll & ~c.check), kStSuccess);
            h.agenda.run();
            h.controller->check_waiters();
        }
}

TEST(Protection, TheErrorLogNamesTheBlock) {
    Host h;
    ASSERT_EQ(h.format(Host::k512, 1), kStSuccess);
    h.fill_blocks(4, 1, 10);
    h.dma.memory[h.metadata_of(2)] ^= 1;
    ASSERT_EQ(h.ends(h.entry(kIoWrite, 10, 4, kPrCheckGuard)), kStGuardCheck);
    ByteVector log = h.log(kLogError, 64);
    EXPECT_EQ(load<std::uint16_t>(&log[12]) >> 1, 0x282 | 0x4000);  // DNR
    EXPECT_EQ(load<std::uint64_t>(&log[16]), 12u);
    ASSERT_EQ(h.ends(h.entry(kIoWrite, 10, 4)), kStSuccess);
    ASSERT_EQ(h.ends(h.entry(kIoRead, 9, 4, kPrCheckGuard)), kStGuardCheck);
    log = h.log(kLogError, 64);
    EXPECT_EQ(load<std::uint64_t>(&log[16]), 12u);
    EXPECT_EQ(h.controller->counters().media_errors, 2u);
}

// A block that the flash has lost comes before the checks of others.
TEST(Protection, ALostBlockComesBeforeAWrongOne) {
    Host h;
    ASSERT_EQ(h.format(Host::k512, 1), kStSuccess);
    h.fill_blocks(3, 1, 10);
    h.dma.memory[h.metadata_of(2)] ^= 1;
    ASSERT_EQ(h.ends(h.entry(kIoWrite, 10, 3)), kStSuccess);
    h.drive.piece = 512;
    h.drive.lost = {11};
    for (const std::uint8_t opcode : {kIoRead, kIoVerify, kIoCompare}) {
        EXPECT_EQ(h.ends(h.entry(opcode, 10, 3, kPrCheckGuard)), kStUnrecoveredRead);
        const ByteVector log = h.log(kLogError, 64);
        EXPECT_EQ(load<std::uint64_t>(&log[16]), 10u) << "the command's first block";
    }
}

TEST(Protection, MetadataSurviveALossOfPowerAndAFormatOfAnother) {
    Host h;
    ASSERT_EQ(h.format(Host::k4096, 1, true), kStSuccess);
    h.fill_blocks(1, 4, 7);
    const ByteVector written = h.host_bytes(Host::kData, 4104);
    ASSERT_EQ(h.ends(h.entry(kIoWrite, 7, 1, kChecksAll)), kStSuccess);
    h.lose_power();
    h.enable();
    h.p = h.create_pair(1);
    h.clear_host();
    ASSERT_EQ(h.ends(h.entry(kIoRead, 7, 1, kPrCheckGuard | kPrCheckReference)), kStSuccess);
    EXPECT_EQ(h.host_bytes(Host::kData, 4104), written);
    ASSERT_EQ(h.format(Host::k4096, 1, true), kStSuccess);
    ASSERT_EQ(h.ends(h.entry(kIoRead, 7, 1, kPrCheckGuard | kPrCheckReference)), kStSuccess);
    EXPECT_EQ(h.host_bytes(Host::kData, 4096), ByteVector(4096, 0));
    EXPECT_EQ(h.host_bytes(Host::kData + 4096, 8), ByteVector(8, 0xFF));
}

TEST(Protection, MetadataAreATransferOfTheirOwn) {
    Host h;
    ASSERT_EQ(h.format(Host::k512, 1), kStSuccess);
    h.fill_blocks(8, 1, 0);
    h.dma.read_sizes.clear();
    ASSERT_EQ(h.ends(h.entry(kIoWrite, 0, 8, kChecksAll & ~kPrCheckApplication)), kStSuccess);
    EXPECT_EQ(h.dma.read_sizes, (std::vector<std::uint32_t>{64, 64, 4096}));  // entry, metadata, data
    h.dma.read_sizes.clear();
    ASSERT_EQ(h.ends(h.entry(kIoWrite, 0, 8, kPrAct)), kStSuccess);
    EXPECT_EQ(h.dma.read_sizes, (std::vector<std::uint32_t>{64, 4096}));
    ASSERT_EQ(h.format(Host::k512, 1, true), kStSuccess);
    h.fill_blocks(4, 1, 0);
    h.dma.read_sizes.clear();
    ASSERT_EQ(h.ends(h.entry(kIoWrite, 0, 4, kPrCheckGuard)), kStSuccess);
    EXPECT_EQ(h.dma.read_sizes, (std::vector<std::uint32_t>{64, 4 * 520}));
    ASSERT_EQ(h.format(Host::k512, 1), kStSuccess);
    Sqe lost = h.entry(kIoWrite, 0, 8);
    lost.mptr = 1u << 21;  // memory that does not answer
    EXPECT_EQ(h.ends(lost), kStDataTransferError);
}

TEST(Protection, FieldsOfTheEntryThatAreRefused) {
    NvmeConfig c = Host::offers();
    c.max_transfer_bytes = 8192;
    Host h(c);
    ASSERT_EQ(h.format(Host::k512, 1), kStSuccess);
    Sqe s = h.entry(kIoWrite, 0, 1);
    s.mptr |= 2;
    EXPECT_EQ(h.ends(s), kStInvalidField);
    s.cdw12 |= rw_protection(kPrAct);
    EXPECT_EQ(h.ends(s), kStSuccess) << "without metadata there is no pointer";
    EXPECT_EQ(h.ends(h.entry(kIoRead, 0, 16)), kStSuccess);
    s = h.entry(kIoRead, 4, 1, kPrCheckReference);
    s.cdw14 = 5;
    EXPECT_EQ(h.ends(s), kStInvalidProtection);
    EXPECT_EQ(h.ends(h.entry(kIoCompare, 4, 1, kPrAct)), kStInvalidProtection);
    EXPECT_EQ(h.ends(h.entry(kIoVerify, 4, 1, kPrAct)), kStInvalidProtection);
    EXPECT_EQ(h.ends(h.entry(kIoWriteZeroes, 8, 8, kPrCheckGuard)), kStInvalidProtection);
    EXPECT_EQ(h.ends(h.entry(kIoRead, Host::kBytes / 512, 1)), kStLbaOutOfRange);
    ASSERT_EQ(h.format(Host::k512, 3, true), kStSuccess);
    EXPECT_EQ(h.ends(h.entry(kIoRead, 0, 1, kPrCheckReference)), kStInvalidProtection);
    EXPECT_EQ(h.ends(h.entry(kIoRead, 0, 15)), kStSuccess);
    EXPECT_EQ(h.ends(h.entry(kIoRead, 0, 16)), kStInvalidField) << "MDTS counts metadata among the data";
    EXPECT_EQ(h.ends(h.entry(kIoRead, 0, 16, kPrAct)), kStSuccess);
}

// Bit buckets of an SGL take bytes of data and metadata alike.
TEST(Protection, BitBuckets) {
    Host h;
    ASSERT_EQ(h.format(Host::k512, 0, true), kStSuccess);
    h.fill_blocks(2, 3, 1);
    const ByteVector written = h.host_bytes(Host::kData, 1040);
    ASSERT_EQ(h.ends(h.entry(kIoWrite, 0, 2)), kStSuccess);
    h.clear_host();
    using D = SglDescriptor;
    h.dma.put(Host::kOther, D::of(D::kBitBucket, 0, 516));
    h.dma.put(Host::kOther + 16, D::of(D::kDataBlock, Host::kData, 8));  // the end of the first block's, the second's
    h.dma.put(Host::kOther + 32, D::of(D::kBitBucket, 0, 516));
    Sqe s = h.entry(kIoRead, 0, 2);
    set_sgl(s, D::of(D::kLastSegment, Host::kOther, 48));
    h.drive.piece = 512;
    ASSERT_EQ(h.ends(s), kStSuccess);
    EXPECT_EQ(h.host_bytes(Host::kData, 8), ByteVector(written.begin() + 516, written.begin() + 524));
    EXPECT_EQ(h.host_bytes(Host::kData + 8, 8), ByteVector(8, 0xEE));
    h.dma.put(Host::kOther, D::of(D::kBitBucket, 0, 1040));
    set_sgl(s, D::of(D::kLastSegment, Host::kOther, 16));
    EXPECT_EQ(h.ends(s), kStSuccess);
}

}  // namespace
}  // namespace ssdtlm
