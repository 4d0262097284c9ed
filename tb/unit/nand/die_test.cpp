// SPDX-License-Identifier: Apache-2.0
#include "nand/die/die.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr SimTime kStart{Ps{1'000}};
using Page = std::array<Spare, 4>;
const Page kData{Spare{1}, Spare{2}, Spare{3}, Spare{4}};

NandConfig config(bool independent = false) {
    NandConfig c;
    c.geometry.ways = 4;
    c.geometry.planes_per_die = 2;
    c.geometry.blocks_per_plane = 8;
    c.geometry.pages_per_block = 6;
    c.geometry.page_bytes = 16384;
    c.geometry.unit_bytes = 4096;
    c.geometry.bits_per_cell = 3;
    c.t_read = {45us, 55us, 50us};
    c.t_program = {500us, 700us, 900us};
    c.t_erase = 5ms;
    c.independent_plane_read = independent;
    return c;
}

class DieTest : public ::testing::Test {
protected:
    explicit DieTest(bool independent = false) : area(config().geometry), die(config(independent), DieId{3}, area) {}

    SimTime issue(FlashOp op, const std::vector<OnfiTarget>& t) {
        return die.issue(op, t.data(), static_cast<std::uint32_t>(t.size()), kStart);
    }
    void run(FlashOp op, const std::vector<OnfiTarget>& t) {
        issue(op, t);
        die.finish(t.data(), static_cast<std::uint32_t>(t.size()));
    }
    OnfiTarget at(std::uint8_t plane, std::uint32_t block, std::uint32_t page) {
        return OnfiTarget{plane, block, page, 16384, data.data()};
    }
    std::string refusal(FlashOp op, const std::vector<OnfiTarget>& t) {
        const std::string why = die.probe(op, t.data(), static_cast<std::uint32_t>(t.size()));
        try {
            issue(op, t);
        } catch (const Panic& p) {
            EXPECT_THAT(p.what(), HasSubstr(why));
            EXPECT_FALSE(why.empty());
            return p.what();
        }
        EXPECT_TRUE(why.empty());
        return "accepted";
    }
    std::string data_out_refusal(OnfiTarget t, std::uint32_t bytes = 4096) {
        t.data_bytes = bytes;
        t.spare = nullptr;
        try {
            die.data_out(t);
        } catch (const Panic& p) {
            return p.what();
        }
        return "accepted";
    }

    Page data = kData;
    SpareArea area;
    Die die;
};

TEST_F(DieTest, ArrayTimesFollowThePageType) {
    const auto c = config();
    for (std::uint32_t page = 0; page < 6; ++page) {
        EXPECT_EQ(issue(FlashOp::program, {at(0, 1, page)}), kStart + c.t_program[page % 3]);
        const OnfiTarget t = at(0, 1, page);
        die.finish(&t, 1);
        EXPECT_EQ(issue(FlashOp::read, {t}), kStart + c.t_read[page % 3]);
        EXPECT_EQ(die.earliest_ready(FlashOp::erase, 1), kStart + c.t_read[page % 3]);
        die.finish(&t, 1);
    }
    EXPECT_EQ(issue(FlashOp::erase, {at(0, 1, 0)}), kStart + c.t_erase);
}

TEST_F(DieTest, ContentsChangeWhenTheArrayOperationEnds) {
    const OnfiTarget t = at(1, 2, 0);
    const Ppa first = config().geometry.ppa_of(PageAddress{PlaneId{3 * 2 + 1}, 2, 0}, 0);
    issue(FlashOp::program, {t});
    EXPECT_EQ(area.at(first), kErased);
    die.finish(&t, 1);
    EXPECT_EQ(area.at(first), kData[0]);
    run(FlashOp::read, {t});
    Page out{};
    die.data_out(OnfiTarget{1, 2, 0, 16384, out.data()});
    EXPECT_EQ(out, kData);
    issue(FlashOp::erase, {t});
    EXPECT_EQ(area.at(first), kData[0]);
    die.finish(&t, 1);
    EXPECT_EQ(area.at(first), kErased);
}

TEST_F(DieTest, DataOutFillsThePageAndNoMore) {
    run(FlashOp::program, {at(1, 2, 0)});
    run(FlashOp::read, {at(1, 2, 0)});
    std::array<Spare, kMaxUnitsPerPage + 1> out;
    out.fill(Spare{0xABCDEF});
    die.data_out(OnfiTarget{1, 2, 0, 16384, out.data()});
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i < kData.size() ? kData[i] : Spare{0xABCDEF}) << i;
}

