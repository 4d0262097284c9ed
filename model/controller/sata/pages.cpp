// SPDX-License-Identifier: Apache-2.0
#include "controller/sata/pages.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace ssdtlm {

using namespace ata;

namespace {

constexpr std::uint8_t kSpareThreshold = 10;  // percent; assumed, as in NVMe's log
constexpr std::uint16_t kIdentifyLogPages = 2;

void put(AtaPage& p, std::size_t word, std::uint64_t value, std::size_t words = 1) {
    for (std::size_t i = 0; i < 2 * words; ++i) p[2 * word + i] = static_cast<std::uint8_t>(value >> (8 * i));
}
/// Two characters a word, the first one in the high byte; blanks behind (ACS-3, 3.3.10).
void put_text(AtaPage& p, std::size_t word, std::size_t bytes, const std::string& text) {
    for (std::size_t i = 0; i < bytes; ++i)
        p[2 * word + (i ^ 1)] = i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{' '};
}
/// The last byte makes the sum of all zero.
void close(AtaPage& p) {
    std::uint8_t sum = 0;
    p[kPageBytes - 1] = 0;
    for (const std::uint8_t b : p) sum = static_cast<std::uint8_t>(sum + b);
    p[kPageBytes - 1] = static_cast<std::uint8_t>(0 - sum);
}

}  // namespace

AtaPage identify_page(const SataConfig& config, const DriveFacts& drive, std::uint64_t sectors,
                      const SataSettings& settings, std::uint8_t negotiated) {
    namespace w = identify;
    AtaPage p{};
    put(p, 0, 0x0040);  // an ATA device, complete
    put(p, 2, 0xC837);  // complete
    put_text(p, w::kSerial, 20, drive.serial);
    put_text(p, w::kFirmware, 8, drive.firmware);
    put_text(p, w::kModel, 40, drive.model);
    put(p, 47, 0x8001);                // READ MULTIPLE is not there; one sector a DRQ block
    put(p, w::kCapabilities, 0x0F00);  // DMA, LBA, IORDY
    put(p, 50, 0x4000);
    put(p, 53, 0x0006);  // words 64 to 70 and 88 are valid
    put(p, w::kSectors28, std::min(sectors, kMostLba28), 2);
    put(p, 63, 0x0007);                                                     // multiword DMA 0 to 2
    put(p, 64, 0x0003);                                                     // PIO 3, 4
    for (const std::size_t word : {65u, 66u, 67u, 68u}) put(p, word, 120);  // ns a cycle, as all Serial ATA drives say
    put(p, w::kAdditional, 1u << 14);                                       // deterministic data behind a trim
    put(p, w::kQueueDepth, config.queue_depth - 1);
    const std::uint32_t speeds = (2u << config.generation) - 2;  // bits 1 to 3
    put(p, w::kSataCapabilities, speeds | 1u << 8);              // NCQ
    put(p, 77, std::uint32_t{negotiated} << 1);                  // the present speed
    const std::uint32_t auto_activate = config.auto_activate ? 1u << 2 : 0u;
    put(p, w::kSataFeatures, auto_activate);
    put(p, w::kSataEnabled, auto_activate);
    put(p, 80, 0x03F0);  // ATA/ATAPI-4 to ACS-2 and ACS-3
    put(p, 81, 0x0110);  // ACS-3 revision 5
    const std::uint32_t cache = drive.volatile_write_cache ? 1u << 5 : 0u;
    put(p, w::kSupported, 0x0001 | cache);  // SMART
    put(p, w::kSupported + 1, 0x7400);      // FLUSH CACHE, FLUSH CACHE EXT, 48-bit addresses
    put(p, w::kSupported + 2, 0x4060);      // WRITE DMA FUA EXT, general purpose logs
    put(p, w::kEnabled, (settings.smart ? 1u : 0u) | (settings.write_cache ? cache : 0u));
    put(p, w::kEnabled + 1, 0xB400);  // the same, and words 119, 120 are valid
    put(p, w::kEnabled + 2, 0x4060);
    put(p, w::kUltraDma, 0x407F);  // modes 0 to 6, 6 is chosen
    put(p, w::kSectors48, sectors, 4);
    put(p, w::kTrimBlocks, 8);
    const std::uint32_t physical = std::max(drive.unit_bytes, config.lba_bytes) / config.lba_bytes;
    std::uint32_t exponent = 0;
    while ((2u << exponent) <= physical) ++exponent;
    const std::uint32_t long_logical = config.lba_bytes != 512 ? 1u << 12 : 0u;
    put(p, w::kSectorSizes, 0x4000 | long_logical | (exponent != 0 ? 1u << 13 : 0u) | std::min(exponent, 15u));
    if (long_logical != 0) put(p, w::kSectorWords, config.lba_bytes / 2, 2);
    put(p, w::kSupported2, 0x4000);
    put(p, w::kEnabled2, 0x4000);
    put(p, w::kTrim, 1);
    put(p, w::kRotation, 1);        // does not rotate
    put(p, w::kTransport, 0x107F);  // Serial ATA up to 3.1
    p[510] = 0xA5;
    close(p);
    return p;
}

