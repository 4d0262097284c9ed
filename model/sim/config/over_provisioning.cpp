// SPDX-License-Identifier: Apache-2.0
#include "sim/config/over_provisioning.h"

#include <algorithm>
#include <cmath>

namespace ssdtlm {

namespace {
__extension__ using Wide = unsigned __int128;
constexpr std::uint64_t kWhole = 1'000'000;
constexpr double kStep = 1e-4;

/// The bytes of a geometry. It was not checked yet, so they may need more than 64 bits.
Wide flash_bytes(const NandGeometry& g) {
    Wide bytes = g.page_bytes;
    for (const std::uint64_t factor :
         {g.channels, g.ways, g.dies_per_chip, g.planes_per_die, g.blocks_per_plane, g.pages_per_block})
        bytes *= factor;
    return bytes;
}
/// The step of capacities, which are multiples of it.
std::uint64_t step_of(const DeviceConfig& c) {
    return std::max<std::uint64_t>(c.nand.geometry.unit_bytes, c.nvme.lba_bytes);
}
}  // namespace

double over_provisioning_of(const DeviceConfig& c) {
    const auto user = static_cast<double>(c.ftl.user_capacity_bytes);
    return (static_cast<double>(flash_bytes(c.nand.geometry)) - user) / user;
}

std::uint64_t capacity_with(const DeviceConfig& c, double share) {
    const auto millionths = static_cast<std::uint64_t>(std::llround(share * static_cast<double>(kWhole)));
    const Wide user = flash_bytes(c.nand.geometry) * kWhole / (kWhole + millionths);
    return static_cast<std::uint64_t>(std::min<Wide>(user, ~std::uint64_t{0})) / step_of(c) * step_of(c);
}

double least_over_provisioning(const DeviceConfig& c, std::uint64_t most) {
    const auto flash = static_cast<double>(flash_bytes(c.nand.geometry));
    // A capacity that is less than a step above `most` is rounded down to it.
    const auto beyond = static_cast<double>(most + step_of(c));
    double share = std::max(0.0, std::floor((flash / beyond - 1) / kStep) * kStep);
    while (capacity_with(c, share) > most) share += kStep;
    return share;
}

}  // namespace ssdtlm
