// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/sata_wave.h"

#include "protocol/ata.h"
#include "protocol/sata.h"
#include "sim/wave/wave_enums.h"

namespace ssdtlm {

using sata::FisType;

namespace {

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

}  // namespace

SataWave::SataWave(WaveRecorder& recorder, const std::string& scope)
    : recorder_(recorder),
      fis_(recorder.add({scope, "fis", WaveKind::enumeration, fis_names().width(), 0, &fis_names()})),
      from_(recorder.add({scope, "from", WaveKind::enumeration, sata_end_names().width(), 0, &sata_end_names()})),
      tag_(recorder.add({scope, "tag", WaveKind::integer, 8, kNoTag, nullptr})),
      bytes_(recorder.add({scope, "fis_bytes", WaveKind::integer, 16, 0, nullptr})),
      up_(recorder.add({scope, "phy_up", WaveKind::bit, 1, 0, nullptr})),
      errors_(recorder.add({scope, "frames_lost", WaveKind::integer, 32, 0, nullptr})) {}

/// Data and DMA Activate name no tag: theirs is that of the DMA Setup before them.
void SataWave::frame_begins(SimTime now, SataEnd from, const std::uint8_t* fis, std::uint32_t bytes, SimTime) {
    std::uint64_t tag = kNoTag;
    const bool whole = sata::fis_problem(fis, bytes) == nullptr;
    switch (static_cast<FisType>(fis[0])) {
        case FisType::register_h2d:
            if (!whole) break;
            if (const auto r = sata::RegisterH2d::from(fis);
                r.command == ata::kReadFpdmaQueued || r.command == ata::kWriteFpdmaQueued)
                tag = ata::tag_of(r.count);
            else
                phase_ = kNoTag;
            break;
        case FisType::dma_setup:
            if (whole) tag = phase_ = sata::DmaSetup::from(fis).tag;
            break;
        case FisType::dma_activate:
        case FisType::data:
            tag = phase_;
            break;
        default:
            break;
    }
    recorder_.change(fis_, now, fis_value(fis[0]));
    recorder_.change(from_, now, from == SataEnd::host ? 1 : 2);
    recorder_.change(tag_, now, tag);
    recorder_.change(bytes_, now, bytes);
}

void SataWave::frame_ends(SimTime now, bool ok) {
    recorder_.change(fis_, now, 0);
    recorder_.change(from_, now, 0);
    recorder_.change(tag_, now, kNoTag);
    recorder_.change(bytes_, now, 0);
    if (!ok) recorder_.change(errors_, now, ++error_count_);
}

void SataWave::phy(SimTime now, bool up) {
    recorder_.change(up_, now, up ? 1 : 0);
    phase_ = kNoTag;
}

}  // namespace ssdtlm
