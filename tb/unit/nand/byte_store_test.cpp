// SPDX-License-Identifier: Apache-2.0
#include "nand/array/byte_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kUnit = 4096, kBlock = 512;
using Content = std::vector<std::uint8_t>;

NandGeometry geometry() {
    NandGeometry g;
    g.channels = 2;
    g.planes_per_die = 2;
    g.blocks_per_plane = 8;
    g.pages_per_block = 4;
    g.page_bytes = 16384;
    g.unit_bytes = kUnit;
    return g;
}

Content content_of(const UnitBytes& unit) {
    return unit ? Content(unit.data(), unit.data() + unit.size()) : Content{};
}

UnitBytes drawn(Random& r) {
    Content all(kUnit);
    for (std::uint8_t& b : all) b = static_cast<std::uint8_t>(r.next());
    return UnitBytes::copy_of(all.data(), kUnit);
}

/// What version 1 of the unit's logical blocks is, word by word from BlockBytes.
Content at_start(const BlockBytes& bytes, std::uint32_t unit) {
    Content all(kUnit);
    for (std::uint32_t b = 0; b < kUnit / kBlock; ++b) bytes.fill(unit * (kUnit / kBlock) + b, 1, &all[b * kBlock]);
    return all;
}

struct Flash {
    const NandGeometry g = geometry();
    const SpareCodec codec{g.units()};
    const BlockBytes bytes{7, kBlock};
    SpareArea area{g};

    Flash() { area.keep_bytes(codec, bytes); }
    std::uint64_t kept() const { return area.bytes()->kept(); }
    Content read(const PageAddress& a, std::uint32_t slot) const {
        std::array<Spare, 4> spare{};
        std::array<UnitBytes, 4> units;
        area.read_page(a, spare.data(), units.data());
        return content_of(units[slot]);
    }
    UnitBytes unit(const PageAddress& a, std::uint32_t slot) const {
        std::array<Spare, 4> spare{};
        std::array<UnitBytes, 4> units;
        area.read_page(a, spare.data(), units.data());
        return units[slot];
    }
};

TEST(BlockBytes, FollowFromSeedLbaAndVersionAndNothingIsLikeAnother) {
    const BlockBytes bytes(3, kBlock);
    std::map<Content, std::string> seen;
    for (const std::uint64_t seed : {3ull, 4ull}) {
        for (const std::uint64_t lba : {0ull, 1ull, 2ull, 16ull, 1ull << 33}) {
            for (std::uint32_t version = 1; version < 16; ++version) {
                Content block(kBlock), again(kBlock);
                BlockBytes(seed, kBlock).fill(lba, version, block.data());
                BlockBytes(seed, kBlock).fill(lba, version, again.data());
                EXPECT_EQ(block, again);
                const std::string what =
                    std::to_string(seed) + " " + std::to_string(lba) + " " + std::to_string(version);
                const auto [first, fresh] = seen.emplace(block, what);
                EXPECT_TRUE(fresh) << what << " is " << first->second;
            }
        }
    }
    Content zeros(kBlock, 0xFF);
    bytes.fill(5, 0, zeros.data());
    EXPECT_EQ(zeros, Content(kBlock, 0));
}

TEST(BlockBytes, TellTheFirstByteThatDiffers) {
    const BlockBytes bytes(3, kBlock);
    for (const std::uint32_t version : {0u, 1u, 15u}) {
        Content block(kBlock);
        bytes.fill(9, version, block.data());
        EXPECT_EQ(bytes.differs_at(9, version, block.data()), kBlock);
        for (std::uint32_t at = kBlock; at-- > 0;) {
            block[at] ^= 0x80;
            ASSERT_EQ(bytes.differs_at(9, version, block.data()), at);
        }
    }
}

TEST(UnitBytes, ChangesAreSeenByNobodyElse) {
    UnitBytes a = UnitBytes::zeros(kUnit);
    const UnitBytes b = a;
    EXPECT_EQ(a.data(), b.data()) << "a reference is no copy";
    a.change()[5] = 1;
    EXPECT_NE(a.data(), b.data());
    EXPECT_EQ(b.data()[5], 0);
    const std::uint8_t* const own = a.data();
    a.change()[6] = 2;
    EXPECT_EQ(a.data(), own) << "nobody else refers to them";
    const UnitBytes moved = std::move(a);
    EXPECT_EQ(moved.data(), own);
    a = moved;
    EXPECT_EQ(a.data()[5] + a.data()[6], 3);
}

