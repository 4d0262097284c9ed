// SPDX-License-Identifier: Apache-2.0
// The judgement on a measured window, on histories that are made up: against rounds that are added up here, one command
// at a time.
#include "sim/results/steady_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "common/random/random.h"
#include "sim/results/read_spread.h"

namespace ssdtlm {
namespace {

using Kind = SteadyVerdict::Kind;

struct Made {
    double seconds = 10;
    double iops = 5000;                                                ///< mean
    std::function<double(double)> speed = [](double) { return 1.0; };  ///< at this part of the window, beside the mean
    std::uint64_t written = 4096, read = 0, nand = 8192;               ///< bytes of a command
    double erases = 0.1;                                               ///< of a command
    std::uint64_t free_blocks = 100;
    double latency = 1e-3;  ///< s
    std::uint64_t lookups = 0;
    std::uint64_t cache_lookups = 0, cache_hits = 0;
};

struct Outcome {
    SteadyVerdict verdict;
    std::array<double, 5> commands{};
};

Outcome made(const Made& m, const KeptByDrive& kept = {}) {
    SteadyHistory h;
    SteadyCounts c;
    c.commands = 77;  // a ramp went before
    c.erased_blocks = 5;
    c.free_blocks = m.free_blocks;
    const SimTime begin{Ps{123'456'789}};
    h.begin(begin, c);
    Outcome out;
    double at = 0, erases = 5;
    for (;;) {
        at += 1 / (m.iops * m.speed(at / m.seconds));
        if (at >= m.seconds) break;
        const SimTime now = begin + Ps{std::llround(at * 1e12)};
        if (h.is_due(now)) h.look(now, c);
        ++c.commands;
        c.latency += Ps{std::llround(m.latency / m.speed(at / m.seconds) * 1e12)};
        c.written_bytes += m.written;
        c.read_bytes += m.read;
        c.nand_bytes += m.nand;
        c.map_lookups += m.lookups;
        c.cache_lookups += m.cache_lookups;
        c.cache_hits += m.cache_hits;
        erases += m.erases;
        c.erased_blocks = static_cast<std::uint64_t>(erases);
        out.commands[static_cast<std::size_t>(5 * at / m.seconds)] += 1;
    }
    h.end(begin + Ps{std::llround(m.seconds * 1e12)}, c);
    out.verdict = judge(h, kept);
    return out;
}

const SteadyVerdict::Judged& throughput(const Outcome& o) {
    return o.verdict.judged.at(0);
}

TEST(SteadyState, RoundsAreTheCommandsOfEachFifth) {
    Random random(3, 1);
    for (int i = 0; i < 50; ++i) {
        Made m;
        m.seconds = std::pow(10, -3 + 5 * random.unit());
        m.iops = 3000 / m.seconds * (1 + 20 * random.unit());
        const double depth = random.unit(), phase = 6 * random.unit();
        m.speed = [=](double x) { return 1 + 0.5 * depth * std::sin(9 * x + phase); };
        const Outcome o = made(m);
        for (std::size_t r = 0; r < 5; ++r)
            EXPECT_NEAR(throughput(o).by_round[r] * m.seconds / 5, o.commands[r], 0.001 * o.commands[r] + 2)
                << "case " << i << " round " << r;
    }
}

TEST(SteadyState, ALevelRunIsSteady) {
    const Outcome o = made({});
    EXPECT_EQ(o.verdict.kind, Kind::steady) << o.verdict.reason;
    EXPECT_EQ(o.verdict.judged.size(), 3u);
    EXPECT_NEAR(o.verdict.judged[2].found.mean, 2, 1e-6);  // WAF
    EXPECT_NE(o.verdict.reason.find("5 rounds of 2 s"), std::string::npos) << o.verdict.reason;
}

/// The limits of SNIA: a line that changes by 10 % of the mean from the first round to the last, rounds that differ by
/// 20 %.
TEST(SteadyState, LimitsOfDriftAndExcursion) {
    const auto line =
        [](double over_rounds) {  // from the middle of the first round to that of the last is four fifths of the window
            Made m;
            m.speed = [=](double x) { return 1 + over_rounds / 0.8 * (x - 0.5); };
            return made(m);
        };
    EXPECT_EQ(line(0.095).verdict.kind, Kind::steady);
    EXPECT_EQ(line(0.105).verdict.kind, Kind::not_steady);
    EXPECT_EQ(line(-0.105).verdict.kind, Kind::not_steady);
    const auto bump = [](double height) {  // only the round in the middle is faster: no drift
        Made m;
        m.speed = [=](double x) { return x > 0.4 && x < 0.6 ? 1 + height : 1.0; };
        return made(m);
    };
    EXPECT_EQ(bump(0.19).verdict.kind, Kind::steady);
    EXPECT_EQ(bump(0.22).verdict.kind, Kind::not_steady);
}

TEST(SteadyState, LatencyThatGrowsIsNotSteady) {
    SteadyHistory h;
    SteadyCounts c;
    h.begin(SimTime{}, c);
    for (int i = 1; i <= 10000; ++i) {  // an open loop that offers more than the drive takes
        const SimTime now{Ps{i * 1'000'000'000ll}};
        if (h.is_due(now)) h.look(now, c);
        ++c.commands;
        c.read_bytes += 4096;
        c.latency += Ps{i * 1'000'000ll};
    }
    h.end(SimTime{Ps{10'001'000'000'000}}, c);
    const SteadyVerdict v = judge(h, {});
    EXPECT_EQ(v.kind, Kind::not_steady);
    EXPECT_EQ(v.reason.find("throughput"), std::string::npos) << v.reason;
    EXPECT_NE(v.reason.find("latency"), std::string::npos) << v.reason;
}

/// 50,000 commands with 0.1 erases each are 1,000 a round.
TEST(SteadyState, ARoundTurnsOverTheFreeBlocks) {
    for (const std::uint64_t free : {990u, 1010u}) {
        Made m;
        m.free_blocks = free;
        const Outcome o = made(m);
        EXPECT_EQ(o.verdict.kind, free < 1000 ? Kind::steady : Kind::too_short) << o.verdict.reason;
    }
    Made fresh;
    fresh.erases = 0;
    const Outcome o = made(fresh);
    EXPECT_EQ(o.verdict.kind, Kind::too_short);
    EXPECT_NE(o.verdict.reason.find("nothing was erased"), std::string::npos) << o.verdict.reason;
    // Reads have no use for free blocks.
    fresh.written = fresh.nand = 0;
    fresh.read = 4096;
    EXPECT_EQ(made(fresh).verdict.kind, Kind::steady);
}

/// 10,000 commands a round: 40.96 MB.
TEST(SteadyState, ARoundTurnsOverBuffersAndMap) {
    const auto of = [](std::uint64_t KeptByDrive::*what, std::uint64_t size, bool reads = false) {
        KeptByDrive kept;
        kept.*what = size;
        Made m;
        m.lookups = 2;
        if (reads) std::swap(m.read, m.written);
        return made(m, kept).verdict.kind;
    };
    for (const auto what : {&KeptByDrive::write_buffer_bytes, &KeptByDrive::slc_bytes}) {
        EXPECT_EQ(of(what, 40'000'000), Kind::steady);
        EXPECT_EQ(of(what, 42'000'000), Kind::too_short);
        EXPECT_EQ(of(what, 42'000'000, true), Kind::steady);
    }
    EXPECT_EQ(of(&KeptByDrive::read_cache_bytes, 40'000'000, true), Kind::steady);
    EXPECT_EQ(of(&KeptByDrive::read_cache_bytes, 42'000'000, true), Kind::too_short);
    EXPECT_EQ(of(&KeptByDrive::map_entries, 19'900), Kind::steady);
    EXPECT_EQ(of(&KeptByDrive::map_entries, 20'100), Kind::too_short);
}

// A cache that, full, answers less than one read in a hundred changes nothing, however short the rounds are.
TEST(SteadyState, ACacheThatCanHitNothingNeedNotTurnOver) {
    const auto of = [](std::uint64_t spread, std::uint64_t hits) {
        Made m;
        std::swap(m.read, m.written);
        m.cache_lookups = 100;
        m.cache_hits = hits;
        KeptByDrive kept;
        kept.read_cache_bytes = 1'000'000'000;
        kept.read_spread = spread;
        return made(m, kept).verdict.kind;
    };
    EXPECT_EQ(of(0, 0), Kind::too_short);  // nobody knows
    EXPECT_EQ(of(99'000'000'000, 0), Kind::too_short);
    EXPECT_EQ(of(101'000'000'000, 0), Kind::steady);
    EXPECT_EQ(of(101'000'000'000, 1), Kind::steady);
    EXPECT_EQ(of(101'000'000'000, 2), Kind::too_short);  // some places are read again and again
}

TEST(SteadyState, ReadsOfAFewStreamsAreNotSpread) {
    ReadSpread streams(480'000'000'000), random(480'000'000'000), small(12'000'000);
    for (std::uint64_t i = 0; i < 100'000; ++i) streams.read(i % 32 * 15'000'000'000 + i / 32 * 4096);
    EXPECT_EQ(streams.bytes(), 0u);
    Random r(1);
    for (int i = 0; i < 4000; ++i) random.read(r.below(480'000'000'000));
    EXPECT_GT(random.bytes(), 240'000'000'000u);
    EXPECT_LT(random.bytes(), 600'000'000'000u);
    for (int i = 0; i < 4000; ++i) small.read(r.below(12'000'000));
    EXPECT_LE(small.bytes(), 16'777'216u);
}

TEST(SteadyState, FewCommandsSayNothing) {
    Made m;
    m.written = m.nand = 0;
    m.read = 4096;
    m.seconds = 1;
    m.iops = 480;
    m.latency = 1e-4;
    EXPECT_EQ(made(m).verdict.kind, Kind::too_short);
    m.iops = 550;
    EXPECT_EQ(made(m).verdict.kind, Kind::steady);
    m.latency = 0.03;  // 16.5 outstanding: ten times that are 165
    EXPECT_EQ(made(m).verdict.kind, Kind::too_short);
    EXPECT_NE(made(m).verdict.reason.find("commands"), std::string::npos);
}

}  // namespace
}  // namespace ssdtlm
