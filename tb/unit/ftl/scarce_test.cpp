// SPDX-License-Identifier: Apache-2.0
// The power goes again and again while garbage collection is at work, until groups have no free superblock left.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <tuple>
#include <vector>

#include "common/random/random.h"
#include "controller/mount/recovery.h"
#include "controller/slc/slc_feature.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;
using test::small_config;
using test::small_geometry;

/// A full device in steady state, and one FTL after the other over its flash.
class ScarceTest : public testing::TestWithParam<std::tuple<SuperblockSpan, GcFrontier>> {
protected:
    static FtlConfig config() {
        FtlConfig c = small_config(small_geometry(), 0.7, std::get<0>(GetParam()));
        c.gc_frontier = std::get<1>(GetParam());
        return c;
    }
    ScarceTest() : device(config(), small_geometry()) {
        const auto units = static_cast<std::uint32_t>(device.ftl.logical_units());
        for (std::uint32_t i = 0; i < 4 * units; ++i) {
            std::vector<Lpa> unit{Lpa{i < units ? i : static_cast<std::uint32_t>(random.below(units))}};
            while (!device.write(unit)) collect_all_of_device();
        }
        for (std::uint32_t u = 0; u < units; ++u) contents.push_back(device.flash.at(device.ftl.lookup(Lpa{u})));
        power_on();
    }
    void collect_all_of_device() {
        for (std::uint32_t g = 0; g < device.ftl.shape().groups(); ++g)
            while (device.ftl.wants_collection(GroupId{g}) && device.collect(GroupId{g})) continue;
    }
    void power_on() {
        ftl = std::make_unique<Ftl>(device.ftl.config(), device.geometry, device.flash, 1);
        Recovery(*ftl).from_all_pages();
        ftl->verify_books();
        for (std::uint32_t u = 0; u < contents.size(); ++u)
            ASSERT_EQ(device.flash.at(ftl->lookup(Lpa{u})), contents[u]) << "unit " << u;
        for (std::uint32_t n = 0; n < ftl->shape().superblocks(); ++n) {
            const SuperblockId b{n};
            if (ftl->superblock(b).state != BlockState::sealed) continue;
            bool cut = false;
            for (std::uint32_t i = 0; i < ftl->shape().planes(); ++i)
                cut = cut || device.flash.next_page(ftl->shape().block(b, i)) != device.geometry.pages_per_block;
            ASSERT_EQ(ftl->superblock(b).cut, cut) << "superblock " << n;
        }
        for (std::uint32_t g = 0; g < ftl->shape().groups(); ++g) without_free += ftl->free_blocks(GroupId{g}) == 0;
    }
    /// Up to so many pages of a victim in this group are moved; the power goes during the next program. True: it was
    /// erased.
    bool collect(GroupId group, std::uint32_t pages) {
        const SuperblockId victim = ftl->select_victim(group);
        if (victim == kNoSuperblock) return false;
        std::uint32_t slots = 0;
        for (std::uint32_t page = 0; ftl->next_valid_page(victim, page, slots); ++page) {
            const PageAddress to = ftl->allocate_gc_page(group);
            if (pages-- == 0) {
                device.flash.tear(to);
                return false;
            }
            Spare out[kMaxUnitsPerPage];
            std::fill_n(out, device.geometry.units_per_page(), kPadding);
            const PageAddress from = ftl->shape().page(victim, page);
            for (std::uint32_t s = 0; s < device.geometry.units_per_page(); ++s)
                if ((slots >> s & 1) != 0) out[s] = device.flash.at(device.geometry.ppa_of(from, s));
            device.flash.program_page(to, out, ftl->draw_record(to));
            for (std::uint32_t s = 0; s < device.geometry.units_per_page(); ++s)
                if (out[s] != kPadding)
                    ftl->commit_move(ftl->codec().lpa(out[s]), device.geometry.ppa_of(from, s),
                                     device.geometry.ppa_of(to, s));
            ftl->gc_page_programmed(to);
        }
        for (std::uint32_t i = 0; i < ftl->shape().planes(); ++i) device.flash.erase(ftl->shape().block(victim, i));
        ftl->superblock_erased(victim);
        return true;
    }

