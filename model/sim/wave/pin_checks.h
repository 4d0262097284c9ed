// SPDX-License-Identifier: Apache-2.0
// Checks the pins of all channels during a run (`ssdtlm run --check-pins`). It changes no time.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "nand/pins/pin_checker.h"
#include "sim/ssd_system.h"

namespace ssdtlm {

class PinChecks final : private PinListener {
public:
    /// Throws UserError where the interface has no pins.
    explicit PinChecks(const NandConfig& nand);

    /// Call it when the device is built, and again when it is built anew after a loss of power.
    void attach(SsdSystem& system);
    /// The flash has lost its power.
    void power_lost(SimTime now);
    /// Call it at the end of the run. Returns one sentence about what was checked. Throws CheckFailed if rules were
    /// broken.
    std::string finish();

private:
    void pins(std::uint16_t channel, const PinSequence& sequence) override { channels_[channel].check(sequence); }

    const NandConfig& nand_;
    std::deque<PinChecker> channels_;
};

}  // namespace ssdtlm