TEST(ByteStore, ReturnsTheVeryBytesUntilTheBlockIsErased) {
    Flash f;
    Random r(1);
    const std::array<Spare, 4> spare{f.codec.make(Lpa{5}, 0), f.codec.make(Lpa{6}, 0), kPadding, kPadding};
    const std::array<UnitBytes, 4> units{drawn(r), drawn(r), UnitBytes{}, drawn(r)};
    const PageAddress a{PlaneId{1}, 3, 0}, other{PlaneId{1}, 4, 0};
    f.area.program_page(a, spare.data(), {}, units.data());
    f.area.program_page(other, spare.data(), {}, units.data());
    EXPECT_EQ(f.unit(a, 0).data(), units[0].data()) << "a reference is no copy";
    EXPECT_EQ(f.unit(a, 1).data(), units[1].data());
    EXPECT_FALSE(f.unit(a, 2)) << "padding";
    EXPECT_FALSE(f.unit(a, 3)) << "padding";
    EXPECT_EQ(f.kept(), 4u);
    f.area.erase(f.g.block_of(a));
    EXPECT_FALSE(f.unit(a, 0));
    EXPECT_EQ(f.kept(), 2u);
    EXPECT_EQ(f.unit(other, 0).data(), units[0].data());
}

TEST(ByteStore, MakesWhatWasLaidOutAndKeepsNothingOfIt) {
    const NandGeometry g = geometry();
    std::vector<PlaneId> planes;
    for (std::uint32_t p = 0; p < g.planes(); ++p) planes.push_back(PlaneId{p});
    const SequentialLayout layout(g, planes, 50);
    Flash f;
    f.area.lay_out(layout, f.codec);
    std::array<Spare, 4> spare{};
    std::array<UnitBytes, 4> moved;
    for (std::uint32_t u = 0; u < 50; ++u) {
        const PageAddress a = g.page_of(layout.place_of(Lpa{u}));
        const std::uint32_t slot = idx(layout.place_of(Lpa{u})) - idx(g.ppa_of(a, 0));
        ASSERT_EQ(f.read(a, slot), at_start(f.bytes, u)) << u;
        if (u >= 4) continue;
        spare[u] = f.codec.make(Lpa{u}, 0);
        moved[u] = f.unit(a, slot);
    }
    // Garbage collection moves three of them as they are; what changed of one, and what is another unit's, is kept.
    moved[1].change()[100] ^= 1;
    moved[2] = moved[3];
    const PageAddress to{PlaneId{0}, 7, 0};
    f.area.program_page(to, spare.data(), {}, moved.data());
    EXPECT_EQ(f.kept(), 2u);
    Content changed = at_start(f.bytes, 1);
    changed[100] ^= 1;
    EXPECT_EQ(f.read(to, 0), at_start(f.bytes, 0));
    EXPECT_EQ(f.read(to, 1), changed);
    EXPECT_EQ(f.read(to, 2), at_start(f.bytes, 3)) << "unit 3's bytes under the name of unit 2";
    EXPECT_EQ(f.read(to, 3), at_start(f.bytes, 3));
}

// Contents of the start have metadata of zeros, and a unit of the host keeps its own.
TEST(ByteStore, KeepsMetadataBehindTheData) {
    NandGeometry g = geometry();
    g.metadata_bytes = kUnit / kBlock * 8;
    const SpareCodec codec{g.units()};
    const BlockBytes bytes{7, kBlock};
    SpareArea area{g};
    area.keep_bytes(codec, bytes);
    std::vector<PlaneId> planes;
    for (std::uint32_t p = 0; p < g.planes(); ++p) planes.push_back(PlaneId{p});
    const SequentialLayout layout(g, planes, 50);
    area.lay_out(layout, codec);
    Random r(4);
    Content all(g.kept_bytes());
    for (std::uint8_t& b : all) b = static_cast<std::uint8_t>(r.next());
    const PageAddress to{PlaneId{0}, 7, 0};
    const std::array<Spare, 4> spare{codec.make(Lpa{9}, 0), kPadding, kPadding, kPadding};
    const std::array<UnitBytes, 4> units{UnitBytes::copy_of(all.data(), g.kept_bytes()), UnitBytes{}, UnitBytes{},
                                         UnitBytes{}};
    area.program_page(to, spare.data(), {}, units.data());
    const auto read = [&](const PageAddress& a, std::uint32_t slot) {
        std::array<Spare, 4> names{};
        std::array<UnitBytes, 4> found;
        area.read_page(a, names.data(), found.data());
        return content_of(found[slot]);
    };
    EXPECT_EQ(read(to, 0), all);
    const Ppa place = layout.place_of(Lpa{3});
    Content start = at_start(bytes, 3);
    start.resize(g.kept_bytes(), 0);
    EXPECT_EQ(read(g.page_of(place), g.slot_of(place)), start);
}