    Random random{3, 1};
    Device device;
    std::vector<Spare> contents;
    std::unique_ptr<Ftl> ftl;
    std::uint64_t without_free = 0;
};

TEST_P(ScarceTest, CollectionGoesOnWhereItStopped) {
    const std::uint32_t groups = ftl->shape().groups();
    std::uint64_t erased = 0;
    for (int cut = 0; cut < 400; ++cut) {
        for (std::uint32_t g = 0; g < groups; ++g)
            if (ftl->wants_collection(GroupId{g}))
                erased += collect(GroupId{g}, static_cast<std::uint32_t>(random.below(12)));
        ASSERT_FALSE(ftl->media().read_only) << "after loss " << cut;
        ftl->verify_books();  // planes are not in step where collection goes on
        power_on();
    }
    std::printf("400 losses of power, %llu victims erased between them, %llu times a group had no free one\n",
                static_cast<unsigned long long>(erased), static_cast<unsigned long long>(without_free));
    // Where a loss closes one superblock of a group and not two, those of a die last.
    if (GetParam() != std::tuple(SuperblockSpan::die, GcFrontier::shared)) {
        EXPECT_GT(without_free, 10u);
    }
    for (std::uint32_t g = 0; g < groups; ++g) {
        while (ftl->free_blocks(GroupId{g}) == 0) ASSERT_TRUE(collect(GroupId{g}, ~0u));
    }
    ftl->verify_books();
}

// Every page of the flash is programmed, and no block is empty: something that this FTL does not leave behind.
TEST(Scarce, WithoutAnyRoomTheDriveIsReadOnlyAndKeepsItsData) {
    const NandGeometry g = small_geometry();
    Device d(small_config(g, 0.5), g);
    std::uint32_t unit = 0;
    for (std::uint32_t b = 0; b < g.blocks(); ++b)
        for (std::uint32_t page = 0; page < g.pages_per_block; ++page) {
            Spare out[kMaxUnitsPerPage];
            std::fill_n(out, g.units_per_page(), kPadding);
            if (page % 2 == 0)
                for (std::uint32_t s = 0; s < g.units_per_page(); ++s)
                    out[s] = d.ftl.codec().make(Lpa{unit++ % static_cast<std::uint32_t>(d.ftl.logical_units())}, 1);
            const PageAddress a{g.plane_of(BlockId{b}), g.block_in_plane(BlockId{b}), page};
            d.flash.program_page(a, out, {std::uint64_t{b} * g.pages_per_block + page + 1, PageKind::user, kGcStream});
        }
    Ftl ftl(d.ftl.config(), g, d.flash, 1);
    Recovery(ftl).from_all_pages();
    ASSERT_TRUE(ftl.wants_collection(GroupId{1}));
    int told = 0;
    ftl.on_media_change([&told] { ++told; });
    EXPECT_EQ(ftl.select_victim(GroupId{1}), kNoSuperblock);
    EXPECT_TRUE(ftl.media().read_only);
    EXPECT_EQ(told, 1);
    EXPECT_FALSE(ftl.wants_collection(GroupId{1}));
    EXPECT_EQ(ftl.mapped_units(), d.ftl.logical_units());
    ftl.verify_books();
}

/// The first pages of a block, all but the last one full of units in ascending order.
void program_in_part(Device& d, BlockId b, std::uint32_t pages, std::uint32_t& unit, std::uint64_t& number,
                     bool slc = false) {
    const NandGeometry& g = d.geometry;
    const auto units = static_cast<std::uint32_t>(d.ftl.logical_units());
    for (std::uint32_t page = 0; page < pages; ++page) {
        Spare out[kMaxUnitsPerPage];
        std::fill_n(out, g.units_per_page(), kPadding);
        for (std::uint32_t s = 0; s < g.units_per_page() && page + 1 < pages; ++s)
            out[s] = d.ftl.codec().make(Lpa{unit++ % units}, 1);
        d.flash.program_page({g.plane_of(b), g.block_in_plane(b), page}, out,
                             {++number, PageKind::user, slc ? kSlcStream : kGcStream}, nullptr, slc);
    }
}

