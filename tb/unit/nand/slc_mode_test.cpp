// SPDX-License-Identifier: Apache-2.0
// Blocks in SLC mode in the die and in its array: their times, their pages, and a mode that only an erase changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "nand/die/die.h"

namespace ssdtlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr SimTime kStart{Ps{1'000}};
constexpr Ps kRead[] = {45us, 55us, 50us}, kProgram[] = {500us, 700us, 900us}, kErase = 5ms;
constexpr Ps kSlcRead = 21us, kSlcProgram = 130us, kSlcErase = 3ms;
constexpr std::uint32_t kPages = 13, kSlcPages = 4;  // three bits a cell; the last page has no fellows

NandConfig config() {
    NandConfig c;
    c.geometry.planes_per_die = 2;
    c.geometry.blocks_per_plane = 8;
    c.geometry.pages_per_block = kPages;
    c.geometry.page_bytes = 16384;
    c.geometry.unit_bytes = 4096;
    c.geometry.bits_per_cell = 3;
    c.t_read.assign(std::begin(kRead), std::end(kRead));
    c.t_program.assign(std::begin(kProgram), std::end(kProgram));
    c.t_erase = kErase;
    c.slc.t_read = kSlcRead;
    c.slc.t_program = kSlcProgram;
    c.slc.t_erase = kSlcErase;
    return c;
}

struct Slc : ::testing::Test {
    OnfiTarget at(std::uint8_t plane, std::uint32_t block, std::uint32_t page, bool slc) {
        OnfiTarget t{plane, block, page, 16384, data.data()};
        t.slc = slc;
        return t;
    }
    SimTime issue(FlashOp op, const std::vector<OnfiTarget>& t) {
        return die->issue(op, t.data(), static_cast<std::uint32_t>(t.size()), kStart);
    }
    /// How long the array takes.
    Ps run(FlashOp op, const std::vector<OnfiTarget>& t) {
        const SimTime ready = issue(op, t);
        die->finish(t.data(), static_cast<std::uint32_t>(t.size()));
        return ready - kStart;
    }
    std::string probe(FlashOp op, const OnfiTarget& t) { return die->probe(op, &t, 1); }
    std::string probe(FlashOp op, const std::vector<OnfiTarget>& t) {
        return die->probe(op, t.data(), static_cast<std::uint32_t>(t.size()));
    }
    bool slc(std::uint32_t plane, std::uint32_t block) const {
        return area.slc(area.geometry().block_id(PlaneId{plane}, block));
    }
    std::uint32_t next(std::uint32_t plane, std::uint32_t block) const {
        return area.next_page(area.geometry().block_id(PlaneId{plane}, block));
    }
    /// What comes out of the page, its first unit; all others tell as much.
    Spare what_is_read(std::uint8_t plane, std::uint32_t block, std::uint32_t page, bool slc) {
        run(FlashOp::read, {at(plane, block, page, slc)});
        std::array<Spare, 4> out{};
        OnfiTarget t{plane, block, page, 16384, out.data()};
        t.slc = slc;
        die->data_out(t);
        EXPECT_EQ(std::count(out.begin(), out.end(), kTorn), out[0] == kTorn ? 4 : 0);
        return out[0];
    }
    Spare first_unit(std::uint32_t plane, std::uint32_t block, std::uint32_t page) const {
        return area.at(area.geometry().ppa_of(PageAddress{PlaneId{plane}, block, page}, 0));
    }
    PowerLoss cut(SimTime at) {
        const PowerLoss loss = die->power_lost(at);
        die = std::make_unique<Die>(config(), DieId{0}, area);
        return loss;
    }

