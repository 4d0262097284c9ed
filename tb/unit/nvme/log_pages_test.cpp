// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/log_pages.h"

#include <gtest/gtest.h>

#include <vector>

#include "unit/nvme/figure.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::Figure;

TEST(LogPages, SmartCounts) {
    NvmeCounters counters;
    counters.bytes_read = 512'001;
    counters.bytes_written = 512'000;
    counters.reads = 7;
    counters.writes = 8;
    counters.media_errors = 3;
    counters.busy = 3min + 59s;
    const NvmeFeatures features(NvmeConfig{}, false);
    std::vector<std::uint8_t> p;
    smart_log(counters, DeviceHealth{}, features, 5, SimTime{2h + 1min}, p);
    ASSERT_EQ(p.size(), 512u);
    EXPECT_EQ(p[0], 0);
    EXPECT_EQ(load<std::uint16_t>(&p[1]), 313);
    EXPECT_EQ(p[3], 100);
    EXPECT_EQ(load<std::uint64_t>(&p[32]), 2u);  // units of 512000 bytes, rounded up
    EXPECT_EQ(load<std::uint64_t>(&p[48]), 1u);
    EXPECT_EQ(load<std::uint64_t>(&p[64]), 7u);
    EXPECT_EQ(load<std::uint64_t>(&p[80]), 8u);
    EXPECT_EQ(load<std::uint64_t>(&p[96]), 3u);
    EXPECT_EQ(load<std::uint64_t>(&p[128]), 2u);
    EXPECT_EQ(load<std::uint64_t>(&p[160]), 3u);
    EXPECT_EQ(load<std::uint64_t>(&p[176]), 5u);
    smart_log(counters, DeviceHealth{5, 101, 350}, features, 5, SimTime{}, p);
    EXPECT_EQ(p[0], 3);  // spare low and temperature
    EXPECT_EQ(p[5], 101);
    smart_log(counters, DeviceHealth{9, 0, 313, true}, features, 5, SimTime{}, p);
    EXPECT_EQ(p[0], 1 | 8);  // below the threshold of 10 %; media read-only
    EXPECT_EQ(p[3], 9);
    EXPECT_EQ(p[4], 10);
}

TEST(LogPages, ErrorsNewestFirstAndOnlyTheLast) {
    ErrorLog log;
    std::vector<std::uint8_t> p;
    const std::uint32_t total = kErrorLogEntries + 5;
    for (std::uint32_t i = 1; i <= total; ++i) log.add(2, static_cast<std::uint16_t>(i), kStLbaOutOfRange, 100 + i, 1);
    log.write(p);
    ASSERT_EQ(p.size(), kErrorLogEntries * 64u);
    for (std::uint32_t i = 0; i < kErrorLogEntries; ++i) {
        const std::uint8_t* e = &p[i * 64];
        EXPECT_EQ(load<std::uint64_t>(e), total - i);
        EXPECT_EQ(load<std::uint16_t>(e + 8), 2);
        EXPECT_EQ(load<std::uint16_t>(e + 10), total - i);
        EXPECT_EQ(load<std::uint16_t>(e + 12) >> 1 & 0x7FF, kStLbaOutOfRange);
        EXPECT_EQ(load<std::uint64_t>(e + 16), 100 + total - i);
        EXPECT_EQ(load<std::uint32_t>(e + 24), 1u);
    }
}

// NVMe 1.4 figure 194, every byte.
TEST(LogPages, SmartByteForByte) {
    NvmeCounters counters;
    counters.bytes_read = 3 * 512'000;
    counters.bytes_written = 4 * 512'000 + 1;
    counters.reads = 0x1122334455;
    counters.writes = 0x66778899AA;
    counters.media_errors = 9;
    counters.unsafe_shutdowns = 2;
    counters.busy = 5min;
    std::vector<std::uint8_t> p(600, 0xAA);
    smart_log(counters, DeviceHealth{88, 33, 300}, NvmeFeatures(NvmeConfig{}, true), 17, SimTime{4h - Ps{1}}, p);
    ASSERT_EQ(p.size(), 512u);
    Figure()
        .number(1, 2, 300)  // composite temperature
        .number(3, 1, 88)   // available spare, its threshold, percentage used
        .number(4, 1, 10)
        .number(5, 1, 33)
        .number(32, 16, 3)  // data units read, written
        .number(48, 16, 5)
        .number(64, 16, 0x1122334455)  // host read commands, write commands
        .number(80, 16, 0x66778899AA)
        .number(96, 16, 5)    // controller busy time, minutes
        .number(112, 16, 1)   // power cycles
        .number(128, 16, 3)   // power-on hours
        .number(144, 16, 2)   // unsafe shutdowns
        .number(160, 16, 9)   // media errors
        .number(176, 16, 17)  // error information entries
        .number(200, 2, 300)  // sensor 1
        .expect_equal(p.data(), p.size());
}

