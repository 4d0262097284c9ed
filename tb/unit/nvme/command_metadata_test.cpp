// SPDX-License-Identifier: Apache-2.0
// The three forms of metadata, in parts of any size: those of a block go with its end.
#include "controller/nvme/protection/command_metadata.h"

#include <gtest/gtest.h>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using Bytes = std::vector<std::uint8_t>;

Namespace blocks_of(std::uint32_t lba_bytes, std::uint32_t shift, bool extended, std::uint8_t type) {
    Namespace n;
    n.lba_bytes = lba_bytes;
    n.shift = shift;
    n.metadata = {8, extended, type, false};
    return n;
}

struct Shape {
    std::uint32_t lba_bytes, shift, blocks;
    bool extended;
    std::uint8_t type;
};

Bytes random_bytes(Random& random, std::size_t n) {
    Bytes b(n);
    for (std::uint8_t& byte : b) byte = static_cast<std::uint8_t>(random.below(256));
    return b;
}

TEST(CommandMetadata, WhatIsWrittenInPartsIsReadInOtherParts) {
    Random random(3, 1);
    for (int i = 0; i < 300; ++i) {
        const std::uint32_t lba = random.below(2) == 0 ? 512 : 4096,
                            shift = lba == 4096 && random.below(2) != 0 ? 3 : 0;
        const Shape s{lba, shift, 1 + static_cast<std::uint32_t>(random.below(5)), random.below(2) != 0,
                      static_cast<std::uint8_t>(random.below(4))};
        const Namespace n = blocks_of(s.lba_bytes, s.shift, s.extended, s.type);
        const std::uint32_t bytes = s.blocks * s.lba_bytes, part_of = s.lba_bytes >> s.shift;
        const Bytes data = random_bytes(random, bytes), metadata = random_bytes(random, s.blocks * 8);
        Bytes interleaved;
        for (std::uint32_t b = 0; b < s.blocks; ++b) {
            interleaved.insert(interleaved.end(), data.begin() + b * s.lba_bytes, data.begin() + (b + 1) * s.lba_bytes);
            interleaved.insert(interleaved.end(), metadata.begin() + b * 8, metadata.begin() + (b + 1) * 8);
        }
        const Bytes& host = s.extended ? interleaved : data;
        CommandMetadata write(n, s.blocks, {}, 0x1000);
        ASSERT_EQ(write.host_bytes(), host.size());
        Bytes kept;
        for (std::uint32_t at = 0; at < bytes;) {  // whole blocks of the drive, as the firmware takes them
            const std::uint32_t n_bytes =
                std::min(bytes - at, part_of * (1 + static_cast<std::uint32_t>(random.below(9))));
            const CommandMetadata::Span span = write.span(at, n_bytes);
            ASSERT_EQ(span.bytes, ((at + n_bytes) / s.lba_bytes - at / s.lba_bytes) * 8);
            Bytes out(n_bytes);
            ASSERT_TRUE(write.take_written(at, n_bytes, host.data() + write.in_host_data(at),
                                           metadata.data() + (span.address - 0x1000), out.data()));
            kept.insert(kept.end(), out.begin(), out.end());
            at += n_bytes;
        }
        ASSERT_EQ(kept, data);
        CommandMetadata read(n, s.blocks, {}, 0);
        std::copy_n(write.kept(), (s.blocks << s.shift) * 8, read.kept());
        Bytes to_host, to_buffer;
        for (std::uint32_t at = 0; at < bytes;) {
            const std::uint32_t n_bytes =
                std::min(bytes - at, part_of * (1 + static_cast<std::uint32_t>(random.below(9))));
            read.for_host(at, n_bytes, data.data() + at, to_host, to_buffer);
            ASSERT_EQ(to_host.size(), read.in_host_data(at + n_bytes));
            at += n_bytes;
        }
        ASSERT_EQ(to_host, host);
        ASSERT_EQ(to_buffer, s.extended ? Bytes() : metadata);
    }
}

