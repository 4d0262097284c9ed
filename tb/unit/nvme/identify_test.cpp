// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/identify.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "unit/nvme/figure.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::Figure;

DriveFacts device() {
    DriveFacts d;
    d.drive_bytes = 480'000'000'000 / 4096 * 4096;
    d.volatile_write_cache = true;
    d.unit_bytes = 4096;
    d.serial = "S123";
    return d;
}

Namespace whole(const DriveFacts& d, std::uint32_t lba = 512) {
    return *Namespaces(d.drive_bytes, lba).find(1);
}

void identify_namespace(const Namespace& of, const DriveFacts& d, IdentifyData& out,
                        std::uint32_t max_transfer = 1u << 20) {
    NvmeConfig config;
    config.max_transfer_bytes = max_transfer;
    ssdtlm::identify_namespace(config, of, Namespaces(d.drive_bytes, of.lba_bytes), d, out);
}

std::string text(const std::uint8_t* at, std::size_t bytes) {
    return {reinterpret_cast<const char*>(at), bytes};
}

TEST(Identify, Controller) {
    NvmeConfig config;
    config.max_transfer_bytes = 128 * 1024;
    IdentifyData d;
    identify_controller(config, device(), d);
    EXPECT_EQ(text(d.data() + 4, 20), "S123                ");
    EXPECT_EQ(text(d.data() + 24, 6), "ssdtlm");
    EXPECT_EQ(d[77], 5);  // MDTS: 2^5 pages are 128 KiB
    EXPECT_EQ(load<std::uint32_t>(&d[80]), kVersion14);
    EXPECT_EQ(d[111], 1);
    EXPECT_EQ(d[258], 3);
    EXPECT_EQ(d[259], 3);
    EXPECT_EQ(d[512], 0x66);
    EXPECT_EQ(d[513], 0x44);
    EXPECT_EQ(load<std::uint32_t>(&d[516]), 1u);
    EXPECT_EQ(load<std::uint16_t>(&d[520]), 0x1DF);  // all but reservations
    EXPECT_EQ(d[525], 0x7);
    EXPECT_EQ(load<std::uint16_t>(&d[526]), 4096 / config.lba_bytes - 1);
    EXPECT_EQ(load<std::uint32_t>(&d[536]), 0u);  // no SGLs
    EXPECT_EQ(load<std::uint64_t>(&d[280]), device().drive_bytes);
    EXPECT_EQ(text(d.data() + 768, 4), "nqn.");

    DriveFacts no_cache = device();
    no_cache.volatile_write_cache = false;
    config.max_transfer_bytes = 0;
    identify_controller(config, no_cache, d);
    EXPECT_EQ(d[525] & 1, 0);
    EXPECT_EQ(d[77], 0);
}

TEST(Identify, Namespace) {
    for (const std::uint32_t lba : {512u, 4096u}) {
        NvmeConfig config;
        config.lba_bytes = lba;
        DriveFacts dev = device();
        dev.unit_bytes = 16384;
        IdentifyData d;
        identify_namespace(whole(dev, config.lba_bytes), dev, d);
        const std::uint64_t blocks = dev.drive_bytes / lba;
        EXPECT_EQ(load<std::uint64_t>(&d[0]), blocks);
        EXPECT_EQ(load<std::uint64_t>(&d[8]), blocks);
        EXPECT_EQ(load<std::uint64_t>(&d[16]), blocks);
        EXPECT_EQ(d[25], lba == 512 ? 1 : 0);  // formats: two of a drive with the smaller one
        EXPECT_EQ(d[26], 0);
        EXPECT_EQ(d[33] & 7, 1);  // deallocated blocks read zeros
        EXPECT_EQ(load<std::uint16_t>(&d[64]), 16384 / lba - 1);
        EXPECT_EQ(load<std::uint16_t>(&d[68]), 16384 / lba - 1);
        EXPECT_EQ(1u << d[130], lba);
        EXPECT_EQ(load<std::uint16_t>(&d[128]), 0);
    }
}

