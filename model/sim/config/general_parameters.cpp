// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameters.h"

namespace ssdtlm {

void add_general_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    table.push_back(P::text(
                        "name", [](auto& c) -> auto& { return c.name; })
                        .says("Name of the device in results; when empty, the name of the first file")
                        .from("-"));
    table.push_back(P::text(
                        "description", [](auto& c) -> auto& { return c.description; })
                        .says("One sentence, shown by `ssdtlm config presets`")
                        .from("-"));
    table.push_back(P::text(
                        "based_on", [](auto& c) -> auto& { return c.based_on; })
                        .says("A preset or another device file (path relative to this file). Its values count where "
                              "this file gives none")
                        .from("-"));
}

void add_power_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    table.push_back(
        P::quantity(
            "power.controller", Dimension::power, [](auto& c) -> auto& { return c.power.controller_uw; })
            .range("0W", "1000W")
            .says(
                "Power of controller and DRAM while capacitors supply them, for the energy in the result (buffer.mode, "
                "map.power_protected)")
            .from("assumed: less than half of what an active drive of four lanes draws, 5 to 9 W")
            .only_with("buffer.mode = protected or map.power_protected != 100%"));
    table.push_back(P::quantity(
                        "power.die", Dimension::power, [](auto& c) -> auto& { return c.power.die_uw; })
                        .range("0W", "10W")
                        .says("Power of a die while it programs, for the energy in the result")
                        .from("assumed: 30 mA at 3.3 V")
                        .only_with("buffer.mode = protected or map.power_protected != 100%"));
}

}  // namespace ssdtlm
