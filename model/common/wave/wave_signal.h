// SPDX-License-Identifier: Apache-2.0
// The parts of a waveform: signals in a hierarchy of scopes, and a sink that takes their changes in the order of time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/units/units.h"

namespace ssdtlm {

/// The index of a signal in its recorder.
using WaveId = std::uint32_t;

enum class WaveKind : std::uint8_t {
    bit,
    vector,       ///< `width` bits
    enumeration,  ///< a vector whose values have names
    integer,      ///< a count, shown as a decimal number
    shared        ///< a wire or bus of up to 32 bits; nobody drives it: kWaveReleased
};
inline constexpr std::uint64_t kWaveReleased = std::uint64_t{1} << 63;

/// The name of a value of an enumeration, and its colour (a colour name of X11; empty: the viewer's default).
struct WaveLabel {
    std::string text;
    std::string color;
};

/// An enumeration: the names of its values, from 0 on.
struct WaveEnum {
    std::string name;  ///< also the name of the viewer's translation file
    std::vector<WaveLabel> labels;
    std::uint32_t width() const {
        std::uint32_t bits = 1;
        while (labels.size() > std::size_t{1} << bits) ++bits;
        return bits;
    }
};

struct WaveSignal {
    std::string scope;  ///< path with dots, such as "ssd.channel_3"
    std::string name;
    WaveKind kind = WaveKind::bit;
    std::uint32_t width = 1;  ///< 1 to 64
    std::uint64_t initial = 0;
    const WaveEnum* names = nullptr;  ///< only for enumerations; must outlive the recorder
};

/// Takes the changes in the window.
class WaveSink {
public:
    virtual ~WaveSink() = default;
    /// The window begins at `at`. `values`: the values of all signals at that time, by WaveId.
    virtual void begin(SimTime at, const std::vector<WaveSignal>& signals,
                       const std::vector<std::uint64_t>& values) = 0;
    /// A signal changes. Times never decrease. There is at most one change per signal and time, and only if the value
    /// differs.
    virtual void change(SimTime at, WaveId signal, std::uint64_t value) = 0;
    /// The window ends at `at`.
    virtual void end(SimTime at) = 0;
};

}  // namespace ssdtlm
