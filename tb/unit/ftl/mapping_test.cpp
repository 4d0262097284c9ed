// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "common/address/fast_divide.h"
#include "common/random/random.h"
#include "controller/ftl/mapping/page_map.h"
#include "controller/ftl/mapping/validity_map.h"

namespace ssdtlm {
namespace {

TEST(FastDivide, EqualsDivision) {
    Random random(7);
    for (int i = 0; i < 2000; ++i) {
        const auto d = static_cast<std::uint32_t>(i < 70 ? i + 1 : random.next() >> (32 + random.below(31)) | 1);
        const FastDivide divide(d);
        for (const std::uint32_t n : {0u, 1u, d - 1, d, d + 1, 0xFFFFFFFFu, 0xFFFFFFFEu, 0xFFFFFFFFu / d * d,
                                      static_cast<std::uint32_t>(random.next())})
            ASSERT_EQ(divide(n), n / d) << n << " / " << d;
    }
}

TEST(PageMap, StartsUnmappedAndReturnsTheOldPlace) {
    NandGeometry g;
    g.blocks_per_plane = 16;
    g.pages_per_block = 100;
    PageMap map(1000, g);
    for (std::uint32_t l = 0; l < 1000; ++l) ASSERT_EQ(map.lookup(Lpa{l}), kUnmapped);
    EXPECT_EQ(map.exchange(Lpa{5}, Ppa{0}), kUnmapped);
    EXPECT_EQ(map.exchange(Lpa{5}, Ppa{77}), Ppa{0});
    EXPECT_EQ(map.exchange(Lpa{5}, kUnmapped), Ppa{77});
    EXPECT_EQ(map.lookup(Lpa{5}), kUnmapped);
}

TEST(ValidityMap, AgreesWithABoolVector) {
    constexpr std::uint32_t n = 1000;
    ValidityMap map(n);
    std::vector<bool> model(n);
    Random random(3);
    for (int i = 0; i < 20000; ++i) {
        const auto at = static_cast<std::uint32_t>(random.below(n));
        const auto count = static_cast<std::uint32_t>(random.below(n - at));
        switch (random.below(6)) {
            case 0:
                ASSERT_EQ(map.set(Ppa{at}), model[at]);
                model[at] = true;
                break;
            case 1:
            case 2:
                ASSERT_EQ(map.clear(Ppa{at}), model[at]);
                model[at] = false;
                break;
            case 3: {
                std::uint32_t expected = at;
                while (expected < at + count && !model[expected]) ++expected;
                ASSERT_EQ(map.find(at, at + count), expected);
                ASSERT_EQ(map.test(Ppa{at}), model[at]);
                break;
            }
            case 4: {
                std::uint32_t set = 0, low = 0;
                for (std::uint32_t k = 0; k < count; ++k) set += model[at + k];
                for (std::uint32_t k = 0; k < 16 && at + k < n; ++k)
                    low |= static_cast<std::uint32_t>(model[at + k]) << k;
                ASSERT_EQ(map.count(at, at + count), set);
                ASSERT_EQ(map.bits(at, at + 16 <= n ? 16 : n - at), low);
                break;
            }
            default:
                if (i % 50 != 0) break;
                map.fill(at, count % 150);
                for (std::uint32_t k = 0; k < count % 150; ++k) model[at + k] = true;
        }
    }
}

}  // namespace
}  // namespace ssdtlm
