// SPDX-License-Identifier: Apache-2.0
// Pages of 512 bytes that the drive tells of itself: IDENTIFY DEVICE, SMART data, log pages. No state of their own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "controller/ports/drive_facts.h"
#include "controller/sata/task_file.h"

namespace ssdtlm {

using AtaPage = std::array<std::uint8_t, ata::kPageBytes>;

/// What the host has switched, and what is counted for SMART.
struct SataSettings {
    bool write_cache = true;
    bool smart = true;
};
struct SataTotals {
    std::uint64_t sectors_written = 0;
    std::uint64_t sectors_read = 0;
    std::uint64_t media_errors = 0;
    std::uint64_t interface_errors = 0;
    std::uint64_t power_cycles = 1;
    std::uint64_t unsafe_shutdowns = 0;
};
/// The last error that stopped the queue, for log 10h.
struct NcqError {
    bool queued = true;
    std::uint8_t tag = 0;
    AtaEnd end;
    std::uint64_t lba = 0;
    std::uint16_t count = 0;
    std::uint8_t device = 0;
};

AtaPage identify_page(const SataConfig& config, const DriveFacts& drive, std::uint64_t sectors,
                      const SataSettings& settings, std::uint8_t negotiated);
AtaPage smart_page(const SataTotals& totals, const DeviceHealth& health, SimTime now);
/// The drive says that it fails soon.
bool smart_fails(const DeviceHealth& health);
AtaPage ncq_error_page(const std::optional<NcqError>& error);
/// Of READ LOG EXT; nothing: there is no such log, or no such page of it.
std::optional<AtaPage> log_page(std::uint8_t log, std::uint32_t page, const AtaPage& identify,
                                const std::optional<NcqError>& error);

}  // namespace ssdtlm
