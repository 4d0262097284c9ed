// SPDX-License-Identifier: Apache-2.0
// Small devices for tests, built in code so that a test shows every number it depends on.
#pragma once

#include "sim/sim_config.h"

namespace ssdtlm {

/// `table3()` with fewer blocks: same timing and parallelism as the mqsim-table3 preset, 1/32 of its capacity.
inline SsdConfig table3_small() {
    SsdConfig c;
    c.name = "table3-small";
    NandGeometry& g = c.nand.geometry;
    g.channels = 8;
    g.ways = 4;
    g.dies_per_chip = 2;
    g.planes_per_die = 2;
    g.blocks_per_plane = 64;
    g.pages_per_block = 256;
    g.page_bytes = 8192;
    g.spare_bytes = 448;
    g.unit_bytes = 4096;
    c.nand.onfi.megatransfers = 333;
    c.nand.onfi.t_adl = Ps{70'000};
    c.nand.onfi.t_ccs = Ps{300'000};
    c.nand.onfi.t_dqsre = Ps{15'000};
    c.nand.t_read = {Ps{75'000'000}};
    c.nand.t_program = {Ps{750'000'000}};
    c.nand.t_erase = Ps{3'800'000'000};
    c.ftl.user_capacity_bytes = g.raw_bytes() / 100 * 80 / 4096 * 4096;
    return c;
}

/// channels x dies, one plane each, 4 KiB pages without spare area.
inline SsdConfig grid(std::uint32_t channels, std::uint32_t dies_per_channel, std::uint32_t planes = 1) {
    SsdConfig c = table3_small();
    c.name = "grid";
    NandGeometry& g = c.nand.geometry;
    g.channels = channels;
    g.ways = dies_per_channel;
    g.dies_per_chip = 1;
    g.planes_per_die = planes;
    g.page_bytes = 4096;
    g.spare_bytes = 0;
    c.ftl.user_capacity_bytes = g.raw_bytes() / 100 * 80 / 4096 * 4096;
    return c;
}

}  // namespace ssdtlm
