// SPDX-License-Identifier: Apache-2.0
// Facts of a drive with Serial ATA: commands, bits of the registers, words of IDENTIFY DEVICE, log pages, as far as the
// model has them. There is no state and no policy. Sources: ACS-3 (ATA/ATAPI Command Set 3, T13 revision 5), section
// numbers; Serial ATA 3.0 for the queued commands.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ssdtlm::ata {

// --- Commands (ACS-3, 7) ---
inline constexpr std::uint8_t kDataSetManagement = 0x06;  ///< features bit 0: TRIM; DMA out
inline constexpr std::uint8_t kReadDmaExt = 0x25;
inline constexpr std::uint8_t kReadLogExt = 0x2F;  ///< PIO in
inline constexpr std::uint8_t kWriteDmaExt = 0x35;
inline constexpr std::uint8_t kWriteDmaFuaExt = 0x3D;
inline constexpr std::uint8_t kReadVerify = 0x40;
inline constexpr std::uint8_t kReadVerifyExt = 0x42;
inline constexpr std::uint8_t kReadFpdmaQueued = 0x60;
inline constexpr std::uint8_t kWriteFpdmaQueued = 0x61;
inline constexpr std::uint8_t kSmart = 0xB0;
inline constexpr std::uint8_t kReadDma = 0xC8;
inline constexpr std::uint8_t kWriteDma = 0xCA;
inline constexpr std::uint8_t kStandbyImmediate = 0xE0;
inline constexpr std::uint8_t kIdleImmediate = 0xE1;
inline constexpr std::uint8_t kCheckPowerMode = 0xE5;
inline constexpr std::uint8_t kFlushCache = 0xE7;
inline constexpr std::uint8_t kFlushCacheExt = 0xEA;
inline constexpr std::uint8_t kIdentifyDevice = 0xEC;  ///< PIO in
inline constexpr std::uint8_t kSetFeatures = 0xEF;

// --- Registers (ACS-3, 6) ---
inline constexpr std::uint8_t kStatusErr = 1u << 0;
inline constexpr std::uint8_t kStatusDrq = 1u << 3;
inline constexpr std::uint8_t kStatusDsc = 1u << 4;  ///< obsolete, and set by drives at rest
inline constexpr std::uint8_t kStatusDf = 1u << 5;
inline constexpr std::uint8_t kStatusDrdy = 1u << 6;
inline constexpr std::uint8_t kStatusBsy = 1u << 7;
inline constexpr std::uint8_t kStatusGood = kStatusDrdy | kStatusDsc;
inline constexpr std::uint8_t kStatusError = kStatusDrdy | kStatusDsc | kStatusErr;

inline constexpr std::uint8_t kErrorAbrt = 1u << 2;
inline constexpr std::uint8_t kErrorIdnf = 1u << 4;
inline constexpr std::uint8_t kErrorUnc = 1u << 6;
inline constexpr std::uint8_t kErrorIcrc = 1u << 7;

inline constexpr std::uint8_t kDeviceLba = 1u << 6;
inline constexpr std::uint8_t kDeviceFua = 1u << 7;  ///< of a queued command (7.23.3.6)
inline constexpr std::uint8_t kControlSrst = 1u << 2;

/// Tag of a queued command, in `count` (ACS-3, 7.23.3.4).
constexpr std::uint8_t tag_of(std::uint16_t count) {
    return static_cast<std::uint8_t>(count >> 3 & 31);
}
constexpr std::uint8_t priority_of(std::uint16_t count) {
    return static_cast<std::uint8_t>(count >> 14);
}
inline constexpr std::uint8_t kPriorityNormal = 0;
inline constexpr std::uint8_t kPriorityIsochronous = 1;
inline constexpr std::uint8_t kPriorityHigh = 2;

/// What a drive reports after a reset (ACS-3, 6.1, table of signatures): count 1, LBA 1; error 01h: no fault found.
inline constexpr std::uint16_t kSignatureCount = 1;
inline constexpr std::uint64_t kSignatureLba = 1;
inline constexpr std::uint8_t kDiagnosticsPassed = 1;

