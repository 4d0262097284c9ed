// SPDX-License-Identifier: Apache-2.0
// Bytes on the wire of a PCIe link, with TLP headers and framing.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host_pcie/link/link_config.h"
#include "protocol/tlp.h"

namespace ssdtlm {

class LinkBytes {
public:
    static constexpr std::uint64_t kHigh = 8_GiB;       ///< an address in host memory or BAR0: its headers have 4 DW
    static constexpr std::uint64_t kLow = 0xFEE00000u;  ///< address of a message
    static constexpr std::uint32_t kSqe = 64, kCqe = 16, kMessage = 4, kDoorbell = 4, kPrp = 8;

    explicit LinkBytes(const LinkConfig& link) : link_(link) {}

    double write(std::uint64_t address, std::uint64_t bytes) const {
        return data(TlpKind::mem_write, address, bytes, link_.max_payload_bytes);
    }
    /// requests() counts the bytes of the device's read requests for host memory, and answers() the bytes of their
    /// completions.
    double one_request(std::uint64_t address) const { return overhead(TlpKind::mem_read, address); }
    double requests(std::uint64_t address, std::uint64_t bytes) const {
        return piece_count(address, bytes, link_.max_read_request_bytes) * one_request(address);
    }
    double answers(std::uint64_t address, std::uint64_t bytes) const {
        return data(TlpKind::completion_data, address, bytes,
                    std::min(link_.completion_payload_bytes, link_.max_read_request_bytes));
    }

private:
    std::uint32_t overhead(TlpKind kind, std::uint64_t address) const {
        return tlp_overhead_bytes(link_.generation, link_.ecrc, kind, address);
    }
    double data(TlpKind kind, std::uint64_t address, std::uint64_t bytes, std::uint32_t unit) const {
        return static_cast<double>(TlpTrain::data(address, bytes, unit, overhead(kind, address)).wire_bytes());
    }
    const LinkConfig& link_;
};

}  // namespace ssdtlm