/// As losses of power may leave it: all blocks are written in part. That whose erase was cut off would have most room.
TEST(Scarce, CollectionDoesNotGoOnInAHalfErasedBlock) {
    const NandGeometry g = small_geometry();
    Device d(small_config(g, 0.3), g);
    const BlockId half_erased{g.blocks() - 5};
    std::uint32_t unit = 0;
    std::uint64_t number = 0;
    for (std::uint32_t b = 0; b < g.blocks(); ++b)
        program_in_part(d, BlockId{b}, BlockId{b} == half_erased ? 2 : 8, unit, number);
    d.flash.tear_block(half_erased);
    Ftl ftl(d.ftl.config(), g, d.flash, 1);
    Recovery(ftl).from_all_pages();
    const GroupId group{ftl.shape().groups() - 1};
    ASSERT_EQ(ftl.free_blocks(group), 0u);
    EXPECT_NE(ftl.select_victim(group), kNoSuperblock);
    EXPECT_FALSE(ftl.media().read_only);
    const BlockId to = g.block_of(ftl.allocate_gc_page(group));
    EXPECT_NE(to, half_erased);
    EXPECT_EQ(d.flash.next_page(to), 8u);
}

/// It has the fewest units, and gives a whole superblock back.
TEST(Scarce, ADynamicSuperblockOfTheSlcCacheIsAVictim) {
    NandGeometry g = small_geometry();
    g.bits_per_cell = 3;
    FtlConfig c = small_config(g, 0.3);
    c.slc.dynamic_blocks = 4;
    Device d(c, g);
    const BlockId in_slc{g.blocks() - 5};
    std::uint32_t unit = 0;
    std::uint64_t number = 0;
    for (std::uint32_t b = 0; b < g.blocks(); ++b)
        program_in_part(d, BlockId{b}, BlockId{b} == in_slc ? 3 : 8, unit, number, BlockId{b} == in_slc);
    Ftl ftl(c, g, d.flash, 1);
    Recovery(ftl).from_all_pages();
    ftl.verify_books();
    const GroupId group{ftl.shape().groups() - 1};
    ASSERT_EQ(ftl.free_blocks(group), 0u);
    EXPECT_EQ(ftl.feature<SlcFeature>()->cache().dynamic_blocks(group), 1u);
    const SuperblockId victim = ftl.select_victim(group);
    EXPECT_EQ(victim, ftl.shape().superblock_of(in_slc));
    EXPECT_EQ(ftl.victim_reason(victim), VictimReason::fold);
    EXPECT_EQ(ftl.counters().slc_units_folded, 2 * g.units_per_page());
}

// All blocks are written in part, as losses of power leave them, and no superblock is free.
TEST(Scarce, NothingIsWrittenBehindLowerPagesOfAnEarlierLife) {
    for (const bool two_step : {false, true}) {
        NandGeometry g = small_geometry();
        g.two_step = two_step;
        Device d(small_config(g, 0.3), g);
        std::uint32_t unit = 0;
        std::uint64_t number = 0;
        for (std::uint32_t b = 0; b < g.blocks(); ++b) program_in_part(d, BlockId{b}, 8, unit, number);
        Ftl ftl(d.ftl.config(), g, d.flash, 1);
        Recovery(ftl).from_all_pages();
        // The last writes are in the last blocks: those of the last group are all in use.
        const GroupId group{ftl.shape().groups() - 1};
        ASSERT_EQ(ftl.free_blocks(group), 0u);
        EXPECT_EQ(ftl.select_victim(group) == kNoSuperblock, two_step);
        EXPECT_EQ(ftl.media().read_only, two_step) << "with the next upper page the power could take what is there";
        ftl.verify_books();
    }
}

INSTANTIATE_TEST_SUITE_P(Span, ScarceTest,
                         testing::Combine(testing::Values(SuperblockSpan::plane, SuperblockSpan::die),
                                          testing::Values(GcFrontier::own, GcFrontier::shared)),
                         [](const auto& instance) {
                             return std::string(std::get<0>(instance.param) == SuperblockSpan::plane ? "plane"
                                                                                                     : "die") +
                                    (std::get<1>(instance.param) == GcFrontier::own ? "" : "_shared");
                         });

}  // namespace
}  // namespace ssdtlm
