// SPDX-License-Identifier: Apache-2.0
#include "sim/derive/derive.h"

#include <algorithm>

namespace ssdtlm {

const std::vector<Work>& derived_works() {
    static const std::vector<Work> works = {
        {"sequential 128 KiB reads", HostOp::read, false, 131072},
        {"sequential 128 KiB writes", HostOp::write, false, 131072},
        {"random 4 KiB reads", HostOp::read, true, 4096},
        {"random 4 KiB writes", HostOp::write, true, 4096},
    };
    return works;
}

Ceilings ceilings_of(const SsdConfig& c, const Work& w) {
    Demands demands = demands_of(c, w);
    Ceilings all{w, {}, std::move(demands.left_out)};
    for (Demand& d : demands.of) {
        Ceiling ceiling;
        ceiling.resource = std::move(d.resource);
        ceiling.iops = d.members / d.least;
        ceiling.reached = d.most > 0 ? std::min(ceiling.iops, d.members / d.most) : 0;
        ceiling.mb_per_s = ceiling.iops * w.bytes * 1e-6;
        ceiling.formula = std::move(d.formula);
        all.of.push_back(std::move(ceiling));
    }
    const auto least = std::min_element(all.of.begin(), all.of.end(),
                                        [](const Ceiling& a, const Ceiling& b) { return a.iops < b.iops; });
    if (least != all.of.end()) least->least = true;
    return all;
}

Derived derive(const SsdConfig& c) {
    Derived d;
    d.groups = {capacity_figures(c), map_figures(c), buffer_figures(c), latency_figures(c), steady_state_figures(c)};
    for (const Work& w : derived_works()) d.ceilings.push_back(ceilings_of(c, w));
    return d;
}

}  // namespace ssdtlm
