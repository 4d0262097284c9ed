// SPDX-License-Identifier: Apache-2.0
// What is moved because its block has been read too often.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "controller/precondition/precondition.h"
#include "controller/refresh/refresh.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;

class ReadDisturbTest : public testing::TestWithParam<SuperblockSpan> {
protected:
    static FtlConfig config(const NandGeometry& g, double share, std::uint32_t most) {
        FtlConfig c = test::small_config(g, share, GetParam());
        c.initial_state = InitialState::sequential;
        c.refresh_reads = most;
        return c;
    }
};

// A full block goes to a free one, which it fills: each of them is read as often before its turn comes.
TEST_P(ReadDisturbTest, OneUnitThatIsReadAgainAndAgainMovesEachTime) {
    const NandGeometry g = test::small_geometry();
    for (const std::uint32_t most : {1u, 7u, 100u}) {
        Device d(config(g, 0.5, most), g);
        Preconditioner(d.ftl).run();
        std::uint32_t moves = 0;
        d.ftl.on_victim_due([&](GroupId group) { moves += d.collect(group); });
        const Lpa hot{5};
        for (std::uint32_t i = 1; i <= 1000; ++i) {
            const Ppa before = d.ftl.lookup(hot);
            d.ftl.feature<Refresh>()->page_read(g.block_of(g.page_of(before)));
            ASSERT_EQ(d.ftl.lookup(hot) != before, i % most == 0) << "after " << i << " reads, of " << most;
        }
        EXPECT_EQ(moves, 1000 / most);
        EXPECT_EQ(d.ftl.counters().refresh_victims, 1000 / most * d.ftl.shape().planes());
        EXPECT_EQ(d.ftl.counters().refresh_units, d.ftl.counters().gc_units_moved);
        EXPECT_EQ(d.ftl.counters().gc_units_moved, std::uint64_t{1000 / most} * d.ftl.shape().units());
        d.ftl.verify_books();
    }
}

// Against counts of the test's own: under writes and reads no full block is read more often than is allowed, but while
// its group is short of blocks.
TEST_P(ReadDisturbTest, NoFullBlockIsReadTooOftenBesideWrites) {
    const NandGeometry g = test::small_geometry();
    constexpr std::uint32_t kMost = 300;
    Device d(config(g, 0.6, kMost), g);
    Preconditioner(d.ftl).run();
    d.ftl.on_victim_due([](GroupId) {});
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>>
        reads;  // by block: erases when it was first read, reads since
    const auto reads_of = [&](BlockId b) -> std::uint32_t& {
        auto& [erases, n] = reads[idx(b)];
        if (const std::uint32_t now = d.flash.erase_count(b); now != erases) {
            erases = now;
            n = 0;
        }
        return n;
    };
    Random random(3);
    const std::uint64_t units = d.ftl.logical_units();
    std::uint32_t at_most = 0, waited = 0;
    for (int i = 0; i < 60000; ++i) {
        const BlockId block = g.block_of(g.page_of(
            d.ftl.lookup(Lpa{static_cast<std::uint32_t>(random.below(random.below(3) == 0 ? units : units / 50))})));
        ++reads_of(block);
        d.ftl.feature<Refresh>()->page_read(block);
        if (random.below(4) == 0) {
            std::vector<Lpa> unit{Lpa{static_cast<std::uint32_t>(random.below(units))}};
            while (!d.write(unit))
                for (std::uint32_t n = 0; n < d.ftl.shape().groups(); ++n) d.collect(GroupId{n});
        }
        for (std::uint32_t n = 0; n < d.ftl.shape().groups(); ++n)
            while (d.ftl.wants_collection(GroupId{n}) && d.collect(GroupId{n})) {
            }
        const SuperblockId b = d.ftl.shape().superblock_of(block);
        ASSERT_EQ(d.ftl.feature<Refresh>()->reads()->reads(block), reads_of(block));
        const bool too_often = reads_of(block) >= kMost && d.ftl.superblock(b).state == BlockState::sealed;
        waited += too_often;
        ASSERT_FALSE(too_often && !d.ftl.gc_hard(d.ftl.shape().group_of(b)));
        at_most = std::max(at_most, reads_of(block));
    }
    std::printf(
        "%u blocks refreshed, of %u erased; a block read %u times at most while it was written, %u times too often "
        "while blocks were short\n",
        static_cast<unsigned>(d.ftl.counters().refresh_victims), static_cast<unsigned>(d.ftl.counters().blocks_erased),
        at_most, waited);
    EXPECT_GT(d.ftl.counters().refresh_victims, 20u);
    EXPECT_GT(d.ftl.counters().victims, d.ftl.counters().refresh_victims + 20);
    d.ftl.verify_books();
}
// Many are wanted at once, and victims for another reason are among them: these are not moved a second time (checked
// when they are taken).
TEST_P(ReadDisturbTest, WhatIsCollectedForAnotherReasonIsNotWantedAnyMore) {
    const NandGeometry g = test::small_geometry();
    Device d(config(g, 0.6, 3), g);
    Preconditioner(d.ftl).run();
    d.ftl.on_victim_due([](GroupId) {});
    Random random(4);
    const std::uint64_t units = d.ftl.logical_units();
    for (int i = 0; i < 60000; ++i) {
        d.ftl.feature<Refresh>()->page_read(
            g.block_of(g.page_of(d.ftl.lookup(Lpa{static_cast<std::uint32_t>(random.below(units))}))));
        if (random.below(2) == 0) continue;
        std::vector<Lpa> unit{Lpa{static_cast<std::uint32_t>(random.below(units))}};
        while (!d.write(unit))
            for (std::uint32_t n = 0; n < d.ftl.shape().groups(); ++n) d.collect(GroupId{n});
        for (std::uint32_t n = 0; n < d.ftl.shape().groups(); ++n)
            if (d.ftl.gc_soft(GroupId{n})) d.collect(GroupId{n});
    }
    EXPECT_GT(d.ftl.counters().refresh_victims, 200u);
    EXPECT_GT(d.ftl.counters().victims, d.ftl.counters().refresh_victims + 200);
    d.ftl.verify_books();
}
INSTANTIATE_TEST_SUITE_P(Spans, ReadDisturbTest, testing::Values(SuperblockSpan::plane, SuperblockSpan::die));

}  // namespace
}  // namespace ssdtlm
