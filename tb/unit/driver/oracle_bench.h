// SPDX-License-Identifier: Apache-2.0
// Buffers with the signatures of blocks, and the shape of a device of 4 KiB units.
#pragma once

#include <cstdint>
#include <vector>

#include "host_pcie/driver/integrity_oracle.h"

namespace ssdtlm {

inline constexpr std::uint32_t kLba = 512;
inline constexpr IntegrityOracle::Reader kReader{1, 7, SimTime{42ns}};

struct Buffer {
    std::vector<std::uint8_t> bytes;
    explicit Buffer(std::uint32_t blocks) : bytes(blocks * kLba) {}
    std::uint8_t* data() { return bytes.data(); }
    BlockSignature at(std::uint32_t i) const { return BlockSignature::load(bytes.data() + i * kLba); }
    void set(std::uint32_t i, std::uint64_t lba, std::uint32_t version) {
        (version == 0 ? BlockSignature{} : BlockSignature{lba, version, BlockSignature::kMagic})
            .store(bytes.data() + i * kLba);
    }
};

inline IntegrityOracle::Geometry geometry(std::uint64_t units, std::uint64_t filled, unsigned bits = 8) {
    return IntegrityOracle::Geometry{units, 4096, kLba, filled, bits};
}

}  // namespace ssdtlm
