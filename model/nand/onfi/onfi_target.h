// SPDX-License-Identifier: Apache-2.0
// One plane's part of an operation. Kernel-free, shared by the bus payload, the die and the pins.
#pragma once

#include <cstdint>

#include "nand/onfi/spare.h"

namespace ssdtlm {

struct OnfiTarget {
    std::uint8_t plane = 0;      ///< in die
    std::uint32_t block = 0;     ///< in plane
    std::uint32_t page = 0;      ///< in block
    std::uint32_t data_bytes = 0;///< user bytes transferred (program: page, read_out: sectors asked for)
    Spare* spare = nullptr;      ///< units_per_page entries; program: read from, read_out: written to
};

}  // namespace ssdtlm
