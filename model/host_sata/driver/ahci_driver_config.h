// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

/// What the driver does about the drive's write cache when it starts.
enum class WriteCacheWish : std::uint8_t { as_is, on, off };

/// The host's driver of a Serial ATA drive; all else of the host is HostConfig's.
struct AhciDriverConfig {
    std::uint32_t queue_depth = 32;        ///< 1..32; the drive may have fewer tags
    bool ncq = true;                       ///< else DMA EXT commands, one at a time
    std::uint32_t max_transfer = 1310720;  ///< bytes of a command
    WriteCacheWish write_cache = WriteCacheWish::as_is;
    Ps debounce{100'000'000'000};           ///< the phy is up for so long before the drive is spoken to
    std::uint32_t coalescing_commands = 0;  ///< CCC_CTL.CC; 0: an interrupt for each Set Device Bits
    std::uint32_t coalescing_ms = 1;        ///< CCC_CTL.TV
};

}  // namespace ssdtlm
