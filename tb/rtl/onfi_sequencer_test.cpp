// SPDX-License-Identifier: Apache-2.0
// The Verilated ONFI sequencer against the timing model: durations within one clock for every kind and size of
// sequence, to the clock by the block's own formula, and pins where PinGenerator puts them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "adapter/rtl_onfi_sequencer.h"
#include "common/random/random.h"
#include "common/report/error.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kMega = 1'000'000;

NandConfig config(std::uint32_t megatransfers, OnfiInterface interface = OnfiInterface::nv_ddr3) {
    NandConfig c;
    c.geometry.ways = 4;
    c.geometry.dies_per_chip = 2;
    c.geometry.planes_per_die = 4;
    c.geometry.blocks_per_plane = 100;
    c.geometry.pages_per_block = 256;
    c.geometry.page_bytes = 16384;
    c.geometry.spare_bytes = 2048;
    c.onfi.interface = interface;
    c.onfi.megatransfers = megatransfers;
    return c;
}

class Bench {
public:
    Bench(const NandConfig& nand, std::uint64_t hertz, int seed = 0)
        : nand_(nand), timing_(nand), clock_(Clock::hertz(hertz)), rtl_(nand, hertz, seed), generator_(nand) {}

    PinCommand command(FlashOp kind, std::uint8_t planes, std::uint32_t bytes, PinSelect select = PinSelect::none) {
        for (std::uint8_t p = 0; p < planes; ++p) {
            targets_[p] = OnfiTarget{p, 77, 129, bytes, spare_.data()};
            targets_[p].slc = (slc_ >> p & 1) != 0;
        }
        PinCommand c;
        c.op = kind;
        c.select = select;
        c.die = 5;  // way 2, LUN 1
        c.count = planes;
        c.target = targets_.data();
        c.begin = next_;
        return c;
    }
    Ps model(const PinCommand& c) const {
        const std::uint32_t bytes = c.target[0].data_bytes;
        Ps prefixes{};
        for (std::uint32_t p = 0; p < c.count; ++p) prefixes += c.target[p].slc ? nand_.onfi.t_wc : Ps{0};
        switch (c.op) {
            case FlashOp::read:
                return timing_.issue(FlashOp::read, c.count) + prefixes;
            case FlashOp::erase:
                return timing_.issue(FlashOp::erase, c.count) + prefixes;
            case FlashOp::program:
                return timing_.issue(FlashOp::program, c.count) + c.count * timing_.data_in(bytes) + prefixes;
            default:
                break;
        }
        const Ps column = nand_.onfi.t_cs + 4 * nand_.onfi.t_wc + nand_.onfi.t_ccs;
        const Ps select = c.select == PinSelect::enhanced ? timing_.select() : column;
        return timing_.data_out(bytes) + (c.select == PinSelect::none ? Ps{0} : select);
    }
    /// Plays it in RTL; its duration must be the formula's, and the model's within a clock.
    void expect_within_a_clock(const PinCommand& c) {
        const BusSequencer::Held held = rtl_.play(c, false);
        const std::uint32_t transfers = (timing_.bus_bytes(c.target[0].data_bytes) + 1) & ~1u;
        const Ps took = held.end - c.begin;
        SCOPED_TRACE(describe(c));
        EXPECT_EQ(took, clock_.cycles(rtl_.clocks().sequence(c, transfers)));
        EXPECT_LE(took, model(c) + clock_.period());
        EXPECT_GE(took, model(c) - clock_.period());
        const Ps turn = held.free - held.end;
        EXPECT_EQ(turn, c.op == FlashOp::read_out ? nand_.onfi.t_rhw : Ps{0});
        next_ = held.free;
    }
    std::string describe(const PinCommand& c) const {
        return std::to_string(static_cast<int>(c.op)) + " planes " + std::to_string(c.count) + " bytes " +
               std::to_string(c.target[0].data_bytes) + " select " + std::to_string(static_cast<int>(c.select)) +
               " modes " + std::to_string(slc_) + " rate " + std::to_string(nand_.onfi.megatransfers);
    }

