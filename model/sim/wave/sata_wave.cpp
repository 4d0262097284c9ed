// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/sata_wave.h"

#include "sim/wave/wave_enums.h"

namespace ssdtlm {

SataWave::SataWave(WaveRecorder& recorder, const std::string& scope)
    : recorder_(recorder),
      fis_(recorder.add({scope, "fis", WaveKind::enumeration, fis_names().width(), 0, &fis_names()})),
      from_(recorder.add({scope, "from", WaveKind::enumeration, sata_end_names().width(), 0, &sata_end_names()})),
      tag_(recorder.add({scope, "tag", WaveKind::integer, 8, FisTags::kNoTag, nullptr})),
      bytes_(recorder.add({scope, "fis_bytes", WaveKind::integer, 16, 0, nullptr})),
      up_(recorder.add({scope, "phy_up", WaveKind::bit, 1, 0, nullptr})),
      errors_(recorder.add({scope, "frames_lost", WaveKind::integer, 32, 0, nullptr})) {}

void SataWave::frame_begins(SimTime now, SataEnd from, const std::uint8_t* fis, std::uint32_t bytes, SimTime) {
    const std::uint64_t tag = tags_.tag_of(fis, bytes);
    recorder_.change(fis_, now, fis_value(fis[0]));
    recorder_.change(from_, now, from == SataEnd::host ? 1 : 2);
    recorder_.change(tag_, now, tag);
    recorder_.change(bytes_, now, bytes);
}

void SataWave::frame_ends(SimTime now, bool ok) {
    recorder_.change(fis_, now, 0);
    recorder_.change(from_, now, 0);
    recorder_.change(tag_, now, FisTags::kNoTag);
    recorder_.change(bytes_, now, 0);
    if (!ok) recorder_.change(errors_, now, ++error_count_);
}

void SataWave::phy(SimTime now, bool up) {
    recorder_.change(up_, now, up ? 1 : 0);
    tags_.forget();
}

}  // namespace ssdtlm