// NVMe 1.4 figure 247, every byte.
TEST(Identify, ControllerByteForByte) {
    NvmeConfig config;
    config.max_transfer_bytes = 128 * 1024;
    config.arbitration_burst = 5;
    config.lba_bytes = 512;
    DriveFacts dev = device();
    dev.unit_bytes = 16384;
    dev.shutdown_time = 5ms;
    dev.model = "A model";
    dev.firmware = "12345678 and more";
    IdentifyData d;
    d.fill(0xAA);
    identify_controller(config, dev, d);
    Figure()
        .number(0, 2, 0xFFFE)  // VID, SSVID
        .number(2, 2, 0xFFFE)
        .ascii(4, 20, "S123")
        .ascii(24, 40, "A model")
        .ascii(64, 8, "12345678")
        .number(72, 1, 5)                 // RAB
        .number(77, 1, 5)                 // MDTS: 2^5 pages of 4 KiB
        .number(80, 4, 0x00010400)        // VER
        .number(88, 4, 5000)              // RTD3E in microseconds
        .number(92, 4, 1 << 8)            // OAES: namespace attributes
        .number(111, 1, 1)                // CNTRLTYPE: I/O controller
        .number(256, 2, 1 << 1 | 1 << 4)  // OACS: format, self-test
        .number(258, 1, 3)                // ACL and AERL: 4
        .number(259, 1, 3)
        .number(260, 1, 1 << 1 | 1)  // FRMW: one slot, read only
        .number(261, 1, 0x1E)        // LPA: effects, offsets, telemetry, persistent events
        .number(262, 1, 63)          // ELPE: 64 entries
        .number(266, 2, 273 + 70)    // WCTEMP, CCTEMP
        .number(268, 2, 273 + 80)
        .number(280, 16, dev.drive_bytes)  // TNVMCAP
        .number(316, 2, 8)                 // EDSTT: 480 GB at 1 GB/s
        .number(318, 1, 1)                 // DSTO: one self-test in the drive
        .number(320, 2, 10)                // KAS: a second
        .number(328, 4, 7)                 // SANICAP
        .number(352, 4, 2)                 // PELS: 128 KiB
        .number(512, 1, 0x66)              // SQES: 2^6 bytes
        .number(513, 1, 0x44)              // CQES: 2^4 bytes
        .number(516, 4, 1)                 // NN
        .number(520, 2, 0x1DF)             // ONCS
        .number(522, 2, 1)                 // FUSES
        .number(524, 1, 1 << 2)            // FNA: crypto erase
        .number(525, 1, 1 | 3 << 1)        // VWC: present; flush of all namespaces
        .number(526, 2, 16384 / 512 - 1)   // AWUN
        .number(532, 2, 16384 / 512 - 1)   // ACWU
        .number(534, 2, 1)                 // OCFS
        .string(768, "nqn.2024-01.org.ssdtlm:S123")
        .number(2048, 2, 900)  // power state 0: 9 W
        .expect_equal(d.data(), d.size());
}

// NVMe 1.4 figure 245, every byte; the identifiers have tests of their own.
TEST(Identify, NamespaceByteForByte) {
    for (const std::uint32_t lba : {512u, 4096u}) {
        NvmeConfig config;
        config.lba_bytes = lba;
        DriveFacts dev = device();
        dev.unit_bytes = 16384;
        IdentifyData d;
        d.fill(0xAA);
        identify_namespace(whole(dev, config.lba_bytes), dev, d);
        Figure f;
        f.number(24, 1, 1 << 3 | 1 << 4)        // NSFEAT
            .number(25, 1, lba == 512 ? 1 : 0)  // NLBAF
            .number(32, 1, 1 << 7)              // FPI
            .number(74, 2, (128 << 10) / lba)   // MSSRL, MCL, MSRC
            .number(76, 4, (1 << 20) / lba)
            .number(80, 1, 15)
            .number(33, 1, 1 | 1 << 3)  // DLFEAT
            .number(48, 16, dev.drive_bytes)
            .string(104, text(&d[104], 24))
            .number(128, 4, lba == 512 ? 9 << 16 : 12 << 16)  // LBA formats 0, 1
            .number(132, 4, lba == 512 ? 12 << 16 : 0);
        for (const std::size_t at : {0u, 8u, 16u}) f.number(at, 8, dev.drive_bytes / lba);        // NSZE, NCAP, NUSE
        for (const std::size_t at : {64u, 66u, 68u, 70u, 72u}) f.number(at, 2, 16384 / lba - 1);  // NPWG .. NOWS
        f.expect_equal(d.data(), d.size());
    }
}