    NandConfig nand_;
    OnfiBusTiming timing_;
    Clock clock_;
    RtlOnfiSequencer rtl_;
    PinGenerator generator_;
    std::array<OnfiTarget, 8> targets_{};
    std::array<Spare, 4> spare_{Spare{0x44332211}, Spare{0x88776655}, Spare{3}, Spare{0xFF00FF00}};
    std::uint32_t slc_ = 0;  // of the next commands: a bit per plane
    SimTime next_{Ps{777'001}};
};

/// By pin, then time: edges of one instant have no order.
std::vector<PinEdge> by_pin(const PinSequence& s) {
    std::vector<PinEdge> edges = s.edges;
    std::stable_sort(edges.begin(), edges.end(), [](const PinEdge& a, const PinEdge& b) { return a.pin < b.pin; });
    return edges;
}

/// The same edges; up to the first burst's end at the same time, but for the strobes' rounding, then within a clock.
void expect_same(const PinSequence& played, const PinSequence& expected, Ps clock) {
    EXPECT_EQ(played.begin, expected.begin);
    EXPECT_EQ(played.bursts, expected.bursts);
    EXPECT_EQ(played.burst_bytes, expected.burst_bytes);
    SimTime exact = kNever;
    std::uint32_t strobes = 0;
    for (const PinEdge& e : expected.edges)
        if (e.pin == Pin::dqs && e.value != kReleased && strobes++ == expected.burst_bytes) exact = e.time;
    const auto got = by_pin(played), want = by_pin(expected);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].pin, want[i].pin) << i;
        ASSERT_EQ(got[i].value, want[i].value) << to_string(want[i].pin) << " " << i;
        const bool strobed = got[i].pin == Pin::re_n || got[i].pin == Pin::dqs || got[i].pin == Pin::dq;
        const Ps allowed = want[i].time > exact ? clock : strobed ? Ps{20} : Ps{0};
        ASSERT_LE(got[i].time - want[i].time, allowed) << to_string(want[i].pin) << " " << i;
        ASSERT_GE(got[i].time - want[i].time, -allowed) << to_string(want[i].pin) << " " << i;
    }
}

// Clocks that tCS, tWC and the other command times are multiples of, as the default 400 MHz is: only bursts round.
TEST(OnfiSequencer, TimesEqualTheTimingModelsWithinOneClock) {
    for (const std::uint64_t megahertz : {400u, 200u})
        for (const std::uint32_t rate : {67u, 200u, 333u, 400u, 533u, 667u, 1200u, 1467u, 1600u, 2000u, 2400u, 3600u}) {
            if (rate >= megahertz * kSequencerLanes) continue;
            Bench b(config(rate, OnfiInterface::nv_lpddr4), megahertz * kMega);
            for (std::uint8_t planes = 1; planes <= 4; ++planes) {
                b.expect_within_a_clock(b.command(FlashOp::read, planes, 0));
                b.expect_within_a_clock(b.command(FlashOp::erase, planes, 0));
                b.expect_within_a_clock(b.command(FlashOp::program, planes, 16384));
                b.expect_within_a_clock(b.command(FlashOp::program, planes, 512));
            }
            for (const std::uint32_t bytes : {1u, 2u, 3u, 512u, 513u, 4096u, 16384u})
                for (const PinSelect s : {PinSelect::none, PinSelect::column, PinSelect::enhanced})
                    b.expect_within_a_clock(b.command(FlashOp::read_out, 1, bytes, s));
        }
}

// A clock that does not divide the command times: the block rounds each up, as the timing model with these times does.
TEST(OnfiSequencer, OtherClocksRoundEachTimeUp) {
    for (const std::uint64_t megahertz : {250u, 333u, 500u}) {
        NandConfig c = config(1200);
        const Clock clock = Clock::hertz(megahertz * kMega);
        const auto up = [&](Ps& t) {
            std::uint64_t n = 0;
            while (clock.cycles(n) < t) ++n;
            t = clock.cycles(n);
        };
        OnfiTiming& t = c.onfi;
        t.t_plane_busy += t.t_wb;
        for (Ps* p : {&t.t_cs, &t.t_wc, &t.t_adl, &t.t_ccs, &t.t_rr, &t.t_wpre, &t.t_rpre, &t.t_rhw, &t.t_plane_busy})
            up(*p);
        t.t_plane_busy -= t.t_wb;
        Bench b(c, megahertz * kMega);
        // The model's times are whole picoseconds: up to one more per cycle.
        for (std::uint8_t planes = 1; planes <= 4; ++planes) {
            for (const FlashOp s : {FlashOp::read, FlashOp::erase, FlashOp::program}) {
                const PinCommand cmd = b.command(s, planes, 4096);
                const Ps took = b.rtl_.play(cmd, false).end - cmd.begin;
                EXPECT_EQ(took, b.clock_.cycles(b.rtl_.clocks().sequence(cmd, 4608)));
                EXPECT_LE(took, b.model(cmd) + b.clock_.period() + Ps{50});
                EXPECT_GE(took, b.model(cmd) - b.clock_.period() - Ps{50});
                b.next_ += took;
            }
        }
    }
}

