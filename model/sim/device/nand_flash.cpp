// SPDX-License-Identifier: Apache-2.0
#include "sim/device/nand_flash.h"

#include <fmt/format.h>

namespace ssdtlm {

NandFlash::NandFlash(sc_core::sc_module_name name, Agenda& agenda, const NandConfig& c, const RandomFaults::Rates& rates, std::uint64_t seed)
    : sc_module(name), config(c), spare(config.geometry), faults(rates.any() ? std::make_unique<RandomFaults>(rates, seed) : nullptr) {
    const NandGeometry& g = config.geometry;
    for (const BlockId b : RandomFaults::factory_bad(rates, g, seed)) spare.mark_bad(b);
    for (std::uint32_t ch = 0; ch < g.channels; ++ch) {
        buses.push_back(std::make_unique<OnfiBus>(fmt::format("bus_{}", ch).c_str(), config));
        for (std::uint32_t way = 0; way < g.ways; ++way) {
            const DieId first{ch * g.dies_per_channel() + way * g.dies_per_chip};
            packages.push_back(std::make_unique<NandPackage>(fmt::format("package_{}_{}", ch, way).c_str(), agenda, config, first, spare));
            packages.back()->inject(faults.get());
            buses[ch]->package_initiator[way].bind(packages.back()->bus_target);
        }
    }
}

PowerLoss NandFlash::lose_power() {
    PowerLoss loss;
    for (const auto& package : packages) loss += package->restart();
    for (const auto& bus : buses) bus->restart();
    return loss;
}

void NandFlash::state(Snapshot& s) {
    s.section("faults");
    bool any = faults != nullptr;
    s(any);
    if (!any) return;
    RandomFaults none({}, 0);  // for a drive that has none any more
    s(faults != nullptr ? *faults : none);
}

}  // namespace ssdtlm
