// SPDX-License-Identifier: Apache-2.0
// One write pointer for the host and for what garbage collection moves (gc.frontier = "shared").
#include <gtest/gtest.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "common/random/random.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;
using test::small_config;
using test::small_geometry;

FtlConfig one_frontier(SuperblockSpan span, double share = 0.6) {
    FtlConfig c = small_config(small_geometry(), share, span);
    c.gc_frontier = GcFrontier::shared;
    return c;
}

class OneFrontier : public testing::TestWithParam<SuperblockSpan> {};

/// The superblock that the host has open in a group, and the pages handed out of it.
std::pair<SuperblockId, std::uint32_t> open_of(const Ftl& ftl, GroupId group) {
    std::pair<SuperblockId, std::uint32_t> open{kNoSuperblock, 0};
    for (std::uint32_t i = 0; i < ftl.shape().blocks_per_group(); ++i) {
        const SuperblockId b{idx(group) * ftl.shape().blocks_per_group() + i};
        EXPECT_NE(ftl.superblock(b).state, BlockState::open_gc);
        if (ftl.superblock(b).state != BlockState::open_host) continue;
        EXPECT_EQ(open.first, kNoSuperblock) << "two are open";
        open = {b, ftl.superblock(b).write_pointer};
    }
    return open;
}

// Whoever writes, the page is the next one of the superblock that its group has open, and it has one.
TEST_P(OneFrontier, EveryPageIsTheNextOne) {
    Device d(one_frontier(GetParam()), small_geometry());
    Random random(5, 1);
    const SuperblockShape& shape = d.ftl.shape();
    std::vector<std::pair<SuperblockId, std::uint32_t>> open(shape.groups(), {kNoSuperblock, 0});
    std::vector<bool> by_gc(shape.groups());
    std::uint64_t behind_gc = 0, moved = 0;
    const auto units = static_cast<std::uint32_t>(d.ftl.logical_units());
    for (std::uint32_t i = 0; i < 4 * units; ++i) {
        std::vector<Lpa> unit{Lpa{i < units ? i : static_cast<std::uint32_t>(random.below(units))}};
        while (!d.write(unit)) {
            bool any = false;
            for (std::uint32_t g = 0; g < shape.groups(); ++g) {
                const GroupId group{g};
                if (!d.ftl.gc_hard(group) || !d.collect(group)) continue;
                any = true;
                moved += d.from.size();
                by_gc[g] = by_gc[g] || !d.from.empty();
                open[g] = open_of(d.ftl, group);
            }
            ASSERT_TRUE(any) << "no group takes a page, and none has a victim";
        }
        const std::uint32_t g = idx(d.last_group());
        const SuperblockId at = shape.superblock_of(d.geometry.block_of(d.last));
        if (open[g].first != kNoSuperblock) {
            ASSERT_EQ(at, open[g].first);
            ASSERT_EQ(shape.page(at, open[g].second).page, d.last.page);
            ASSERT_EQ(shape.page(at, open[g].second).plane, d.last.plane);
            behind_gc += by_gc[g];
        }
        by_gc[g] = false;
        open[g] = open_of(d.ftl, GroupId{g});
    }
    d.ftl.verify_books();
    std::printf("%llu units moved; %llu pages of the host right behind moved ones\n",
                static_cast<unsigned long long>(moved), static_cast<unsigned long long>(behind_gc));
    EXPECT_GT(moved, 100u);
    EXPECT_GT(behind_gc, 20u);
}

// What is left in the open superblock is for the victim that has to be moved. A free one counts as open while none is.
TEST_P(OneFrontier, TheHostWaitsAtTheHardThresholdThoughOneIsOpen) {
    Device d(one_frontier(GetParam()), small_geometry());
    const auto units = static_cast<std::uint32_t>(d.ftl.logical_units());
    std::uint32_t i = 0;
    for (std::vector<Lpa> unit; unit = {Lpa{i % units}}, d.write(unit); ++i) continue;
    const SuperblockShape& shape = d.ftl.shape();
    for (std::uint32_t g = 0; g < shape.groups(); ++g) {
        EXPECT_EQ(d.ftl.free_blocks(GroupId{g}), 3u);
        EXPECT_EQ(d.ftl.count(GroupId{g}, BlockState::open_host), 0u);
        EXPECT_TRUE(d.ftl.gc_hard(GroupId{g}));
    }
    const GroupId group{0};
    for (std::uint32_t n = 1; n < shape.pages(); ++n) {
        const PageAddress a = d.ftl.allocate_gc_page(group);
        ASSERT_EQ(d.ftl.superblock(shape.superblock_of(d.geometry.block_of(a))).state, BlockState::open_host);
        ASSERT_FALSE(d.ftl.takes_host_pages(group));
        ASSERT_EQ(d.ftl.free_blocks(group), 2u);
        ASSERT_TRUE(d.ftl.gc_hard(group));
    }
    d.ftl.allocate_gc_page(group);  // the last one
    EXPECT_EQ(d.ftl.free_blocks(group), 2u);
    EXPECT_FALSE(d.ftl.takes_host_pages(group));
}

// Garbage collection fills the last superblock that the host could still write to: it is told at once.
TEST(OneFrontierOfTheDrive, TheHostWaitsWhenGcHasFilledIt) {
    Device d(one_frontier(SuperblockSpan::drive), small_geometry());
    const GroupId group{0};
    std::uint32_t unit = 0;
    while (d.ftl.free_blocks(group) != 3 || d.ftl.count(group, BlockState::open_host) == 0)
        ASSERT_TRUE(d.write({Lpa{unit++}}));
    ASSERT_TRUE(d.ftl.takes_host_pages(group));
    while (d.ftl.count(group, BlockState::open_host) != 0) d.ftl.allocate_gc_page(group);
    EXPECT_EQ(d.ftl.free_blocks(group), 3u);
    EXPECT_FALSE(d.ftl.takes_host_pages(group));
    PageAddress a;
    EXPECT_FALSE(d.ftl.allocate_host_page(a));
}

// The host has streams of its own; what is moved of one goes where it writes.
TEST_P(OneFrontier, OneForEachStream) {
    FtlConfig c = one_frontier(GetParam(), 0.4);
    c.stream_frontiers = 2;
    Device d(c, small_geometry());
    const SuperblockShape& shape = d.ftl.shape();
    PageAddress host[3];
    for (std::uint32_t stream = 0; stream < 3; ++stream) {
        const std::uint32_t partition = stream;  // no static dimensions: one partition a stream
        ASSERT_EQ(d.ftl.allocate_host_pages(1, &host[stream], false, partition), 1u);
    }
    for (std::uint32_t stream = 0; stream < 3; ++stream) {
        const SuperblockId b = shape.superblock_of(d.geometry.block_of(host[stream]));
        const GroupId group = shape.group_of(b);
        const PageAddress a = d.ftl.allocate_gc_page(group, stream);
        EXPECT_EQ(shape.superblock_of(d.geometry.block_of(a)), b);
        EXPECT_EQ(d.ftl.superblock(b).write_pointer, 2u);
    }
}

INSTANTIATE_TEST_SUITE_P(Span, OneFrontier,
                         testing::Values(SuperblockSpan::plane, SuperblockSpan::die, SuperblockSpan::drive),
                         [](const auto& i) {
                             return std::string(i.param == SuperblockSpan::plane ? "plane"
                                                : i.param == SuperblockSpan::die ? "die"
                                                                                 : "drive");
                         });

}  // namespace
}  // namespace ssdtlm
