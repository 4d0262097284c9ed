// SPDX-License-Identifier: Apache-2.0
// How an operation of the array ended: the die's FAIL bit for programs and erases, the decoder's result for reads.
#pragma once

#include <cstdint>

namespace ssdtlm {

enum class FlashResult : std::uint8_t {
    ok,
    uncorrectable,   ///< read: more wrong bits than the decoder corrects, even after all retries
    program_failed,  ///< the page has no data, but counts as programmed
    erase_failed     ///< the block keeps its contents
};

struct FlashStatus {
    FlashResult result = FlashResult::ok;
    std::uint8_t retries = 0;  ///< reads: how often the page was read again
    std::uint16_t bits = 0;    ///< reads: wrong bits in the worst code word; corrected if the result is ok
};

}  // namespace ssdtlm
