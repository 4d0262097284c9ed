// SPDX-License-Identifier: Apache-2.0
// A walk over a PRDT from any byte on gives the bytes that a walk byte by byte gives.
#include "host_sata/ahci/prd_walk.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace ssdtlm {
namespace {

using Pieces = std::vector<PrdWalk::Piece>;

/// All that is left, in pieces of at most `most`; the table lies at 0.
Pieces walk(const std::vector<std::uint8_t>& table, std::uint64_t offset, std::uint32_t most) {
    PrdWalk w;
    w.begin(0, static_cast<std::uint32_t>(table.size() / ahci::kPrdBytes), offset);
    Pieces all;
    for (;;) {
        while (w.needs_entries()) {
            const PrdWalk::Piece group = w.next_group();
            std::memcpy(w.buffer(), table.data() + group.address, group.bytes);
            w.filled();
        }
        if (w.at_end()) return all;
        all.push_back(w.take(most));
    }
}

std::vector<std::uint8_t> table_of(const Pieces& pieces) {
    std::vector<std::uint8_t> t(pieces.size() * ahci::kPrdBytes);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const std::uint32_t count = pieces[i].bytes - 1;
        std::memcpy(t.data() + i * 16, &pieces[i].address, 8);
        std::memcpy(t.data() + i * 16 + 12, &count, 4);
    }
    return t;
}

std::vector<std::uint64_t> addresses(const Pieces& pieces) {
    std::vector<std::uint64_t> a;
    for (const auto& p : pieces)
        for (std::uint32_t i = 0; i < p.bytes; ++i) a.push_back(p.address + i);
    return a;
}

TEST(PrdWalk, FromAnyOffset) {
    std::mt19937 draw(1);
    for (int run = 0; run < 300; ++run) {
        Pieces pieces(1 + draw() % 150);
        std::uint64_t total = 0;
        for (auto& p : pieces) {
            p.address = (draw() % 1'000'000) * 2;
            p.bytes = static_cast<std::uint32_t>(2 + draw() % 60 * 2);
            total += p.bytes;
        }
        const std::uint64_t offset = draw() % (total + 10);
        std::vector<std::uint64_t> expected = addresses(pieces);
        expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(std::min(offset, total)));
        EXPECT_EQ(addresses(walk(table_of(pieces), offset, static_cast<std::uint32_t>(1 + draw() % 200))), expected)
            << run;
    }
}

TEST(PrdWalk, AnEntryHasUpTo4MiBAndEvenBytes) {
    std::vector<std::uint8_t> t = table_of({{0x1000, 4u << 20}});
    EXPECT_EQ(walk(t, 0, ~0u).front().bytes, 4u << 20);
    t[12] = 0xFE;  // an even count less one is not allowed: bit 0 reads as 1
    t[0] = 0x01;
    EXPECT_EQ(walk(t, 0, ~0u).front().address, 0x1000u);
    EXPECT_EQ(walk(t, 0, ~0u).front().bytes, 4u << 20);
}

TEST(PrdWalk, AnEmptyTableHasNothing) {
    EXPECT_TRUE(walk({}, 0, 1).empty());
    EXPECT_TRUE(walk({}, 5, 1).empty());
}

}  // namespace
}  // namespace ssdtlm
