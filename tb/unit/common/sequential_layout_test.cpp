// SPDX-License-Identifier: Apache-2.0
#include "common/address/sequential_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ssdtlm {
namespace {

NandGeometry geometry(std::uint32_t planes, std::uint32_t blocks, std::uint32_t pages, std::uint32_t units_per_page) {
    NandGeometry g;
    g.channels = planes;
    g.blocks_per_plane = blocks;
    g.pages_per_block = pages;
    g.unit_bytes = 4096;
    g.page_bytes = 4096 * units_per_page;
    return g;
}

// Page after page to the next plane of the order, at the next page of that plane: counted, not computed.
TEST(SequentialLayout, EqualsCountingPageByPage) {
    for (const NandGeometry& g :
         {geometry(1, 3, 4, 1), geometry(4, 5, 8, 2), geometry(6, 7, 3, 4), geometry(3, 2, 5, 3)}) {
        std::vector<PlaneId> order;
        for (std::uint32_t p = 0; p < g.planes(); ++p) order.push_back(PlaneId{g.planes() - 1 - p});
        std::rotate(order.begin(), order.begin() + order.size() / 3, order.end());
        const auto all = static_cast<std::uint32_t>(g.units());
        for (const std::uint32_t units : {0u, 1u, g.units_per_page(), all / 2, all / 2 + 1, all - 1, all}) {
            SCOPED_TRACE(std::to_string(g.planes()) + " planes, " + std::to_string(units) + " of " +
                         std::to_string(all));
            const SequentialLayout layout(g, order, units);
            EXPECT_EQ(layout.units(), units);
            std::vector<std::uint32_t> pages(g.planes());
            for (std::uint32_t unit = 0, at = 0; unit < all; unit += g.units_per_page(), at = (at + 1) % g.planes()) {
                const PlaneId plane = order[at];
                std::uint32_t& in_plane = pages[idx(plane)];
                const PageAddress page{plane, in_plane / g.pages_per_block, in_plane % g.pages_per_block};
                const Ppa first = g.ppa_of(page, 0);
                ASSERT_EQ(layout.unit_of(layout.page_number(first)), unit);
                for (std::uint32_t s = 0; s < g.units_per_page(); ++s) {
                    const Ppa place = layout.place_of(Lpa{unit + s});
                    ASSERT_EQ(idx(place), unit + s < units ? idx(first) + s : idx(kUnmapped));
                    ASSERT_EQ(layout.page_number(Ppa{idx(first) + s}), layout.page_number(first));
                }
                ++in_plane;
                if (unit >= units || unit + g.units_per_page() < units) continue;
                for (std::uint32_t i = 0; i < g.planes(); ++i) ASSERT_EQ(layout.pages_in(PlaneId{i}), pages[i]);
            }
        }
    }
}

TEST(SequentialLayout, NothingLaidOut) {
    const NandGeometry g = geometry(4, 2, 2, 2);
    const SequentialLayout layout(g);
    for (std::uint32_t l = 0; l < g.units(); ++l) EXPECT_EQ(layout.place_of(Lpa{l}), kUnmapped);
    for (std::uint32_t p = 0; p < g.planes(); ++p) EXPECT_EQ(layout.pages_in(PlaneId{p}), 0u);
}

}  // namespace
}  // namespace ssdtlm
