// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/fis_on_wire.h"

#include "protocol/ata.h"
#include "protocol/sata.h"

namespace ssdtlm {

using sata::FisType;

std::uint64_t fis_value(std::uint8_t type) {
    switch (static_cast<FisType>(type)) {
        case FisType::register_h2d:
            return 1;
        case FisType::register_d2h:
            return 2;
        case FisType::dma_setup:
            return 3;
        case FisType::dma_activate:
            return 4;
        case FisType::data:
            return 5;
        case FisType::pio_setup:
            return 6;
        case FisType::set_device_bits:
            return 7;
        case FisType::bist:
            break;
    }
    return 8;
}

std::uint64_t FisTags::tag_of(const std::uint8_t* fis, std::uint32_t bytes) {
    const bool whole = sata::fis_problem(fis, bytes) == nullptr;
    switch (static_cast<FisType>(fis[0])) {
        case FisType::register_h2d:
            if (!whole) return kNoTag;
            if (const auto r = sata::RegisterH2d::from(fis);
                r.command == ata::kReadFpdmaQueued || r.command == ata::kWriteFpdmaQueued)
                return ata::tag_of(r.count);
            phase_ = kNoTag;
            return kNoTag;
        case FisType::dma_setup:
            if (whole) phase_ = sata::DmaSetup::from(fis).tag;
            return phase_;
        case FisType::dma_activate:
        case FisType::data:
            return phase_;
        default:
            return kNoTag;
    }
}

}  // namespace ssdtlm