TEST_F(DieTest, RefusesWorkWhileBusy) {
    run(FlashOp::program, {at(0, 0, 0)});
    issue(FlashOp::erase, {at(0, 7, 0)});
    EXPECT_THAT(refusal(FlashOp::read, {at(1, 0, 0)}),
                AllOf(HasSubstr("die 3 plane 1 block 0: read"), HasSubstr("plane 0 is busy with a erase"),
                      HasSubstr("R/B# low")));
    EXPECT_THAT(refusal(FlashOp::program, {at(1, 0, 0)}), HasSubstr("busy"));
    EXPECT_THAT(refusal(FlashOp::erase, {at(1, 0, 0)}), HasSubstr("busy"));
    EXPECT_THAT(data_out_refusal(at(0, 0, 0)), HasSubstr("busy with a erase (R/B# low)"));
}

TEST_F(DieTest, RefusesProgramOutOfOrderAndTwice) {
    EXPECT_THAT(refusal(FlashOp::program, {at(0, 0, 1)}), AllOf(HasSubstr("out of order"), HasSubstr("next is 0")));
    run(FlashOp::program, {at(0, 0, 0)});
    EXPECT_THAT(refusal(FlashOp::program, {at(0, 0, 0)}), HasSubstr("not erased"));
    run(FlashOp::erase, {at(0, 0, 0)});
    EXPECT_EQ(refusal(FlashOp::program, {at(0, 0, 0)}), "accepted");
}

TEST_F(DieTest, RefusesAddressesOutsideTheDie) {
    EXPECT_THAT(refusal(FlashOp::read, {at(2, 0, 0)}), HasSubstr("planes 0 to 1"));
    EXPECT_THAT(refusal(FlashOp::erase, {at(0, 8, 0)}), HasSubstr("blocks 0 to 7"));
    EXPECT_THAT(refusal(FlashOp::read, {at(0, 0, 6)}), HasSubstr("pages 0 to 5"));
    EXPECT_THAT(refusal(FlashOp::read, {}), HasSubstr("read of 0 planes"));
}

TEST_F(DieTest, RefusesIllFormedMultiPlaneWork) {
    EXPECT_THAT(refusal(FlashOp::read, {at(0, 0, 1), at(1, 0, 2)}), HasSubstr("same page number"));
    EXPECT_THAT(refusal(FlashOp::read, {at(1, 0, 1), at(1, 3, 1)}), HasSubstr("plane twice"));
    EXPECT_EQ(refusal(FlashOp::read, {at(0, 0, 1), at(1, 3, 1)}), "accepted");
}

TEST_F(DieTest, DataOutNeedsTheRegisterLoadedWithThatPage) {
    EXPECT_THAT(data_out_refusal(at(0, 0, 0)), HasSubstr("register is not loaded"));
    run(FlashOp::read, {at(0, 0, 1)});
    EXPECT_THAT(data_out_refusal(at(0, 0, 2)), HasSubstr("register holds block 0 page 1"));
    EXPECT_THAT(data_out_refusal(at(1, 0, 1)), HasSubstr("register is not loaded"));
    EXPECT_THAT(data_out_refusal(at(0, 0, 1), 16385), HasSubstr("a page has 16384"));
    EXPECT_EQ(data_out_refusal(at(0, 0, 1)), "accepted");
    run(FlashOp::program, {at(1, 0, 0)});
    EXPECT_THAT(data_out_refusal(at(0, 0, 1)), HasSubstr("register is not loaded")) << "80h clears the LUN's registers";
}

class IndependentPlanes : public DieTest {
protected:
    IndependentPlanes() : DieTest(true) {}
};

