// SPDX-License-Identifier: Apache-2.0
// Superblocks that have failed are known after the power was off: from the journal, or when they fail again.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "common/random/random.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;
using test::small_config;
using test::small_geometry;

constexpr std::uint32_t kSpare = 5;

FtlConfig with_spares(SuperblockSpan span) {
    FtlConfig c = small_config(small_geometry(), 0.5, span);
    c.spare_blocks = kSpare;
    return c;
}

class FailedBlocksTest : public testing::TestWithParam<SuperblockSpan> {
protected:
    FailedBlocksTest() : device(with_spares(GetParam()), small_geometry()) {}
    /// A host page whose program fails; the unit is written elsewhere.
    SuperblockId fail_program(Lpa lpa) {
        PageAddress a;
        EXPECT_TRUE(device.ftl.allocate_host_page(a));
        const std::vector<Spare> nothing(device.geometry.units_per_page(), kPadding);
        device.map(lpa, device.geometry.ppa_of(a, 0));
        device.flash.program_page(a, nothing.data(), device.ftl.draw_record(a));
        device.ftl.unmap_failed(lpa, device.geometry.ppa_of(a, 0));
        device.ftl.host_page_failed(a);
        const PageAddress to = device.ftl.allocate_again(device.ftl.shape().group_of(a.plane));
        std::vector<Spare> out = nothing;
        out[0] = device.ftl.codec().make(lpa, 1);
        device.flash.program_page(to, out.data(), device.ftl.draw_record(to));
        device.ftl.map_again(lpa, device.geometry.ppa_of(to, 0));
        device.ftl.gc_page_programmed(to);
        return device.ftl.shape().superblock_of(device.geometry.block_of(a));
    }
    std::unique_ptr<Ftl> power_on() {
        auto ftl = std::make_unique<Ftl>(device.ftl.config(), device.geometry, device.flash, 1);
        ftl->recover();
        ftl->verify_books();
        return ftl;
    }
    std::uint32_t planes() const { return device.ftl.shape().planes(); }
    Device device;
};

/// By the rule: of the superblocks of a group, those that have failed and those that are needed are not spare.
std::uint32_t spare_percent(const Ftl& ftl, const std::set<SuperblockId>& failed) {
    std::vector<std::uint32_t> of_group(ftl.shape().groups());
    std::uint32_t most = 0;
    for (const SuperblockId b : failed) most = std::max(most, ++of_group[idx(ftl.shape().group_of(b))]);
    return (kSpare - most) * 100 / kSpare;
}

TEST_P(FailedBlocksTest, AreKnownFromTheJournal) {
    Random random(1, 1);
    std::set<SuperblockId> failed;
    int told = 0;
    device.ftl.on_journal_due([&told] { ++told; });
    for (std::uint32_t i = 0; i < 3 * device.ftl.shape().groups(); ++i) {
        for (int n = 0; n < 40; ++n) ASSERT_TRUE(device.write({Lpa{static_cast<std::uint32_t>(random.below(device.ftl.logical_units()))}}));
        failed.insert(fail_program(Lpa{i}));
        EXPECT_EQ(told, static_cast<int>(i + 1)) << "it has to be written at once";
        EXPECT_NE(device.ftl.journal().next(false), Journal::kDetached);
        device.write_journal(GroupId{i % device.ftl.shape().groups()});
        const auto ftl = power_on();
        EXPECT_EQ(ftl->media().blocks_retired, failed.size() * planes());
        EXPECT_EQ(ftl->media().available_spare, spare_percent(*ftl, failed));
        EXPECT_EQ(ftl->media().available_spare, device.ftl.media().available_spare);
        EXPECT_FALSE(ftl->media().read_only);
        for (std::uint32_t n = 0; n < ftl->shape().superblocks(); ++n) EXPECT_EQ(ftl->is_bad(SuperblockId{n}), failed.count(SuperblockId{n}) != 0);
        for (const SuperblockId b : failed)
            EXPECT_EQ(ftl->superblock(b).state, ftl->superblock(b).valid == 0 ? BlockState::retired : BlockState::failed);
    }
}

// Garbage collection comes across the pages of the journal that say it: they go on being said.
TEST_P(FailedBlocksTest, StayKnownWhenTheirPageIsCollected) {
    const SuperblockId failed = fail_program(Lpa{0});
    device.write_journal(GroupId{0});
    Random random(2, 1);
    const auto units = static_cast<std::uint32_t>(device.ftl.logical_units());
    for (std::uint32_t i = 0; i < 8 * units; ++i) {
        std::vector<Lpa> unit{Lpa{static_cast<std::uint32_t>(random.below(units))}};
        while (!device.write(unit)) {
            for (std::uint32_t g = 0; g < device.ftl.shape().groups(); ++g)
                while (device.ftl.wants_collection(GroupId{g}) && device.collect(GroupId{g})) continue;
        }
        if (i % 997 != 0) continue;
        device.write_journal(GroupId{i % device.ftl.shape().groups()});
        const auto ftl = power_on();
        ASSERT_TRUE(ftl->is_bad(failed)) << i;
        ASSERT_EQ(ftl->media().blocks_retired, planes());
    }
    EXPECT_GT(device.journal_pages_renewed, 0u);
}

// The power goes before the journal is written: the superblock is taken for a good one, and its erase fails again.
TEST_P(FailedBlocksTest, FailAgainIfNobodyKnows) {
    const SuperblockId failed = fail_program(Lpa{0});
    const auto ftl = power_on();
    EXPECT_FALSE(ftl->is_bad(failed));
    EXPECT_EQ(ftl->media().blocks_retired, 0u);
    EXPECT_EQ(ftl->superblock(failed).state, BlockState::sealed);
    // The spare one that has taken its place is in use now.
    const GroupId group = ftl->shape().group_of(failed);
    SuperblockId victim = kNoSuperblock;
    const std::uint32_t free = ftl->free_blocks(group);
    while (victim != failed) {
        victim = ftl->select_victim(group);
        ASSERT_NE(victim, kNoSuperblock);
    }
    ftl->superblock_not_erased(victim);
    EXPECT_EQ(ftl->media().available_spare, (kSpare - 1) * 100 / kSpare);
    EXPECT_EQ(ftl->media().blocks_retired, planes());
    EXPECT_EQ(ftl->free_blocks(group), free + 1);
    ftl->verify_books();
}

TEST_P(FailedBlocksTest, WithoutSpareOnesTheDriveStaysReadOnly) {
    std::set<SuperblockId> failed;
    std::uint32_t lpa = 0;
    while (!device.ftl.media().read_only) {
        failed.insert(fail_program(Lpa{lpa++}));
        device.write_journal(GroupId{0});
        const auto ftl = power_on();
        EXPECT_EQ(ftl->media().read_only, device.ftl.media().read_only);
        EXPECT_EQ(ftl->media().available_spare, device.ftl.media().available_spare);
        EXPECT_EQ(ftl->media().blocks_retired, failed.size() * planes());
        EXPECT_EQ(ftl->mapped_units(), lpa);
    }
    EXPECT_GT(failed.size(), std::size_t{kSpare});
    EXPECT_FALSE(power_on()->wants_collection(GroupId{0}));
}

INSTANTIATE_TEST_SUITE_P(Span, FailedBlocksTest, testing::Values(SuperblockSpan::plane, SuperblockSpan::die),
                         [](const auto& instance) { return std::string(instance.param == SuperblockSpan::plane ? "plane" : "die"); });

}  // namespace
}  // namespace ssdtlm
