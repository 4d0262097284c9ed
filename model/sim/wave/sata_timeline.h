// SPDX-License-Identifier: Apache-2.0
// Shows the frames of a Serial ATA link as slices of a timeline. Kernel-free.
#pragma once

#include <optional>
#include <string>

#include "host_sata/link/sata_probe.h"
#include "sim/wave/device_timeline.h"
#include "sim/wave/fis_on_wire.h"

namespace ssdtlm {

class SataTimeline final : public SataProbe {
public:
    explicit SataTimeline(DeviceTimeline& timeline);

    void frame_begins(SimTime now, SataEnd from, const std::uint8_t* fis, std::uint32_t bytes, SimTime ends) override;
    void frame_ends(SimTime now, bool ok) override;
    void phy(SimTime now, bool up) override;

private:
    DeviceTimeline& timeline_;
    FisTags tags_;
    SimTime begin_ = kNever;  // beginning of the frame on the wire; kNever: there is none
    const char* name_ = "";
    std::string arguments_;
    std::optional<std::uint32_t> tag_;  // tag of the frame's command; FisTags::kNoTag: a command that is not queued
};

}  // namespace ssdtlm
