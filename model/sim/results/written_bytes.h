// SPDX-License-Identifier: Apache-2.0
// Write amplification as drives report it (JEDEC JESD218, OCP Data center NVMe SSD): bytes that were programmed into
// the flash, of whatever class, for each byte that the host wrote. Below 1 where the write buffer took what was written
// again before it was programmed.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "controller/ftl/ftl_counters.h"

namespace ssdtlm {

struct WrittenBytes {
    std::uint64_t host = 0;  ///< of write commands that ended
    std::uint64_t nand = 0;  ///< of the data area of pages that were programmed
    /// None without a byte of the host.
    std::optional<double> waf() const {
        if (host == 0) return std::nullopt;
        return static_cast<double>(nand) / static_cast<double>(host);
    }
};

/// A number, or null.
nlohmann::ordered_json waf_json(const WrittenBytes& written);
/// Bytes by what was programmed; they sum to WrittenBytes::nand. Causes without a page are left out. `log_blocks`: what
/// is moved is moved by merges.
nlohmann::ordered_json nand_bytes_json(const FtlCounters& ftl, std::uint32_t page_bytes, bool log_blocks);

}  // namespace ssdtlm
