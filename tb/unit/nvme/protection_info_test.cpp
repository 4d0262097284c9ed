// SPDX-License-Identifier: Apache-2.0
// The guard by its formula and its published values; each field of the tuple by its place; each rule of a check.
#include "controller/nvme/protection/protection_info.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "controller/nvme/protection/guard_crc.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using Bytes = std::vector<std::uint8_t>;

Bytes text(const std::string& s) {
    return {s.begin(), s.end()};
}

/// The rest of message * x^16 by x^16 + x^15 + x^11 + x^9 + x^8 + x^7 + x^5 + x^4 + x^2 + x + 1, bit by bit.
std::uint16_t rest_of_division(const Bytes& message) {
    const std::array<unsigned, 11> exponents{16, 15, 11, 9, 8, 7, 5, 4, 2, 1, 0};
    std::vector<bool> bits;
    for (const std::uint8_t byte : message)
        for (int b = 7; b >= 0; --b) bits.push_back((byte >> b & 1) != 0);
    bits.insert(bits.end(), 16, false);
    for (std::size_t i = 0; i + 16 < bits.size(); ++i)
        if (bits[i])
            for (const unsigned e : exponents) bits[i + 16 - e] = !bits[i + 16 - e];
    std::uint32_t rest = 0;
    for (std::size_t i = bits.size() - 16; i < bits.size(); ++i) rest = rest << 1 | (bits[i] ? 1u : 0u);
    return static_cast<std::uint16_t>(rest);
}

TEST(GuardCrc, PublishedValues) {
    const auto crc = [](const Bytes& b) { return guard_crc(b.data(), b.size()); };
    EXPECT_EQ(crc(text("123456789")), 0xD0DB);  // the check value of CRC-16/T10-DIF
    // SBC-3, table of test cases of the logical block guard: 32 bytes each.
    Bytes up(32), down(32), two(32);
    for (std::uint8_t i = 0; i < 32; ++i) up[i] = i, down[i] = static_cast<std::uint8_t>(255 - i);
    two[0] = two[1] = 0xFF;
    EXPECT_EQ(crc(Bytes(32, 0x00)), 0x0000);
    EXPECT_EQ(crc(Bytes(32, 0xFF)), 0xA293);
    EXPECT_EQ(crc(up), 0x0224);
    EXPECT_EQ(crc(two), 0x21B8);
    EXPECT_EQ(crc(down), 0xA0B7);
}

TEST(GuardCrc, IsTheRestOfThePolynomialDivision) {
    Random random(1, 1);
    for (int i = 0; i < 200; ++i) {
        Bytes b(1 + random.below(600));
        for (std::uint8_t& byte : b) byte = static_cast<std::uint8_t>(random.below(256));
        const std::size_t cut = random.below(b.size());
        EXPECT_EQ(guard_crc(b.data(), b.size()), rest_of_division(b));
        EXPECT_EQ(guard_crc(b.data() + cut, b.size() - cut, guard_crc(b.data(), cut)), rest_of_division(b));
    }
}

TEST(ProtectionTuple, IsBigEndian) {
    const ProtectionTuple t{0x0102, 0x0304, 0x05060708};
    std::array<std::uint8_t, 8> bytes{};
    t.store(bytes.data());
    EXPECT_EQ(bytes, (std::array<std::uint8_t, 8>{1, 2, 3, 4, 5, 6, 7, 8}));
    const ProtectionTuple back = ProtectionTuple::load(bytes.data());
    EXPECT_EQ(back.guard, t.guard);
    EXPECT_EQ(back.application, t.application);
    EXPECT_EQ(back.reference, t.reference);
}

TEST(ProtectionTerms, FieldsOfTheEntry) {
    Sqe s;
    s.cdw12 = 1u << 29 | 1u << 27;
    s.cdw14 = 0xDEADBEEF;
    s.cdw15 = 0xFF0F1234;
    const ProtectionTerms t = ProtectionTerms::of(s);
    EXPECT_TRUE(t.acts && t.checks_application && t.checks());
    EXPECT_FALSE(t.checks_guard || t.checks_reference);
    EXPECT_EQ(t.reference, 0xDEADBEEFu);
    EXPECT_EQ(t.application, 0x1234);
    EXPECT_EQ(t.mask, 0xFF0F);
    s.cdw12 = 1u << 28;
    EXPECT_TRUE(ProtectionTerms::of(s).checks_guard);
    s.cdw12 = 1u << 26;
    EXPECT_TRUE(ProtectionTerms::of(s).checks_reference);
    s.cdw12 = 0x0000FFFF | 1u << 30 | 1u << 31;
    EXPECT_FALSE(ProtectionTerms::of(s).checks() || ProtectionTerms::of(s).acts);
}

// The guard covers the metadata before the tuple: none if it is first, and what precedes it if it is last.
TEST(Guard, CoversTheMetadataBeforeTheTuple) {
    const Bytes data = text("1234"), metadata = text("56789...tuple...");
    MetadataFormat last{16, false, 1, false}, first{16, false, 1, true};
    EXPECT_EQ(last.tuple_at(), 8u);
    EXPECT_EQ(first.tuple_at(), 0u);
    EXPECT_EQ(guard_of(last, data.data(), 4, metadata.data()), rest_of_division(text("123456789...")));
    EXPECT_EQ(guard_of(first, data.data(), 4, metadata.data()), rest_of_division(data));
    for (const bool is_first : {false, true})  // eight bytes are the tuple alone
        EXPECT_EQ(guard_of({8, false, 1, is_first}, data.data(), 4, metadata.data()), rest_of_division(data));
}