/// The layout is not ACS-3's, which leaves it to the maker, but what drives and smartmontools have in common: from byte
/// 2 on up to 30 attributes of number, flags, value, worst value and six raw bytes. assumed.
AtaPage smart_page(const SataTotals& t, const DeviceHealth& health, SimTime now) {
    AtaPage p{};
    p[0] = 0x10;
    std::size_t at = 2;
    const auto attribute = [&p, &at](std::uint8_t id, std::uint8_t value, std::uint64_t raw) {
        p[at] = id;
        p[at + 1] = 0x32;
        p[at + 3] = p[at + 4] = value;
        for (unsigned i = 0; i < 6; ++i) p[at + 5 + i] = static_cast<std::uint8_t>(raw >> (8 * i));
        at += 12;
    };
    const auto left = static_cast<std::uint8_t>(std::max(1, 100 - health.percentage_used));
    const std::uint64_t celsius = health.temperature > 273 ? health.temperature - 273u : 0u;
    attribute(9, 100, static_cast<std::uint64_t>(now.time_since_epoch() / std::chrono::hours(1)));
    attribute(12, 100, t.power_cycles);
    attribute(174, 100, t.unsafe_shutdowns);
    attribute(177, left, health.percentage_used);
    attribute(187, 100, t.media_errors);
    attribute(194, 100, celsius);
    attribute(199, 100, t.interface_errors);
    attribute(232, health.available_spare, health.available_spare);
    attribute(241, 100, t.sectors_written);
    attribute(242, 100, t.sectors_read);
    p[362] = 0x02;  // no off-line collection under way
    p[368] = 0x03;  // SMART is saved
    p[370] = 0x01;  // logs are there
    close(p);
    return p;
}

bool smart_fails(const DeviceHealth& health) {
    return health.read_only || health.available_spare < kSpareThreshold;
}

AtaPage ncq_error_page(const std::optional<NcqError>& error) {
    namespace l = ncq_error;
    AtaPage p{};
    if (!error) {
        p[l::kTag] = l::kNotQueued;
    } else {
        p[l::kTag] = error->queued ? error->tag : l::kNotQueued;
        p[l::kStatus] = error->end.status;
        p[l::kError] = error->end.error;
        for (unsigned i = 0; i < 3; ++i) {
            p[l::kLba + i] = static_cast<std::uint8_t>(error->lba >> (8 * i));
            p[l::kLba + 4 + i] = static_cast<std::uint8_t>(error->lba >> (24 + 8 * i));
        }
        p[l::kDevice] = error->device;
        p[l::kCount] = static_cast<std::uint8_t>(error->count);
        p[l::kCount + 1] = static_cast<std::uint8_t>(error->count >> 8);
    }
    close(p);
    return p;
}

std::optional<AtaPage> log_page(std::uint8_t log, std::uint32_t page, const AtaPage& identify,
                                const std::optional<NcqError>& error) {
    AtaPage p{};
    switch (log) {
        case kLogDirectory:  // A.2: a version, then the pages of each log by its address
            if (page != 0) return std::nullopt;
            put(p, 0, 1);
            put(p, kLogNcqError, 1);
            put(p, kLogIdentify, kIdentifyLogPages);
            return p;
        case kLogNcqError:
            if (page != 0) return std::nullopt;
            return ncq_error_page(error);
        case kLogIdentify:  // A.11: page 0 lists the others, page 1 is the data of IDENTIFY DEVICE
            if (page >= kIdentifyLogPages) return std::nullopt;
            if (page == 1) return identify;
            put(p, 0, 1);
            p[8] = kIdentifyLogPages;
            p[10] = 1;
            return p;
        default:
            return std::nullopt;
    }
}

}  // namespace ssdtlm