// Any clock, any timing, any stream of sequences: to the clock by the block's formula, and never more than a clock
// short of the timing model.
TEST(OnfiSequencer, RandomTimingsAndStreams) {
    Random random(20240501);
    const auto between = [&](std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
    };
    for (int round = 0; round < 60; ++round) {
        const auto hertz = static_cast<std::uint64_t>(between(100 * kMega, 1000 * kMega));
        const std::int64_t fastest =
            std::min<std::int64_t>(3600, static_cast<std::int64_t>(hertz * kSequencerLanes / kMega) - 1);
        NandConfig c = config(static_cast<std::uint32_t>(between(20, fastest)), OnfiInterface::nv_lpddr4);
        OnfiTiming& t = c.onfi;
        t.t_wc = Ps{between(10'000, 60'000)};
        for (Ps* p : {&t.t_cs, &t.t_rr, &t.t_wpre, &t.t_rpre, &t.t_rhw}) *p = Ps{between(0, 120'000)};
        for (Ps* p : {&t.t_adl, &t.t_ccs, &t.t_wb, &t.t_plane_busy}) *p = Ps{between(0, 900'000)};
        for (Ps* p : {&t.t_wpst, &t.t_wpsth, &t.t_dqsre, &t.t_rpsth}) *p = Ps{between(0, 40'000)};
        Bench b(c, hertz);
        for (int i = 0; i < 12; ++i) {
            const auto kind = static_cast<FlashOp>(between(0, 3));
            const auto planes = static_cast<std::uint8_t>(kind == FlashOp::read_out ? 1 : between(1, 4));
            const auto select = kind == FlashOp::read_out ? static_cast<PinSelect>(between(0, 2)) : PinSelect::none;
            b.slc_ = static_cast<std::uint32_t>(between(0, 15));
            const PinCommand cmd = b.command(kind, planes, static_cast<std::uint32_t>(between(1, 3000)), select);
            SCOPED_TRACE(b.describe(cmd));
            const BusSequencer::Held held = b.rtl_.play(cmd, false);
            const std::uint32_t transfers = (b.timing_.bus_bytes(cmd.target[0].data_bytes) + 1) & ~1u;
            ASSERT_EQ(held.end - cmd.begin, b.clock_.cycles(b.rtl_.clocks().sequence(cmd, transfers)));
            ASSERT_GE(held.end - cmd.begin, b.model(cmd) - b.clock_.period());
            b.next_ = held.free + Ps{between(0, 10'000)};
        }
    }
}

TEST(OnfiSequencer, PinsAreTheGenerators) {
    for (const std::uint32_t rate : {333u, 400u, 533u, 2400u}) {
        Bench b(config(rate), 400 * kMega);
        for (const auto& [kind, planes] : {std::pair{FlashOp::read, 1},
                                           {FlashOp::read, 4},
                                           {FlashOp::erase, 2},
                                           {FlashOp::read_out, 1},
                                           {FlashOp::program, 1},
                                           {FlashOp::program, 3}}) {
            const auto select = kind == FlashOp::read_out ? PinSelect::enhanced : PinSelect::none;
            const PinCommand c = b.command(kind, static_cast<std::uint8_t>(planes), 4096, select);
            SCOPED_TRACE(b.describe(c));
            const BusSequencer::Held held = b.rtl_.play(c, true);
            PinSequence played, expected;
            b.rtl_.pins(c, played);
            b.generator_.play(c, expected);
            EXPECT_EQ(played.end, held.end);
            expect_same(played, expected, b.clock_.period());
            b.next_ = held.free;
        }
    }
}

// Planes in SLC mode, any of them, in any stream: a cycle more for each, and where the generator has it.
TEST(OnfiSequencer, RandomMixesOfModesPlayAsTheGenerator) {
    Random random(31);
    const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random.below(n)); };
    std::array<int, 4> in_slc{};  // planes, by operation
    for (const std::uint32_t rate : {333u, 400u, 533u, 1200u, 2400u}) {
        NandConfig nand = config(rate);
        nand.slc.prefix = rate == 533 ? 0xDA : 0xA2;
        Bench b(nand, 400 * kMega);
        for (int i = 0; i < 120; ++i) {
            const auto op = static_cast<FlashOp>(below(4));
            const auto planes = static_cast<std::uint8_t>(op == FlashOp::read_out ? 1 : 1 + below(4));
            b.slc_ = below(16);
            PinCommand c = b.command(op, planes, 1 + below(600),
                                     op == FlashOp::read_out ? static_cast<PinSelect>(below(3)) : PinSelect::none);
            c.die = static_cast<std::uint16_t>(below(8));
            SCOPED_TRACE(b.describe(c));
            const BusSequencer::Held held = b.rtl_.play(c, true);
            ASSERT_LE(held.end - c.begin, b.model(c) + b.clock_.period());
            ASSERT_GE(held.end - c.begin, b.model(c) - b.clock_.period());
            const std::uint32_t transfers = (b.timing_.bus_bytes(c.target[0].data_bytes) + 1) & ~1u;
            ASSERT_EQ(held.end - c.begin, b.clock_.cycles(b.rtl_.clocks().sequence(c, transfers)));
            PinSequence played, expected;
            b.rtl_.pins(c, played);
            b.generator_.play(c, expected);
            expect_same(played, expected, b.clock_.period());
            if (::testing::Test::HasFailure()) return;
            in_slc[static_cast<std::size_t>(op)] += __builtin_popcount(b.slc_ & ((1u << planes) - 1));
            b.next_ = held.free + Ps{below(5'000)};
        }
    }
    for (const int planes : in_slc) EXPECT_GT(planes, 60);
}

TEST(OnfiSequencer, StatusTakesItsFormula) {
    Bench b(config(400), 400 * kMega);
    const PinCommand c = b.command(FlashOp::read, 1, 0);
    for (const PinSelect s : {PinSelect::none, PinSelect::enhanced}) {
        const auto held = b.rtl_.play_status(s, 5, c.target[0], b.next_, true);
        PinSequence expected, played;
        b.generator_.play_status(s, 5, c.target[0], 0xE0, b.next_, expected);
        b.rtl_.pins(PinCommand{}, played);
        EXPECT_EQ(held.end, expected.end);
        EXPECT_EQ(held.end - b.next_, b.clock_.cycles(b.rtl_.clocks().status(s)));
        expect_same(played, expected, b.clock_.period());
        b.next_ = held.free;
    }
}

// Registers start with anything; after reset nothing depends on it.
TEST(OnfiSequencer, StartsTheSameFromAnyRegisterContents) {
    PinSequence reference, played;
    for (const int seed : {0, 1, 77, 12345}) {
        Bench b(config(1200), 400 * kMega, seed);
        const PinCommand c = b.command(FlashOp::program, 2, 4096);
        b.rtl_.play(c, true);
        b.rtl_.pins(c, seed == 0 ? reference : played);
        if (seed != 0) {
            EXPECT_EQ(played.edges, reference.edges);
        }
    }
}

TEST(OnfiSequencer, WritesItsOwnSignals) {
    const std::string path = ::testing::TempDir() + "onfi_sequencer_test.fst";
    Bench b(config(400), 400 * kMega);
    b.rtl_.open_trace(path);
    b.expect_within_a_clock(b.command(FlashOp::read, 1, 0));
    b.next_ += 50us;
    b.expect_within_a_clock(b.command(FlashOp::read_out, 1, 512));
    b.rtl_.close_trace();
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    EXPECT_GT(file.tellg(), 1000);
    EXPECT_THROW(b.rtl_.open_trace("/nowhere/at/all.fst"), UserError);
}

TEST(OnfiSequencer, WhatDoesNotFitIsRefused) {
    const auto problem = [](const NandConfig& c, std::uint64_t hertz) -> std::string {
        try {
            OnfiSequencerClocks{c, hertz};
        } catch (const UserError& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_EQ(problem(config(3600, OnfiInterface::nv_lpddr4), 400 * kMega), "");
    EXPECT_NE(problem(config(3600, OnfiInterface::nv_lpddr4), 300 * kMega).find("raise channel.sequencer_clock"),
              std::string::npos);
    EXPECT_NE(problem(config(50, OnfiInterface::sdr), 400 * kMega).find("nand.onfi.interface"), std::string::npos);
    EXPECT_NE(problem(config(1), 400 * kMega).find("256 clocks"), std::string::npos);
    NandConfig c = config(400);
    c.onfi.t_wpsth = 20us;
    EXPECT_NE(problem(c, 400 * kMega).find("t_wpsth"), std::string::npos);
    c = config(400);
    c.onfi.t_ccs = 100us;
    EXPECT_EQ(problem(c, 400 * kMega), "");
    c.onfi.t_ccs = 100us;
    EXPECT_NE(problem(c, 1000 * kMega).find("t_ccs"), std::string::npos);
}

}  // namespace
}  // namespace ssdtlm