TEST(DieReady, OfJoinedAndOverlappingReadsIsThatOfEachPlane) {
    NandConfig c = config(true);
    c.geometry.planes_per_die = 4;
    SpareArea area(c.geometry);
    Die die(c, DieId{3}, area);
    std::mt19937 random(5);
    const auto below = [&random](std::uint32_t n) {
        return std::uniform_int_distribution<std::uint32_t>(0, n - 1)(random);
    };
    struct Running {
        std::vector<OnfiTarget> targets;
        SimTime ready;
    };
    std::vector<Running> running;
    SimTime now = kStart;
    int joined = 0;
    for (int step = 0; step < 5'000; ++step) {
        std::vector<OnfiTarget> targets;
        const std::uint32_t page = below(6);
        for (std::uint8_t plane = 0; plane < 4; ++plane)
            if (!die.busy(plane) && below(2) == 0) targets.push_back({plane, below(8), page, 16384, nullptr});
        if (!targets.empty()) {
            const SimTime ready = now + c.t_read[page % 3];
            ASSERT_EQ(die.issue(FlashOp::read, targets.data(), static_cast<std::uint32_t>(targets.size()), now), ready);
            joined += targets.size() > 1;
            running.push_back({targets, ready});
        } else if (!running.empty()) {
            const auto first =
                std::min_element(running.begin(), running.end(), [](auto& a, auto& b) { return a.ready < b.ready; });
            now = first->ready;
            die.finish(first->targets.data(), static_cast<std::uint32_t>(first->targets.size()));
            running.erase(first);
        }
        SimTime next = kNever, last{};
        std::array<SimTime, 4> of_plane{};
        for (const Running& r : running) {
            next = std::min(next, r.ready);
            last = std::max(last, r.ready);
            for (const OnfiTarget& t : r.targets) of_plane[t.plane] = r.ready;
        }
        ASSERT_EQ(die.next_event(), next);
        for (std::uint32_t plane = 0; plane < 4; ++plane) {
            ASSERT_EQ(die.earliest_ready(FlashOp::read, plane), of_plane[plane]);
            ASSERT_EQ(die.earliest_ready(FlashOp::program, plane), last);
        }
        now += Ps{below(10'000'000)};  // a look at the die is not an event of it
        if (!running.empty()) now = std::min(now, next);
    }
    EXPECT_GT(joined, 500);
}

TEST_F(IndependentPlanes, ReadsOverlapButNothingElseDoes) {
    issue(FlashOp::read, {at(0, 0, 1)});
    EXPECT_EQ(die.earliest_ready(FlashOp::read, 1), SimTime{});
    EXPECT_EQ(die.earliest_ready(FlashOp::program, 1), kStart + 55us);
    EXPECT_THAT(refusal(FlashOp::read, {at(0, 0, 2)}), HasSubstr("busy"));
    EXPECT_THAT(refusal(FlashOp::program, {at(1, 0, 0)}), HasSubstr("busy"));
    EXPECT_EQ(refusal(FlashOp::read, {at(1, 5, 2)}), "accepted");
    const OnfiTarget first = at(0, 0, 1);
    die.finish(&first, 1);
    EXPECT_EQ(data_out_refusal(first), "accepted") << "data out of one plane while another reads";
}

TEST_F(IndependentPlanes, ProgramLocksTheWholeDie) {
    issue(FlashOp::program, {at(0, 0, 0)});
    EXPECT_THAT(refusal(FlashOp::read, {at(1, 0, 0)}), HasSubstr("busy with a program"));
}

// --- suspend and resume
// ------------------------------------------------------------------------------------------------

class Suspend : public DieTest {
protected:
    std::string probe(FlashOp op) {
        const OnfiTarget none{};
        return die.probe(op, &none, 1);
    }
    std::string refused(FlashOp op, SimTime start) {
        const std::string why = probe(op);
        EXPECT_THROW(static_cast<void>(onfi_operation(op).effect == ArrayEffect::suspends ? die.suspend(op, start)
                                                                                          : die.resume(op, start)),
                     Panic);
        return why;
    }
    Page contents(const OnfiTarget& t) {
        Page p{};
        area.read_page(PageAddress{PlaneId{3u * 2 + t.plane}, t.block, t.page}, p.data());
        return p;
    }
    NandConfig c = config();
};

TEST_F(Suspend, AnEraseTakesItsRestAndTheCostOfTheResume) {
    run(FlashOp::program, {at(0, 1, 0)});
    run(FlashOp::program, {at(1, 2, 0)});
    const OnfiTarget erased = at(0, 1, 0), page = at(1, 2, 0);
    EXPECT_EQ(issue(FlashOp::erase, {erased}), kStart + c.t_erase);
    const SimTime suspended = kStart + 1ms;
    EXPECT_EQ(die.suspend(FlashOp::erase_suspend, suspended), suspended + c.t_erase_suspend);
    EXPECT_TRUE(die.suspended());
    EXPECT_FALSE(die.busy());
    EXPECT_EQ(die.next_event(), kNever);

    run(FlashOp::read, {page});
    EXPECT_EQ(data_out_refusal(page), "accepted");
    EXPECT_THAT(refusal(FlashOp::read, {erased}), HasSubstr("which a suspended erase is at work on"));
    EXPECT_THAT(refusal(FlashOp::read, {at(0, 1, 5)}), HasSubstr("which a suspended erase is at work on"));
    EXPECT_THAT(refusal(FlashOp::program, {at(1, 2, 1)}), HasSubstr("while a erase is suspended; only reads"));
    EXPECT_THAT(refusal(FlashOp::erase, {at(1, 3, 0)}), HasSubstr("only reads"));
    EXPECT_EQ(contents(erased), kData) << "not erased yet";

    const SimTime resumed = kStart + 7ms;
    const SimTime end = resumed + (c.t_erase - 1ms) + c.t_erase_resume;
    EXPECT_EQ(die.resume(FlashOp::erase_resume, resumed), end);
    EXPECT_FALSE(die.suspended());
    EXPECT_EQ(die.next_event(), end);
    EXPECT_EQ(die.earliest_ready(FlashOp::read, 1), end);
    die.finish(&erased, 1);
    EXPECT_EQ(contents(erased)[0], kErased);
    EXPECT_EQ(area.erase_count(c.geometry.block_id(PlaneId{6}, 1)), 1u);
}

