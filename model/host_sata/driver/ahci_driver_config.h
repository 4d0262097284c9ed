// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

/// What the driver does with the drive's write cache when it starts.
enum class WriteCacheWish : std::uint8_t { as_is, on, off };

/// Parameters of the host's driver of a Serial ATA drive. HostConfig has all others of the host.
struct AhciDriverConfig {
    std::uint32_t queue_depth = 32;        ///< 1..32; the drive may have fewer tags
    bool ncq = true;                       ///< false: DMA EXT commands, one at a time
    std::uint32_t max_transfer = 1310720;  ///< largest command in bytes
    WriteCacheWish write_cache = WriteCacheWish::as_is;
    Ps debounce{100'000'000'000};           ///< time for which the phy must be up before the first command
    std::uint32_t coalescing_commands = 0;  ///< CCC_CTL.CC; 0: an interrupt for each Set Device Bits
    std::uint32_t coalescing_ms = 1;        ///< CCC_CTL.TV
};

}  // namespace ssdtlm
