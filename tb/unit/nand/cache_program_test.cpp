// SPDX-License-Identifier: Apache-2.0
// Cache program in the die: two generations of pages, one in the array and one in the cache registers. When R/B# rises,
// when the array is done, what is refused meanwhile, and what a failure and a loss of power leave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "nand/die/die.h"

namespace ssdtlm {
namespace {

using ::testing::HasSubstr;

constexpr SimTime kStart{Ps{1'000'000'000}};
constexpr Ps kProgram[] = {500us, 700us, 900us};  // by page type
constexpr Ps kCacheBusy = 4us, kSuspend = 30us, kResume = 10us, kSlcProgram = 130us;

NandConfig config() {
    NandConfig c;
    c.geometry.planes_per_die = 2;
    c.geometry.blocks_per_plane = 8;
    c.geometry.pages_per_block = 60;
    c.geometry.page_bytes = 16384;
    c.geometry.unit_bytes = 4096;
    c.geometry.bits_per_cell = 3;
    c.t_program.assign(std::begin(kProgram), std::end(kProgram));
    c.t_program_suspend = kSuspend;
    c.t_program_resume = kResume;
    c.slc.t_program = kSlcProgram;
    c.cache_program = true;
    c.t_cache_busy = kCacheBusy;
    return c;
}

/// The n-th program fails, from 0.
class NthFails final : public ArrayFaults {
public:
    explicit NthFails(std::uint32_t n) : n_(n) {}
    bool program_fails(const ArrayWork&) override { return seen_++ == n_; }
    bool erase_fails(const ArrayWork&) override { return false; }
    std::uint16_t wrong_bits(const ArrayWork&, std::uint32_t) override { return 0; }

private:
    const std::uint32_t n_;
    std::uint32_t seen_ = 0;
};

struct CacheProgram : ::testing::Test {
    OnfiTarget at(std::uint8_t plane, std::uint32_t block, std::uint32_t page, bool slc = false) {
        OnfiTarget t{plane, block, page, 16384, data.data()};
        t.slc = slc;
        return t;
    }
    Die::ProgramTimes send(const std::vector<OnfiTarget>& t, SimTime start, bool more = true) {
        return die.program(t.data(), static_cast<std::uint32_t>(t.size()), start - 50us, start, more);
    }
    std::uint32_t finish(const std::vector<OnfiTarget>& t) {
        return die.finish(t.data(), static_cast<std::uint32_t>(t.size()));
    }
    std::string probe(FlashOp op, const OnfiTarget& t) { return die.probe(op, &t, 1); }
    std::uint32_t next(std::uint32_t plane, std::uint32_t block) {
        return area.next_page(area.geometry().block_id(PlaneId{plane}, block));
    }
    Spare held(std::uint32_t plane, std::uint32_t block, std::uint32_t page) {
        return area.at(area.geometry().ppa_of(PageAddress{PlaneId{plane}, block, page}, 0));
    }

    std::array<Spare, 4> data{Spare{1}, Spare{2}, Spare{3}, Spare{4}};
    SpareArea area{config().geometry};
    Die die{config(), DieId{0}, area};
};

TEST_F(CacheProgram, TheCacheRegisterIsFreeAsSoonAsTheArrayHasThePage) {
    const Die::ProgramTimes first = send({at(0, 1, 0)}, kStart);
    EXPECT_EQ(first.begins, kStart);
    EXPECT_EQ(first.ready, kStart + kCacheBusy);
    EXPECT_EQ(first.ends, kStart + kProgram[0]);
    const Die::ProgramTimes second = send({at(0, 1, 1)}, kStart + 100us);
    EXPECT_EQ(second.begins, first.ends) << "it waits in the cache register";
    EXPECT_EQ(second.ready, first.ends + kCacheBusy);
    EXPECT_EQ(second.ends, first.ends + kProgram[1]);
    EXPECT_TRUE(die.waits());
    EXPECT_EQ(finish({at(0, 1, 0)}), 0u);
    die.take_over();
    EXPECT_FALSE(die.waits());
    EXPECT_TRUE(die.busy(0));
    const Die::ProgramTimes last = send({at(0, 1, 2)}, second.ready + 50us, false);
    EXPECT_EQ(last.begins, second.ends);
    EXPECT_EQ(last.ready, last.ends) << "10h: R/B# stays low until the array is done with both";
    EXPECT_EQ(last.ends, second.ends + kProgram[2]);
    EXPECT_EQ(die.earliest_ready(FlashOp::erase, 1), last.ends);
    finish({at(0, 1, 1)});
    die.take_over();
    finish({at(0, 1, 2)});
    EXPECT_FALSE(die.busy());
    EXPECT_EQ(next(0, 1), 3u);
}

TEST_F(CacheProgram, AStreamTakesTheLongerOfProgramAndTransfer) {
    Random random(4);
    for (int stream = 0; stream < 50; ++stream) {
        const Ps transfer{1'000'000 * static_cast<std::int64_t>(5 + random.below(1500))};  // with tWB
        const std::uint32_t block = 0;
        // What the data sheet says, page by page: the transfer begins when R/B# is high, the array when both page and
        // array are there.
        SimTime ready = kStart, array_free = kStart;
        std::uint32_t in_array = 0;
        for (std::uint32_t page = 0; page < 12; ++page) {
            const SimTime from = ready, start = from + transfer;
            // finish() of what ends during the transfer, as the package does
            while (die.next_event() <= start) {
                finish({at(0, block, in_array++)});
                if (die.waits()) die.take_over();
            }
            const OnfiTarget t = at(0, block, page);
            const Die::ProgramTimes times = die.program(&t, 1, from, start, true);
            const SimTime begins = std::max(start, array_free);
            ASSERT_EQ(times.begins, begins);
            ASSERT_EQ(times.ready, begins + kCacheBusy);
            array_free = begins + kProgram[page % 3];
            ASSERT_EQ(times.ends, array_free);
            ready = times.ready;
            if (die.waits()) {  // its R/B# rises behind the end of the one before
                finish({at(0, block, in_array++)});
                die.take_over();
            }
        }
        finish({at(0, block, in_array)});
        area.erase(area.geometry().block_id(PlaneId{0}, block));
    }
}

TEST_F(CacheProgram, OnlyTheNextProgramIsTakenWhileTheArrayWorks) {
    send({at(0, 1, 0)}, kStart);
    for (const FlashOp op : {FlashOp::read, FlashOp::erase})
        EXPECT_THAT(probe(op, at(1, 2, 0)), HasSubstr("only status, reset, suspend and the next program"));
    EXPECT_EQ(probe(FlashOp::program, at(0, 1, 1)), "");
    EXPECT_EQ(probe(FlashOp::program, at(1, 3, 0)), "");
    EXPECT_THAT(probe(FlashOp::program, at(0, 1, 0)), HasSubstr("not erased; next page to program is 1"));
    EXPECT_THAT(probe(FlashOp::program, at(0, 1, 2)),
                HasSubstr("out of order; pages of a block are programmed in ascending order, next is 1"));
    const OnfiTarget early = at(0, 1, 1);
    EXPECT_THROW(die.program(&early, 1, kStart + kCacheBusy - Ps{1}, kStart + 60us, true), Panic)
        << "R/B# is low at its 80h";
    die.program(&early, 1, kStart + kCacheBusy, kStart + 60us, true);
    EXPECT_THAT(probe(FlashOp::program, at(0, 1, 2)), HasSubstr("while a page waits in a cache register"));
    EXPECT_THAT(probe(FlashOp::program_suspend, at(0, 1, 2)), HasSubstr("while a page waits in a cache register"));
    finish({at(0, 1, 0)});
    die.take_over();
    EXPECT_EQ(probe(FlashOp::program, at(0, 1, 2)), "");
    EXPECT_EQ(probe(FlashOp::program_suspend, at(0, 1, 2)), "");
}

TEST_F(CacheProgram, NothingIsTakenBehindWhatDidNotSaySo) {
    send({at(0, 1, 0)}, kStart, false);
    EXPECT_THAT(probe(FlashOp::program, at(0, 1, 1)), HasSubstr("R/B# low")) << "10h";
    finish({at(0, 1, 0)});
    send({at(0, 1, 1)}, kStart + 600us);
    finish({at(0, 1, 1)});
    const OnfiTarget erased = at(1, 2, 0);
    die.issue(FlashOp::erase, &erased, 1, kStart + 2ms);
    EXPECT_THAT(probe(FlashOp::program, at(0, 1, 2)), HasSubstr("busy with a erase"));
}

TEST_F(CacheProgram, PlanesOfBothGenerationsMayDiffer) {
    const std::vector<OnfiTarget> both{at(0, 1, 0), at(1, 4, 0)}, one{at(1, 4, 1)};
    send(both, kStart);
    const Die::ProgramTimes behind = send(one, kStart + 100us);
    EXPECT_EQ(behind.begins, kStart + kProgram[0]) << "the array of the die is one for programs";
    finish(both);
    die.take_over();
    EXPECT_FALSE(die.busy(0));
    EXPECT_TRUE(die.busy(1));
    finish(one);
    EXPECT_EQ(next(0, 1), 1u);
    EXPECT_EQ(next(1, 4), 2u);
}

TEST_F(CacheProgram, AFailureIsThatOfItsOwnGeneration) {
    NthFails second(1);
    die.inject(&second);
    data[0] = Spare{11};
    send({at(0, 1, 0)}, kStart);
    data[0] = Spare{22};
    send({at(0, 1, 1)}, kStart + 100us);
    EXPECT_EQ(finish({at(0, 1, 0)}), 0u);
    die.take_over();
    data[0] = Spare{33};
    send({at(0, 1, 2)}, kStart + 600us, false);
    EXPECT_EQ(finish({at(0, 1, 1)}), 1u) << "FAILC when the third is in the cache register";
    die.take_over();
    EXPECT_EQ(finish({at(0, 1, 2)}), 0u);
    EXPECT_EQ(held(0, 1, 0), Spare{11});
    EXPECT_EQ(held(0, 1, 1), kPadding);
    EXPECT_EQ(held(0, 1, 2), Spare{33});
}

TEST_F(CacheProgram, PowerLossTearsThePageInTheArrayAndLeavesNoTraceOfTheOther) {
    send({at(0, 1, 0)}, kStart);
    send({at(0, 1, 1)}, kStart + 100us);
    const PowerLoss loss = die.power_lost(kStart + 200us);
    EXPECT_EQ(loss.pages_torn, 1u);
    EXPECT_EQ(held(0, 1, 0), kTorn);
    EXPECT_EQ(held(0, 1, 1), kErased);
    EXPECT_EQ(next(0, 1), 1u);
}

TEST_F(CacheProgram, PowerLossBehindTheTakeOverLeavesTheFirstPage) {
    const Die::ProgramTimes first = send({at(0, 1, 0)}, kStart);
    send({at(0, 1, 1)}, kStart + 100us);
    finish({at(0, 1, 0)});
    die.take_over();
    EXPECT_EQ(die.power_lost(first.ends + 1us).pages_torn, 1u);
    EXPECT_EQ(held(0, 1, 0), data[0]);
    EXPECT_EQ(held(0, 1, 1), kTorn);
}

TEST_F(CacheProgram, PowerLossDuringTheTransferOfTheNextPageTearsNothing) {
    const Die::ProgramTimes first = send({at(0, 1, 0)}, kStart);
    send({at(0, 1, 1)}, first.ends + 40us);  // the transfer goes on when the array is done
    finish({at(0, 1, 0)});
    die.take_over();
    EXPECT_EQ(die.power_lost(first.ends + 20us).pages_torn, 0u) << "R/B# has not fallen for it";
    EXPECT_EQ(held(0, 1, 1), kErased);
}

TEST_F(CacheProgram, AProgramThatWasSuspendedTakesNoPageBehindIt) {
    const Die::ProgramTimes first = send({at(0, 1, 0)}, kStart);
    const SimTime stopped = die.suspend(FlashOp::program_suspend, kStart + 100us);
    EXPECT_EQ(stopped, kStart + 100us + kSuspend);
    EXPECT_THAT(probe(FlashOp::program, at(0, 1, 1)), HasSubstr("only reads are allowed"));
    const SimTime ends = die.resume(FlashOp::program_resume, stopped);
    EXPECT_EQ(ends, stopped + (first.ends - (kStart + 100us)) + kResume);
    EXPECT_THAT(probe(FlashOp::program, at(0, 1, 1)), HasSubstr("R/B# low"));
    EXPECT_EQ(finish({at(0, 1, 0)}), 0u);
}

TEST_F(CacheProgram, ThePageBehindHasTheModeOfItsBlock) {
    send({at(0, 1, 0, true)}, kStart);
    EXPECT_THAT(probe(FlashOp::program, at(0, 1, 1, false)), HasSubstr("the cell mode changes only with an erase"));
    const Die::ProgramTimes other = send({at(1, 2, 0, false)}, kStart + 60us);
    EXPECT_EQ(other.begins, kStart + kSlcProgram) << "another block may be in another mode";
    EXPECT_EQ(other.ends, kStart + kSlcProgram + kProgram[0]);
    finish({at(0, 1, 0, true)});
    die.take_over();
    finish({at(1, 2, 0)});
    EXPECT_TRUE(area.slc(area.geometry().block_id(PlaneId{0}, 1)));
    EXPECT_FALSE(area.slc(area.geometry().block_id(PlaneId{1}, 2)));
}

}  // namespace
}  // namespace ssdtlm