// A range is read by one command of the firmware, and written by one.
TEST(Identify, CopyIsLimitedByTheLargestTransfer) {
    struct {
        std::uint32_t max_transfer, longest, all;  // bytes
    } const limits[] = {{0, 1u << 17, 1u << 20},
                        {1u << 20, 1u << 17, 1u << 20},
                        {1u << 16, 1u << 16, 1u << 20},
                        {1u << 13, 1u << 13, 1u << 17}};  // sixteen ranges
    for (const auto& l : limits)
        for (const std::uint32_t lba : {512u, 4096u}) {
            IdentifyData d;
            identify_namespace(whole(device(), lba), device(), d, l.max_transfer);
            EXPECT_EQ(load<std::uint16_t>(&d[74]), l.longest / lba) << l.max_transfer;
            EXPECT_EQ(load<std::uint32_t>(&d[76]), l.all / lba) << l.max_transfer;
            EXPECT_EQ(d[80], 15);
        }
}

TEST(Identify, ValuesBeyondTheirFieldsAreTheNearestThatFit) {
    NvmeConfig config;
    config.lba_bytes = 4096;
    DriveFacts dev = device();
    dev.serial = "0123456789abcdefghijklmnop";
    dev.shutdown_time = 2h;  // more microseconds than 32 bits hold
    dev.unit_bytes = 512;    // less than a block
    IdentifyData d;
    identify_controller(config, dev, d);
    EXPECT_EQ(text(&d[4], 20), "0123456789abcdefghij");
    EXPECT_EQ(load<std::uint32_t>(&d[88]), 0xFFFF'FFFFu);
    EXPECT_EQ(load<std::uint16_t>(&d[526]), 0);
    identify_namespace(whole(dev, config.lba_bytes), dev, d);
    EXPECT_EQ(load<std::uint16_t>(&d[64]), 0);
}

// Hosts name a drive by its identifiers, which must not change: FNV-1a of the serial number, here by its published
// vectors.
TEST(Identify, IdentifiersFollowTheSerialNumber) {
    for (const auto& [serial, hash] : {std::pair{"a", 0xaf63dc4c8601ec8cull}, {"foobar", 0x85944171f73967e8ull}}) {
        DriveFacts dev = device();
        dev.serial = serial;
        IdentifyData d;
        identify_namespace(whole(dev), dev, d);
        const std::uint64_t product = hash * 0x9E3779B97F4A7C15ull;
        for (std::size_t i = 0; i < 8; ++i) {
            std::uint64_t eui64 = hash >> (56 - 8 * i) & 0xFF;
            if (i == 0) eui64 = (eui64 & ~3ull) | 2;  // locally assigned
            EXPECT_EQ(d[120 + i], eui64) << i;
            EXPECT_EQ(d[112 + i], eui64) << i;
            EXPECT_EQ(d[104 + i], product >> (8 * i) & 0xFF) << i;
        }
    }
}

TEST(Identify, DescriptorsAgreeWithTheNamespace) {
    IdentifyData ns;
    IdentifyData list;
    identify_namespace(whole(device()), device(), ns);
    identify_descriptors(whole(device()), device(), list);
    EXPECT_EQ(list[0], 1);
    ASSERT_EQ(list[1], 8);
    EXPECT_EQ(text(&list[4], 8), text(&ns[120], 8));
    EXPECT_EQ(list[12], 2);
    ASSERT_EQ(list[13], 16);
    EXPECT_EQ(text(&list[16], 16), text(&ns[104], 16));
    EXPECT_EQ(list[32], 3);  // UUID, version 8 and variant of RFC 9562
    ASSERT_EQ(list[33], 16);
    EXPECT_EQ(list[36 + 6] >> 4, 8);
    EXPECT_EQ(list[36 + 8] >> 6, 2);
    EXPECT_EQ(list[53], 0);  // the end
    DriveFacts other = device();
    other.serial = "S124";
    identify_namespace(whole(other), other, list);
    EXPECT_NE(text(&list[120], 8), text(&ns[120], 8));
}

}  // namespace
}  // namespace ssdtlm
