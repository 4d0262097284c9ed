// SPDX-License-Identifier: Apache-2.0
// What a logical block's data is, for the integrity check: the first 16 bytes of every logical block say whose
// data it is and which version. Written by the host into write buffers, kept per mapping unit by the device as
// (Lpa, version) in the spare area, stamped by the device into every block it returns. A deallocated block is zeros.
#pragma once

#include <cstdint>
#include <cstring>

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

}  // namespace ssdtlm
