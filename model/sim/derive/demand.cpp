// SPDX-License-Identifier: Apache-2.0
#include "sim/derive/demand.h"

#include <algorithm>

#include "controller/ftl/superblock.h"

namespace ssdtlm {

Demands demands_of(const SsdConfig& c, const Work& w) {
    Demands all;
    add_host_demands(c, w, all);
    add_controller_demands(c, w, all);
    add_flash_demands(c, w, all);
    return all;
}

double most_coalesced(const SsdConfig& c, const Work& w) {
    if (w.reads() || !c.ftl.buffer_merges) return 0;
    const double share = static_cast<double>(c.ftl.buffer_bytes) / static_cast<double>(c.ftl.user_capacity_bytes);
    // In ascending order a unit is written again only after all others.
    return w.random || share >= 1 ? std::min(1.0, share) : 0;
}

std::uint64_t units_of_command(const SsdConfig& c, const Work& w) {
    return (w.bytes + c.nand.geometry.unit_bytes - 1) / c.nand.geometry.unit_bytes;
}

double pages_with_parity(const SsdConfig& c) {
    const SuperblockShape shape(c.nand.geometry, c.ftl.superblock, {}, c.ftl.parity != Parity::none);
    return static_cast<double>(shape.planes()) / shape.data_planes();
}

}  // namespace ssdtlm
