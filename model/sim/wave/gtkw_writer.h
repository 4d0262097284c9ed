// SPDX-License-Identifier: Apache-2.0
// Writes a save file for GTKWave beside a waveform. It has groups, short names, formats and colours of all signals, and
// the view of the interesting place. Translation files give the names of enumerations. Kernel-free.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/wave/wave_signal.h"

namespace ssdtlm {

/// A named marker.
struct GtkwMark {
    SimTime at{};
    std::string name;
};

struct GtkwView {
    std::filesystem::path dump;  ///< the waveform
    SimTime begin{};             ///< beginning of the waveform
    SimTime end{};
    SimTime marker = kNever;         ///< the trigger; kNever: none
    std::vector<GtkwMark> marks;     ///< A, B, ...
    std::uint32_t open_channel = 0;  ///< the groups of other channels are closed
};

/// Writes `<dump without extension>.gtkw` and the folder `<...>.names`. `changed`: by signal, whether it ever changes.
/// Throws UserError when it cannot write them.
void write_gtkw(const GtkwView& view, const std::vector<WaveSignal>& signals, const std::vector<bool>& changed);

}  // namespace ssdtlm
