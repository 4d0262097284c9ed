// SPDX-License-Identifier: Apache-2.0
// The kinds of ONFI command sequence and one plane's part of one. Kernel-free, shared by the bus payload, the die and
// the pins.
#pragma once

#include <cstdint>

#include "nand/onfi/spare.h"

namespace ssdtlm {

enum class OnfiSequence : std::uint8_t {
    read,      ///< 00h-5A-30h (multi-plane: 32h between): command and address cycles, then tR
    read_out,  ///< (05h-2A-E0h / 06h-5A-E0h) data-out cycles of a page that is in the register
    program,   ///< 80h-5A-data-10h (multi-plane: 11h between): cycles, then tPROG
    erase      ///< 60h-3A-D0h (multi-plane: D1h between): cycles, then tBERS
};

struct OnfiTarget {
    std::uint8_t plane = 0;      ///< in die
    std::uint32_t block = 0;     ///< in plane
    std::uint32_t page = 0;      ///< in block
    std::uint32_t data_bytes = 0;///< user bytes transferred (program: page, read_out: sectors asked for)
    Spare* spare = nullptr;      ///< units_per_page entries; program: read from, read_out: written to
};

}  // namespace ssdtlm