/// Count 0 means this many sectors.
inline constexpr std::uint32_t kMostSectors = 65536;
inline constexpr std::uint32_t kMostSectors28 = 256;
inline constexpr std::uint64_t kMostLba28 = 0x0FFF'FFFF;
inline constexpr std::uint32_t kPageBytes = 512;  ///< of IDENTIFY data and log pages, whatever the sector is

// --- SET FEATURES (ACS-3, 7.45), features ---
inline constexpr std::uint8_t kFeatureWriteCacheOn = 0x02;
inline constexpr std::uint8_t kFeatureTransferMode = 0x03;
inline constexpr std::uint8_t kFeatureWriteCacheOff = 0x82;

// --- SMART (ACS-3, 7.47), features ---
inline constexpr std::uint8_t kSmartReadData = 0xD0;
inline constexpr std::uint8_t kSmartEnable = 0xD8;
inline constexpr std::uint8_t kSmartDisable = 0xD9;
inline constexpr std::uint8_t kSmartReturnStatus = 0xDA;
inline constexpr std::uint16_t kSmartKey = 0xC24F;      ///< in LBA bits 23 to 8
inline constexpr std::uint16_t kSmartFailing = 0x2CF4;  ///< there, in the answer of RETURN STATUS

// --- Log addresses (ACS-3, annex A) ---
inline constexpr std::uint8_t kLogDirectory = 0x00;
inline constexpr std::uint8_t kLogNcqError = 0x10;
inline constexpr std::uint8_t kLogIdentify = 0x30;

/// NCQ Command Error log, 10h (ACS-3, A.14): byte positions.
namespace ncq_error {
inline constexpr std::size_t kTag = 0;  ///< bits 4 to 0 the tag; bit 7, NQ: the command was not queued
inline constexpr std::uint8_t kNotQueued = 0x80;
inline constexpr std::size_t kStatus = 2;
inline constexpr std::size_t kError = 3;
inline constexpr std::size_t kLba = 4;  ///< bits 23 to 0; 47 to 24 at 8
inline constexpr std::size_t kDevice = 7;
inline constexpr std::size_t kCount = 12;
inline constexpr std::size_t kSum = 511;  ///< all 512 bytes add up to 0
}  // namespace ncq_error

// --- IDENTIFY DEVICE (ACS-3, 7.12.7), words ---
namespace identify {
inline constexpr std::size_t kSerial = 10;  ///< 20 characters, two a word, the first one in the high byte
inline constexpr std::size_t kFirmware = 23;
inline constexpr std::size_t kModel = 27;
inline constexpr std::size_t kCapabilities = 49;
inline constexpr std::size_t kSectors28 = 60;
inline constexpr std::size_t kAdditional = 69;
inline constexpr std::size_t kQueueDepth = 75;
inline constexpr std::size_t kSataCapabilities = 76;
inline constexpr std::size_t kSataFeatures = 78;
inline constexpr std::size_t kSataEnabled = 79;
inline constexpr std::size_t kSupported = 82;  ///< 82 to 84
inline constexpr std::size_t kEnabled = 85;    ///< 85 to 87
inline constexpr std::size_t kUltraDma = 88;
inline constexpr std::size_t kSectors48 = 100;
inline constexpr std::size_t kTrimBlocks = 105;
inline constexpr std::size_t kSectorSizes = 106;
inline constexpr std::size_t kSectorWords = 117;  ///< 117, 118: words of a logical sector
inline constexpr std::size_t kSupported2 = 119;
inline constexpr std::size_t kEnabled2 = 120;
inline constexpr std::size_t kTrim = 169;
inline constexpr std::size_t kRotation = 217;
inline constexpr std::size_t kTransport = 222;
inline constexpr std::size_t kIntegrity = 255;
}  // namespace identify

/// DATA SET MANAGEMENT: entries of 8 bytes, LBA in bits 47 to 0, sectors in 63 to 48; 0 sectors: no entry (7.5.3).
inline constexpr std::uint32_t kTrimEntryBytes = 8;

}  // namespace ssdtlm::ata
