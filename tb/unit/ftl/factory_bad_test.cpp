// SPDX-License-Identifier: Apache-2.0
// Blocks that the factory has marked: never used, in any state, by whatever writes, and after a loss of power. The
// flash itself refuses (SpareArea).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "common/random/random.h"
#include "controller/checkpoint/checkpoint_feature.h"
#include "controller/ftl/ftl_check.h"
#include "controller/mount/recovery.h"
#include "controller/precondition/precondition.h"
#include "unit/ftl/ftl_fixture.h"
#include "unit/ftl/hybrid_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;

constexpr std::uint32_t kSpare = 3;

struct Drive {
    SuperblockSpan span;
    const char* dimensions;
    const char* mapping;
    std::uint32_t slc;
};

FtlConfig config_of(const Drive& drive, NandGeometry& g) {
    g.blocks_per_plane += kSpare + drive.slc + 4;
    FtlConfig c = test::small_config(g, 0.4, drive.span);
    c.spare_blocks = kSpare;
    c.static_dimensions = drive.dimensions;
    c.mapping = drive.mapping;
    c.map.entry_bytes = g.unit_bytes / 8;
    c.map.cache_bytes = 1 << 16;
    c.slc.blocks = drive.slc;
    c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
    return c;
}

/// In each group none to as many superblocks as there are spare ones, one or more blocks of each; with an SLC cache one
/// of its own.
std::vector<BlockId> drawn(const NandGeometry& g, const FtlConfig& c, Random& random) {
    const SuperblockShape shape(g, c.superblock);
    const std::uint32_t usable = shape.blocks_per_group() - c.slc.blocks;
    std::set<BlockId> bad;
    for (std::uint32_t group = 0; group < shape.groups(); ++group) {
        std::set<std::uint32_t> numbers;
        while (numbers.size() < random.below(kSpare + 1))
            numbers.insert(static_cast<std::uint32_t>(random.percent(20) ? usable - 1 - random.below(kSpare)
                                                                         : random.below(usable)));
        if (c.slc.blocks > 1) numbers.insert(usable + static_cast<std::uint32_t>(random.below(c.slc.blocks)));
        for (const std::uint32_t n : numbers)
            for (std::uint64_t i = 0; i <= random.below(2); ++i)
                bad.insert(shape.block(SuperblockId{group * shape.blocks_per_group() + n},
                                       static_cast<std::uint32_t>(random.below(shape.planes()))));
    }
    return {bad.begin(), bad.end()};
}

TEST(FactoryBad, AFullDriveWorksWithoutThem) {
    const Drive drives[] = {{SuperblockSpan::plane, "none", "page", 0}, {SuperblockSpan::die, "none", "page", 0},
                            {SuperblockSpan::drive, "none", "page", 0}, {SuperblockSpan::plane, "CWDP", "page", 0},
                            {SuperblockSpan::die, "C", "dftl", 0},      {SuperblockSpan::plane, "none", "page", 3},
                            {SuperblockSpan::die, "none", "dftl", 0}};
    std::uint64_t marked = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
        for (const Drive& drive : drives)
            for (const InitialState state :
                 {InitialState::fresh, InitialState::sequential, InitialState::random, InitialState::analytic}) {
                if (state == InitialState::analytic && drive.dimensions != std::string("none")) continue;
                SCOPED_TRACE("seed " + std::to_string(seed) + " drive " + std::to_string(&drive - drives) + " state " +
                             std::to_string(static_cast<int>(state)));
                Random random(seed, static_cast<std::uint64_t>(&drive - drives));
                NandGeometry g = test::small_geometry();
                FtlConfig c = config_of(drive, g);
                c.initial_state = state;
                const std::vector<BlockId> bad = drawn(g, c, random);
                Device d(c, g, seed, bad);
                marked += bad.size();
                Preconditioner(d.ftl).run();
                d.ftl.verify_books();
                const std::uint64_t units = d.ftl.logical_units();
                EXPECT_EQ(d.ftl.mapped_units(), state == InitialState::fresh ? 0 : units);
                EXPECT_EQ(d.ftl.media().available_spare, 100);
                EXPECT_EQ(d.ftl.media().blocks_retired, 0u);
                for (std::uint64_t i = 0; i < 2 * units; ++i) {
                    std::vector<Lpa> one{Lpa{static_cast<std::uint32_t>(i < units ? i : random.below(units))}};
                    for (int k = 0; !d.write(one); ++k) {
                        ASSERT_LT(k, 100) << "no room for unit " << idx(one[0]);
                        for (std::uint32_t group = 0; group < d.ftl.shape().groups(); ++group)
                            if (d.ftl.wants_collection(GroupId{group})) d.collect(GroupId{group});
                    }
                }
                d.ftl.verify_books();
                // A start finds the same, and goes on.
                auto again = std::make_unique<Ftl>(c, g, d.flash, seed);
                Recovery(*again).from_all_pages();
                again->verify_books();
                EXPECT_EQ(again->mapped_units(), units);
                EXPECT_FALSE(again->media().read_only);
                EXPECT_EQ(again->media().available_spare, 100);
                for (const BlockId b : bad) EXPECT_EQ(d.flash.erase_count(b) + d.flash.next_page(b), 0u);
            }
    std::printf("%llu blocks marked\n", static_cast<unsigned long long>(marked));
}

