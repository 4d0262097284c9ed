// SPDX-License-Identifier: Apache-2.0
// The guard of protection information: CRC-16 of T10 DIF, polynomial 8BB7h, from 0, neither reflected nor inverted.
// Source: NVMe 1.4 §8.3 and SBC-3. The CRC of the ASCII text 123456789 is D0DBh.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ssdtlm {

/// Continues a CRC that is `crc` so far.
inline std::uint16_t guard_crc(const std::uint8_t* bytes, std::size_t count, std::uint16_t crc = 0) {
    static constexpr auto kTable = [] {
        std::array<std::uint16_t, 256> table{};
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t rest = i << 8;
            for (int bit = 0; bit < 8; ++bit) rest = (rest & 0x8000u) != 0 ? rest << 1 ^ 0x8BB7u : rest << 1;
            table[i] = static_cast<std::uint16_t>(rest);
        }
        return table;
    }();
    for (std::size_t i = 0; i < count; ++i)
        crc = static_cast<std::uint16_t>(crc << 8 ^ kTable[(crc >> 8 ^ bytes[i]) & 0xFFu]);
    return crc;
}

}  // namespace ssdtlm
