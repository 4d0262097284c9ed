// SPDX-License-Identifier: Apache-2.0
// The energy that capacitors must supply after a loss of power. They supply the programs of all data that they protect,
// and the controller during these programs.
#pragma once

#include <cstdint>

#include "common/units/units.h"
#include "sim/sim_config.h"

namespace ssdtlm {

struct Capacitors {
    std::uint64_t buffer_pages = 0;  ///< flash pages pages of a full write buffer (buffer.mode = "protected")
    std::uint64_t map_pages = 0;     ///< for the translation pages that may be dirty (map.power_protected)
    Ps time{};                       ///< at most
    double joules = 0;

    bool any() const { return buffer_pages + map_pages != 0; }
};

/// The formula: rows of one page in each plane follow one another. The data of a channel's dies pass its bus, then all
/// dies program. Page types take the longest of nand.t_program. Reads of translation pages that are not whole in
/// memory, the energy of the bus, and losses of the converter are left out.
Capacitors capacitors_of(const DeviceConfig& config);

}  // namespace ssdtlm
