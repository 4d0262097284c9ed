// SPDX-License-Identifier: Apache-2.0
// The blocks of 512 bytes that describe a SATA drive: IDENTIFY DEVICE, SMART data, and the logs of READ LOG EXT. These
// are plain functions from facts to bytes. Sources: ACS-3 (INCITS 522), 7.12 (IDENTIFY DEVICE), 7.48 (SMART) and annex
// A (logs); Serial ATA 3.0, 13.7 (NCQ error log).
#pragma once

#include <array>
#include <cstdint>

#include "controller/ports/drive_facts.h"

namespace ssdtlm {

using AtaBlock = std::array<std::uint8_t, 512>;

/// Facts of the front end that DriveFacts does not have.
struct SataFacts {
    std::uint32_t lba_bytes = 512;     ///< logical sector: 512 or 4096
    std::uint32_t queue_depth = 32;    ///< 1 to 32
    std::uint8_t generation = 3;       ///< highest that the drive supports: 1, 2 or 3
    std::uint8_t link_generation = 3;  ///< of the link as it is now
    bool auto_activate = false;        ///< DMA Setup with auto-activate
    bool write_cache_enabled = true;   ///< by SET FEATURES, as it is now
    bool smart_enabled = true;
    std::uint32_t most_trim_blocks = 8;  ///< limit of one DATA SET MANAGEMENT command
};

/// Word 255 is a checksum, so that the bytes add up to 0.
AtaBlock identify_device(const DriveFacts& drive, const SataFacts& sata);

/// Counts since the start of the simulation.
struct SmartCounts {
    std::uint64_t power_on_seconds = 0;
    std::uint64_t power_cycles = 0;
    std::uint64_t unsafe_shutdowns = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t crc_errors = 0;    ///< frames that came with a wrong CRC
    std::uint64_t media_errors = 0;  ///< reads and writes that failed because of the flash
};
/// SMART READ DATA: attributes 09h, 0Ch, AEh, BBh, C2h, C7h, CAh, E8h and F1h.
AtaBlock smart_data(const SmartCounts& counts, const DeviceHealth& health);
/// Answers SMART RETURN STATUS: true if a threshold is exceeded.
bool smart_exceeds_threshold(const DeviceHealth& health);

/// Log 00h: the numbers and lengths of the logs.
AtaBlock log_directory();

/// Log 10h: the command that stopped the queue.
struct NcqFailure {
    bool queued = true;
    std::uint8_t tag = 0;
    std::uint8_t status = 0;
    std::uint8_t error = 0;
    std::uint64_t lba = 0;
    std::uint8_t device = 0;
    std::uint16_t count = 0;
};
AtaBlock ncq_error_log(const NcqFailure& failure);

/// Writes a page of log 30h. Page 00h lists the pages, and 01h is a copy of IDENTIFY. Returns false for any other page.
bool identify_log(std::uint8_t page, const AtaBlock& identify, AtaBlock& out);

}  // namespace ssdtlm
