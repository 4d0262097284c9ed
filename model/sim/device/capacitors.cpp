// SPDX-License-Identifier: Apache-2.0
#include "sim/device/capacitors.h"

#include <algorithm>

#include "controller/ftl/ftl_check.h"
#include "controller/map/cached/pages/translation_sizes.h"

namespace ssdtlm {

namespace {
std::uint64_t parts(std::uint64_t n, std::uint64_t of) {
    return (n + of - 1) / of;
}
}  // namespace

Capacitors capacitors_of(const DeviceConfig& config) {
    const NandGeometry& g = config.nand.geometry;
    Capacitors c;
    const bool buffer = config.ftl.buffer_mode == BufferMode::power_protected;
    if (buffer) c.buffer_pages = parts(config.ftl.buffer_bytes / g.unit_bytes, g.units_per_page());
    if (translation_pages_of(config.ftl, g) != 0 && (buffer || limits_dirty_pages(config.ftl)))
        c.map_pages = parts(most_dirty_pages(config.ftl, g), g.units_per_page());
    const std::uint64_t dies_of_channel = std::uint64_t{g.ways} * g.dies_per_chip, in_row = std::uint64_t{g.planes()};
    const std::uint64_t pages = c.buffer_pages + c.map_pages, rows = parts(pages, in_row);
    const Ps program = *std::max_element(config.nand.t_program.begin(), config.nand.t_program.end());
    const std::uint64_t bytes = g.page_bytes + (config.nand.transfer_spare ? g.spare_bytes : 0);
    const Ps transfer{static_cast<std::int64_t>(bytes * 1'000'000 / config.nand.onfi.megatransfers)};
    c.time = static_cast<std::int64_t>(rows) *
             (program + static_cast<std::int64_t>(dies_of_channel * g.planes_per_die) * transfer);
    const double die_seconds = static_cast<double>(parts(pages, g.planes_per_die)) * to_seconds(program);
    c.joules = (to_seconds(c.time) * static_cast<double>(config.power.controller_uw) +
                die_seconds * static_cast<double>(config.power.die_uw)) *
               1e-6;
    return c;
}

}  // namespace ssdtlm
