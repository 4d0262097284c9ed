// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameters.h"
#include "sim/device/front_ends.h"
#include "sim/host/host_sides.h"

namespace ssdtlm {

void add_front_end_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    table.push_back(
        P::name(
            "frontend.kind", FrontEnds::instance().names(), [](auto& c) -> auto& { return c.front_end.kind; })
            .says("The drive's end towards its host. " + FrontEnds::instance().sentences())
            .from("-"));
    add_policy_parameters(
        table, "frontend", "frontend.kind", FrontEnds::instance(),
        [](auto& c) -> auto& { return c.front_end.policies; });
    add_policy_parameters(
        table, "host", "frontend.kind", HostSides::instance(), [](auto& c) -> auto& { return c.host_sides; });
}

}  // namespace ssdtlm
