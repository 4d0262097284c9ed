// SPDX-License-Identifier: Apache-2.0
// The options for recordings of `ssdtlm run`: the texts of the command line, and their meaning for a device.
// Kernel-free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/address/geometry.h"
#include "common/report/error.h"
#include "common/units/units.h"
#include "common/wave/wave_recorder.h"

namespace ssdtlm {

/// The texts as typed.
struct WaveTexts {
    std::string scopes;  ///< --wave, "" when it is not given
    std::string from;
    std::string to;
    std::string trigger;
    std::string before;
    std::string after;
    std::string format = "vcd";
    bool any() const {
        return !from.empty() || !to.empty() || !trigger.empty() || !before.empty() || !after.empty() || format != "vcd";
    }
};

struct WaveOptions {
    enum class Trigger : std::uint8_t { none, command, gc, latency, overtake, power, error };
    bool on = false;
    std::string scopes;
    SimTime from{};
    SimTime to = kNever;
    Trigger trigger = Trigger::none;
    std::string trigger_text;
    std::uint64_t count = 1;  ///< command: number of the submission, from 1; overtake: programs that are passed
    Ps latency{};             ///< a completion later than this is the trigger
    Ps before{};
    Ps after{};
    bool fst = false;

    WaveWindow window() const;
};

/// Reads the options. Mistakes are appended to `problems`.
WaveOptions parse_wave_options(const WaveTexts& texts, std::vector<Problem>& problems);

struct TimelineOptions {
    bool on = false;
    SimTime from{};
    SimTime to = kNever;
};
TimelineOptions parse_timeline_options(bool on, const std::string& from, const std::string& to,
                                       std::vector<Problem>& problems);

/// The facts that decide which parts a device has.
struct WaveDevice {
    const NandGeometry& geometry;
    std::string front_end;  ///< frontend.kind
};

/// The parts of a device that are recorded.
struct WaveScopes {
    bool host = false;
    bool link = false;
    bool sata_link = false;
    bool nvme = false;
    bool firmware = false;
    bool gc = false;
    std::vector<bool> scheduler;  ///< by channel
    std::vector<bool> channels;
    std::vector<bool> pins;           ///< by channel
    std::vector<bool> dies;           ///< global
    std::vector<bool> scheduler_rtl;  ///< by channel: the RTL block's own signals
    std::vector<bool> channel_rtl;

    bool any_flash() const;
    bool any_pins() const;
    bool any_rtl() const;
};

/// True: the word is meant as scopes, because it begins with the name of a scope or has an index.
bool looks_like_wave_scopes(const std::string& text);

/// Reads scopes: "host,link,channel[3],channel[*].pins,die[0][1]", or "all" for everything but the pins. Throws
/// UserError with all mistakes: names that do not exist, parts and indices that the device does not have.
WaveScopes parse_wave_scopes(const std::string& text, const WaveDevice& device);

}  // namespace ssdtlm