    std::array<Spare, 4> data{Spare{1}, Spare{2}, Spare{3}, Spare{4}};
    SpareArea area{config().geometry};
    std::unique_ptr<Die> die = std::make_unique<Die>(config(), DieId{0}, area);
};

TEST_F(Slc, AllItsPagesTakeTheSameTimes) {
    for (std::uint32_t page = 0; page < kSlcPages; ++page) {
        EXPECT_EQ(run(FlashOp::program, {at(1, 2, page, true)}), kSlcProgram);
        EXPECT_EQ(run(FlashOp::read, {at(1, 2, page, true)}), kSlcRead);
        EXPECT_EQ(run(FlashOp::program, {at(1, 3, page, false)}), kProgram[page % 3]);
        EXPECT_EQ(run(FlashOp::read, {at(1, 3, page, false)}), kRead[page % 3]);
    }
    EXPECT_EQ(run(FlashOp::erase, {at(1, 2, 0, true)}), kSlcErase);
    EXPECT_EQ(run(FlashOp::erase, {at(1, 3, 0, false)}), kErase);
}

TEST_F(Slc, PlanesOfBothModesTakeTheLongest) {
    EXPECT_EQ(run(FlashOp::program, {at(0, 1, 0, true), at(1, 1, 0, false)}), kProgram[0]);
    EXPECT_EQ(run(FlashOp::read, {at(0, 1, 0, true), at(1, 1, 0, false)}), kRead[0]);
    EXPECT_EQ(run(FlashOp::erase, {at(0, 1, 0, true), at(1, 1, 0, false)}), kErase);
    EXPECT_EQ(run(FlashOp::program, {at(0, 1, 0, true), at(1, 1, 0, true)}), kSlcProgram);
    EXPECT_TRUE(slc(0, 1));
    EXPECT_TRUE(slc(1, 1));
}

TEST_F(Slc, ABlockHasFewerPages) {
    EXPECT_THAT(probe(FlashOp::read, at(0, 1, kSlcPages, true)),
                AllOf(HasSubstr("read of page 4, which does not exist in SLC mode"), HasSubstr("4 pages")));
    for (std::uint32_t page = 0; page < kSlcPages; ++page) run(FlashOp::program, {at(0, 1, page, true)});
    EXPECT_THAT(probe(FlashOp::program, at(0, 1, kSlcPages, true)), HasSubstr("which does not exist in SLC mode"));
    EXPECT_THAT(probe(FlashOp::program, at(0, 1, kPages, true)), HasSubstr("pages 0 to 12"));
    EXPECT_THROW(area.program_page({PlaneId{0}, 1, kSlcPages}, data.data(), {}, nullptr, true), Panic);
}

TEST_F(Slc, TheModeOfTheFirstPageHoldsUntilAnErase) {
    run(FlashOp::program, {at(0, 1, 0, true)});
    run(FlashOp::program, {at(0, 2, 0, false)});
    EXPECT_THAT(
        probe(FlashOp::program, at(0, 1, 1, false)),
        HasSubstr("block 1: program of page 1 not in SLC mode, but the block's first page was programmed in it"));
    EXPECT_THAT(probe(FlashOp::program, at(0, 1, 1, false)), HasSubstr("the cell mode changes only with an erase"));
    EXPECT_THAT(
        probe(FlashOp::program, at(0, 2, 1, true)),
        HasSubstr("block 2: program of page 1 in SLC mode, but the block's first page was programmed without it"));
    EXPECT_THAT(probe(FlashOp::program, at(0, 1, 0, false)), HasSubstr("not erased"))
        << "not that it is of another mode";
    EXPECT_THAT(probe(FlashOp::program, {at(1, 1, 0, false), at(0, 1, 0, true)}), HasSubstr("not erased"));
    EXPECT_THAT(probe(FlashOp::read, {at(0, 1, 0, true), at(0, 2, 0, true)}), HasSubstr("plane twice"));
    EXPECT_THROW(issue(FlashOp::program, {at(0, 1, 1, false)}), Panic);
    EXPECT_THROW(area.program_page({PlaneId{0}, 1, 1}, data.data()), Panic);
    EXPECT_THROW(area.program_page({PlaneId{0}, 2, 1}, data.data(), {}, nullptr, true), Panic);

    run(FlashOp::erase, {at(0, 1, 0, false)});  // its time is all that an erase's mode says
    run(FlashOp::erase, {at(0, 2, 0, true)});
    EXPECT_FALSE(slc(0, 1));
    EXPECT_FALSE(slc(0, 2));
    for (const bool mode : {false, true})
        EXPECT_EQ(probe(FlashOp::read, at(0, 1, 3, mode)), "") << "erased cells have no mode";
    run(FlashOp::program, {at(0, 1, 0, false)});
    run(FlashOp::program, {at(0, 2, 0, true)});
    EXPECT_FALSE(slc(0, 1));
    EXPECT_TRUE(slc(0, 2));
}

// So a search that does not know the mode finds it: what the decoder cannot correct in one it reads in the other.
TEST_F(Slc, AReadInTheOtherModeTellsNothing) {
    run(FlashOp::program, {at(0, 1, 0, true)});
    run(FlashOp::program, {at(0, 2, 0, false)});
    for (const bool mode : {true, false}) {
        EXPECT_EQ(what_is_read(0, mode ? 1 : 2, 0, mode), Spare{1});
        EXPECT_EQ(what_is_read(0, mode ? 1 : 2, 0, !mode), kTorn);
        EXPECT_EQ(run(FlashOp::read, {at(0, mode ? 1 : 2, 0, !mode)}), mode ? kRead[0] : kSlcRead)
            << "it takes as long as any in that mode";
        for (const bool read_in : {true, false})
            EXPECT_EQ(what_is_read(0, mode ? 1 : 2, 1, read_in), kErased) << "erased cells have no mode";
    }
    // Planes of one read do not share it.
    run(FlashOp::read, {at(0, 1, 0, true), at(1, 1, 0, false)});
    EXPECT_EQ(what_is_read(0, 1, 0, true), Spare{1});
}

// A page that needs reading again does so in its own mode only: of the other nobody counts wrong bits.
TEST_F(Slc, AReadInTheOtherModeDrawsNoFault) {
    struct Wrong : ArrayFaults {
        bool program_fails(const ArrayWork&) override { return false; }
        bool erase_fails(const ArrayWork&) override { return false; }
        std::uint16_t wrong_bits(const ArrayWork&, std::uint32_t) override { return 7; }
    };
    static Wrong wrong;  // outlives the die
    run(FlashOp::program, {at(0, 1, 0, true)});
    die->inject(&wrong);
    for (const bool mode : {true, false}) {
        run(FlashOp::read, {at(0, 1, 0, mode)});
        OnfiTarget t{0, 1, 0, 16384, nullptr};
        EXPECT_EQ(die->data_out(t), mode ? 7 : 0);
    }
    die->inject(nullptr);
}

TEST_F(Slc, NothingHasAModeWhereItIsNotUsed) {
    run(FlashOp::program, {at(0, 1, 0, false)});
    run(FlashOp::erase, {at(0, 1, 0, true)});
    area.program_page({PlaneId{0}, 3, 0}, data.data());
    EXPECT_FALSE(area.any_slc());
    EXPECT_FALSE(slc(0, 3));
    EXPECT_THAT(probe(FlashOp::program, at(0, 3, 1, true)), HasSubstr("without it")) << "known all the same";
    EXPECT_EQ(what_is_read(0, 3, 0, true), kTorn);
    EXPECT_EQ(what_is_read(0, 3, 0, false), Spare{1});
}

TEST_F(Slc, AFailedEraseLeavesTheModeAndAFailedProgramSetsIt) {
    struct All : ArrayFaults {
        bool program_fails(const ArrayWork&) override { return true; }
        bool erase_fails(const ArrayWork&) override { return true; }
        std::uint16_t wrong_bits(const ArrayWork&, std::uint32_t) override { return 0; }
    } all;
    die->inject(&all);
    run(FlashOp::program, {at(0, 1, 0, true)});
    EXPECT_TRUE(slc(0, 1));
    run(FlashOp::erase, {at(0, 1, 0, true)});
    EXPECT_TRUE(slc(0, 1));
}

TEST_F(Slc, SurvivesALossOfPower) {
    run(FlashOp::program, {at(0, 1, 0, true)});
    issue(FlashOp::program, {at(0, 1, 1, true)});
    EXPECT_EQ(cut(kStart + 1us).pages_torn, 1u);
    EXPECT_TRUE(slc(0, 1));
    EXPECT_EQ(first_unit(0, 1, 1), kTorn);
    EXPECT_EQ(run(FlashOp::read, {at(0, 1, 0, true)}), kSlcRead);
}

TEST_F(Slc, ATornFirstPageHasGivenItsBlockTheMode) {
    issue(FlashOp::program, {at(0, 1, 0, true), at(1, 1, 0, false)});
    EXPECT_EQ(cut(kStart).pages_torn, 2u);
    EXPECT_TRUE(slc(0, 1));
    EXPECT_FALSE(slc(1, 1));
    issue(FlashOp::program, {at(0, 4, 0, true)});
    die->suspend(FlashOp::program_suspend, kStart + 1us);
    EXPECT_EQ(cut(kStart + 40us).pages_torn, 1u);
    EXPECT_TRUE(slc(0, 4)) << "suspended";
    issue(FlashOp::program, {at(0, 5, 0, true)});
    EXPECT_EQ(cut(kStart - Ps{1}).pages_torn, 0u);
    EXPECT_FALSE(slc(0, 5)) << "not begun";
}

TEST_F(Slc, ABlockWhoseEraseWasCutStaysInItsMode) {
    for (const bool mode : {true, false}) {
        const std::uint32_t block = mode ? 1 : 2;
        run(FlashOp::program, {at(0, block, 0, mode)});
        issue(FlashOp::erase, {at(0, block, 0, !mode)});
        EXPECT_EQ(cut(kStart + 1us).erases_cut, 1u);
        EXPECT_EQ(slc(0, block), mode);
        EXPECT_EQ(first_unit(0, block, 0), kTorn);
        for (const bool read_in : {mode, !mode}) EXPECT_EQ(what_is_read(0, block, 0, read_in), kTorn);
    }
}

/// Random work in both modes, cut off now and then, against what a block is in a few lines.
TEST_F(Slc, RandomWorkFollowsItsReference) {
    struct Block {
        std::uint32_t next = 0;
        bool slc = false, half_erased = false;
    };
    std::array<std::array<Block, 8>, 2> blocks;
    const auto allowed = [&](FlashOp op, const OnfiTarget& t) {
        const Block& b = blocks[t.plane][t.block];
        if (op == FlashOp::erase) return true;
        if (t.page >= (t.slc ? kSlcPages : kPages)) return false;
        if (op == FlashOp::read) return true;
        return t.page == b.next && !b.half_erased && (t.page == 0 || b.slc == t.slc);
    };
    const auto time = [](FlashOp op, const OnfiTarget& t) {
        if (op == FlashOp::read) return t.slc ? kSlcRead : kRead[t.page % 3];
        if (op == FlashOp::program) return t.slc ? kSlcProgram : kProgram[t.page % 3];
        return t.slc ? kSlcErase : kErase;
    };
    Random random(11);
    const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random.below(n)); };
    std::array<std::array<int, 2>, 3> done{};  // by operation; refused, accepted
    int mixed = 0, cuts = 0, told_nothing = 0;
    for (int step = 0; step < 40'000; ++step) {
        const FlashOp op = below(20) == 0 ? FlashOp::erase : below(2) == 0 ? FlashOp::read : FlashOp::program;
        std::vector<OnfiTarget> targets;
        const std::uint32_t first = below(2), count = 1 + below(2), any_page = below(kPages + 1);
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto plane = static_cast<std::uint8_t>((first + i) % 2);
            const std::uint32_t block = below(8);
            const Block& b = blocks[plane][block];
            const std::uint32_t page = i != 0                                    ? targets[0].page
                                       : op == FlashOp::program && below(8) != 0 ? b.next
                                                                                 : any_page;
            targets.push_back(at(plane, block, page, below(8) == 0 ? !b.slc : b.next == 0 ? below(2) == 0 : b.slc));
        }
        const bool accepted =
            std::all_of(targets.begin(), targets.end(), [&](const OnfiTarget& t) { return allowed(op, t); });
        ++done[static_cast<std::size_t>(op)][accepted];
        const std::string why = probe(op, targets);
        ASSERT_EQ(why.empty(), accepted) << why;
        if (!accepted) continue;
        Ps longest{};
        for (const OnfiTarget& t : targets) longest = std::max(longest, time(op, t));
        ASSERT_EQ(issue(op, targets), kStart + longest);
        mixed += count == 2 && targets[0].slc != targets[1].slc;
        const bool is_cut = below(100) == 0;
        if (is_cut)
            cut(kStart + Ps{below(1'000'000)});
        else
            die->finish(targets.data(), count);
        cuts += is_cut;
        for (const OnfiTarget& t : targets) {
            Block& b = blocks[t.plane][t.block];
            if (op == FlashOp::program && b.next++ == 0) b.slc = t.slc;
            if (op == FlashOp::erase) {
                if (!is_cut) b = Block{};
                b.half_erased = is_cut && b.next != 0;
            }
            if (op == FlashOp::read && !is_cut) {
                const bool other = t.page < b.next && t.slc != b.slc;
                std::array<Spare, 4> out{};
                OnfiTarget from = t;
                from.spare = out.data();
                die->data_out(from);
                ASSERT_EQ(out[0], other ? kTorn : first_unit(t.plane, t.block, t.page));
                told_nothing += other;
            }
            ASSERT_EQ(slc(t.plane, t.block), b.slc);
            ASSERT_EQ(next(t.plane, t.block), b.next);
        }
    }
    for (const auto& of_op : done) EXPECT_GT(of_op[1], 1000);
    EXPECT_GT(done[0][0], 500);
    EXPECT_GT(done[1][0], 500);
    EXPECT_GT(mixed, 500);
    EXPECT_GT(cuts, 100);
    EXPECT_GT(told_nothing, 100);
}

}  // namespace
}  // namespace ssdtlm