TEST_F(Suspend, AProgramKeepsItsDataWhileItsPlaneReads) {
    Page old{Spare{7}, Spare{8}, Spare{9}, Spare{10}}, out{};
    OnfiTarget before = at(0, 4, 0);
    before.spare = old.data();
    run(FlashOp::program, {before});
    run(FlashOp::program, {at(1, 4, 0)});
    const std::vector<OnfiTarget> both{at(0, 4, 1), at(1, 4, 1)};
    EXPECT_EQ(issue(FlashOp::program, both), kStart + c.t_program[1]);
    die.suspend(FlashOp::program_suspend, kStart + 200us);
    EXPECT_THAT(refusal(FlashOp::read, {both[1]}), HasSubstr("suspended program"));
    run(FlashOp::read, {before});  // of the same block and plane: its register held the data to be programmed
    die.data_out(OnfiTarget{0, 4, 0, 16384, out.data()});
    EXPECT_EQ(out, old);
    EXPECT_EQ(die.resume(FlashOp::program_resume, kStart + 400us),
              kStart + 400us + (c.t_program[1] - 200us) + c.t_program_resume);
    EXPECT_THAT(data_out_refusal(before), HasSubstr("busy with a program"));
    die.finish(both.data(), 2);
    EXPECT_EQ(contents(both[0]), kData);
    EXPECT_EQ(contents(both[1]), kData);
}

TEST_F(Suspend, OnlyWhatRunsIsSuspendedAndOnlyWhatWaitsResumed) {
    EXPECT_THAT(refused(FlashOp::erase_suspend, kStart), HasSubstr("while no erase runs"));
    EXPECT_THAT(refused(FlashOp::erase_resume, kStart), HasSubstr("while no erase is suspended"));
    const OnfiTarget block = at(0, 1, 0);
    issue(FlashOp::erase, {block});
    EXPECT_THAT(refused(FlashOp::program_suspend, kStart), HasSubstr("while no program runs"));
    EXPECT_THAT(refused(FlashOp::erase_resume, kStart), HasSubstr("busy with a erase"));
    die.suspend(FlashOp::erase_suspend, kStart + 1us);
    EXPECT_THAT(refused(FlashOp::erase_suspend, kStart + 1ms), HasSubstr("while no erase runs"));
    EXPECT_THAT(refused(FlashOp::program_resume, kStart + 1ms), HasSubstr("while no program is suspended"));
    issue(FlashOp::read, {at(1, 0, 0)});
    EXPECT_THAT(refused(FlashOp::erase_resume, kStart + 1ms), HasSubstr("busy with a read"));
    const OnfiTarget read = at(1, 0, 0);
    die.finish(&read, 1);
    EXPECT_EQ(probe(FlashOp::erase_resume), "");
}

TEST_F(Suspend, WhatEndsBeforeTheArrayCouldStopRunsToItsEnd) {
    const OnfiTarget block = at(0, 1, 0);
    const SimTime end = issue(FlashOp::erase, {block});
    EXPECT_EQ(die.suspend(FlashOp::erase_suspend, end - c.t_erase_suspend), end);
    EXPECT_FALSE(die.suspended());
    EXPECT_TRUE(die.busy());
    die.finish(&block, 1);
    issue(FlashOp::erase, {block});
    EXPECT_EQ(die.suspend(FlashOp::erase_suspend, end - c.t_erase_suspend - Ps{1}), end - Ps{1});
    EXPECT_TRUE(die.suspended());
}

