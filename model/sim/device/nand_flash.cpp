// SPDX-License-Identifier: Apache-2.0
#include "sim/device/nand_flash.h"

#include <fmt/format.h>

namespace ssdtlm {

NandFlash::NandFlash(sc_core::sc_module_name name, Agenda& agenda, const NandConfig& c, const FaultConfig& of_faults,
                     std::uint64_t seed)
    : sc_module(name), config(c), spare(config.geometry), faults(make_faults(of_faults, config.geometry, seed)) {
    const NandGeometry& g = config.geometry;
    for (const BlockId b : faults->factory_bad()) spare.mark_bad(b);
    for (std::uint32_t ch = 0; ch < g.channels; ++ch) {
        buses.push_back(std::make_unique<OnfiBus>(fmt::format("bus_{}", ch).c_str(), config));
        for (std::uint32_t way = 0; way < g.ways; ++way) {
            const DieId first{ch * g.dies_per_channel() + way * g.dies_per_chip};
            packages.push_back(std::make_unique<NandPackage>(fmt::format("package_{}_{}", ch, way).c_str(), agenda,
                                                             config, first, spare));
            packages.back()->inject(faults->kinds().any() ? faults.get() : nullptr);
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
    // The file says whether it has a state of failures, because a drive may continue with other failure rates than it
    // was saved with.
    bool any = faults->kinds().any();
    s(any);
    if (any) faults->state(s);
}

}  // namespace ssdtlm
