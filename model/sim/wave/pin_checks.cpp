// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/pin_checks.h"

#include <fmt/format.h>

#include "common/report/error.h"

namespace ssdtlm {

PinChecks::PinChecks(const NandConfig& nand) : nand_(nand) {
    const PinGenerator has_pins(nand);
    for (std::uint32_t channel = 0; channel < nand.geometry.channels; ++channel) channels_.emplace_back(nand);
}

void PinChecks::attach(SsdSystem& system) {
    for (std::uint32_t channel = 0; channel < channels_.size(); ++channel)
        system.device.controller.backend.channel(channel).play_pins(nand_, *this);
}

void PinChecks::power_lost(SimTime now) {
    for (PinChecker& checker : channels_) checker.power_lost(now);
}

std::string PinChecks::finish() {
    std::uint64_t sequences = 0, strobes = 0;
    std::string broken;
    for (std::size_t channel = 0; channel < channels_.size(); ++channel) {
        PinChecker& checker = channels_[channel];
        checker.finish();
        sequences += checker.sequences();
        strobes += checker.strobes();
        if (checker.violation_count() != 0)
            broken += fmt::format("channel {}: {} times; the first:\n{}", channel, checker.violation_count(),
                                  checker.report(10));
    }
    if (!broken.empty())
        throw CheckFailed("the pins break rules of the ONFI bus (nand/pins/pin_checker.h lists them)\n" + broken);
    return fmt::format("pins: {} sequences with {} strobes of data on {} channels, no rule broken", sequences, strobes,
                       channels_.size());
}

}  // namespace ssdtlm
