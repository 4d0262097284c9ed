// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

/// The parameters of PCIe link and root complex. The defaults are those of Gen3 x4 on a server.
struct LinkConfig {
    std::uint32_t generation = 3;                ///< 1..6
    std::uint32_t lanes = 4;                     ///< 1, 2, 4, 8, 16
    std::uint32_t max_payload_bytes = 256;       ///< MPS: 128 << n, n = 0..5
    std::uint32_t max_read_request_bytes = 512;  ///< MRRS: 128 << n, n = 0..5
    std::uint32_t completion_payload_bytes =
        256;                             ///< size of read completions of the root complex: 64, 128, 256, ... <= MPS
    std::uint32_t read_tags = 32;        ///< outstanding MRd TLPs of the device
    bool ecrc = false;                   ///< +4 bytes per TLP
    double data_link_efficiency = 0.98;  ///< share of raw bytes left after DLLPs and SKP sets (1.0: none lost)
    Ps device_to_host_latency{250'000};  ///< end of serialisation -> visible at the root complex
    Ps host_to_device_latency{150'000};  ///< end of serialisation (or CPU store) -> visible in the device
    Ps root_complex_latency{150'000};    ///< DMA read: request at the root complex -> first completion offered
    // Flow control. The root port advertises the upstream credits, the device the downstream ones. A data credit has 16
    // B.
    std::uint32_t upstream_posted_headers = 64;
    std::uint32_t upstream_posted_data = 512;
    std::uint32_t upstream_nonposted_headers = 64;
    std::uint32_t downstream_posted_headers = 32;
    std::uint32_t downstream_posted_data = 64;
    std::uint32_t downstream_nonposted_headers = 16;
    Ps credit_return_latency{100'000};  ///< TLP delivered -> its credits usable again by the sender
};

}  // namespace ssdtlm
