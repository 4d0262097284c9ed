// SPDX-License-Identifier: Apache-2.0
// What the books of the superblocks refuse: every step of a superblock's life, asked for in every state.
#include "controller/ftl/block_manager.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

constexpr SuperblockId kAsked{3};

struct Situation {
    BlockState state;
    bool valid, programs, read, bad;
};

template <class Step>
bool is_taken(const Situation& s, Step step) {
    const SuperblockShape shape(test::small_geometry(), SuperblockSpan::die);
    BlockManager blocks(shape, 2);
    BlockRecord& r = blocks[kAsked];
    r.state = s.state;
    r.valid = s.valid;
    r.programs = s.programs;
    r.bad = s.bad;
    if (s.read) blocks.read_started(shape.block(kAsked, shape.planes() - 1), 1);
    try {
        step(blocks);
        return true;
    } catch (const CheckFailed&) {
        return false;
    } catch (const Panic&) {
        return false;
    }
}

TEST(BlockManager, TakesEachStepOnlyWhereItBelongs) {
    using S = BlockState;
    int taken = 0, refused = 0;
    const auto expect = [&](bool is, bool want) {
        EXPECT_EQ(is, want);
        ++(want ? taken : refused);
    };
    for (const S state : {S::free, S::open_host, S::open_gc, S::open_cold, S::full, S::sealed, S::victim, S::failed,
                          S::retired, S::spare}) {
        for (unsigned bits = 0; bits < 16; ++bits) {
            const Situation s{state, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
            SCOPED_TRACE(std::string(name_of(state)) + ", valid " + std::to_string(s.valid) + ", programs " +
                         std::to_string(s.programs) + ", read " + std::to_string(s.read) + ", bad " +
                         std::to_string(s.bad));
            expect(is_taken(s, [](BlockManager& b) { b.erased(kAsked); }),
                   state == S::victim && !s.valid && !s.programs && !s.read && !s.bad);
            expect(is_taken(s, [](BlockManager& b) { b.retire(kAsked); }),
                   state == S::victim && !s.valid && !s.programs);
            expect(is_taken(s, [](BlockManager& b) { b.fail(kAsked); }), state == S::open_host || state == S::open_gc ||
                                                                             state == S::open_cold ||
                                                                             state == S::full || state == S::failed);
            expect(is_taken(s, [](BlockManager& b) { b.page_programmed(kAsked); }), s.programs);
            if (state != S::failed || s.programs)  // one that has failed is in a list, which fail() puts it into
                expect(is_taken(s, [](BlockManager& b) { b.make_victim(kAsked); }), state == S::sealed);
        }
    }
    std::printf("%d steps taken, %d refused\n", taken, refused);
}

/// A group's next superblock, written whole and chosen as victim, or failed and chosen.
SuperblockId next_victim(BlockManager& blocks, const SuperblockShape& shape, bool fails) {
    SuperblockId b{};
    for (std::uint32_t page = 0; page < shape.pages(); ++page) {
        b = shape.superblock_of(test::small_geometry().block_of(blocks.allocate_host(GroupId{0})));
        if (fails && page == 0) {
            blocks.fail(b);
            blocks.page_programmed(b);
            break;
        }
        blocks.page_programmed(b);
    }
    blocks.make_victim(b);
    return b;
}
std::uint32_t superblocks_for_the_host(BlockManager blocks, const SuperblockShape& shape) {
    std::uint32_t n = 0;
    for (; blocks.can_take_host_page(GroupId{0}); ++n)
        for (std::uint32_t page = 0; page < shape.pages(); ++page) blocks.allocate_host(GroupId{0});
    return n;
}

// One free superblock more is kept back from a failed program until its superblock is emptied; a failed erase keeps
// none.
TEST(BlockManager, KeepsFreeSuperblocksBackForWhatFailed) {
    const SuperblockShape shape(test::small_geometry(), SuperblockSpan::die);
    constexpr std::uint32_t kHard = 2;
    BlockManager blocks(shape, kHard);
    const std::uint32_t all = shape.blocks_per_group() - kHard;
    ASSERT_EQ(superblocks_for_the_host(blocks, shape), all);
    const SuperblockId failed = next_victim(blocks, shape, true);
    EXPECT_EQ(superblocks_for_the_host(blocks, shape), all - 2);
    blocks.retire(failed);
    EXPECT_EQ(superblocks_for_the_host(blocks, shape), all - 1);
    const SuperblockId not_erased = next_victim(blocks, shape, false);
    EXPECT_EQ(superblocks_for_the_host(blocks, shape), all - 2);
    blocks.retire(not_erased);
    EXPECT_EQ(superblocks_for_the_host(blocks, shape), all - 2);
    const SuperblockId last = next_victim(blocks, shape, true);
    EXPECT_EQ(superblocks_for_the_host(blocks, shape), all - 4);
    blocks.give_up_reserve();
    EXPECT_EQ(superblocks_for_the_host(blocks, shape), all - 3 + kHard);
    blocks.retire(last);
    EXPECT_EQ(superblocks_for_the_host(blocks, shape), all - 3 + kHard);
}

TEST(BlockManager, IsFilledDownToItsReserve) {
    const SuperblockShape shape(test::small_geometry(), SuperblockSpan::die);
    const std::uint64_t all = std::uint64_t{shape.blocks_per_group() - 2} * shape.pages();
    for (const std::uint64_t pages : {all - 1, all}) {
        BlockManager blocks(shape, 2);
        EXPECT_NO_THROW(blocks.fill_host(GroupId{0}, pages));
        EXPECT_EQ(blocks.free_blocks(GroupId{0}), 2u);
        EXPECT_EQ(blocks.open_block(GroupId{0}, BlockState::open_host) == kNoSuperblock, pages == all);
    }
    BlockManager blocks(shape, 2);
    EXPECT_THROW(blocks.fill_host(GroupId{0}, all + 1), Panic);
}

// After a loss of power: what has not failed and is not needed is spare, whether it lies idle or is in use one too
// many.
TEST(BlockManager, AfterALossWhatIsNotNeededIsSpare) {
    const SuperblockShape shape(test::small_geometry(), SuperblockSpan::plane);
    constexpr std::uint32_t kSpare = 5, kHard = 2;
    const std::uint32_t needed = shape.blocks_per_group() - kSpare;
    Random random(6, 1);
    int in_use_beyond = 0, too_few = 0;
    for (int round = 0; round < 200; ++round) {
        SCOPED_TRACE(round);
        BlockManager blocks(shape, kHard, kSpare);
        std::vector<bool> used(shape.superblocks()), failed(shape.superblocks());
        const auto failing = static_cast<unsigned>(random.below(16));
        for (std::uint32_t b = 0; b < shape.superblocks(); ++b) {
            used[b] = random.percent(b % shape.blocks_per_group() < needed ? 70 : 30);
            failed[b] = random.percent(failing);
        }
        const bool enough = blocks.restart(used, failed);
        bool all_have = true;
        std::uint32_t fewest = kSpare;
        for (std::uint32_t g = 0; g < shape.groups(); ++g) {
            const GroupId group{g};
            std::uint32_t good = 0, idle = 0, free = 0;
            for (std::uint32_t b = g * shape.blocks_per_group(); b < (g + 1) * shape.blocks_per_group(); ++b) {
                const BlockState state = blocks[SuperblockId{b}].state;
                good += !failed[b];
                idle += state == BlockState::spare;
                free += state == BlockState::free;
                const bool may_be_spare = b % shape.blocks_per_group() >= needed;
                const BlockState expected = failed[b] ? BlockState::failed
                                            : used[b] ? BlockState::sealed
                                                      : BlockState::free;
                EXPECT_TRUE(state == expected ||
                            (state == BlockState::spare && expected == BlockState::free && may_be_spare))
                    << b;
            }
            EXPECT_EQ(blocks.free_blocks(group), free);
            all_have = all_have && good >= needed;
            too_few += good < needed;
            if (good < needed) continue;
            const std::uint32_t spares = good - needed;
            EXPECT_EQ(blocks.spares(group), spares);
            EXPECT_LE(idle, spares);
            fewest = std::min(fewest, spares);
            in_use_beyond += idle < spares;
            // Each takes the place of one that fails; of those in use beyond what is needed, if GC has a free one left.
            for (std::uint32_t left = spares; left != 0; --left) {
                const bool taken = idle != 0 || free != 0;
                EXPECT_EQ(BlockManager(blocks).add_spare(group), taken);
                if (!taken) break;
                blocks.add_spare(group);
                EXPECT_EQ(blocks.spares(group), left - 1);
                if (idle == 0) continue;
                --idle;
                ++free;
            }
            EXPECT_EQ(blocks.free_blocks(group), free);
            EXPECT_TRUE(blocks.spares(group) != 0 || !blocks.add_spare(group));
        }
        EXPECT_EQ(enough, all_have);
        BlockManager again(shape, kHard, kSpare);
        EXPECT_TRUE(!again.restart(used, failed) || again.spares_left() == fewest * 100 / kSpare);
    }
    EXPECT_GT(in_use_beyond, 100);
    EXPECT_GT(too_few, 10);
}

}  // namespace
}  // namespace ssdtlm
