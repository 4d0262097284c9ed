// SPDX-License-Identifier: Apache-2.0
// Rows with parity as the flash shows them, found without the organs that write and rebuild them.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "nand/array/spare_area.h"

namespace ssdtlm {

/// The other pages of a row's plane, one in each die.
inline std::vector<PageAddress> others_of_row(const NandGeometry& g, const PageAddress& page) {
    std::vector<PageAddress> found;
    for (std::uint32_t plane = idx(page.plane) % g.planes_per_die; plane < g.planes(); plane += g.planes_per_die)
        if (plane != idx(page.plane)) found.push_back({PlaneId{plane}, page.block, page.page});
    return found;
}

/// Every page of it is programmed.
inline bool is_complete_row(const SpareArea& flash, const PageAddress& page) {
    const NandGeometry& g = flash.geometry();
    const auto programmed = [&](const PageAddress& a) { return flash.next_page(g.block_of(a)) > a.page; };
    const auto rest = others_of_row(g, page);
    return programmed(page) && std::all_of(rest.begin(), rest.end(), programmed);
}

struct ParityRows {
    std::uint64_t rows = 0;  ///< complete ones whose sum is zero, as it has to be
    std::uint64_t stale =
        0;  ///< complete ones whose parity is older than a page, or with a page that is torn or has failed: of no use
};

/// std::logic_error when a row whose page for parity is the youngest is not zero in sum.
inline ParityRows check_parity_rows(const SpareArea& flash, const SpareCodec& codec) {
    const NandGeometry& g = flash.geometry();
    ParityRows found;
    for (std::uint32_t block = 0; block < g.blocks_per_plane; ++block)
        for (std::uint32_t page = 0; page < g.pages_per_block; ++page)
            for (std::uint32_t plane = 0; plane < g.planes_per_die; ++plane) {
                const PageAddress first{PlaneId{plane}, block, page};
                if (!is_complete_row(flash, first)) continue;
                std::vector<PageAddress> row = others_of_row(g, first);
                row.push_back(first);
                std::uint64_t youngest = 0, parity = 0;
                bool of_no_use = false, any_user = false, bytes_kept = true;
                std::uint32_t sum[kMaxUnitsPerPage] = {};
                std::vector<std::uint8_t> bytes(g.page_bytes);
                Spare spare[kMaxUnitsPerPage];
                UnitBytes of_page[kMaxUnitsPerPage];
                for (const PageAddress& a : row) {
                    const PageRecord record = flash.record(a);
                    youngest = std::max(youngest, record.number);
                    any_user = any_user || record.kind != PageKind::checkpoint;
                    if (record.kind == PageKind::parity) parity = record.number;
                    flash.read_page(a, spare, of_page);
                    // Nothing is there: the program has failed.
                    of_no_use = of_no_use ||
                                (record.kind != PageKind::journal &&
                                 std::all_of(spare, spare + g.units_per_page(), [](Spare s) { return s == kPadding; }));
                    for (std::uint32_t s = 0; s < g.units_per_page(); ++s) {
                        of_no_use = of_no_use || spare[s] == kTorn;
                        sum[s] ^= spare[s] == kPadding ? 0 : idx(spare[s]);
                        if (!of_page[s]) continue;
                        // Of parity that preconditioning left none are kept.
                        if (record.kind == PageKind::parity && of_page[s].is_from_start(codec.lpa(spare[s])))
                            bytes_kept = false;
                        for (std::uint32_t i = 0; i < g.unit_bytes; ++i)
                            bytes[s * g.unit_bytes + i] ^= of_page[s].data()[i];
                    }
                }
                if (parity == 0 || parity != youngest || of_no_use) {
                    found.stale += any_user;
                    continue;
                }
                const std::string where = "block " + std::to_string(block) + " page " + std::to_string(page) +
                                          " plane " + std::to_string(plane);
                for (std::uint32_t s = 0; s < g.units_per_page(); ++s)
                    if (sum[s] != 0)
                        throw std::logic_error("a row with parity is not zero in sum: " + where + " slot " +
                                               std::to_string(s));
                if (bytes_kept && std::count(bytes.begin(), bytes.end(), 0) != g.page_bytes)
                    throw std::logic_error("bytes of a row with parity are not zero in sum: " + where);
                ++found.rows;
            }
    return found;
}

}  // namespace ssdtlm
