// SPDX-License-Identifier: Apache-2.0
// FISes against bytes written by hand from Serial ATA 3.0, 10.3, and there and back for random fields.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "common/random/random.h"
#include "protocol/sata.h"

namespace ssdtlm::sata {
namespace {

using Bytes = std::vector<std::uint8_t>;
template <class Array>
Bytes of(const Array& a) {
    return Bytes(a.begin(), a.end());
}

TEST(SataCodec, BytesAsInTheSpecification) {
    RegisterH2d h;  // WRITE FPDMA QUEUED of 8 sectors with FUA, tag 5, LBA 123456789ABCh
    h.command = 0x61;
    h.features = 0x0108;
    h.lba = 0x123456789ABC;
    h.device = 0xC0;
    h.count = 5 << 3 | 0x8000;
    EXPECT_EQ(of(h.bytes()), (Bytes{0x27, 0x80, 0x61, 0x08, 0xBC, 0x9A, 0x78, 0xC0, 0x56, 0x34,
                                    0x12, 0x01, 0x28, 0x80, 0,    0,    0,    0,    0,    0}));
    RegisterH2d reset;
    reset.command_update = false;
    reset.control = 4;
    reset.device = 0;
    EXPECT_EQ(of(reset.bytes()), (Bytes{0x27, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0}));
    RegisterD2h d;  // an uncorrectable error at LBA 010203040506h
    d.status = 0x51;
    d.error = 0x40;
    d.lba = 0x010203040506;
    d.device = 0x40;
    d.count = 0x0807;
    EXPECT_EQ(of(d.bytes()), (Bytes{0x34, 0x40, 0x51, 0x40, 0x06, 0x05, 0x04, 0x40, 0x03, 0x02,
                                    0x01, 0,    0x07, 0x08, 0,    0,    0,    0,    0,    0}));
    DmaSetup s;
    s.tag = 31;
    s.buffer_offset = 0x2000;
    s.transfer_bytes = 0x12340;
    EXPECT_EQ(of(s.bytes()), (Bytes{0x41, 0x20, 0, 0,    31, 0, 0,    0,    0, 0, 0, 0, 0, 0,
                                    0,    0,    0, 0x20, 0,  0, 0x40, 0x23, 1, 0, 0, 0, 0, 0}));
    s.to_host = false;
    s.auto_activate = true;
    EXPECT_EQ(s.bytes()[1], 0x80);
    PioSetup p;
    p.status = 0x58;
    p.end_status = 0x50;
    p.transfer_bytes = 512;
    EXPECT_EQ(of(p.bytes()), (Bytes{0x5F, 0x60, 0x58, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0, 2, 0, 0}));
    SetDeviceBits b;
    b.status = 0xFF;  // BSY and DRQ have no place
    b.error = 0x84;
    b.active = 0x80000001;
    EXPECT_EQ(of(b.bytes()), (Bytes{0xA1, 0x40, 0x77, 0x84, 1, 0, 0, 0x80}));
    EXPECT_EQ(of(dma_activate()), (Bytes{0x39, 0, 0, 0}));
    EXPECT_EQ(of(data_header()), (Bytes{0x46, 0, 0, 0}));
}

TEST(SataCodec, ThereAndBack) {
    Random random(1);
    for (int i = 0; i < 2000; ++i) {
        const auto any = [&random](std::uint64_t below) { return random.below(below); };
        RegisterH2d h;
        h.command_update = any(2) != 0;
        h.command = static_cast<std::uint8_t>(any(256));
        h.features = static_cast<std::uint16_t>(any(65536));
        h.lba = any(1ull << 48);
        h.device = static_cast<std::uint8_t>(any(256));
        h.count = static_cast<std::uint16_t>(any(65536));
        h.control = static_cast<std::uint8_t>(any(256));
        const auto fis = h.bytes();
        const RegisterH2d back = RegisterH2d::from(fis.data());
        EXPECT_EQ(of(back.bytes()), of(fis));
        EXPECT_EQ(back.lba, h.lba);
        EXPECT_EQ(back.features, h.features);
        EXPECT_EQ(back.count, h.count);
        EXPECT_EQ(back.control, h.control);
        EXPECT_EQ(fis_problem(fis.data(), kRegisterBytes), nullptr);
        EXPECT_NE(describe(fis.data(), kRegisterBytes).find("Register H2D"), std::string::npos);
        RegisterD2h d;
        d.interrupt = any(2) != 0;
        d.status = static_cast<std::uint8_t>(any(256));
        d.error = static_cast<std::uint8_t>(any(256));
        d.lba = any(1ull << 48);
        d.count = static_cast<std::uint16_t>(any(65536));
        EXPECT_EQ(of(RegisterD2h::from(d.bytes().data()).bytes()), of(d.bytes()));
        EXPECT_EQ(RegisterD2h::from(d.bytes().data()).lba, d.lba);
        DmaSetup s;
        s.tag = static_cast<std::uint8_t>(any(32));
        s.to_host = any(2) != 0;
        s.auto_activate = any(2) != 0;
        s.buffer_offset = static_cast<std::uint32_t>(any(1ull << 32));
        s.transfer_bytes = static_cast<std::uint32_t>(any(1ull << 32));
        const DmaSetup s2 = DmaSetup::from(s.bytes().data());
        EXPECT_EQ(s2.tag, s.tag);
        EXPECT_EQ(s2.to_host, s.to_host);
        EXPECT_EQ(s2.auto_activate, s.auto_activate);
        EXPECT_EQ(s2.buffer_offset, s.buffer_offset);
        EXPECT_EQ(s2.transfer_bytes, s.transfer_bytes);
        PioSetup p;
        p.to_host = any(2) != 0;
        p.end_status = static_cast<std::uint8_t>(any(256));
        p.lba = any(1ull << 48);
        p.transfer_bytes = static_cast<std::uint16_t>(any(65536));
        EXPECT_EQ(of(PioSetup::from(p.bytes().data()).bytes()), of(p.bytes()));
        SetDeviceBits b;
        b.active = static_cast<std::uint32_t>(any(1ull << 32));
        b.interrupt = any(2) != 0;
        EXPECT_EQ(of(SetDeviceBits::from(b.bytes().data()).bytes()), of(b.bytes()));
        EXPECT_EQ(SetDeviceBits::from(b.bytes().data()).active, b.active);
    }
}

TEST(SataCodec, WhatIsNoFisIsNamed) {
    Bytes fis(kDataHeaderBytes + kMostDataBytes + 4, 0);
    const auto problem = [&fis](FisType type, std::uint32_t bytes) {
        fis[0] = static_cast<std::uint8_t>(type);
        return fis_problem(fis.data(), bytes);
    };
    EXPECT_EQ(problem(FisType::data, kDataHeaderBytes + kMostDataBytes), nullptr);
    EXPECT_NE(problem(FisType::data, kDataHeaderBytes + kMostDataBytes + 4), nullptr);
    EXPECT_NE(problem(FisType::data, kDataHeaderBytes), nullptr);
    EXPECT_NE(problem(FisType::register_h2d, 24), nullptr);
    EXPECT_NE(problem(FisType::register_h2d, 18), nullptr);
    EXPECT_NE(problem(FisType::bist, 12), nullptr);
    EXPECT_NE(problem(static_cast<FisType>(0x11), 20), nullptr);
    EXPECT_EQ(problem(FisType::dma_setup, kDmaSetupBytes), nullptr);
    for (std::uint32_t n = 0; n < 40; ++n)
        for (unsigned type = 0; type < 256; ++type) {
            fis[0] = static_cast<std::uint8_t>(type);
            EXPECT_FALSE(describe(fis.data(), n).empty());
        }
}

/// Serial ATA 3.0, 9.5: a frame with its CRC behind it leaves nothing; one changed bit leaves something.
TEST(SataCodec, Crc) {
    const auto fis = dma_activate();
    const std::uint32_t of_fis = crc(fis.data(), 4);
    Bytes frame = of(fis);
    for (int i = 0; i < 4; ++i) frame.push_back(static_cast<std::uint8_t>(of_fis >> (8 * i)));
    EXPECT_EQ(crc(frame.data(), 8), 0u);
    for (std::size_t bit = 0; bit < 64; ++bit) {
        Bytes bad = frame;
        bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ 1u << bit % 8);
        EXPECT_NE(crc(bad.data(), 8), 0u);
    }
}

}  // namespace
}  // namespace ssdtlm::sata
