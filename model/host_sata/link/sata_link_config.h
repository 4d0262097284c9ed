// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/units/units.h"
#include "protocol/sata.h"

namespace ssdtlm {

/// The ends of a Serial ATA link.
enum class SataEnd : std::uint8_t { host, device };
constexpr SataEnd other_end(SataEnd end) {
    return end == SataEnd::host ? SataEnd::device : SataEnd::host;
}

struct SataLinkConfig {
    std::uint8_t host_generation = 3;    ///< highest of the host's phy: 1, 2 or 3 for 1.5, 3 or 6 Gb/s
    std::uint8_t device_generation = 3;  ///< highest of the drive's phy
    /// Time from COMRESET or COMINIT to a phy that is up. assumed; the host waits 873.8 us for ALIGN (Serial ATA 3.0,
    /// 8.4.2).
    Ps reset_time{100'000'000};
    std::uint32_t handshake_dwords = sata::kHandshakeDwords;  ///< around each frame

    std::uint8_t generation() const { return std::min(host_generation, device_generation); }
    /// Rate of FIS bytes and primitives, which take ten bits of the wire each (8b/10b).
    Rate rate() const { return Rate::bytes_per_second(150'000'000ull << (generation() - 1)); }
};

}  // namespace ssdtlm