TEST(ByteStore, TornPagesAndBlocksHoldNothing) {
    Flash f;
    Random r(2);
    const PageAddress a{PlaneId{2}, 1, 0}, next{PlaneId{2}, 1, 1};
    const std::array<Spare, 4> spare{f.codec.make(Lpa{5}, 0), f.codec.make(Lpa{6}, 0), kPadding, kPadding};
    const std::array<UnitBytes, 4> units{drawn(r), drawn(r), UnitBytes{}, UnitBytes{}};
    f.area.program_page(a, spare.data(), {}, units.data());
    f.area.tear(next);
    EXPECT_TRUE(f.unit(a, 0));
    for (std::uint32_t s = 0; s < 4; ++s) EXPECT_FALSE(f.unit(next, s));
    f.area.tear_block(f.g.block_of(a));
    for (std::uint32_t s = 0; s < 4; ++s) EXPECT_FALSE(f.unit(a, s));
    EXPECT_EQ(f.kept(), 0u);
}

TEST(ByteStore, RefusesAUnitWithoutBytes) {
    Flash f;
    const std::array<Spare, 4> spare{kPadding, f.codec.make(Lpa{6}, 0), kPadding, kPadding};
    const std::array<UnitBytes, 4> none;
    EXPECT_THROW(f.area.program_page({PlaneId{0}, 0, 0}, spare.data(), {}, none.data()), Panic);
}

// Against a map of what each slot holds: any order of programs, tears and erases.
TEST(ByteStore, HoldsWhatIsLiveAndNothingElse) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Flash f;
        Random r(seed, 3);
        std::map<std::uint32_t, Content> expected;  // by Ppa
        std::set<BlockId> half_erased;
        const std::uint32_t per_block = f.g.units_per_block();
        const auto forget = [&](BlockId b) {
            expected.erase(expected.lower_bound(idx(b) * per_block), expected.lower_bound((idx(b) + 1) * per_block));
        };
        for (std::uint32_t step = 0; step < 2000; ++step) {
            const BlockId b{static_cast<std::uint32_t>(r.below(f.g.blocks()))};
            const PageAddress a{f.g.plane_of(b), f.g.block_in_plane(b), f.area.next_page(b)};
            if (a.page == f.g.pages_per_block || half_erased.count(b) != 0 || r.percent(5)) {
                const bool cut = r.percent(20);
                cut ? f.area.tear_block(b) : f.area.erase(b);
                if (cut && a.page != 0)
                    half_erased.insert(b);
                else
                    half_erased.erase(b);
                forget(b);
            } else if (r.percent(5)) {
                f.area.tear(a);
            } else {
                std::array<Spare, 4> spare{};
                std::array<UnitBytes, 4> units;
                for (std::uint32_t s = 0; s < 4; ++s) {
                    const Lpa lpa{static_cast<std::uint32_t>(r.below(f.g.units()))};
                    spare[s] = r.percent(20) ? kPadding : f.codec.make(lpa, 0);
                    if (spare[s] == kPadding) continue;
                    units[s] = drawn(r);
                    expected[idx(f.g.ppa_of(a, s))] = content_of(units[s]);
                }
                f.area.program_page(a, spare.data(), {}, units.data());
            }
            ASSERT_EQ(f.kept(), expected.size()) << "seed " << seed << " step " << step;
        }
        for (std::uint32_t b = 0; b < f.g.blocks(); ++b) {
            for (std::uint32_t page = 0; page < f.area.next_page(BlockId{b}); ++page) {
                const PageAddress a{f.g.plane_of(BlockId{b}), f.g.block_in_plane(BlockId{b}), page};
                for (std::uint32_t s = 0; s < 4; ++s) {
                    const auto found = expected.find(idx(f.g.ppa_of(a, s)));
                    ASSERT_EQ(f.read(a, s), found == expected.end() ? Content{} : found->second);
                }
            }
        }
    }
}

}  // namespace
}  // namespace ssdtlm
