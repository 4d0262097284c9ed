// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ssdtlm {

/// TLM-2.0 byte enables: they say which bytes of data have content, as a pattern that is repeated from the first byte
/// on.
struct ByteEnables {
    const std::uint8_t* pattern = nullptr;  ///< 0xFF or 0 per byte; null: all bytes
    std::uint32_t bytes = 0;                ///< length of the pattern
};

/// Copies the bytes that have content. Precondition: the pattern holds one block and begins with its content.
inline void copy_content(std::uint8_t* to, const std::uint8_t* from, std::uint32_t bytes, ByteEnables content) {
    if (content.pattern == nullptr) {
        std::memcpy(to, from, bytes);
        return;
    }
    const auto begins =
        static_cast<std::uint32_t>(std::find(content.pattern, content.pattern + content.bytes, 0) - content.pattern);
    for (std::uint32_t at = 0; at < bytes; at += content.bytes)
        std::memcpy(to + at, from + at, std::min(begins, bytes - at));
}

}  // namespace ssdtlm
