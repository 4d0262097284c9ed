// SPDX-License-Identifier: Apache-2.0
// A waveform: signals in a hierarchy of scopes, and a sink that takes their changes in order of time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/units/units.h"

namespace ssdtlm {

/// Index of a signal in its recorder.
using WaveId = std::uint32_t;

enum class WaveKind : std::uint8_t {
    bit,
    vector,       ///< `width` bits
    enumeration,  ///< a vector whose values have names
    integer,      ///< a count, shown as a decimal number
    shared        ///< a wire or bus of up to 32 bits that may be driven by nobody: kWaveReleased
};
inline constexpr std::uint64_t kWaveReleased = std::uint64_t{1} << 63;

/// Name of an enumeration's value, and its colour (a name that X11 knows; empty: the viewer's default).
struct WaveLabel {
    std::string text;
    std::string color;
};

/// Names of the values of an enumeration, from 0 on.
struct WaveEnum {
    std::string name;  ///< also that of the viewer's translation file
    std::vector<WaveLabel> labels;
    std::uint32_t width() const {
        std::uint32_t bits = 1;
        while (labels.size() > std::size_t{1} << bits) ++bits;
        return bits;
    }
};

struct WaveSignal {
    std::string scope;  ///< path with dots: "ssd.channel_3"
    std::string name;
    WaveKind kind = WaveKind::bit;
    std::uint32_t width = 1;  ///< 1 to 64
    std::uint64_t initial = 0;
    const WaveEnum* names = nullptr;  ///< enumeration only; outlives the recorder
};

/// Takes the changes within the window.
class WaveSink {
public:
    virtual ~WaveSink() = default;
    /// The window begins; `values` are those at that time, by WaveId.
    virtual void begin(SimTime at, const std::vector<WaveSignal>& signals,
                       const std::vector<std::uint64_t>& values) = 0;
    /// Times never decrease; at most one change per signal and time, and only when the value differs.
    virtual void change(SimTime at, WaveId signal, std::uint64_t value) = 0;
    /// The window ends.
    virtual void end(SimTime at) = 0;
};

}  // namespace ssdtlm
