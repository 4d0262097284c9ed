// SPDX-License-Identifier: Apache-2.0
#include "controller/sata/device_pages.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "protocol/ata.h"

namespace ssdtlm {

namespace {

void set_word(AtaBlock& block, unsigned word, std::uint32_t value) {
    block[2 * word] = static_cast<std::uint8_t>(value);
    block[2 * word + 1] = static_cast<std::uint8_t>(value >> 8);
}
void set_words(AtaBlock& block, unsigned word, unsigned words, std::uint64_t value) {
    for (unsigned i = 0; i < words; ++i) set_word(block, word + i, static_cast<std::uint16_t>(value >> (16 * i)));
}
/// Writes an ATA string: the first character of a pair is in the upper byte of its word, and blanks follow (ACS-3,
/// 3.4.9).
void set_text(AtaBlock& block, unsigned word, unsigned words, std::string text) {
    text.resize(2 * words, ' ');
    for (unsigned i = 0; i < words; ++i) {
        block[2 * (word + i)] = static_cast<std::uint8_t>(text[2 * i + 1]);
        block[2 * (word + i) + 1] = static_cast<std::uint8_t>(text[2 * i]);
    }
}
/// Sets the last byte so that the sum of all bytes is 0 (ACS-3, A.2 and 7.12.7.84).
void add_checksum(AtaBlock& block) {
    block[511] = 0;
    block[511] = static_cast<std::uint8_t>(-std::accumulate(block.begin(), block.end(), 0u));
}

/// Returns a unique name of the drive: NAA 5, an IEEE number that nobody has (assumed), and a sum of the serial number.
std::uint64_t world_wide_name(const DriveFacts& drive) {
    std::uint64_t sum = 0;
    for (const char c : drive.serial) sum = sum * 131 + static_cast<std::uint8_t>(c);
    return 0x5ull << 60 | (sum & 0xFFFFFFFFFull);
}

struct Attribute {
    std::uint8_t id;
    std::uint8_t value;  ///< normalised: 100 is good
    std::uint8_t threshold;
    std::uint64_t raw;
    bool prefails = false;
};
constexpr unsigned kFirstAttribute = 2, kAttributeBytes = 12;
constexpr std::uint8_t kSpareThreshold = 10;  ///< percent; assumed: a usual value

}  // namespace

AtaBlock identify_device(const DriveFacts& drive, const SataFacts& sata) {
    AtaBlock b{};
    const std::uint64_t sectors = drive.drive_bytes / sata.lba_bytes;
    set_word(b, 0, 0x0040);  // a fixed ATA device
    set_text(b, 10, 10, drive.serial);
    set_text(b, 23, 4, drive.firmware);
    set_text(b, 27, 20, drive.model);
    set_word(b, 47, 0x8001);             // READ MULTIPLE, not served, of one sector
    set_word(b, 49, 1u << 9 | 1u << 8);  // LBA and DMA
    set_word(b, 50, 1u << 14);
    set_word(b, 53, 1u << 2 | 1u << 1);  // words 64 to 70 and 88 are valid
    set_words(b, 60, 2, std::min<std::uint64_t>(sectors, 0x0FFFFFFF));
    set_word(b, 63, 0x0007);                                              // multiword DMA 0 to 2
    set_word(b, 64, 0x0003);                                              // PIO 3 and 4
    for (unsigned word = 65; word <= 68; ++word) set_word(b, word, 120);  // ns a cycle
    set_word(b, 69, 1u << 14);  // trimmed blocks always read the same: zeros, except for parts of a unit
    set_word(b, 75, sata.queue_depth - 1);
    const std::uint32_t generations = (2u << sata.generation) - 2;  // bits 1 to 3
    set_word(b, 76, 1u << 8 | generations);
    set_word(b, 77, static_cast<std::uint32_t>(sata.link_generation) << 1);
    set_word(b, 78, sata.auto_activate ? 1u << 2 : 0);
    set_word(b, 79, sata.auto_activate ? 1u << 2 : 0);
    set_word(b, 80, 0x07F0);  // ATA/ATAPI-4 to ACS-3
    const std::uint32_t cache = drive.volatile_write_cache ? 1u << 5 : 0;
    set_word(b, 82, 1u | cache);                                 // SMART, write cache
    set_word(b, 83, 1u << 14 | 1u << 13 | 1u << 12 | 1u << 10);  // FLUSH CACHE EXT, FLUSH CACHE, 48 bits
    set_word(b, 84, 1u << 14 | 1u << 8 | 1u << 6 | 1u << 5);     // a name, WRITE DMA FUA EXT, logs
    set_word(b, 85, (sata.smart_enabled ? 1u : 0) | (sata.write_cache_enabled ? cache : 0));
    set_word(b, 86, 1u << 15 | 1u << 13 | 1u << 12 | 1u << 10);  // bit 15: words 119 and 120 are valid
    set_word(b, 87, 1u << 14 | 1u << 8 | 1u << 6 | 1u << 5);
    set_word(b, 88, 0x407F);  // Ultra DMA 0 to 6, of which 6 is chosen
    set_words(b, 100, 4, sectors);
    set_word(b, 105, sata.most_trim_blocks);
    // A physical sector is a mapping unit, which has 2^n logical sectors.
    unsigned shift = 0;
    while ((sata.lba_bytes << (shift + 1)) <= drive.unit_bytes && shift < 15) ++shift;
    const bool long_sectors = sata.lba_bytes > 512;
    set_word(b, 106, 1u << 14 | (shift != 0 ? 1u << 13 : 0) | (long_sectors ? 1u << 12 : 0) | shift);
    const std::uint64_t name = world_wide_name(drive);
    for (unsigned i = 0; i < 4; ++i) set_word(b, 108 + i, static_cast<std::uint16_t>(name >> (48 - 16 * i)));
    if (long_sectors) set_words(b, 117, 2, sata.lba_bytes / 2);
    set_word(b, 119, 1u << 14);
    set_word(b, 120, 1u << 14);
    set_word(b, 169, 1);                  // DATA SET MANAGEMENT with trim
    set_word(b, 209, 1u << 14);           // logical sector 0 begins a physical one
    set_word(b, 217, 1);                  // it does not rotate
    set_word(b, 222, 1u << 12 | 0x007F);  // serial transport, Serial ATA up to 3.1
    b[510] = 0xA5;
    add_checksum(b);
    return b;
}

bool smart_exceeds_threshold(const DeviceHealth& health) {
    return health.available_spare < kSpareThreshold || health.read_only;
}

AtaBlock smart_data(const SmartCounts& counts, const DeviceHealth& health) {
    const auto left = static_cast<std::uint8_t>(health.percentage_used >= 100 ? 1 : 100 - health.percentage_used);
    const std::uint64_t celsius = health.temperature > 273 ? health.temperature - 273u : 0;
    const Attribute attributes[] = {
        {0x09, 100, 0, counts.power_on_seconds / 3600},  // power-on hours
        {0x0C, 100, 0, counts.power_cycles},
        {0xAE, 100, 0, counts.unsafe_shutdowns},
        {0xBB, 100, 0, counts.media_errors},  // reported uncorrectable errors
        {0xC2, static_cast<std::uint8_t>(100 - std::min<std::uint64_t>(celsius, 99)), 0, celsius},
        {0xC7, 100, 0, counts.crc_errors},
        {0xCA, left, 0, health.percentage_used},  // of the rated endurance
        {0xE8, std::max<std::uint8_t>(health.available_spare, 1), kSpareThreshold, health.available_spare, true},
        {0xF1, 100, 0, counts.bytes_written / 512},  // sectors of 512 bytes that the host wrote
    };
    AtaBlock b{};
    set_word(b, 0, 0x0010);  // revision of the attributes; assumed: a usual value
    unsigned at = kFirstAttribute;
    for (const Attribute& a : attributes) {
        b[at] = a.id;
        b[at + 1] = static_cast<std::uint8_t>((a.prefails ? 1 : 0) | 1u << 1 | 1u << 4 | 1u << 5);
        b[at + 3] = a.value;
        b[at + 4] = a.value;  // the worst value so far; none recovers
        for (unsigned i = 0; i < 6; ++i) b[at + 5 + i] = static_cast<std::uint8_t>(a.raw >> (8 * i));
        at += kAttributeBytes;
    }
    b[367] = 0;                // no self-test
    set_word(b, 184, 0x0003);  // SMART saves its data by itself
    b[370] = 1;                // error logging
    add_checksum(b);
    return b;
}

AtaBlock log_directory() {
    AtaBlock b{};
    set_word(b, 0, 1);  // version
    set_word(b, ata::kLogNcqError, 1);
    set_word(b, ata::kLogIdentify, 2);
    return b;
}

AtaBlock ncq_error_log(const NcqFailure& f) {
    AtaBlock b{};
    b[0] = static_cast<std::uint8_t>((f.queued ? 0 : 0x80) | (f.tag & 0x1F));
    b[2] = f.status;
    b[3] = f.error;
    for (unsigned i = 0; i < 3; ++i) {
        b[4 + i] = static_cast<std::uint8_t>(f.lba >> (8 * i));
        b[8 + i] = static_cast<std::uint8_t>(f.lba >> (24 + 8 * i));
    }
    b[7] = f.device;
    b[12] = static_cast<std::uint8_t>(f.count);
    b[13] = static_cast<std::uint8_t>(f.count >> 8);
    add_checksum(b);
    return b;
}

bool identify_log(std::uint8_t page, const AtaBlock& identify, AtaBlock& out) {
    out = {};
    if (page == 1) {
        out = identify;
        return true;
    }
    if (page != 0) return false;
    out[0] = 1;  // version of the page, in a header of 8 bytes
    out[8] = 2;  // two pages: this one and the copy
    out[9] = 0;
    out[10] = 1;
    return true;
}

}  // namespace ssdtlm
