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
}

}  // namespace ssdtlm
