// SPDX-License-Identifier: Apache-2.0
// A save file for GTKWave beside a waveform: groups, short names, formats and colours for all its signals, translation
// files that give enumerations their names, and the view on the interesting place. Kernel-free.
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
    SimTime begin{};             ///< of the waveform
    SimTime end{};
    SimTime marker = kNever;         ///< the trigger; kNever: none
    std::vector<GtkwMark> marks;     ///< A, B, ...
    std::uint32_t open_channel = 0;  ///< the groups of other channels are closed
};

/// Writes `<dump without extension>.gtkw` and the folder `<...>.names`. `changed`: by signal, whether it ever changes.
/// Throws UserError when it cannot write.
void write_gtkw(const GtkwView& view, const std::vector<WaveSignal>& signals, const std::vector<bool>& changed);

}  // namespace ssdtlm
