// SPDX-License-Identifier: Apache-2.0
// What a front end is told about the drive behind it, whatever its protocol.
#pragma once

#include <cstdint>
#include <string>

#include "common/units/units.h"

namespace ssdtlm {

/// What does not change while the drive lives.
struct DriveFacts {
    std::uint64_t drive_bytes = 0;            ///< that the host can address; a whole number of logical blocks
    Ps scan_time{};                           ///< longest search for the map after the power was off, or longest reset
    Ps shutdown_time{};                       ///< longest normal shutdown; 0: not known
    bool volatile_write_cache = false;        ///< false: power-loss protected or no buffer
    std::uint16_t pci_vendor = 0xFFFE;        ///< and subsystem vendor; assumed: not registered to anyone
    std::uint32_t unit_bytes = 4096;          ///< preferred write and deallocate granularity (the mapping unit)
    std::string serial = "SSDTLM0000000001";  ///< ASCII, at most 20 characters
    std::string model = "ssdtlm";             ///< ASCII, at most 40
    std::string firmware = "0.1";             ///< ASCII, at most 8
};

/// What does.
struct DeviceHealth {
    std::uint8_t available_spare = 100;  ///< percent
    std::uint8_t percentage_used = 0;    ///< percent of rated endurance, may exceed 100
    std::uint16_t temperature = 313;     ///< kelvin; assumed: 40 degrees Celsius, thermal behaviour is not modelled
    bool read_only = false;              ///< the media takes no more writes
};

}  // namespace ssdtlm
