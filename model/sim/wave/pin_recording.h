// SPDX-License-Identifier: Apache-2.0
// Checks the pins of a channel that were recorded in a waveform. Kernel-free.
#pragma once

#include <string>
#include <vector>

#include "common/wave/vcd_reader.h"
#include "nand/pins/pin_checker.h"

namespace ssdtlm {

/// Finds a pin by its name in a waveform, such as "cle", "ce_n_3" or "rb_n_0". Returns false if it is no pin.
bool pin_of_name(const std::string& name, Pin& pin);

struct CheckedRecording {
    std::string scope;       ///< "ssd.channel_0.pins"
    SimTime begin{}, end{};  ///< times of the recording
    std::uint64_t violations = 0;
    std::uint64_t strobes = 0;
    std::string report;  ///< the first violations, one a line
};

/// Checks every scope that has pins, in the order of the file. `power_losses`: instants at which the flash lost its
/// power, ascending. Throws UserError for a file without pins, or with pins that the device does not have.
std::vector<CheckedRecording> check_recorded_pins(const std::string& vcd, const NandConfig& nand,
                                                  const std::vector<SimTime>& power_losses);

}  // namespace ssdtlm