/// Merges go on without them, from each state.
TEST(FactoryBad, LogBlocksAreOthers) {
    std::uint64_t marked = 0, merges = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed)
        for (const InitialState state : {InitialState::fresh, InitialState::sequential, InitialState::random}) {
            const auto logs = static_cast<std::uint32_t>(seed % 3);
            const SuperblockSpan span = seed % 2 == 0 ? SuperblockSpan::plane : SuperblockSpan::die;
            SCOPED_TRACE("seed " + std::to_string(seed) + " state " + std::to_string(static_cast<int>(state)));
            NandGeometry g = test::hybrid_geometry();
            g.blocks_per_plane += kSpare + 8;
            FtlConfig c = logs == 0 ? test::block_config(g, span) : test::hybrid_config(g, logs, span);
            c.spare_blocks = kSpare;
            c.initial_state = state;
            c.fill = seed % 4 == 0 ? 0.6 : 1;
            c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
            Random random(seed, 5);
            const std::vector<BlockId> bad = drawn(g, c, random);
            marked += bad.size();
            test::HybridDevice d(c, g, seed, bad);
            d.ftl.verify_books();
            const auto units = static_cast<std::uint32_t>(d.ftl.logical_units());
            EXPECT_EQ(d.ftl.mapped_units(),
                      state == InitialState::fresh ? 0 : static_cast<std::uint64_t>(c.fill * units));
            std::vector<std::uint32_t> versions(units);
            for (std::uint32_t i = 0; i < 6 * units; ++i) {
                const Lpa l{static_cast<std::uint32_t>(random.below(units))};
                d.write(std::vector<Lpa>{l});
                if (HasFatalFailure()) return;
                versions[idx(l)] = d.version;
            }
            d.ftl.verify_books();
            merges += d.ftl.counters().full_merges + d.ftl.counters().partial_merges;
            Ftl again(c, g, d.flash, seed);
            Recovery(again).from_all_pages();
            again.verify_books();
            EXPECT_EQ(again.media().available_spare, 100);
            for (std::uint32_t u = 0; u < units; ++u) {
                if (versions[u] == 0) continue;
                ASSERT_EQ(d.flash.at(again.lookup(Lpa{u})), again.codec().make(Lpa{u}, versions[u])) << "unit " << u;
            }
            for (const BlockId b : bad) EXPECT_EQ(d.flash.erase_count(b) + d.flash.next_page(b), 0u);
        }
    std::printf("%llu blocks marked, %llu merges\n", static_cast<unsigned long long>(marked),
                static_cast<unsigned long long>(merges));
    EXPECT_GT(marked, 50u);
    EXPECT_GT(merges, 1000u);
}

