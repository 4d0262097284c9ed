// SPDX-License-Identifier: Apache-2.0
// The blocks that a SATA drive describes itself with, field by field as a host reads them.
#include "controller/sata/device_pages.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>

namespace ssdtlm {
namespace {

std::uint32_t word(const AtaBlock& b, unsigned w) {
    return b[2 * w] | static_cast<std::uint32_t>(b[2 * w + 1]) << 8;
}
std::string text(const AtaBlock& b, unsigned first, unsigned words) {
    std::string s;
    for (unsigned w = first; w < first + words; ++w) {
        s += static_cast<char>(b[2 * w + 1]);
        s += static_cast<char>(b[2 * w]);
    }
    return s.substr(0, s.find_last_not_of(' ') + 1);
}
std::uint64_t words(const AtaBlock& b, unsigned first, unsigned count) {
    std::uint64_t value = 0;
    for (unsigned i = count; i-- > 0;) value = value << 16 | word(b, first + i);
    return value;
}
bool adds_up(const AtaBlock& b) {
    return static_cast<std::uint8_t>(std::accumulate(b.begin(), b.end(), 0u)) == 0;
}
/// {normalised, raw}; {0, 0}: not there.
std::pair<unsigned, std::uint64_t> attribute(const AtaBlock& b, std::uint8_t id) {
    for (unsigned at = 2; at < 362; at += 12)
        if (b[at] == id) {
            std::uint64_t raw = 0;
            for (unsigned i = 6; i-- > 0;) raw = raw << 8 | b[at + 5 + i];
            return {b[at + 3], raw};
        }
    return {0, 0};
}

DriveFacts drive_of(std::uint64_t bytes) {
    DriveFacts drive;
    drive.drive_bytes = bytes;
    drive.volatile_write_cache = true;
    drive.serial = "S123";
    drive.model = "a model";
    return drive;
}

TEST(IdentifyDevice, SaysWhatTheDriveIs) {
    SataFacts sata;
    sata.queue_depth = 31;
    const AtaBlock b = identify_device(drive_of(500118192ull * 512), sata);
    EXPECT_EQ(text(b, 10, 10), "S123");
    EXPECT_EQ(text(b, 27, 20), "a model");
    EXPECT_EQ(words(b, 100, 4), 500118192u);
    EXPECT_EQ(words(b, 60, 2), 0x0FFFFFFFu) << "more than 28 bits can say";
    EXPECT_EQ(word(b, 75), 30u) << "less one";
    EXPECT_EQ(word(b, 76), 0x10Eu) << "NCQ, and generations 1 to 3";
    EXPECT_EQ(word(b, 217), 1u) << "does not rotate";
    EXPECT_EQ(word(b, 169) & 1u, 1u) << "trims";
    EXPECT_EQ(word(b, 82) >> 5 & 1u, 1u) << "has a write cache";
    EXPECT_EQ(word(b, 83) & 1u << 10, 1u << 10) << "48 bits";
    EXPECT_EQ(word(b, 83) >> 14, 1u) << "the word means something";
    EXPECT_EQ(b[510], 0xA5);
    EXPECT_TRUE(adds_up(b));
}

TEST(IdentifyDevice, SectorsOfBothSizes) {
    SataFacts sata;
    const AtaBlock small = identify_device(drive_of(1 << 20), sata);
    EXPECT_EQ(word(small, 106), 0x6003u) << "8 logical sectors of 512 bytes in a unit of 4 KiB";
    EXPECT_EQ(words(small, 117, 2), 0u);
    EXPECT_EQ(words(small, 60, 2), 2048u);
    sata.lba_bytes = 4096;
    const AtaBlock large = identify_device(drive_of(1 << 20), sata);
    EXPECT_EQ(word(large, 106), 0x5000u);
    EXPECT_EQ(words(large, 117, 2), 2048u) << "in words";
    EXPECT_EQ(words(large, 100, 4), 256u);
}

TEST(IdentifyDevice, GenerationsAndCaches) {
    for (std::uint8_t generation = 1; generation <= 3; ++generation) {
        SataFacts sata;
        sata.generation = generation;
        sata.link_generation = 1;
        const AtaBlock b = identify_device(drive_of(1 << 20), sata);
        std::uint32_t expected = 1u << 8;
        for (unsigned g = 1; g <= generation; ++g) expected |= 1u << g;
        EXPECT_EQ(word(b, 76), expected);
        EXPECT_EQ(word(b, 77), 2u);
    }
    SataFacts sata;
    sata.write_cache_enabled = false;
    EXPECT_EQ(word(identify_device(drive_of(1 << 20), sata), 85) >> 5 & 1u, 0u) << "switched off";
    DriveFacts durable = drive_of(1 << 20);
    durable.volatile_write_cache = false;
    EXPECT_EQ(word(identify_device(durable, SataFacts{}), 82) >> 5 & 1u, 0u) << "there is none";
}

TEST(Smart, CountsAndThreshold) {
    SmartCounts counts;
    counts.power_on_seconds = 7200;
    counts.power_cycles = 3;
    counts.unsafe_shutdowns = 2;
    counts.bytes_written = 1ull << 40;
    counts.crc_errors = 5;
    counts.media_errors = 7;
    DeviceHealth health;
    health.percentage_used = 30;
    health.temperature = 313;
    const AtaBlock b = smart_data(counts, health);
    EXPECT_TRUE(adds_up(b));
    EXPECT_EQ(attribute(b, 0x09).second, 2u);
    EXPECT_EQ(attribute(b, 0x0C).second, 3u);
    EXPECT_EQ(attribute(b, 0xAE).second, 2u);
    EXPECT_EQ(attribute(b, 0xBB).second, 7u);
    EXPECT_EQ(attribute(b, 0xC2).second, 40u) << "degrees Celsius";
    EXPECT_EQ(attribute(b, 0xC7).second, 5u);
    EXPECT_EQ(attribute(b, 0xCA).first, 70u);
    EXPECT_EQ(attribute(b, 0xE8), (std::pair<unsigned, std::uint64_t>{100, 100}));
    EXPECT_EQ(attribute(b, 0xF1).second, (1ull << 40) / 512);
    EXPECT_FALSE(smart_exceeds_threshold(health));
    health.available_spare = 9;
    EXPECT_TRUE(smart_exceeds_threshold(health));
    health.available_spare = 100;
    health.read_only = true;
    EXPECT_TRUE(smart_exceeds_threshold(health));
    health.percentage_used = 250;
    EXPECT_EQ(attribute(smart_data(counts, health), 0xCA).first, 1u) << "never 0";
}

TEST(Logs, DirectoryAndFailure) {
    const AtaBlock directory = log_directory();
    EXPECT_EQ(word(directory, 0), 1u);
    EXPECT_EQ(word(directory, 0x10), 1u);
    EXPECT_EQ(word(directory, 0x30), 2u);
    EXPECT_EQ(word(directory, 0x11), 0u) << "not there";

    NcqFailure failure;
    failure.tag = 17;
    failure.status = 0x41;
    failure.error = 0x40;
    failure.lba = 0x123456789ABC;
    failure.count = 8;
    const AtaBlock b = ncq_error_log(failure);
    EXPECT_EQ(b[0], 17);
    EXPECT_EQ(b[2], 0x41);
    EXPECT_EQ(b[3], 0x40);
    std::uint64_t lba = 0;
    for (const unsigned at : {10, 9, 8, 6, 5, 4}) lba = lba << 8 | b[at];
    EXPECT_EQ(lba, failure.lba);
    EXPECT_EQ(b[12], 8);
    EXPECT_TRUE(adds_up(b));
    failure.queued = false;
    EXPECT_EQ(ncq_error_log(failure)[0] & 0x80, 0x80);
}

TEST(Logs, CopyOfIdentify) {
    const AtaBlock identify = identify_device(drive_of(1 << 20), SataFacts{});
    AtaBlock out;
    ASSERT_TRUE(identify_log(1, identify, out));
    EXPECT_EQ(out, identify);
    ASSERT_TRUE(identify_log(0, identify, out));
    EXPECT_EQ(out[8], 2);
    EXPECT_EQ(out[10], 1);
    EXPECT_FALSE(identify_log(2, identify, out));
}

}  // namespace
}  // namespace ssdtlm
