// SPDX-License-Identifier: Apache-2.0
// The part of an operation that concerns one plane. Bus payload, die and pins use it. Kernel-free.
#pragma once

#include <cstdint>

#include "nand/onfi/flash_status.h"
#include "nand/onfi/spare.h"
#include "nand/onfi/unit_bytes.h"

namespace ssdtlm {

struct OnfiTarget {
    std::uint8_t plane = 0;        ///< in die
    std::uint32_t block = 0;       ///< in plane
    std::uint32_t page = 0;        ///< in block
    std::uint32_t data_bytes = 0;  ///< user bytes transferred (program: page, read_out: sectors asked for)
    Spare* spare = nullptr;        ///< units_per_page entries; program: read from, read_out: written to
    UnitBytes* bytes =
        nullptr;  ///< the same, valid until the operation has ended; null: the Spare alone stands for the data
    std::uint8_t retry = 0;  ///< read: number of the retry, with its own read voltages; 0: the first read
    const PageRecord* record =
        nullptr;                   ///< program: what its out-of-band area is to say of the page; null: PageRecord{}
    bool slc = false;              ///< the block's cells hold one bit each: the operation is one of SLC mode
    FlashStatus status{};          ///< the target's answer: program and erase the result, read_out the wrong bits
    bool spare_only = false;       ///< read_out: data_bytes of the spare area, and no others
    std::uint32_t first_byte = 0;  ///< read, read_out: user byte of the page at which data_bytes begin
};

}  // namespace ssdtlm