/// The same ones each time the drive starts, all of them good, and as many of each group as without bad ones.
TEST(FactoryBad, CheckpointsGoToSpareOnes) {
    std::uint64_t replaced = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed)
        for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die, SuperblockSpan::drive}) {
            SCOPED_TRACE("seed " + std::to_string(seed) + " span " + std::to_string(static_cast<int>(span)));
            NandGeometry g = test::small_geometry();
            FtlConfig c = config_of({span, "none", "page", 0}, g);
            c.checkpoint_at_shutdown = true;
            g.blocks_per_plane += CheckpointLayout(c, g).per_group();
            const CheckpointLayout planned(c, g);
            c.user_capacity_bytes = most_logical_units(c, g) * g.unit_bytes;
            Random random(seed, 3);
            std::vector<std::uint32_t> of_group(planned.shape().groups());
            std::set<BlockId> bad;
            for (std::uint32_t i = 0; i < planned.superblocks() + 20; ++i) {
                const SuperblockId b =
                    i < planned.superblocks()
                        ? planned.superblock(i)
                        : SuperblockId{static_cast<std::uint32_t>(random.below(planned.shape().superblocks()))};
                std::uint32_t& here = of_group[idx(planned.shape().group_of(b))];
                if (here == kSpare || random.percent(60)) continue;
                if (bad.insert(
                           planned.shape().block(b, static_cast<std::uint32_t>(random.below(planned.shape().planes()))))
                        .second)
                    ++here;
            }
            Device d(c, g, seed, {bad.begin(), bad.end()});
            const CheckpointLayout& layout = checkpoints_of(d.ftl)->layout();
            std::set<SuperblockId> places;
            std::vector<std::uint32_t> set_apart(planned.shape().groups());
            for (std::uint32_t i = 0; i < layout.superblocks(); ++i) {
                const SuperblockId b = layout.superblock(i);
                EXPECT_TRUE(places.insert(b).second);
                EXPECT_EQ(d.ftl.superblock(b).state, BlockState::set_apart);
                EXPECT_FALSE(d.ftl.shape().any_block(b, [&](BlockId block) { return d.flash.is_marked_bad(block); }));
                EXPECT_EQ(layout.shape().group_of(b), planned.shape().group_of(planned.superblock(i)));
                ++set_apart[idx(layout.shape().group_of(b))];
                replaced += b != planned.superblock(i);
            }
            for (const std::uint32_t n : set_apart) EXPECT_EQ(n, layout.per_group());
            for (std::uint32_t n = 0; n < d.ftl.shape().superblocks(); ++n)
                EXPECT_EQ(d.ftl.superblock(SuperblockId{n}).state == BlockState::set_apart,
                          places.count(SuperblockId{n}) != 0);
            EXPECT_NO_THROW(d.ftl.verify_books());
            Ftl again(c, g, d.flash, seed);
            for (std::uint32_t i = 0; i < layout.superblocks(); ++i)
                EXPECT_EQ(checkpoints_of(again)->layout().superblock(i), layout.superblock(i));
        }
    EXPECT_GT(replaced, 100u);
}

/// What fails later takes what they have left.
TEST(FactoryBad, TheSpareOnesThatAreLeftAreAllThereAre) {
    NandGeometry g = test::small_geometry();
    g.channels = g.ways = 1;
    FtlConfig c = config_of({SuperblockSpan::die, "none", "page", 0}, g);
    Device d(c, g, 1, {BlockId{0}});  // of a drive with one group
    const auto fail_program = [&d] {
        PageAddress a;
        ASSERT_TRUE(d.ftl.allocate_host_page(a));
        const std::vector<Spare> nothing(d.geometry.units_per_page(), kPadding);
        d.flash.program_page(a, nothing.data(), d.ftl.draw_record(a));
        d.ftl.host_page_failed(a);
    };
    for (const std::uint32_t left : {50u, 0u}) {
        fail_program();
        EXPECT_EQ(d.ftl.media().available_spare, left);
        EXPECT_FALSE(d.ftl.media().read_only);
    }
    fail_program();
    EXPECT_TRUE(d.ftl.media().read_only);
}

TEST(FactoryBad, TheFlashRefusesThem) {
    SpareArea flash(test::small_geometry());
    flash.mark_bad(BlockId{3});
    EXPECT_EQ(flash.marked_bad(), 1u);
    const std::vector<Spare> nothing(test::small_geometry().units_per_page(), kPadding);
    EXPECT_NO_THROW(flash.program_page(PageAddress{PlaneId{0}, 2, 0}, nothing.data()));
    EXPECT_ANY_THROW(flash.program_page(PageAddress{PlaneId{0}, 3, 0}, nothing.data()));
    EXPECT_ANY_THROW(flash.erase(BlockId{3}));
    EXPECT_ANY_THROW(flash.mark_bad(BlockId{2}));  // in use
}

}  // namespace
}  // namespace ssdtlm
