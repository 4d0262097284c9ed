// SPDX-License-Identifier: Apache-2.0
// Shows a Serial ATA link as signals: the FIS on the wire, the end that sends it, and its tag. Kernel-free.
#pragma once

#include <string>

#include "common/wave/wave_recorder.h"
#include "host_sata/link/sata_probe.h"
#include "sim/wave/fis_on_wire.h"

namespace ssdtlm {

class SataWave final : public SataProbe {
public:
    /// Declares the signals.
    SataWave(WaveRecorder& recorder, const std::string& scope);

    void frame_begins(SimTime now, SataEnd from, const std::uint8_t* fis, std::uint32_t bytes, SimTime ends) override;
    void frame_ends(SimTime now, bool ok) override;
    void phy(SimTime now, bool up) override;

private:
    WaveRecorder& recorder_;
    const WaveId fis_, from_, tag_, bytes_, up_, errors_;
    std::uint64_t error_count_ = 0;
    FisTags tags_;
};

}  // namespace ssdtlm
