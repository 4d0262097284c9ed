// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ssdtlm {

/// TLM-2.0 byte enables: which bytes of data have content, a pattern that is repeated from the first byte on.
struct ByteEnables {
    const std::uint8_t* pattern = nullptr;  ///< 0xFF or 0 per byte; null: all bytes
    std::uint32_t bytes = 0;                ///< length of the pattern
};

}  // namespace ssdtlm
