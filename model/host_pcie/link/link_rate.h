// SPDX-License-Identifier: Apache-2.0
// The rate of TLP bytes on one direction of a link, as an exact ratio: transfer rate x line code x lanes x the share
// left after DLLPs and SKP ordered sets. It models no lane striping, speed change, FLIT fill or FEC latency; add these
// times to the latencies of LinkConfig.
#pragma once

#include <cstdint>

#include "common/report/error.h"
#include "common/units/units.h"
#include "host_pcie/link/link_config.h"

namespace ssdtlm {

/// The efficiency in steps of 1e-6, rounded to the nearest.
constexpr std::uint64_t efficiency_ppm(double efficiency) {
    return static_cast<std::uint64_t>(efficiency * 1e6 + 0.5);
}

/// The rates come from the PCI Express Base Specification: 2.5 and 5 GT/s with 8b/10b; 8, 16 and 32 GT/s with
/// 128b/130b; 64 GT/s PAM4 with 236 TLP bytes in each FLIT of 256 bytes (0.921875).
inline Rate link_rate(std::uint32_t generation, std::uint32_t lanes, std::uint64_t ppm) {
    SSDTLM_CHECK(generation >= 1 && generation <= 6, "PCIe generation out of range");
    SSDTLM_CHECK(lanes <= 16 && is_power_of_two(lanes), "PCIe lanes out of range");
    SSDTLM_CHECK(ppm >= 1 && ppm <= 1'000'000, "data link efficiency out of range");
    struct LineCode {
        std::uint64_t ps, bytes;  // one lane carries `bytes` in `ps`
    };
    constexpr LineCode codes[] = {{4000, 1}, {2000, 1}, {130'000, 128}, {65'000, 128}, {32'500, 128}, {32'000, 236}};
    const LineCode& code = codes[generation - 1];
    return Rate::of(code.ps * 1'000'000u, code.bytes * lanes * ppm);
}

inline Rate link_rate(const LinkConfig& config) {
    return link_rate(config.generation, config.lanes, efficiency_ppm(config.data_link_efficiency));
}

}  // namespace ssdtlm