struct Block {
    MetadataFormat format{8, false, 1, false};
    ProtectionTerms terms = ProtectionTerms::of(7, 0xFFFFFFFE, 0x5A5A, 0xFFFF);
    Bytes data = text("eight bytes of a block");
    Bytes metadata = Bytes(16);
    std::uint64_t index = 0;

    void insert() {
        insert_tuple(format, terms, index, data.data(), static_cast<std::uint32_t>(data.size()), metadata.data());
    }
    std::uint16_t check() const {
        return check_tuple(format, terms, index, data.data(), static_cast<std::uint32_t>(data.size()), metadata.data());
    }
    ProtectionTuple tuple() const { return ProtectionTuple::load(metadata.data() + format.tuple_at()); }
};

TEST(InsertedTuple, ReferenceTagsCountInTypes1And2) {
    for (const std::uint8_t type : {1, 2, 3}) {
        Block b;
        b.format.type = type;
        b.index = 3;  // wraps
        b.insert();
        EXPECT_EQ(b.tuple().guard, rest_of_division(b.data));
        EXPECT_EQ(b.tuple().application, 0x5A5A);
        EXPECT_EQ(b.tuple().reference, type == 3 ? 0xFFFFFFFEu : 1u);
        EXPECT_EQ(b.check(), kStSuccess);
    }
}

TEST(InsertedTuple, StandsInTheFirstOrLastEightBytes) {
    for (const bool first : {false, true}) {
        Block b;
        b.format = {16, false, 1, first};
        b.insert();
        EXPECT_EQ(b.check(), kStSuccess);
        EXPECT_EQ(ProtectionTuple::load(b.metadata.data() + (first ? 0 : 8)).application, 0x5A5A);
        b.metadata[first ? 8 : 0] ^= 1;  // of the rest
        EXPECT_EQ(b.check(), first ? kStSuccess : kStGuardCheck);
    }
}

TEST(CheckedTuple, EachCheckSeesItsFieldAlone) {
    struct Case {
        unsigned byte;
        std::uint32_t check;
        std::uint16_t status;
    };
    for (const Case& c :
         {Case{0, kPrCheckGuard, kStGuardCheck}, Case{1, kPrCheckGuard, kStGuardCheck},
          Case{2, kPrCheckApplication, kStApplicationTagCheck}, Case{3, kPrCheckApplication, kStApplicationTagCheck},
          Case{4, kPrCheckReference, kStReferenceTagCheck}, Case{7, kPrCheckReference, kStReferenceTagCheck}}) {
        Block b;
        b.insert();
        b.metadata[c.byte] ^= 0x10;
        for (std::uint32_t info = 0; info < 8; ++info) {
            b.terms = ProtectionTerms::of(info, 0xFFFFFFFE, 0x5A5A, 0xFFFF);
            EXPECT_EQ(b.check(), (info & c.check) != 0 ? c.status : kStSuccess) << c.byte << " " << info;
        }
    }
    Block b;
    b.insert();
    b.data[3] ^= 1;
    EXPECT_EQ(b.check(), kStGuardCheck);
}

TEST(CheckedTuple, TheMaskSelectsBitsOfTheApplicationTag) {
    Block b;
    b.insert();
    b.metadata[2] ^= 0x80;
    b.terms.mask = 0x7FFF;
    EXPECT_EQ(b.check(), kStSuccess);
    b.terms.mask = 0x8000;
    EXPECT_EQ(b.check(), kStApplicationTagCheck);
    b.terms.mask = 0;
    EXPECT_EQ(b.check(), kStSuccess);
}

TEST(CheckedTuple, Escapes) {
    for (const std::uint8_t type : {1, 2, 3}) {
        Block b;
        b.format.type = type;
        ProtectionTuple{0x1111, 0xFFFF, 0x22222222}.store(b.metadata.data());
        EXPECT_EQ(b.check(), type == 3 ? kStGuardCheck : kStSuccess) << int{type};
        ProtectionTuple{0x1111, 0xFFFF, 0xFFFFFFFF}.store(b.metadata.data());
        EXPECT_EQ(b.check(), kStSuccess) << int{type};
        ProtectionTuple{0x1111, 0xFFFE, 0xFFFFFFFF}.store(b.metadata.data());
        EXPECT_EQ(b.check(), kStGuardCheck) << int{type};
    }
}

TEST(CheckedTuple, Type3HasNoReferenceTag) {
    Block b;
    b.format.type = 3;
    b.insert();
    b.metadata[5] ^= 1;
    EXPECT_EQ(b.check(), kStSuccess);
}

TEST(RefusedTerms, ReferenceTagsThatNoBlockCanMeet) {
    const auto status = [](std::uint8_t type, std::uint32_t info, std::uint32_t reference, std::uint64_t slba) {
        return refuse_terms({8, false, type, false}, ProtectionTerms::of(info, reference, 0, 0), slba);
    };
    EXPECT_EQ(status(1, kPrCheckReference, 7, 7), kStSuccess);
    EXPECT_EQ(status(1, kPrCheckReference, 7, 0x500000007), kStSuccess);
    EXPECT_EQ(status(1, kPrCheckReference, 8, 7), kStInvalidProtection);
    EXPECT_EQ(status(1, kPrCheckGuard | kPrCheckApplication | kPrAct, 8, 7), kStSuccess);
    EXPECT_EQ(status(2, kPrCheckReference, 8, 7), kStSuccess);
    EXPECT_EQ(status(3, kPrCheckReference, 7, 7), kStInvalidProtection);
    EXPECT_EQ(status(3, kPrCheckGuard, 7, 7), kStSuccess);
    EXPECT_EQ(status(0, kPrCheckReference, 8, 7), kStSuccess);
}

}  // namespace
}  // namespace ssdtlm