/// tBERS + what lies between each suspend and its resume + a resume's cost each.
TEST_F(Suspend, AnEraseSuspendedAtRandomTakesItsFormula) {
    std::mt19937 random(3);
    const OnfiTarget block = at(1, 5, 0);
    std::uint32_t most = 0;
    for (int round = 0; round < 300; ++round) {
        SimTime now = kStart, end = issue(FlashOp::erase, {block});
        Ps gaps{};
        std::uint32_t suspends = 0;
        for (;;) {
            now += Ps{static_cast<std::int64_t>(random() % 2'000'000'000)};
            if (now + c.t_erase_suspend >= end) break;
            const SimTime resumed =
                die.suspend(FlashOp::erase_suspend, now) + Ps{static_cast<std::int64_t>(random() % 900'000'000)};
            gaps += resumed - now;
            ++suspends;
            end = die.resume(FlashOp::erase_resume, resumed);
            now = resumed;
        }
        ASSERT_EQ(end, kStart + c.t_erase + gaps + suspends * c.t_erase_resume);
        ASSERT_EQ(die.next_event(), end);
        die.finish(&block, 1);
        most = std::max(most, suspends);
    }
    EXPECT_GT(most, 3u);
}

// --- loss of power ---------------------------------------------------------------------------------------------------

TEST_F(DieTest, PowerLossTearsWhatIsBeingProgrammedInEachPlane) {
    run(FlashOp::program, {at(0, 2, 0)});
    run(FlashOp::program, {at(1, 2, 0)});
    const SimTime ready = issue(FlashOp::program, {at(0, 2, 1), at(1, 2, 1)});
    const PowerLoss loss = die.power_lost(ready);  // finish() has not been called
    EXPECT_EQ(loss.pages_torn, 2u);
    EXPECT_EQ(loss.erases_cut, 0u);
    for (std::uint32_t plane = 0; plane < 2; ++plane) {
        const PageAddress before{PlaneId{6 + plane}, 2, 0}, torn{PlaneId{6 + plane}, 2, 1};
        EXPECT_EQ(area.at(area.geometry().ppa_of(before, 0)), kData[0]);
        for (std::uint32_t slot = 0; slot < 4; ++slot) EXPECT_EQ(area.at(area.geometry().ppa_of(torn, slot)), kTorn);
        EXPECT_EQ(area.next_page(area.geometry().block_of(torn)), 2u);
    }
}

TEST_F(DieTest, PowerLossLeavesABlockThatIsBeingErasedUnreadable) {
    run(FlashOp::program, {at(0, 2, 0)});
    issue(FlashOp::erase, {at(0, 2, 0)});
    const PowerLoss loss = die.power_lost(kStart);
    EXPECT_EQ(loss.erases_cut, 1u);
    const PageAddress page{PlaneId{6}, 2, 0};
    EXPECT_EQ(area.at(area.geometry().ppa_of(page, 0)), kTorn);
    EXPECT_EQ(area.next_page(area.geometry().block_of(page)), 1u);
    EXPECT_EQ(area.erase_count(area.geometry().block_of(page)), 0u);
}

TEST_F(DieTest, PowerLossBeforeTheArrayBeginsLeavesTheFlashAsItWas) {
    issue(FlashOp::program, {at(0, 2, 0)});
    EXPECT_EQ(die.power_lost(kStart - Ps{1}).pages_torn, 0u);
    EXPECT_EQ(area.next_page(area.geometry().block_id(PlaneId{6}, 2)), 0u);
}

TEST_F(DieTest, PowerLossDuringAReadOrWhenIdleLosesNothing) {
    EXPECT_EQ(die.power_lost(kStart).pages_torn, 0u);
    run(FlashOp::program, {at(0, 2, 0)});
    issue(FlashOp::read, {at(0, 2, 0)});
    const PowerLoss loss = die.power_lost(kStart);
    EXPECT_EQ(loss.pages_torn + loss.erases_cut, 0u);
    EXPECT_EQ(area.at(area.geometry().ppa_of(PageAddress{PlaneId{6}, 2, 0}, 0)), kData[0]);
}

TEST_F(DieTest, PowerLossTearsWhatIsSuspendedAsWell) {
    issue(FlashOp::program, {at(1, 3, 0)});
    die.suspend(FlashOp::program_suspend, kStart + 10us);
    ASSERT_TRUE(die.suspended());
    const std::vector<OnfiTarget> other{at(0, 2, 0)};
    die.issue(FlashOp::read, other.data(), 1, kStart + 200us);
    EXPECT_EQ(die.power_lost(kStart + 201us).pages_torn, 1u);
    EXPECT_EQ(area.at(area.geometry().ppa_of(PageAddress{PlaneId{7}, 3, 0}, 0)), kTorn);
}

}  // namespace
}  // namespace ssdtlm
