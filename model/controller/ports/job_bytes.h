// SPDX-License-Identifier: Apache-2.0
// The bytes of the units that a flash job carries, when the simulation keeps real bytes.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "nand/onfi/spare.h"
#include "nand/onfi/unit_bytes.h"

namespace ssdtlm {

inline constexpr std::uint32_t kMaxBlocksPerUnit = 256;  // 128 KiB unit of 512 B blocks
/// One bit for each logical block of a mapping unit.
using UnitBlocks = std::bitset<kMaxBlocksPerUnit>;

/// The part of a unit that the write buffer holds.
struct BufferedUnit {
    UnitBytes bytes;
    UnitBlocks missing;  ///< logical blocks that its old copy in flash has
};

struct JobBytes {
    std::array<UnitBytes, kMaxUnitsPerPage> page{};  ///< by slot; FlashTransaction::bytes
    std::array<BufferedUnit, kMaxUnitsPerPage>
        buffered{};  ///< host_read: by unit, as the buffer held it when the read was planned

    void clear() {
        for (UnitBytes& unit : page) unit.reset();
        for (BufferedUnit& unit : buffered) unit.bytes.reset();
    }
};

}  // namespace ssdtlm
