// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

struct EccConfig {
    Ps decode_time{0};  ///< pipelined latency added after the data left the bus; keeps up with the bus
    std::uint16_t correctable_bits =
        72;                         ///< of a code word; assumed: BCH of 72 bits in 1 KiB, as MLC and TLC parts ask for
    std::uint8_t read_retries = 5;  ///< before a page counts as uncorrectable; assumed

    bool corrects(std::uint16_t bits) const { return bits <= correctable_bits; }
    /// True: the page was read again this often without success, and is not read again.
    bool gives_up(std::uint8_t retries) const { return retries == read_retries; }
};

}  // namespace ssdtlm