TEST(LogPages, DataUnitsAreThousandsOfBlocksRoundedUp) {
    for (const auto& [bytes, units] : {std::pair{0u, 0u}, {1u, 1u}, {511'999u, 1u}, {512'000u, 1u}, {512'001u, 2u}}) {
        NvmeCounters counters;
        counters.bytes_read = bytes;
        std::vector<std::uint8_t> p;
        smart_log(counters, DeviceHealth{}, NvmeFeatures(NvmeConfig{}, true), 0, SimTime{}, p);
        EXPECT_EQ(load<std::uint64_t>(&p[32]), units) << bytes;
        EXPECT_EQ(load<std::uint64_t>(&p[48]), 0u);
    }
}

// Each threshold from both sides: "greater than or equal to an over temperature threshold or less than or equal to an
// under temperature threshold", and spare "below" its own (NVMe 1.4 figure 194).
TEST(LogPages, CriticalWarningsBeginAtTheirThresholds) {
    NvmeFeatures features(NvmeConfig{}, true);
    Sqe s;
    s.cdw10 = kFeatTemperatureThreshold;
    std::uint32_t unused = 0;
    s.cdw11 = 340;  // over
    ASSERT_EQ(features.set(s, false, unused), kStSuccess);
    s.cdw11 = 280 | 1u << 20;  // under
    ASSERT_EQ(features.set(s, false, unused), kStSuccess);
    const auto warnings = [&](std::uint8_t spare, std::uint16_t temperature) {
        std::vector<std::uint8_t> p;
        const DeviceHealth health{spare, 0, temperature};
        smart_log(NvmeCounters{}, health, features, 0, SimTime{}, p);
        EXPECT_EQ(p[0], critical_warning(health, features));
        return int{p[0]};
    };
    EXPECT_EQ(warnings(100, 341), 2);
    EXPECT_EQ(warnings(100, 340), 2);
    EXPECT_EQ(warnings(100, 339), 0);
    EXPECT_EQ(warnings(100, 281), 0);
    EXPECT_EQ(warnings(100, 280), 2);
    EXPECT_EQ(warnings(100, 279), 2);
    EXPECT_EQ(warnings(10, 300), 0);
    EXPECT_EQ(warnings(9, 300), 1);
    EXPECT_EQ(warnings(9, 340), 3);
}

// NVMe 1.4 figure 193, every byte, also of a log that is not full.
TEST(LogPages, ErrorEntryByteForByte) {
    ErrorLog log;
    std::vector<std::uint8_t> p;
    log.write(p);
    ASSERT_EQ(p.size(), 64u * 64);
    Figure().expect_equal(p.data(), p.size());
    log.add(3, 0x1234, kStUnrecoveredRead, 0x1122334455667788, 1);
    log.add(4, 0x5678, kStLbaOutOfRange, 99, 1);
    EXPECT_EQ(log.total(), 2u);
    log.write(p);
    // Status field: code in bits 8:1, type in 11:9, do not retry in 15. 02h/81h and 00h/80h.
    Figure()
        .number(0, 8, 2)
        .number(8, 2, 4)
        .number(10, 2, 0x5678)
        .number(12, 2, 0x80u << 1 | 1u << 15)
        .number(14, 2, 0xFFFF)
        .number(16, 8, 99)
        .number(24, 4, 1)
        .number(64, 8, 1)
        .number(72, 2, 3)
        .number(74, 2, 0x1234)
        .number(76, 2, 0x81u << 1 | 2u << 9 | 1u << 15)
        .number(78, 2, 0xFFFF)
        .number(80, 8, 0x1122334455667788)
        .number(88, 4, 1)
        .expect_equal(p.data(), p.size());
}

TEST(LogPages, FirmwareSlotByteForByte) {
    for (const auto& [version, field] :
         {std::pair{"0.1", "0.1     "}, {"12345678", "12345678"}, {"123456789", "12345678"}}) {
        DriveFacts dev;
        dev.firmware = version;
        std::vector<std::uint8_t> p(600, 0xAA);
        firmware_log(dev, p);
        ASSERT_EQ(p.size(), 512u);
        Figure().number(0, 1, 1).string(8, field).expect_equal(p.data(), p.size());
    }
}

// NVMe 1.4 figures 139, 202 and 346: of each command that this drive has whether it changes blocks (bit 1), the
// capabilities of a namespace (2) or which there are (3), and with what it may not run (16 the namespace's, 17 any).
TEST(LogPages, EffectsByteForByte) {
    for (const bool all : {false, true}) {
        NvmeConfig config;
        if (all) {
            config.streams = 4;
            config.namespaces = {1u << 30};
            config.shadow_doorbells = true;
        }
        std::vector<std::uint8_t> p(600, 0xAA);
        effects_log(config, DriveFacts{}, p);
        ASSERT_EQ(p.size(), 4096u);
        Figure f;
        for (const std::size_t admin :
             {0x00u, 0x01u, 0x02u, 0x04u, 0x05u, 0x06u, 0x08u, 0x09u, 0x0Au, 0x0Cu, 0x14u, 0x18u})
            f.number(4 * admin, 4, 1);
        f.number(4 * 0x80, 4, 1 | 1 << 1 | 1 << 2 | 1 << 16);  // Format NVM
        f.number(4 * 0x84, 4, 1 | 1 << 1 | 1 << 17);           // Sanitize
        if (all) {
            for (const std::size_t admin : {0x19u, 0x1Au, 0x7Cu}) f.number(4 * admin, 4, 1);
            f.number(4 * 0x0D, 4, 1 | 1 << 1 | 1 << 3).number(4 * 0x15, 4, 1 | 1 << 3);  // namespaces
        }
        for (const std::size_t io : {0x00u, 0x02u, 0x05u, 0x0Cu}) f.number(1024 + 4 * io, 4, 1);  // they read, or flush
        for (const std::size_t io : {0x01u, 0x04u, 0x08u, 0x09u, 0x19u}) f.number(1024 + 4 * io, 4, 3);
        f.expect_equal(p.data(), p.size());
    }
}

}  // namespace
}  // namespace ssdtlm
