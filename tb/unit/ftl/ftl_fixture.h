// SPDX-License-Identifier: Apache-2.0
// A small device and the untimed steps of the firmware, written once for the FTL tests: through the public interface
// of Ftl only, one unit at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "controller/ftl/ftl.h"
#include "nand/array/spare_area.h"

namespace ssdtlm::test {

inline NandGeometry small_geometry() {
    NandGeometry g;
    g.channels = 2;
    g.ways = 2;
    g.dies_per_chip = 1;
    g.planes_per_die = 2;
    g.blocks_per_plane = 24;
    g.pages_per_block = 16;
    g.page_bytes = 16384;
    g.unit_bytes = 4096;
    return g;
}

inline FtlConfig small_config(const NandGeometry& g, double user_share) {
    FtlConfig c;
    c.user_capacity_bytes = static_cast<std::uint64_t>(user_share * static_cast<double>(g.units())) * g.unit_bytes;
    c.gc_soft_free_blocks = 3;
    c.gc_hard_free_blocks = 2;
    c.initial_state = InitialState::fresh;
    return c;
}

struct Device {
    Device(const FtlConfig& config, const NandGeometry& g, std::uint64_t seed = 1)
        : geometry(g), flash(g), ftl(config, g, flash, seed) {}

    /// One host page with these units. false: no plane takes one.
    bool write(const std::vector<Lpa>& units) {
        PageAddress a;
        if (!ftl.allocate_host_page(a)) return false;
        Spare out[kMaxUnitsPerPage];
        std::fill_n(out, geometry.units_per_page(), kPadding);
        for (std::uint32_t s = 0; s < units.size(); ++s) {
            out[s] = ftl.codec().make(units[s], 1);
            ftl.map_unit(units[s], geometry.ppa_of(a, s));
        }
        flash.program_page(a, out);
        ftl.host_page_programmed(a);
        last = a;
        return true;
    }
    /// Empties one victim, its units packed in page order.
    bool collect(PlaneId plane) {
        const BlockId victim = ftl.select_victim(plane);
        if (victim == kNoBlock) return false;
        from.clear();
        std::uint32_t slots = 0;
        for (std::uint32_t page = 0; ftl.next_valid_page(victim, page, slots); ++page) {
            const PageAddress a{plane, geometry.block_in_plane(victim), page};
            for (std::uint32_t s = 0; s < geometry.units_per_page(); ++s) {
                if ((slots >> s & 1) != 0) from.push_back(geometry.ppa_of(a, s));
            }
        }
        const std::uint32_t n = geometry.units_per_page();
        for (std::size_t i = 0; i < from.size(); i += n) {
            const PageAddress to = ftl.allocate_gc_page(plane);
            Spare out[kMaxUnitsPerPage];
            std::fill_n(out, n, kPadding);
            for (std::uint32_t s = 0; s < n && i + s < from.size(); ++s) out[s] = flash.at(from[i + s]);
            flash.program_page(to, out);
            for (std::uint32_t s = 0; s < n && i + s < from.size(); ++s)
                ftl.commit_move(ftl.codec().lpa(out[s]), from[i + s], geometry.ppa_of(to, s));
            ftl.gc_page_programmed(to);
        }
        flash.erase(victim);
        ftl.block_erased(victim);
        return true;
    }

    NandGeometry geometry;
    SpareArea flash;
    Ftl ftl;
    PageAddress last;       ///< of write()
    std::vector<Ppa> from;  ///< of collect(), kept for its memory
};

}  // namespace ssdtlm::test
