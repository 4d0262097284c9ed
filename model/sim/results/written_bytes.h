// SPDX-License-Identifier: Apache-2.0
// Write amplification as drives report it (JEDEC JESD218, OCP Data center NVMe SSD): bytes programmed into the flash,
// of any class, for each byte that the host wrote. It is below 1 if the write buffer took data that were written again
// before they were programmed.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "controller/ftl/ftl_counters.h"

namespace ssdtlm {

struct WrittenBytes {
    std::uint64_t host = 0;  ///< of write commands that ended
    std::uint64_t nand = 0;  ///< of the data area of pages that were programmed
    /// Empty if the host wrote no byte.
    std::optional<double> waf() const {
        if (host == 0) return std::nullopt;
        return static_cast<double>(nand) / static_cast<double>(host);
    }
};

/// The write amplification as a number, or null.
nlohmann::ordered_json waf_json(const WrittenBytes& written);
/// Bytes by what was programmed; they sum to WrittenBytes::nand. Causes without a page are left out. `log_blocks`:
/// moves are done by merges.
nlohmann::ordered_json nand_bytes_json(const FtlCounters& ftl, std::uint32_t page_bytes, bool log_blocks);

}  // namespace ssdtlm
