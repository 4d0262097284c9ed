// SPDX-License-Identifier: Apache-2.0
// What a logical block's data is, for the integrity check: the first 16 bytes of every logical block say whose
// data it is and which version. Written by the host into write buffers, kept per mapping unit by the device as
// (Lpa, version) in the spare area, stamped by the device into every block it returns. A deallocated block is zeros.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "protocol/byte_enables.h"

namespace ssdtlm {

struct BlockSignature {
    static constexpr std::uint32_t kMagic = 0x544C4D53u;
    std::uint64_t lba = 0;
    std::uint32_t version = 0;  ///< of the mapping unit; 0 only in a deallocated block
    std::uint32_t magic = 0;    ///< kMagic; 0 in a deallocated block

    void store(std::uint8_t* block) const { std::memcpy(block, this, sizeof *this); }
    static BlockSignature load(const std::uint8_t* block) {
        BlockSignature s;
        std::memcpy(&s, block, sizeof s);
        return s;
    }
};
static_assert(sizeof(BlockSignature) == 16);

inline constexpr std::uint32_t kMaxBlockBytes = 4096;
/// A logical block of which only the signature has content.
inline constexpr std::array<std::uint8_t, kMaxBlockBytes> kSignatureOnly = [] {
    std::array<std::uint8_t, kMaxBlockBytes> pattern{};
    for (std::size_t i = 0; i < sizeof(BlockSignature); ++i) pattern[i] = 0xFF;
    return pattern;
}();
/// The content of whole logical blocks of `block_bytes` (at most kMaxBlockBytes) in this model.
constexpr ByteEnables signatures_of(std::uint32_t block_bytes) {
    return {kSignatureOnly.data(), block_bytes};
}

}  // namespace ssdtlm