// What deallocated blocks are to the drive.
TEST(CommandMetadata, ZerosOfTheDriveAreProtectionInformationOfFFh) {
    for (const std::uint8_t type : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{3}}) {
        CommandMetadata m(blocks_of(512, 0, false, type), 2, {}, 0);
        Bytes data, metadata;
        m.for_host(0, 1024, Bytes(1024).data(), data, metadata);
        EXPECT_EQ(metadata, Bytes(16, type == 0 ? 0x00 : 0xFF));
    }
}

TEST(CommandMetadata, ABlockThatFailsEndsTheWrite) {
    const Namespace n = blocks_of(512, 0, false, 2);
    const ProtectionTerms checks = ProtectionTerms::of(kPrCheckReference, 100, 0, 0);
    CommandMetadata m(n, 3, checks, 0);
    Bytes metadata(24), out(1536);
    for (std::uint32_t b = 0; b < 3; ++b) ProtectionTuple{0, 0, b == 1 ? 7 : 100 + b}.store(metadata.data() + 8 * b);
    EXPECT_FALSE(m.take_written(0, 1536, Bytes(1536).data(), metadata.data(), out.data()));
    EXPECT_EQ(m.status(), kStReferenceTagCheck);
    EXPECT_EQ(m.failed_block(), 1u);
}

TEST(CommandMetadata, NothingMovesIfTheControllerActs) {
    for (const std::uint8_t type : {std::uint8_t{0}, std::uint8_t{1}}) {
        const CommandMetadata m(blocks_of(512, 0, true, type), 2, ProtectionTerms::of(kPrAct, 0, 0, 0), 0);
        EXPECT_EQ(m.host_bytes(), type == 0 ? 1040u : 1024u);  // without protection information there is no PRACT
        EXPECT_EQ(m.interleaves(), type == 0);
        EXPECT_FALSE(m.has_buffer());
    }
}

TEST(CommandMetadata, ACompareSeesMetadataToo) {
    const auto equal = [](std::uint8_t of_drive, std::uint8_t of_host, std::uint8_t metadata) {
        CommandMetadata m(blocks_of(512, 0, false, 0), 1, {}, 0);
        const Bytes theirs{0, 0, 0, 0, 0, 0, 0, metadata};
        m.take_compared(0, 512, Bytes(512, of_drive).data(), Bytes(512, of_host).data(), theirs.data());
        return m.compare() && m.status() == kStSuccess;
    };
    EXPECT_TRUE(equal(5, 5, 0));
    EXPECT_FALSE(equal(5, 5, 1));
    EXPECT_FALSE(equal(5, 4, 0));
}

// Parts of a read come from several dies in any order, and a block may come in several.
TEST(CommandMetadata, TheFirstBlockThatFailsCounts) {
    const Namespace n = blocks_of(4096, 3, false, 2);
    CommandMetadata written(n, 3, ProtectionTerms::of(kPrAct, 50, 0, 0), 0);
    Bytes data(3 * 4096, 7), out(data.size());
    ASSERT_TRUE(written.take_written(0, 3 * 4096, data.data(), nullptr, out.data()));
    const auto status = [&](const std::vector<std::uint32_t>& parts) {  // of 1,536 bytes
        CommandMetadata m(n, 3, ProtectionTerms::of(kPrCheckGuard | kPrCheckReference, 50, 0, 0), 0);
        std::copy_n(written.kept(), 3 * 64, m.kept());
        for (const std::uint32_t p : parts) m.check_part(p * 1536, 1536, data.data() + p * 1536);
        return std::pair{m.status(), m.failed_block()};
    };
    EXPECT_EQ(status({7, 0, 5, 2, 4, 1, 3, 6}).first, kStSuccess);
    data[4096 * 2 + 9] ^= 1;
    EXPECT_EQ(status({7, 0, 5, 2, 4, 1, 3, 6}), std::pair(kStGuardCheck, 2u));
    data[4096 + 9] ^= 1;
    EXPECT_EQ(status({7, 0, 5, 2, 4, 1, 3, 6}), std::pair(kStGuardCheck, 1u));
    EXPECT_EQ(status({0, 1, 2, 3, 4, 5, 6, 7}), std::pair(kStGuardCheck, 1u));
}

}  // namespace
}  // namespace ssdtlm
