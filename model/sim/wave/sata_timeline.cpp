// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/sata_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "protocol/sata.h"
#include "sim/wave/wave_enums.h"

namespace ssdtlm {

SataTimeline::SataTimeline(DeviceTimeline& timeline) : timeline_(timeline) {
    timeline.name_sata_link();
}

void SataTimeline::frame_begins(SimTime now, SataEnd from, const std::uint8_t* fis, std::uint32_t bytes, SimTime) {
    const std::uint64_t tag = tags_.tag_of(fis, bytes);
    begin_ = now;
    name_ = fis_names().labels[fis_value(fis[0])].text.c_str();
    arguments_ = fmt::format(R"("from":"{}","bytes":{})", from == SataEnd::host ? "host" : "device", bytes);
    if (tag != FisTags::kNoTag) arguments_ += fmt::format(R"(,"tag":{})", tag);
    tag_.reset();
    switch (static_cast<sata::FisType>(fis[0])) {
        case sata::FisType::register_h2d:
            timeline_.sata_command_comes(static_cast<std::uint32_t>(tag));
            break;
        case sata::FisType::dma_setup:
        case sata::FisType::dma_activate:
        case sata::FisType::data:
            tag_ = static_cast<std::uint32_t>(tag);
            break;
        default:
            break;  // these frames end or release commands, maybe several at once
    }
}

void SataTimeline::frame_ends(SimTime now, bool ok) {
    const SimTime begin = std::exchange(begin_, kNever);
    if (begin == kNever || begin > now) return;
    if (!ok) arguments_ += R"(,"lost":true)";
    timeline_.sata_frame(begin, now, name_, arguments_, tag_);
}

/// The link goes down at a reset, when the host has given up its commands. A loss of power is reported separately.
void SataTimeline::phy(SimTime now, bool up) {
    tags_.forget();
    begin_ = kNever;
    if (!up) timeline_.reset(now);
}

}  // namespace ssdtlm
