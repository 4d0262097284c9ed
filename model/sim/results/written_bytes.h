// SPDX-License-Identifier: Apache-2.0
// Write amplification as drives report it (JEDEC JESD218, OCP Data center NVMe SSD): bytes programmed into the flash,
// of every class, for each byte that the host wrote. It may be below 1, because data in the write buffer may be
// overwritten before they are programmed.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "controller/ftl/ftl_counters.h"

namespace ssdtlm {

struct WrittenBytes {
    std::uint64_t host = 0;  ///< bytes of write commands that ended
    std::uint64_t nand = 0;  ///< bytes of the data area of programmed pages
    /// Empty if the host wrote no byte.
    std::optional<double> waf() const {
        if (host == 0) return std::nullopt;
        return static_cast<double>(nand) / static_cast<double>(host);
    }
};

/// The write amplification as a number, or null.
nlohmann::ordered_json waf_json(const WrittenBytes& written);
/// The programmed bytes by cause, which sum to WrittenBytes::nand. Causes without a page are left out. `log_blocks`:
/// merges move the data.
nlohmann::ordered_json nand_bytes_json(const FtlCounters& ftl, std::uint32_t page_bytes, bool log_blocks);

}  // namespace ssdtlm
